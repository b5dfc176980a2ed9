"""Rows of edges that come nearly in order, by one pass over edges that the caches have room for."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks, num_threads
from dask_graphgpu.partition.row_sort import as_bits, each, to_move

if TYPE_CHECKING:
    from dask_graphgpu.partition.csr import Coo

_FEW, _MANY = 1 << 16, 1 << 23  # edges: fewer are sorted in no time, more are beyond the caches
_SAMPLE = 1 << 12  # pairs of edges that are looked at
_IN_ORDER = 0.875  # of these
_MOVES = 4  # of an entry within its row, on average
_PARTS = 4  # of the rows, at most: for each of them all edges are read
_DENSE = 4  # edges that a row has on average, at least: counters of rows are not to outweigh edges
_DENSE_UNSORTED = 2  # entries, where rows need no order: the other way would sort them


def placed(
    num_vertices: int,
    blocks: list[list[Coo]],
    dtype: Any,
    kinds: dict[str, np.dtype[Any]],
    *,
    marked: bool,
    both: bool,
    ordered: bool = True,
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]] | None:
    """Offsets, neighbours and columns of rows, as of `from_coo`; None where its buckets are the better way.

    That is for edges that are few, very many or not several a row, that carry several columns, or come in no order, by
    which most rows would have to be sorted. Cost: two passes in which each edge is written once for each row, and where
    rows are to be ``ordered`` one over the rows. Extra memory: counters of the rows, of as many threads as take no more
    than 4 bytes an entry.
    """
    runs = [coo for block in blocks for coo in block]
    edges = sum(map(len, runs))
    entries = 2 * edges if both else edges
    dense = edges >= _DENSE * num_vertices if ordered else entries >= _DENSE_UNSORTED * num_vertices
    if not _FEW <= edges <= _MANY or not dense or len(kinds) > 1:
        return None
    if not _come_in_order(runs, edges):
        return None
    offsets = _offsets(num_vertices, blocks, max(entries // (2 * num_vertices + 1), 1), both)
    name, kind = next(iter(kinds.items()), (None, np.dtype(np.uint8)))
    made = np.empty(offsets[-1], dtype)
    carried = np.empty(0 if name is None else offsets[-1], kind)
    parts = min(num_threads(), _PARTS)
    bounds = np.searchsorted(offsets, np.arange(parts + 1) * offsets[-1] // parts)
    bounds[0], bounds[-1] = 0, num_vertices
    cursor = offsets[:-1].copy()

    def place(part: int) -> None:
        for coo in runs:
            column = carried[:0] if name is None else coo.columns[name]
            marks = np.uint64(marked and coo.back is not None), np.uint64(bool(coo.back))
            kernels.placing.place(
                0, *coo.ends(), both, *marks, *bounds[part : part + 2].astype(np.uint64), cursor, made,
                *to_move(column, carried),
            )  # fmt: skip

    each(place, parts)
    columns = {} if name is None else {name: carried}
    if not ordered:
        return offsets, made, columns
    rows, moved = edge_blocks(offsets), as_bits(carried)
    most = {lo: _MOVES * int(offsets[hi] - offsets[lo]) + 1 for lo, hi in pairwise(rows.tolist())}

    def sort(lo: int, hi: int) -> bool:
        return bool(kernels.placing.sort_rows(lo, hi, offsets, made, moved, most[lo]))

    if not all(for_blocks(sort, rows)):
        return None
    return offsets, made, columns


def _come_in_order(runs: list[Coo], edges: int) -> bool:
    """Whether most of some edges come after the one before them."""
    step = max(edges // _SAMPLE, 1)
    looked = sum(len(range(1, len(run), step)) for run in runs)
    found = sum(kernels.placing.in_order(0, *run.ends(), step) for run in runs)
    return bool(found >= _IN_ORDER * looked)


def _offsets(num_vertices: int, blocks: list[list[Coo]], most: int, both: bool) -> np.ndarray:
    """Where each row starts, and where the last one ends; at most so many threads count."""
    groups = [blocks[first::most] for first in range(min(most, len(blocks)))]
    counts = np.zeros((len(groups), num_vertices), np.int64)

    def count(group: int) -> None:
        for coo in chain.from_iterable(groups[group]):
            kernels.row_sort.count_edges(0, *coo.ends(), both, np.uint64(0), counts[group])

    each(count, len(groups))
    offsets = np.zeros(num_vertices + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=offsets[1:])
    return offsets
