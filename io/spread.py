"""Rows of a result go to the rank that makes their partition of it, and become frames there."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from dask_graphgpu.io.results import ColumnType, Table, Values, assemble
from dask_graphgpu.io.schema import EdgeSchema

if TYPE_CHECKING:
    from dask_graphgpu.exchange.ranks import Ranks
    from dask_graphgpu.partition.ranks.ids import RankIds


def rank_of(partition: int, of: int, size: int) -> int:
    """The rank that makes one of ``of`` partitions of a result."""
    return partition * size // of


def first_of_each(of: int, size: int) -> list[int]:
    """The first partition that each rank makes, and ``of``."""
    return [-(-rank * of // size) for rank in range(size + 1)]


def bounds_of(total: int, of: int) -> np.ndarray:
    """The place with which each partition begins, and ``total``."""
    return np.array([i * total // of for i in range(of + 1)], np.int64)


def spread(
    ranks: Ranks,
    table: Table,
    columns: dict[str, ColumnType],
    place: np.ndarray,
    total: int,
    tie: np.ndarray | None,
    of: int,
    ids: RankIds,
    schema: EdgeSchema,
) -> dict[int, pd.DataFrame]:
    """The partitions of a result that this rank makes; collective.

    Partition i of ``of`` holds the rows with a place from ``i * total // of`` to before ``(i + 1) *
    total // of``, ascending by place and tie, and `rank_of` says who makes it: which rows it has
    does not depend on the ranks.

    Parameters
    ----------
    table : dict of Values
        This rank's rows; vertices as numbers.
    place : integers, shape (rows,)
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
    for its nulls, a sort of rows that are not in order, before and after, and for each column of
    vertices a look-up of their ids on the ranks that know them.
    """
    bounds, first = bounds_of(total, of), first_of_each(of, ranks.size)
    place = np.asarray(place, np.int64)
    order = _order(place, tie)
    cuts = np.searchsorted(_taken(place, order), bounds[first]).tolist()

    def arrived(column: np.ndarray) -> np.ndarray:
        column = _taken(column, order)
        return np.concatenate(ranks.all_to_all([column[lo:hi] for lo, hi in pairwise(cuts)]))

    place = arrived(place)
    merged = _order(place, None if tie is None else arrived(np.asarray(tie, np.uint64)))
    place = _taken(place, merged)
    here: Table = {}
    for name, kind in columns.items():
        data, valid = _plain(table[name], kind)
        here[name] = Values(
            _taken(arrived(data), merged), None if valid is None else _taken(arrived(valid), merged)
        )
    known = {
        name: ids.take(here[name].data, here[name].valid)
        for name, kind in columns.items()
        if kind.vertex
    }
    made = assemble
    if schema.on_device:
        from dask_graphgpu.io import device_results

        made = device_results.assemble
    # The index goes on from rank to rank.
    start = sum(ranks.scalars([len(place)])[: ranks.rank, 0].tolist())
    frames = {}
    for i in range(first[ranks.rank], first[ranks.rank + 1]):
        lo, hi = np.searchsorted(place, bounds[i : i + 2]).tolist()
        rows = slice(lo, hi)
        part = {
            name: Values(v.data[rows], None if v.valid is None else v.valid[rows])
            for name, v in here.items()
        }
        vertices = {name: [a[rows] for a in arrays] for name, arrays in known.items()}
        frames[i] = made(part, vertices, columns, schema, start + lo)
    return frames


def _plain(values: Values, kind: ColumnType) -> tuple[np.ndarray, np.ndarray | None]:
    """Data of one dtype on all ranks, and which of it is not null where that can be so."""
    if not kind.nullable:
        return np.asarray(values.data, np.int64 if kind.vertex else kind.dtype), None
    valid = np.ones(len(values.data), bool) if values.valid is None else values.valid
    data = np.where(valid, values.data, 0) if kind.vertex else values.data
    return np.asarray(data, np.int64 if kind.vertex else kind.dtype), np.asarray(valid, bool)


def _order(place: np.ndarray, tie: np.ndarray | None) -> np.ndarray | None:
    """What sorts rows by place and tie; None where they are sorted.

    Rows that arrive are sorted runs, which a stable sort of one key merges: O(n log ranks).
    """
    key = place
    if tie is not None:
        both = _key(place, tie)
        if both is None:
            return np.lexsort((tie, place))
        key = both
    return None if bool((key[1:] >= key[:-1]).all()) else np.argsort(key, kind="stable")


def _key(place: np.ndarray, tie: np.ndarray) -> np.ndarray | None:
    """One number in the order of place and tie; None where 63 bits do not hold both."""
    if not len(place):
        return place
    first, bits = int(place.min()), int(tie.max()).bit_length()
    if (int(place.max()) - first).bit_length() + bits > 63:
        return None
    return ((place - first) << bits) | tie.astype(np.int64)


def _taken(column: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    return column if order is None else column[order]
