"""Communities by labels that spread along edges.

References
----------
.. [1] Raghavan, Albert, Kumara. Near linear time algorithm to detect community structures in large-scale networks.
   Physical Review E 76 (2007).
.. [2] Iosup et al. The LDBC Graphalytics benchmark. arXiv 2011.15028.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import ClassVar

import numpy as np

from dask_graphgpu.engine.cpu.edges import passes_over
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import (
    LITTLE_WORK,
    edge_blocks,
    for_blocks,
    num_threads,
    step_blocks,
)
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged.rowwise import cuts_of
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

# Vertices whose neighbours changed are marked for the next step, if at most this part of the labels differs from two
# steps ago. If more of them do, nearly every vertex would be marked, which gains nothing.
MARKED = 0.5

BLOCKS_PER_THREAD = 8

# Edges from which it pays to compile more: a first step without counts, and a test whether one label has most votes of
# a vertex, of so many votes or more.
MANY_EDGES = 1 << 20
MANY_VOTES = np.uint64(16)

_NONE = np.empty(0, np.uint8)


def label_propagation(
    view: AnyView, iterations: int, report: Report, start: np.ndarray | None = None
) -> np.ndarray:
    """The label of every vertex after some supersteps, in which all change together.

    Returns
    -------
    ndarray
        Right for ghosts too.

    Notes
    -----
    Cost: O(V + E) a superstep; 4 or 8 V bytes a thread for the counts of labels. In graphs of many edges, labels of a
    vertex with many are not counted if one that two of three neighbours have turns out to have most votes. In the
    memory of one rank the first superstep finds the least label, if all differ, and once half of the labels come and go
    the edges of `Stale` alone are read. Of a directed view the first superstep brings out- and in-edges together, each
    neighbour once: 2 E ids and 24 V bytes more. Elsewhere both rows are gone along side by
    side; on disk both directions lie there, and a vertex's two rows are at hand together. On ranks an exchange a
    superstep, of the labels that have changed.
    """
    if view.on_ranks:
        return _pass_by_pass(view, iterations, report, start)
    label = (_pass_by_pass if view.paged else _in_memory)(view, iterations, report, start)
    rank = view.user_rank
    if rank is None:
        return label
    holder = np.empty_like(label)
    holder[rank.astype(np.intp)] = np.arange(len(rank), dtype=label.dtype)
    found: np.ndarray = holder.take(label)
    return found


def _first_labels(view: AnyView, start: np.ndarray | None) -> np.ndarray:
    """Places in the order of the user's ids; may be written to. Collective on ranks."""
    ids, rank = view.out.neighbours.dtype, view.user_rank
    if start is None:
        return np.arange(view.num_vertices, dtype=ids) if rank is None else rank.astype(ids)
    if not view.on_ranks:
        return start.astype(ids) if rank is None else rank.take(start).astype(ids)
    labels = np.zeros(view.num_vertices, ids)
    labels[: view.num_owned] = start
    view.border.refresh([labels])
    return labels


