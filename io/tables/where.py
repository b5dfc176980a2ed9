"""A condition on the rows of a table: typed by its columns, applied exactly, and used to leave out what cannot hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.io.tables.where_clause import parsed
from dask_graphgpu.io.tables.where_types import (
    Several,
    Test,
    Typed,
    are_compared,
    compared_as,
    typed,
)


@dataclass(frozen=True)
class Where:
    """A condition on rows, made for the columns of a table.

    Rows for which it is not true are left out: as in SQL, nothing but ``is null`` holds for a null. NaN counts as
    null.

    Attributes
    ----------
    text : str
        As it was given.
    types : tuple of (name, type)
        The columns that it reads.
    """

    text: str
    tree: Typed
    types: tuple[tuple[str, pa.DataType], ...]

    @classmethod
    def of(cls, text: str, schema: pa.Schema, what: str) -> Where:
        """The condition for a table of a schema.

        Raises
        ------
        InvalidArgument
            The text is no condition, names a column that the table (``what``) has not, or compares one with a value
            of another type.
        """
        tree = typed(parsed(text), schema, what)
        used = dict.fromkeys(test.column for test in _tests(tree))
        kinds = tuple((name, compared_as(schema.field(name).type)) for name in used)
        return cls(text, tree, kinds)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are read."""
        return [name for name, _ in self.types]

    def kept(self, table: pa.Table) -> pa.Table:
        """The rows of a table, which has the columns, for which the condition is true."""
        given = {name: _plain(table.column(name), kind) for name, kind in self.types}
        return table.filter(self._fold(lambda test: test.of(given[test.column]), *_KLEENE))

    def may_hold(self, constants: Mapping[str, pa.Scalar]) -> bool:
        """Whether the condition may be true of any row, where some columns have the same value in all rows."""

        def leaf(test: Test) -> bool:
            return test.column not in constants or _holds(test, constants[test.column])

        return bool(self._fold(leaf, lambda a, b: a and b, lambda a, b: a or b))

    def bounds(
        self,
        constants: Mapping[str, pa.Scalar],
        fields: Mapping[str, str],
        kinds: Mapping[str, pa.DataType],
    ) -> Any:
        """What to ask the statistics of a file: an expression that is true wherever the condition is.

        Parameters
        ----------
        constants
            Columns of one value each.
        fields
            Names that columns have in the file.
        kinds
            Their types there; what is not among them cannot be asked for.
        """
        types = dict(self.types)

        def leaf(test: Test) -> Any:
            if test.column in constants:
                return pc.scalar(_holds(test, constants[test.column]))
            if test.operation == "is null" and pa.types.is_floating(types[test.column]):
                return pc.scalar(True)  # statistics do not count NaN
            kind = kinds.get(test.column)
            if kind is None or not are_compared(kind, types[test.column]):
                return pc.scalar(True)  # or they are in another order
            return test.of(pc.field(fields[test.column]))

        return self._fold(leaf, *_KLEENE)

    def _fold(self, leaf: Callable[[Test], Any], both: Any, either: Any) -> Any:
        def made(node: Typed) -> Any:
            if isinstance(node, Test):
                return leaf(node)
            return functools.reduce(both if node.word == "and" else either, map(made, node.parts))

        return made(self.tree)


_KLEENE = pc.and_kleene, pc.or_kleene


def _tests(tree: Typed) -> list[Test]:
    if isinstance(tree, Several):
        return [test for part in tree.parts for test in _tests(part)]
    return [tree]


def _holds(test: Test, value: pa.Scalar) -> bool:
    """Whether a test is true for one value."""
    return test.of(pa.array([value], value.type))[0].as_py() is True


def _plain(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in the type in which it is compared, with nulls for NaN."""
    if column.type != kind:
        column = column.cast(kind)
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    return column
