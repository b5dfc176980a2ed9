"""One shortest path, searched for from both ends.

References
----------
.. [1] Pohl. Bi-directional search. Machine Intelligence 6, 1971.
"""

from __future__ import annotations

import time
import weakref
from typing import Any, NamedTuple

import numpy as np

from dask_graphgpu.engine.cpu.search import INTO_COST
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels.cpu import two_sided as kernels
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Rounding of the sum of a path, for each of its vertices, from one end and from the other, several times over.
ROUNDING = 2.0**-50

SOURCE, TARGET = 1, 2  # labels
LABEL_BYTES = 8 + 2 * 8 + 2 * 16  # of a label: its vertex, distances and places in heaps
ROOM = 1 << 16  # for labels and in heaps, to begin with; what is not used is not touched

# Of each graph, labels of its vertices that are all none: setting those back that were met takes less than making new
# ones. As many as searches were under way at once.
_spare: weakref.WeakKeyDictionary[Rows, list[np.ndarray]] = weakref.WeakKeyDictionary()


def two_sided_path(
    view: View, source: int, target: int, *, hops: bool, report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None] | None:
    """The path that `predecessors` of a search from `source` make to `target`.

    Notes
    -----
    Time goes with what is near the two ends, not with the graph: on a road network half of what a search from
    one end takes, on a social network a small part. On one thread. So does memory, but for four bytes a vertex that are
    kept for the next search.
    """
    if configured_direction() != "auto" or view.levels is not None:
        return None
    # Making in-edges takes about as long as a search from one end.
    whole = INTO_COST * view.num_edges
    if not view.has_into and view.note_missed(whole) <= whole:
        return None
    start = time.perf_counter()
    rows, into = view.out, view.into
    weight, into_weight = (
        np.ones(1, np.int64) if hops or side.weight is None else side.weight
        for side in (rows, into)
    )
    kind: Any = np.float64 if weight.dtype.kind == "f" else np.int64
    limits: tuple[Any, Any, Any] = (1, np.iinfo(np.int64).max - 1, np.iinfo(np.int64).max)
    if kind is np.float64:
        limits = 1 + (view.num_vertices + 8) * ROUNDING, np.finfo(kind).max, np.inf
    slack, unbounded, never = map(kind, limits)
    each = int(len(weight) > 1)
    spare = _spare.setdefault(view.rows, [])
    try:
        label_of = spare.pop()
    except IndexError:
        label_of = np.zeros(view.num_vertices, np.uint32)
    search = _Search(label_of, source, target, never)
    bounds = np.array([unbounded], kind)
    missing = int(source != target)
    while missing:
        missing = kernels.search(
            unbounded, slack, each, rows.offsets, rows.neighbours, weight,
            into.offsets, into.neighbours, into_weight,
            *search.labels, *search.heaps, bounds, search.progress,
        )  # fmt: skip
        if missing:
            search.grow(missing)
    used, _, _, _, read, too_long = search.progress.tolist()
    edges, ends, distance = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, kind)
    reached, ids = search.labels.distance[TARGET, 0] < never, into.neighbours.dtype
    if reached:
        rank = np.empty(0, ids) if view.user_rank is None else view.user_rank
        found = kernels.walk(
            used, rows.offsets, into.offsets, into.neighbours, into_weight, each, view.directed,
            rank, *search.labels,
        )  # fmt: skip
        edges, ends, distance = (column[::-1] for column in found)
    search.forget()
    spare.append(label_of)
    if too_long and not reached:
        return None
    edge_bytes = into.neighbours.itemsize + into_weight.itemsize * (len(into_weight) > 0)
    report.advance(
        "both ends", supersteps=1, frontier=2, edges=read, seconds=time.perf_counter() - start,
        bytes=read * (edge_bytes + label_of.itemsize) + used * LABEL_BYTES,
    )  # fmt: skip
    weights = None if hops else into_weight[edges]
    return into.neighbours[edges], ends.astype(ids), distance, weights


class _Labels(NamedTuple):
    """What is known of the vertices that were met; see the kernels."""

    label_of: np.ndarray
    vertex: np.ndarray
    distance: np.ndarray


class _Search:
    """Arrays of a search under way, which grow."""

    def __init__(
        self, label_of: np.ndarray, source: int, target: int, never: np.number[Any]
    ) -> None:
        self.never = never  # the distance of what was not met
        self.labels, self.heaps = self._arrays(label_of, ROOM)
        self.progress = np.array([3, 1, 1, 1, 0, 0])
        self.labels.distance[:3] = never
        for side, (label, v) in enumerate([(SOURCE, source), (TARGET, target)]):
            label_of[v] = label
            self.labels.vertex[label] = v
            self.labels.distance[label, side] = self.heaps[2 * side][0] = 0
            self.heaps[2 * side + 1][0] = label

    def _arrays(self, label_of: np.ndarray, room: int) -> tuple[_Labels, list[np.ndarray]]:
        """Room for labels; keys and labels of the source's heap, then of the target's."""
        labels = _Labels(label_of, np.empty(room, np.int64), np.empty((room, 2), self.never.dtype))
        return labels, [np.empty(room, dtype) for dtype in (self.never.dtype, np.int64) * 2]

    def grow(self, more: int) -> None:
        """Make room for some more labels and entries of heaps."""
        used, *sizes = self.progress[:3].tolist()
        labels, heaps = self._arrays(
            self.labels.label_of, 2 << (max(used, *sizes) + more).bit_length()
        )
        for new, old in zip(labels[1:], self.labels[1:], strict=True):
            new[:used] = old[:used]
        for new, old, size in zip(heaps, self.heaps, np.repeat(sizes, 2), strict=True):
            new[:size] = old[:size]
        self.labels, self.heaps = labels, heaps

    def forget(self) -> None:
        """Set the labels of what was met back to none."""
        self.labels.label_of[self.labels.vertex[1 : self.progress[0]]] = 0
