"""As `partition.rowwise`, over rows on disk: each in a pass or none."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.sort import PagedAdjacency, RowWriter
from dask_graphgpu.partition.paged.window import Window, even_spans


def merge_repeats(rows: PagedAdjacency, rule: str) -> PagedAdjacency:
    """Make repeated edges one, on disk beside the rows that are given. One pass."""
    made: RowWriter | None = None
    for first, each in runs(rows):
        merged = rowwise.merge_repeats(each, rule, always=True)
        if made is None:
            kinds = {name: column.dtype for name, column in merged.columns.items()}
            made = RowWriter(
                rows.num_vertices, rows.neighbours.dtype, kinds, rows.folder, rows.limits
            )
        made.append(first, merged)
    return rows if made is None else made.close()


def repeats(rows: PagedAdjacency) -> bool:
    """Whether some edge stands more than once. One pass, or a part of one."""
    bare = rows.with_columns(())
    return any(rowwise.repeats(each) for _, each in runs(bare))


def count_neighbours(rows: PagedAdjacency) -> np.ndarray:
    """How often each vertex is a neighbour, int64; counted when the rows were written."""
    return rows.counts


def sum_rows(rows: PagedAdjacency) -> np.ndarray:
    """Weight of each row, int64 or float64. One pass."""
    parts = [rowwise.sum_rows(each) for _, each in runs(rows.with_columns(("weight",)))]
    return np.concatenate(parts) if parts else np.zeros(rows.num_vertices, np.int64)


def sum_neighbours(rows: PagedAdjacency) -> np.ndarray:
    """Weight of the edges in which each vertex is the neighbour, int64 or float64. One pass."""
    sums: np.ndarray | None = None
    for _, each in runs(rows.with_columns(("weight",))):
        assert each.weight is not None
        if sums is None:
            wide = np.float64 if each.weight.dtype.kind == "f" else np.int64
            sums = np.zeros(rows.num_vertices, wide)
        rowwise.add_neighbours(each, sums)
    return np.zeros(rows.num_vertices, np.int64) if sums is None else sums


def count_loops(rows: PagedAdjacency) -> np.ndarray:
    """Number of self-loops in each row, int64. One pass."""
    loops = np.zeros(rows.num_vertices, np.int64)
    for first, each in runs(rows.with_columns(())):
        ids = np.repeat(np.arange(first, first + each.num_vertices), each.degrees)
        loops += np.bincount(ids[ids == each.neighbours], minlength=len(loops))
    return loops


def sum_loops(rows: PagedAdjacency) -> np.ndarray:
    """Weight of the self-loops in each row, int64 or float64. One pass."""
    parts = [
        rowwise.sum_loops(Adjacency(each.offsets, each.neighbours - first, each.columns))
        for first, each in runs(rows.with_columns(("weight",)))
    ]
    return np.concatenate(parts) if parts else np.zeros(rows.num_vertices, np.int64)


def least_weights(rows: PagedAdjacency, sources: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """As of `partition.rowwise`. One pass over the runs of rows that have a source."""
    offsets, cuts = rows.offsets, row_cuts(rows)
    order = np.argsort(sources, kind="stable")
    some, starts = np.unique(
        np.searchsorted(cuts, sources[order], side="right") - 1, return_index=True
    )
    least = np.empty(len(sources), rows.columns["weight"].dtype)
    spans = np.stack([offsets[cuts[some]], offsets[cuts[some + 1]]], 1)
    parts = np.split(order, starts[1:])
    for part, held in zip(parts, Window(rows.arrays).over(spans), strict=True):
        run = Adjacency(offsets, held["neighbours"], {"weight": held["column weight"]})
        least[part] = rowwise.least_weights(run, sources[part], neighbours[part])
    return least


def row_ids(rows: PagedAdjacency) -> np.ndarray:
    """The row that each edge is in: more than fits memory."""
    raise EngineUnavailable(
        "the row of every edge is asked for, and the edges lie in pages on disk: raise "
        "graphgpu.host-memory-limit, or set it to null"
    )


# Of values of vertices, which are in memory.
add_at = rowwise.add_at


def runs(rows: PagedAdjacency) -> Iterator[tuple[int, Adjacency]]:
    """Runs of whole rows that come to about a page, in memory: the first row, and the run."""
    offsets, cuts = rows.offsets, row_cuts(rows)
    window = Window(rows.arrays)
    for i, held in enumerate(window.over(even_spans(offsets[cuts]))):
        lo, hi = int(offsets[cuts[i]]), int(offsets[cuts[i + 1]])
        columns = {name: held[f"column {name}"][lo:hi] for name in rows.columns}
        own = offsets[cuts[i] : cuts[i + 1] + 1] - lo
        yield int(cuts[i]), Adjacency(own, held["neighbours"][lo:hi], columns)


def row_cuts(rows: PagedAdjacency) -> np.ndarray:
    """Bounds of runs of whole rows that come to about a page, int64."""
    return cuts_of(rows.offsets, rows.page_edges)


def cuts_of(offsets: np.ndarray, size: int) -> np.ndarray:
    """Bounds of runs of whole rows of at most ``size`` edges, or of one row that has more; int64."""
    n, cuts = len(offsets) - 1, [0]
    while cuts[-1] < n:
        upto = np.searchsorted(offsets, offsets[cuts[-1]] + size, side="right")
        cuts.append(min(max(int(upto) - 1, cuts[-1] + 1), n))
    return np.array(cuts, np.int64)
