"""Rows of a result go to the rank that makes their partition of it, and become frames there."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dask_graphgpu.io.results import ColumnType, Table, Values, assemble
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.csr import are_ascending
from dask_graphgpu.partition.result_rows import bounds_of, first_of_each

if TYPE_CHECKING:
    from dask_graphgpu.exchange.ranks import Ranks
    from dask_graphgpu.partition.ranks.ids import RankIds


def spread(
    ranks: Ranks,
    table: Table,
    columns: dict[str, ColumnType],
    place: np.ndarray | range,
    total: int,
    tie: np.ndarray | None,
    of: int,
    ids: RankIds,
    schema: EdgeSchema,
) -> dict[int, pd.DataFrame]:
    """The partitions of a result that this rank makes; collective.

    Partition i of ``of`` holds the rows with a place from ``i * total // of`` to before ``(i + 1) *
    total // of``, ascending by place and tie, and `result_rows.rank_of` says who makes it: which rows it has
    does not depend on the ranks.

    Parameters
    ----------
    table : dict of Values
        This rank's rows; vertices as numbers.
    place : integers, shape (rows,), or a range
        Where each row stands among those of all ranks, 0 .. total - 1.
    total : int
        The same on all ranks.
    tie : integers, shape (rows,), optional
        Order of rows of one place. On all ranks or on none.

    Raises
    ------
    RankLost, RanksAborted

    Notes
    -----
    Frames of a graph of cuDF frames are made on the current GPU. Cost: an all-to-all a column and one
    for its nulls, and a sort of rows that are not in order, before and after; nothing of this where
    each rank has the rows of its own partitions, in order. For each column of vertices a look-up of
    their ids on the ranks that know them.
    """
    bounds, first = bounds_of(total, of), first_of_each(of, ranks.size)
    order = _order(place, tie)
    mine = bounds[first[ranks.rank]], bounds[first[ranks.rank + 1]]
    if ranks.min(int(order is None and _are_between(place, *mine))):
        here: Table = {name: table[name] for name in columns}
    else:
        place, here = _exchanged(ranks, table, columns, place, tie, order, bounds[first])
    vertices_of = {name: here[name].on_host() for name, kind in columns.items() if kind.vertex}
    known = {name: ids.take(each.data, each.valid) for name, each in vertices_of.items()}
    made = assemble
    if schema.on_device:
        from dask_graphgpu.io import device_results

        made = device_results.assemble
    # The index goes on from rank to rank.
    start = sum(ranks.scalars([len(place)])[: ranks.rank, 0].tolist())
    frames = {}
    for i in range(first[ranks.rank], first[ranks.rank + 1]):
        lo, hi = _cuts(place, bounds[i : i + 2])
        rows = slice(lo, hi)
        part = {
            name: Values(v.data[rows], None if v.valid is None else v.valid[rows])
            for name, v in here.items()
        }
        vertices = {name: [a[rows] for a in arrays] for name, arrays in known.items()}
        frames[i] = made(part, vertices, columns, schema, start + lo)
    return frames


def _exchanged(
    ranks: Ranks,
    table: Table,
    columns: dict[str, ColumnType],
    place: np.ndarray | range,
    tie: np.ndarray | None,
    order: np.ndarray | None,
    bounds: np.ndarray,
) -> tuple[np.ndarray, Table]:
    """Places and columns of the rows with a place between a rank's ``bounds``, in order. Collective."""
    place = np.asarray(place, np.int64)
    cuts = _cuts(_taken(place, order), bounds)

    def arrived(column: np.ndarray) -> np.ndarray:
        column = _taken(column, order)
        return np.concatenate(ranks.all_to_all([column[lo:hi] for lo, hi in pairwise(cuts)]))

    place = arrived(place)
    merged = _order(place, None if tie is None else arrived(np.asarray(tie, np.uint64)))
    here: Table = {}
    for name, kind in columns.items():
        data, valid = _plain(table[name], kind)
        here[name] = Values(
            _taken(arrived(data), merged), None if valid is None else _taken(arrived(valid), merged)
        )
    return _taken(place, merged), here


def _are_between(place: np.ndarray | range, low: int, high: int) -> bool:
    """Whether ascending places are from ``low`` on, and below ``high``."""
    return not len(place) or (low <= int(place[0]) and int(place[-1]) < high)


def _cuts(place: np.ndarray | range, bounds: np.ndarray) -> list[int]:
    """Where those from each bound on begin among ascending places."""
    if isinstance(place, range):
        cuts: list[int] = np.clip(bounds - place.start, 0, len(place)).tolist()
        return cuts
    most = min(int(np.iinfo(place.dtype).max), int(np.iinfo(np.int64).max))
    # Bounds of another type would have all places converted.
    cuts = np.searchsorted(place, np.minimum(bounds, most).astype(place.dtype)).tolist()
    return [len(place) if bound > most else cut for cut, bound in zip(cuts, bounds, strict=True)]


def _plain(values: Values, kind: ColumnType) -> tuple[np.ndarray, np.ndarray | None]:
    """Data of one dtype on all ranks, and which of it is not null where that can be so."""
    if not kind.nullable:
        return np.asarray(values.data, np.int64 if kind.vertex else kind.dtype), None
    valid = np.ones(len(values.data), bool) if values.valid is None else values.valid
    data = np.where(valid, values.data, 0) if kind.vertex else values.data
    return np.asarray(data, np.int64 if kind.vertex else kind.dtype), np.asarray(valid, bool)


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
