"""Louvain and Leiden over edges in host memory: kernels read them where they lie.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import cupy
import numpy as np

from dask_graphgpu.engine.communities import Start
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.louvain import (
    FAR_BYTES,
    Level,
    MovesByClass,
    Scale,
    leiden_by,
    level_of,
    louvain_by,
    smaller_by,
)
from dask_graphgpu.engine.gpu.row_sums import edges_at_once
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.tiered import levels
from dask_graphgpu.engine.tiered.in_place import Elsewhere, in_place, on_host, read_in_place
from dask_graphgpu.partition.device.memory import free_bytes
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

Found = TypeVar("Found")

_VERTEX = 28  # bytes of loops, degree, rank, and labels of two levels

_MOVING = 48  # of what moves and refines them, beside hash tables


def louvain(
    view: View,
    resolution: float,
    seed: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[Any, float]:
    """Communities by moving vertices, then whole communities [1]_; those of `engine.gpu.louvain`.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices, or to the edges of one of them, needs more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    Each round reads the rows of vertices that may move, and all edges for the modularity, over the link. Edges
    between communities are joined some rows at a time, and lie on the device where they fit a quarter of what is
    left. Weights become whole numbers in pinned memory of their own. Of a directed graph the host makes both
    directions of each edge.
    """
    return _with_moves(
        view, resolution, seed, report, lambda moves: louvain_by(moves, start, finer)
    )


def leiden(
    view: View,
    resolution: float,
    seed: int,
    iterations: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[Any, float]:
    """Communities as `louvain`, of which every one is connected [2]_; those of `engine.gpu.leiden`."""
    return _with_moves(
        view, resolution, seed, report, lambda moves: leiden_by(moves, iterations, start, finer)
    )


def smaller_communities(
    view: View,
    labels: Any,
    max_size: int,
    resolution: float,
    seed: int,
    iterations: int | None,
    report: Report,
) -> tuple[list[Any], float]:
    """Communities within those that are too large, at higher resolutions; see `communities.smaller`."""
    return _with_moves(
        view,
        resolution,
        seed,
        report,
        lambda moves: smaller_by(moves, labels, max_size, iterations),
    )


def _with_moves(
    view: View, resolution: float, seed: int, report: Report, find: Callable[[MovesByClass], Found]
) -> Found:
    """What is found by the `MovesByClass` of a view whose edges are read where they lie."""
    both = DeviceView.of(view).made("both directions", view.undirected) if view.directed else view
    weight, most = both.out.weight, view.max_weight or 0

    def work(rows: View) -> Found:
        here = DeviceView.of(rows)
        edges, kept = here.out, RunCache.of(DeviceView.of(both))
        whole = None if weight is None else _whole(weight, Scale.of(most, view.num_edges), kept)
        loop = 1 if view.directed else 2
        first = level_of(here, (edges.offsets, edges.neighbours, whole), loop)
        moves = _MovesInPlace(here, first, resolution, seed, report)
        moves.far_bytes = max(min(FAR_BYTES, (free_bytes() - here.n * _MOVING) // 2), 0)
        moves.elsewhere, moves.kept = Elsewhere(both), kept
        return find(moves)

    bare = View(both.rows, names=(), user_rank=both.user_rank)
    found: Found = read_in_place(bare, work, _VERTEX)
    return found


class _MovesInPlace(MovesByClass):
    """As of `MovesByClass`, where the edges of a level need not fit the device."""

    elsewhere: Elsewhere
    kept: RunCache

    def aggregated(self, level: Level, labels: Any, count: int) -> Level:
        return levels.aggregated(level, labels, count, self.elsewhere)

    def narrowed(self, labels: Any, chosen: Any) -> Level:
        return levels.within(self.first, labels, chosen, self.elsewhere)

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
