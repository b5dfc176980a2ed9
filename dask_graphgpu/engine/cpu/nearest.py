"""The nearest of some targets for every vertex, wherever the edges lie."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.path_failures import check_distances
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.view import AnyView, RankView
from dask_graphgpu.report import Report

_ROOM = 1 << 12  # of a heap, at first


def nearest(
    view: AnyView, targets: np.ndarray, k: int, limit: float | None, report: Report
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` nearest targets of each vertex; see `contract_searches.Searches`. Collective.

    Notes
    -----
    One search from all targets at once, against the edges, in which a vertex keeps the best k labels and hands each on:
    what is among the nearest of a vertex is among the nearest of the next one on the way there. Labels are taken in the
    order of their distances, so that in the memory of one rank each is final: O(k E log(k V)) on one thread. Each rank
    goes on until nothing changes there before they exchange the labels of the border. Of a disk, runs of rows are gone
    over while they have vertices with new labels, and all labels of these are handed on. Memory: 16 k bytes a vertex,
    and a heap of 16 bytes for each label that waits.
    """
    begun = time.perf_counter()
    rows = view.toward("in").out if isinstance(view, RankView) else view.into
    floats = view.is_weighted and rows.columns["weight"].dtype.kind == "f"
    kind: Any = np.float64 if floats else np.int64
    most = kind(np.inf if floats else np.iinfo(np.int64).max)
    if limit is not None and limit < most:
        most = kind(limit)
    n = view.num_vertices
    labels = Labels(np.zeros((n, k), kind), np.full((n, k), -1), most, len(targets))
    places, here = view.places(targets)
    labels.who[places, 0] = np.flatnonzero(here)
    if view.paged:
        steps, read, overflows = spread_over_pages(rows, labels, places, report)
    else:
        steps, read, overflows = _by_distance(view, rows, labels, places)
    overflows = overflows and limit is None
    check_distances(failed=view.ranks.max(int(overflows)) > 0)
    report.advance(
        "labels", supersteps=steps, frontier=len(targets), edges=read,
        bytes=read * (rows.neighbours.itemsize + 16 * k), seconds=time.perf_counter() - begun,
    )  # fmt: skip
    return labels.far, labels.who


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of the vertices that are here; see the kernels.

    Attributes
    ----------
    far, who : arrays of shape (num_vertices, k)
    most : of the type of distances
        Longer ones are not looked for.
    targets : int
        How many there are.
    """

    far: np.ndarray
    who: np.ndarray
    most: Any
    targets: int

    @property
    def exact(self) -> bool:
        """Whether distances are integers."""
        return self.far.dtype.kind != "f"


def _lengths(rows: Adjacency) -> tuple[np.ndarray, int]:
    """Weights of edges, or a one for all; and how far they are apart."""
    weight = rows.columns.get("weight")
    return (np.ones(1, np.int64), 0) if weight is None else (weight, 1)


def _by_distance(
    view: AnyView, rows: Adjacency, labels: Labels, places: np.ndarray
) -> tuple[int, int, bool]:
    """Spread labels, the nearest first; exchanges, edges read, and whether a distance was too large for its type."""
    far, who, given = labels.far, labels.who, (labels.targets, labels.most, labels.exact)
    heap = _Heap(far.dtype)
    changed = np.zeros(len(far), bool)
    steps = read = 0
    overflows = False
    fresh = places
    while True:
        steps += 1
        heap.reserve(len(fresh) * far.shape[1])
        heap.size = kernels.nearest.put_all(
            fresh, labels.targets, far, who, *heap.arrays, heap.size
        )
        missing = 1
        while missing:
            heap.size, missing, more, beyond = kernels.nearest.spread(
                rows.offsets, rows.neighbours, *_lengths(rows), *given, far, who, *heap.arrays, heap.size, changed
            )  # fmt: skip
            heap.reserve(missing)
            read, overflows = read + more, overflows or bool(beyond)
        if not view.on_ranks:
            return steps, read, overflows
        number = np.array([np.count_nonzero(changed[: view.num_owned])])
        fresh, numbers = view.border.refresh([far, who], changed, number)
        if not numbers.sum():
            break
        changed[:] = False
    if overflows:
        # Perhaps of a label that was less good than the last one: those that are left hand on once more.
        more, overflows = kernels.nearest.spread_rows(
            np.flatnonzero(who[:, 0] >= 0), rows.offsets, rows.neighbours, *_lengths(rows), labels.most,
            labels.exact, far, who, changed,
        )  # fmt: skip
        read += more
    return steps, read, bool(overflows)


class _Heap:
    """Labels that wait, in arrays that grow: distances and entries."""

    def __init__(self, kind: Any) -> None:
        self.arrays = [np.empty(_ROOM, kind), np.empty(_ROOM, np.int64)]
        self.size = 0

    def reserve(self, more: int) -> None:
        """Make room for some more."""
        if (needed := self.size + more) <= len(self.arrays[0]):
            return
        for i, array in enumerate(self.arrays):
            self.arrays[i] = np.empty(2 * needed, array.dtype)
            self.arrays[i][: self.size] = array[: self.size]


def spread_over_pages(
    rows: Adjacency, labels: Labels, places: np.ndarray, report: Report
) -> tuple[int, int, bool]:
    """Hand on the labels at some places along rows on disk: runs that have vertices with new labels, again and again.

    Returns
    -------
    tuple
        Passes, edges read, and whether a distance was too large for its type.
    """
    far, who = labels.far, labels.who
    due = np.zeros(len(far), bool)
    due[places] = True
    overflows = [False]

    def hand_on(some: np.ndarray, part: Adjacency) -> int:
        read, beyond = kernels.nearest.spread_rows(
            some, part.offsets, part.neighbours, *_lengths(part), labels.most, labels.exact, far, who, due
        )  # fmt: skip
        overflows[0] |= bool(beyond)
        return int(read)

    with Paged(rows_on_disk(rows), report) as passes:
        passes.require(far.nbytes + who.nbytes + due.nbytes, f"labels of {len(far):,} vertices")
        steps, read = passes.until_quiet(lambda lo, hi: due[lo:hi], hand_on)
        if overflows[0]:
            # Perhaps of a label that was less good than the last one: those that are left hand on once more.
            due[:], overflows[0] = who[:, 0] >= 0, False
            again = passes.until_quiet(lambda lo, hi: due[lo:hi], hand_on)
            steps, read = steps + again[0], read + again[1]
    return steps, read, overflows[0]