def _in_memory(
    view: AnyView, iterations: int, report: Report, initial: np.ndarray | None
) -> np.ndarray:
    """As `label_propagation`, with labels in place of vertices."""
    out, n = view.out, view.num_vertices
    offsets, rows = out.offsets, side_by_side(out.offsets, out.neighbours)
    first: Callable[..., tuple[int, int, int]] | None = None
    if view.directed:
        merged = Merged(out.offsets, out.neighbours, view.into.offsets, view.into.neighbours)
        offsets, rows, first = merged.offsets, merged.rows, merged.first
    elif out.num_edges >= MANY_EDGES and initial is None:
        first = partial(_first_step, rows=out)
    # Blocks that are stale here and there take unequal time.
    steps = (int(offsets[-1]) + n) // (num_threads() * BLOCKS_PER_THREAD)
    blocks = step_blocks(offsets, max(steps, LITTLE_WORK))
    labelling = Labelling(n, int(offsets[-1]))
    ids, labels = out.neighbours.dtype, _first_labels(view, initial)
    new = np.empty_like(labels)
    stale = Stale(n)
    if initial is not None and first is not None:
        for_blocks(first, blocks, labels, new)  # for the rows that it makes
        first = None
    for k in range(iterations):
        start = time.perf_counter()
        if k == 0 and first is not None:
            made = for_blocks(first, blocks, labels, new)
        else:
            made = for_blocks(labelling.of_stale, blocks, rows, labels, new, *stale.arrays)
        changed, differ, edges = np.sum(made, axis=0).tolist()
        stale.next(differ)
        labels, new = new, labels
        report.advance(
            "pull", supersteps=1, frontier=n, edges=edges,
            bytes=edges * 2 * (labels.itemsize + ids.itemsize) + n * (16 + 2 * labels.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        if not changed:
            break
    return labels


def _first_step(
    lo: int, hi: int, labels: np.ndarray, new: np.ndarray, *, rows: Adjacency
) -> tuple[int, int, int]:
    """The first superstep of a block of rows, of distinct labels; gives what `Labelling.of_stale` does."""
    offsets = rows.offsets
    changed = kernels.label_propagation.least_of_neighbours(
        lo, hi, offsets.view(np.uint64), rows.neighbours, labels, new
    )
    return changed, hi - lo, int(offsets[hi] - offsets[lo])


def _pass_by_pass(
    view: AnyView, iterations: int, report: Report, initial: np.ndarray | None
) -> np.ndarray:
    """As `label_propagation`, with labels in place of vertices, on disk or on ranks."""
    sides = [view.out, view.into] if view.directed else [view.out]
    n, own, ids = view.num_vertices, view.num_owned, view.out.neighbours.dtype
    offsets: np.ndarray = np.sum([rows.offsets for rows in sides], axis=0)
    # A page of both together is at most one of each.
    cuts = cuts_of(offsets, sides[0].page_edges) if isinstance(sides[0], PagedAdjacency) else None
    labelling, edges = Labelling(n, int(offsets[-1])), int(offsets[own])
    labels = _first_labels(view, initial)
    new, state = np.empty_like(labels), 4 if view.on_ranks else 2
    passes = [passes_over(rows, report, cuts) for rows in sides]
    with ExitStack() as stack:
        for each in passes:
            stack.enter_context(each)
        count = 4 if edges < labelling.narrow else 8
        needed = sum(each.held for each in passes[1:]) + offsets.nbytes
        needed += n * (3 * ids.itemsize + count * num_threads())
        passes[0].require(needed, f"label_propagation of {n:,} vertices")
        for _ in range(iterations):
            start, changed, places = time.perf_counter(), 0, labels
            if view.on_ranks:
                # Counted under their places among those that are here: no array is as long as the graph has vertices.
                known, found = np.unique(labels, return_inverse=True)
                places = found.astype(ids)
            for runs in zip(*(each.over() for each in passes), strict=True):
                lo, hi = runs[0][0], min(runs[0][1], own)
                here = [array for *_, rows in runs for array in (rows.offsets, rows.neighbours)]
                blocks = edge_blocks(offsets[lo : hi + 1]) + lo
                changed += sum(for_blocks(labelling, blocks, side_by_side(*here), places, new))
            if view.on_ranks:
                others = new[:own] != places[:own]
                labels[:own] = known.take(new[:own])
                _, every = view.border.refresh([labels], others, np.array([changed]))
                changed = int(every.sum())
            else:
                labels, new = new, labels
            report.advance(
                "pull", supersteps=1, frontier=own, edges=edges,
                bytes=edges * 2 * (labels.itemsize + ids.itemsize)
                + own * (16 + state * labels.itemsize), seconds=time.perf_counter() - start,
            )  # fmt: skip
            if not changed:
                break
    return labels


# What the kernel takes for rows, see ``kernels/cpu/label_propagation.py``.
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.uint64, np.ndarray, np.ndarray, np.ndarray]


def side_by_side(
    offsets: np.ndarray,
    neighbours: np.ndarray,
    more_offsets: np.ndarray | None = None,
    more: np.ndarray | None = None,
) -> Rows:
    """The rows of one adjacency or two; who is in both counts twice."""
    first = offsets.view(np.uint64)
    second = first[:0] if more_offsets is None else more_offsets.view(np.uint64)
    beside = neighbours[:0] if more is None else more
    return first[:-1], first[1:], neighbours, np.uint64(1), second[:-1], second[1:], beside


class Merged:
    """The rows of two adjacencies brought together: a neighbour in both is there once, and counts twice.

    Attributes
    ----------
    offsets : int64 array, shape (num_vertices + 1,)
        Of both rows together, repeats and all.
    rows : what `Labelling` takes, once `first` was called of all blocks
    """

    def __init__(
        self,
        offsets: np.ndarray,
        neighbours: np.ndarray,
        into_offsets: np.ndarray,
        into: np.ndarray,
    ) -> None:
        self._sides = offsets, neighbours, into_offsets, into
        self.offsets = offsets + into_offsets
        self._places = np.empty((3, len(offsets) - 1), np.uint64)
        self._merged = np.empty(len(neighbours) + len(into), neighbours.dtype)
        starts, ends, more_starts = self._places
        more_ends = self.offsets.view(np.uint64)[1:]
        self.rows: Rows = (
            starts, ends, self._merged, np.uint64(2), more_starts, more_ends, self._merged
        )  # fmt: skip

    def first(self, lo: int, hi: int, labels: np.ndarray, new: np.ndarray) -> tuple[int, int, int]:
        """Make the rows of a block, and the first superstep, of distinct labels; gives what `Labelling` does."""
        changed = kernels.label_propagation.merge_rows(
            lo, hi, *self._sides, labels, new, *self._places, self._merged
        )
        return changed, hi - lo, int(self.offsets[hi] - self.offsets[lo])


class Labelling:
    """One superstep of a block of rows.

    Counters of labels are taken over by the block that comes next, whoever's it is: as many as there
    are threads. They are narrow while there are fewer edges than `narrow`, half of what they can count:
    the cache has room for more of them.
    """

    narrow: ClassVar[int] = 2**31

    def __init__(self, num_labels: int, num_edges: int) -> None:
        self._num_labels = num_labels
        self._dtype = np.uint32 if num_edges < self.narrow else np.uint64
        self._many = MANY_VOTES if num_edges >= MANY_EDGES else None
        self._free: list[tuple[np.ndarray, int]] = []

    def __call__(self, lo: int, hi: int, rows: Rows, labels: np.ndarray, new: np.ndarray) -> int:
        """Write the new labels of the block; gives how many are others than before."""
        return self.of_stale(lo, hi, rows, labels, new, _NONE, _NONE)[0]

    def of_stale(
        self,
        lo: int,
        hi: int,
        rows: Rows,
        labels: np.ndarray,
        new: np.ndarray,
        stale: np.ndarray,
        mark: np.ndarray,
    ) -> tuple[int, int, int]:
        """The same by `Stale`; gives how many are others than before, and than two steps ago, and edges that count."""
        try:
            counts, base = self._free.pop()
        except IndexError:
            counts, base = np.zeros(self._num_labels, self._dtype), 0
        if base >= self.narrow and self._dtype == np.uint32:
            counts[:], base = 0, 0
        changed, differ, after = kernels.label_propagation.most_frequent(
            lo, hi, *rows, labels, new, counts, np.uint64(base), stale, mark, self._many
        )
        self._free.append((counts, after))
        return int(changed), int(differ), int(after) - base


class Stale:
    """Whose label has to be looked for: who has a neighbour whose label is not that of two steps ago.

    The others take the labels that they had then. Labels that come and go every other step are many: all of an edge
    whose ends take each other's.
    """

    def __init__(self, num_vertices: int) -> None:
        self._n = num_vertices
        self._left = 2  # steps before labels of two steps ago are there
        self.arrays = _NONE, _NONE

    def next(self, differ: int) -> None:
        """Make `arrays`, what of this step and marks for the next one, those of the next step.

        ``differ`` : labels that are not those of two steps ago.
        """
        self._left = max(self._left - 1, 0)
        spare, marked = self.arrays
        if self._left or differ >= MARKED * self._n:
            spare = _NONE
        elif not len(spare):
            spare = np.zeros(self._n, np.uint8)
        self.arrays = marked, spare
