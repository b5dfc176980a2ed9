"""Rows of a result go to the rank that makes their partition of it, and become frames there."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dask_graphgpu.io.results import ColumnType, Table, Values, assemble
from dask_graphgpu.io.row_cuts import cuts_in_order
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.csr import are_ascending
from dask_graphgpu.partition.device.elements import gathered
from dask_graphgpu.partition.device.memory import retried
from dask_graphgpu.partition.result_rows import bounds_of, first_of_each

if TYPE_CHECKING:
    from dask_graphgpu.exchange.ranks import Ranks
    from dask_graphgpu.partition.ranks.ids import RankIds


def spread(
    ranks: Ranks,
    table: Table,
    columns: dict[str, ColumnType],
    place: np.ndarray | range,
    tie: np.ndarray | None,
    of: int,
    ids: RankIds,
    schema: EdgeSchema,
) -> dict[int, pd.DataFrame]:
    """The partitions of a result that this rank makes; collective.

    Rows of all ranks ascend by place and tie. Partition i holds those from ``i * rows // of`` to before ``(i + 1) *
    rows // of``, and `result_rows.rank_of` says who makes it. So which rows it has does not depend on the ranks, and
    partitions are about equal even where many rows are of one place.

    Parameters
    ----------
    table : dict of Values
        This rank's rows; vertices as numbers. On the GPU they are in order.
    place : integers, shape (rows,), or a range
        What rows are ordered by, 0 .. 2**63 - 1.
    tie : integers, shape (rows,), optional
        Order of rows of one place. On all ranks or on none.

    Raises
    ------
    RankLost, RanksAborted

    Notes
    -----
    Frames of a graph of cuDF frames are made on the current GPU. Cost: an all-to-all a column and one
    for its nulls, and a sort of rows that are not in order, before and after; where the rows of one rank
    are not before those of the next, also some rounds to find where they are cut (`row_cuts`); nothing of this where
    each rank has the rows of its own partitions, in order. For each column of vertices a look-up of
    their ids on the ranks that know them.
    """
    order = _order(place, tie) if _is_on_host(place) else None
    lengths, in_order = _looked_at(ranks, place, tie, order is None)
    starts = np.cumsum([0, *lengths])
    bounds, first = bounds_of(int(starts[-1]), of), first_of_each(of, ranks.size)
    if in_order and (starts == bounds[first]).all():
        here: Table = {name: table[name] for name in columns}
    else:
        start = starts[ranks.rank] if in_order else None
        given = {name: table[name].on_host() for name in columns}
        keys = to_host(place), None if tie is None else to_host(tie)
        here = _exchanged(ranks, given, columns, *keys, order, start, bounds[first])
    known = _ids_of(ranks, {name: here[name] for name, kind in columns.items() if kind.vertex}, ids)
    made = assemble
    if schema.on_device:
        from dask_graphgpu.io import device_results

        made = device_results.assemble
    # The index goes on from rank to rank.
    start = int(bounds[first[ranks.rank]])
    frames = {}
    for i in range(first[ranks.rank], first[ranks.rank + 1]):
        lo, hi = (bounds[i : i + 2] - start).tolist()
        rows = slice(lo, hi)
        part = {
            name: Values(v.data[rows], None if v.valid is None else v.valid[rows])
            for name, v in here.items()
        }
        vertices = {name: [a[rows] for a in arrays] for name, arrays in known.items()}
        frames[i] = made(part, vertices, columns, schema, start + lo)
    return frames


def _ids_of(ranks: Ranks, vertices: Table, ids: RankIds) -> dict[str, list[Any]]:
    """The user's ids of numbers, an array an id column: on the GPU where the numbers are, if they fit. Collective."""
    beside = all(not _is_on_host(each.data) and each.valid is None for each in vertices.values())
    if vertices and ranks.min(int(beside)):
        every = ids.every_beside(next(iter(vertices.values())).data)
        if every is not None:
            return {
                name: [retried(partial(gathered, column, each.data)) for column in every]
                for name, each in vertices.items()
            }
    on_host = {name: each.on_host() for name, each in vertices.items()}
    return {name: ids.take(each.data, each.valid) for name, each in on_host.items()}


def _is_on_host(values: Any) -> bool:
    return isinstance(values, (np.ndarray, range))


def _looked_at(
    ranks: Ranks, place: np.ndarray | range, tie: np.ndarray | None, ordered: bool
) -> tuple[list[int], bool]:
    """How many rows each rank has, and whether they are in order from each to the next. Collective."""
    ends = [0, 0, 0, 0]
    if len(place):
        ties = (0, 0) if tie is None else (int(tie[0]), int(tie[-1]))
        ends = [int(place[0]), ties[0], int(place[-1]), ties[1]]
    told = ranks.scalars([len(place), int(ordered), *ends]).tolist()
    there = [ends for length, _, *ends in told if length]
    in_order = all(each[1] for each in told) and all(
        before[2:] <= after[:2] for before, after in pairwise(there)
    )
    return [each[0] for each in told], in_order


def _exchanged(
    ranks: Ranks,
    table: Table,
    columns: dict[str, ColumnType],
    place: np.ndarray | range,
    tie: np.ndarray | None,
    order: np.ndarray | None,
    start: int | None,
    bounds: np.ndarray,
) -> Table:
    """Columns of the rows of all ranks from each rank's bound to the next, in order. Collective.

    ``start`` : rows before this rank's where those of all are in order; None: they are not.
    """
    place = np.asarray(place, np.int64)
    ties = None if tie is None else np.asarray(tie, np.uint64)
    if start is not None:
        cuts = np.clip(bounds - start, 0, len(place))
    else:
        keys = (place,) if ties is None else (place, ties)
        inner = cuts_in_order(ranks, tuple(_taken(key, order) for key in keys), bounds[1:-1])
        cuts = np.array([0, *inner, len(place)])

    def arrived(column: np.ndarray) -> np.ndarray:
        column = _taken(column, order)
        return np.concatenate(ranks.all_to_all([column[lo:hi] for lo, hi in pairwise(cuts)]))

    merged = None
    if start is None:
        merged = _order(arrived(place), None if ties is None else arrived(ties))
    here: Table = {}
    for name, kind in columns.items():
        data, valid = table[name].for_exchange(kind)
        here[name] = Values(
            _taken(arrived(data), merged), None if valid is None else _taken(arrived(valid), merged)
        )
    return here


def _order(place: np.ndarray | range, tie: np.ndarray | None) -> np.ndarray | None:
    """What sorts rows by place and tie; None where they are sorted.

    Rows that arrive are sorted runs, which a stable sort of one key merges: O(n log ranks).
    """
    if isinstance(place, range) or are_ascending(place, tie):
        return None
    key = place
    if tie is not None:
        both = _key(place, tie)
        if both is None:
            return np.lexsort((tie, place))
        key = both
    return np.argsort(key, kind="stable")


def _key(place: np.ndarray, tie: np.ndarray) -> np.ndarray | None:
    """One number in the order of place and tie; None where 63 bits do not hold both."""
    if not len(place):
        return place
    place = place.astype(np.int64, copy=False)
    first, bits = int(place.min()), int(tie.max()).bit_length()
    if (int(place.max()) - first).bit_length() + bits > 63:
        return None
    return ((place - first) << bits) | tie.astype(np.int64)


def _taken(column: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    return column if order is None else column[order]
