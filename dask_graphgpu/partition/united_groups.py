"""Vertices that several tables put into groups, and the components that these make: no edge is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import all_below
from dask_graphgpu.partition.id_table import numbered, ranked
from dask_graphgpu.partition.ids import common_type, composite
from dask_graphgpu.partition.ranks.merging import merged

_SPARSE = 4  # numbers a row that are not worth a table to have fewer


@dataclass(frozen=True, eq=False)
class Grouped:
    """Vertices, and the group that each is in; rows in any order, and as often as one likes.

    Attributes
    ----------
    ids : list of Arrow arrays
        One an id column, of integers or large strings.
    groups : unsigned array
        Number of each row's group.
    number : int
        All groups are below it; some may have no row.
    what : str
        Whose they are, as messages say it.
    """

    ids: list[pa.Array]
    groups: np.ndarray
    number: int
    what: str

    @classmethod
    def of(cls, ids: Sequence[pa.Array], labels: Sequence[pa.Array], what: str) -> Grouped:
        """Vertices with the same label are a group; a label is a value of any type, or several columns of them."""
        (groups, number), *more = map(_numbers, labels)
        for others, size in more:
            (groups,), table = numbered([pa.array(groups.astype(np.uint64) * size + others)])
            number = len(table)
        return cls(list(ids), groups, number, what)


def united(tables: Sequence[Grouped]) -> tuple[list[pa.Array], np.ndarray]:
    """Ids of all vertices in ascending order, and for each the row of the smallest one in its component.

    Two vertices are in one component where some table has them in one group, or by way of others.

    Raises
    ------
    InvalidArgument
        A table has a vertex in two groups.
    InvalidEdges
        No type holds the ids of all tables.

    Notes
    -----
    Cost: a pass over the ids of tables with one id column that ascend, else a sort of them; some passes over the rows.
    """
    columns, rows = merged_tables(
        [table.ids for table in tables], "the graph's ids and those of labels"
    )
    n = len(columns[0])
    kind: Any = np.uint32 if n < 2**32 else np.uint64
    parent = all_below(n, kind)
    for i, (table, own) in enumerate(zip(tables, rows, strict=True)):
        _refuse_two_groups(table, own, columns)
        first: np.ndarray = np.full(table.number, n, kind)
        np.minimum.at(first, table.groups, own)
        least = first.take(table.groups)
        if i == 0:  # nothing is linked yet
            parent[own.astype(np.intp)] = least
        else:
            for_blocks(kernels.components.link_pairs, even_blocks(len(own)), own, least, parent)
    for_blocks(kernels.components.compress, even_blocks(n), parent)
    return columns, parent


def _refuse_two_groups(table: Grouped, own: np.ndarray, columns: Sequence[pa.Array]) -> None:
    """Raise InvalidArgument where rows of one vertex have different groups."""
    if (own[1:] > own[:-1]).all():
        return
    group = np.empty(len(columns[0]), table.groups.dtype)
    group[own.astype(np.intp)] = table.groups
    wrong = own[group.take(own) != table.groups]
    if len(wrong):
        vertex = tuple(column[int(wrong[0])].as_py() for column in columns)
        raise InvalidArgument(
            f"{table.what}: {len(wrong)} rows contradict others: a vertex, such as "
            f"{vertex[0] if len(vertex) == 1 else vertex!r}, has two different labels; give each vertex one"
        )


def merged_tables(
    tables: Sequence[list[pa.Array]], what: str
) -> tuple[list[pa.Array], list[np.ndarray]]:
    """The distinct rows of tables of ids in ascending order, a column each, and where each table's rows are there.

    Raises
    ------
    InvalidEdges
        No type holds the ids of all tables; ``what`` they are, as the message says it.
    """
    columns = []
    for parts in zip(*tables, strict=True):
        kind = common_type([part.type for part in parts], what)
        columns.append([part.cast(kind) for part in parts])
    if len(columns) > 1:
        return composite(columns)
    made = [_ascending(part) for part in columns[0]]
    ids, places = merged([distinct for distinct, _ in made])
    rows = [
        place if codes is None else place.take(codes)
        for place, (_, codes) in zip(places, made, strict=True)
    ]
    return [ids], rows


def _ascending(ids: pa.Array) -> tuple[pa.Array, np.ndarray | None]:
    """The distinct ones of some ids in ascending order, and the place of each; None: they are so already."""
    if pc.all(pc.less(ids[:-1], ids[1:])).as_py() in (True, None):
        return ids, None
    (codes,), distinct = ranked([ids])
    return distinct, codes


def _numbers(labels: pa.Array) -> tuple[np.ndarray, int]:
    """A number for each of the different values of an array without nulls, and what all are below."""
    if not len(labels):
        return np.empty(0, np.uint32), 0
    if pa.types.is_integer(labels.type):
        least, most = pc.min_max(labels).as_py().values()
        if most - least < _SPARSE * len(labels):
            # Distances of less than 2**64 come out right in as many bits.
            return np.asarray(labels).astype(np.uint64) - np.uint64(least % 2**64), most - least + 1
    elif not pa.types.is_large_string(labels.type):
        encoded = labels.dictionary_encode()
        return np.asarray(encoded.indices), len(encoded.dictionary)
    (codes,), table = numbered([labels])
    return codes, len(table)
