"""Louvain and Leiden over edges in host memory: kernels read them where they lie; those of `engine.gpu.louvain`.

Each round reads the rows of vertices that may move or have moved over the link, and each level all edges once for the
modularity and once to join them. Edges between communities are joined some rows at a time where they have no room,
and lie on the device where they fit a quarter of what is left. Weights become whole numbers in pinned memory of their
own. Of a directed graph the host makes both directions of each edge.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.community_levels import Level, Scale, level_of, within
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.louvain import FAR_BYTES, Find, Finders, MovesByClass
from dask_graphgpu.engine.gpu.row_sums import edges_at_once
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.tiered import levels
from dask_graphgpu.engine.tiered.in_place import Elsewhere, in_place, on_host, read_in_place
from dask_graphgpu.partition.device.memory import free_bytes
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_VERTEX = 28  # bytes of loops, degree, rank, and labels of two levels

_MOVING = 52  # of what moves and refines them, beside hash tables


def _with_moves(
    view: View, resolution: float, seed: int, report: Report, find: Find
) -> tuple[Any, float]:
    """What is found by the `MovesByClass` of a view whose edges are read where they lie.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices, or to the edges of one of them, needs more than ``graphgpu.device-memory-limit``.
    """
    both = DeviceView.of(view).made("both directions", view.undirected) if view.directed else view
    weight, most = both.out.weight, view.max_weight or 0
    elsewhere = Elsewhere(both)

    def work(rows: View) -> tuple[Any, float]:
        here = DeviceView.of(rows)
        edges, kept = here.out, RunCache.of(DeviceView.of(both))
        whole = None if weight is None else _whole(weight, Scale.of(most, view.num_edges), kept)
        loop = 1 if view.directed else 2
        first = level_of(here, (edges.offsets, edges.neighbours, whole), loop)
        moves = _MovesInPlace(here, first, resolution, seed, report)
        moves.far_bytes = max(min(FAR_BYTES, (free_bytes() - here.n * _MOVING) // 2), 0)
        moves.elsewhere, moves.kept = elsewhere, kept
        return find(moves)

    bare = View(both.rows, names=(), user_rank=both.user_rank)
    try:
        found: tuple[Any, float] = read_in_place(bare, work, _VERTEX)
        return found
    finally:
        elsewhere.give_back()


_finders = Finders(_with_moves)
louvain = _finders.louvain
leiden = _finders.leiden
smaller_communities = _finders.smaller_communities


class _MovesInPlace(MovesByClass):
    """As of `MovesByClass`, where the edges of a level need not fit the device."""

    elsewhere: Elsewhere
    kept: RunCache

    def aggregated(self, level: Level, labels: Any, count: int) -> Level:
        return levels.aggregated(level, labels, count, self.elsewhere)

    def narrowed(self, labels: Any, chosen: Any) -> Level:
        return within(self.first, labels, chosen, self.elsewhere.of)

    def to_caller(self, places: Any) -> Any:
        here = self._here
        return on_host(here.to_caller(here.in_dense_ids(places)), self.kept)


def _whole(weight: np.ndarray, scale: Scale, kept: RunCache) -> Any:
    """Weights as whole numbers, in pinned memory, where they stay for later runs."""

    def made() -> np.ndarray:
        whole = kept.empty(len(weight), scale.kind)
        there, step = in_place(whole), edges_at_once()
        for low in range(0, len(weight), step):
            some = cupy.asarray(weight[low : low + step])
            there[low : low + step] = scale.whole(some)
        cupy.cuda.get_current_stream().synchronize()
        return whole

    return in_place(kept.made(scale, (weight,), made))
