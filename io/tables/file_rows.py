"""What is made of the rows of a file: columns that do not stand in it as they are called, and rows that are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from dask_graphgpu.io.tables.where import Where
from dask_graphgpu.io.views import without_views

_FIELD_ID = b"PARQUET:field_id"


@dataclass(frozen=True)
class FileRows:
    """From the rows of a file to those of the table that it belongs to.

    Attributes
    ----------
    where : Where or None
        Which rows are kept.
    constants : tuple of (name, value)
        Columns that have one value in the whole file, such as those of a partition.
    fields : tuple of (name, number or None, type)
        Columns of a table whose files may lack some, which are null there. A number: how the file knows a column,
        whatever it calls it.
    """

    where: Where | None = None
    constants: tuple[tuple[str, pa.Scalar], ...] = ()
    fields: tuple[tuple[str, int | None, pa.DataType], ...] = ()

    @cached_property
    def _types(self) -> dict[str, pa.DataType]:
        return {name: kind for name, _, kind in self.fields}

    def stored(self, columns: Iterable[str], schema: pa.Schema) -> list[str]:
        """Which columns of a file are read, by their names there, for some of the table's.

        One at least, which says how many rows there are.
        """
        return list(dict.fromkeys(self._names(columns, schema).values())) or schema.names[:1]

    def made(self, table: pa.Table, columns: Sequence[str]) -> pa.Table:
        """Columns of the table, of what `stored` names; the rows that are kept."""
        table = without_views(table)
        given, names = self._names(columns, table.schema), self._needed(columns)
        constants = dict(self.constants)
        arrays = []
        for name in names:
            if name in constants:
                arrays.append(_repeated(constants[name], len(table)))
            elif name in given:
                arrays.append(table.column(given[name]))
            else:
                arrays.append(pa.nulls(len(table), self._types[name]))
        made = pa.table(arrays, names=names) if arrays else table.select([])
        if self.where is not None:
            made = self.where.kept(made)
        return made.select(list(columns))

    def bounds(self, schema: pa.Schema) -> Any:
        """What to ask the statistics of a file with these columns about the rows that are kept."""
        assert self.where is not None
        names = self._names((), schema)
        missing = {
            name: pa.scalar(None, kind)
            for name, kind in self._types.items()
            if name in self.where.columns and name not in names
        }
        once = {field.name: field.type for field in schema if schema.names.count(field.name) == 1}
        kinds = {name: once[stored] for name, stored in names.items() if stored in once}
        return self.where.bounds({**missing, **dict(self.constants)}, names, kinds)

    def _needed(self, columns: Iterable[str]) -> list[str]:
        """Columns that are asked for, and those that say which rows are kept."""
        return list(dict.fromkeys([*columns, *(self.where.columns if self.where else ())]))

    def _names(self, columns: Iterable[str], schema: pa.Schema) -> dict[str, str]:
        """Names in a file of columns that are read from it."""
        constants, by_number = dict(self.constants), dict[int, str]()
        for field in schema:
            number = (field.metadata or {}).get(_FIELD_ID)
            if number is not None:
                by_number[int(number)] = field.name
        numbers = {name: number for name, number, _ in self.fields}
        if not by_number and len(schema) and any(number is not None for number in numbers.values()):
            raise ValueError("its columns have no field ids, by which the table knows them")
        found = {}
        for name in self._needed(columns):
            if name in constants:
                continue
            number = numbers.get(name)
            if number is not None:
                if number in by_number:
                    found[name] = by_number[number]
            elif name not in self._types or name in schema.names:
                found[name] = name
        return found


def _repeated(value: pa.Scalar, number: int) -> pa.Array:
    if pa.types.is_string(value.type) or pa.types.is_large_string(value.type):
        if value.is_valid:  # a code for each row instead of a text
            codes = pa.repeat(pa.scalar(0, pa.int32()), number)
            return pa.DictionaryArray.from_arrays(codes, pa.array([value.as_py()], value.type))
    return pa.repeat(value, number)
