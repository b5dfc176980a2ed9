"""Betweenness of edges, and with weights, over edges in host memory: searches read rows where they lie.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.edge_ends import both_directions
from dask_graphgpu.engine.gpu.betweenness import MOST_BYTES, PathSums, distances_by
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.tiered.in_place import in_place, read_in_place
from dask_graphgpu.engine.tiered.programs import run
from dask_graphgpu.partition.csr import transpose_column
from dask_graphgpu.partition.device.memory import free_bytes, require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_VERTEX = 44  # bytes of a team's arrays, and of sums


def edge_betweenness(
    view: View, sources: Any, *, weighted: bool, report: Report
) -> tuple[Any, Any, Any]:
    """Ends of every edge, and sums of dependencies on it; as `engine.gpu.edge_betweenness`, up to rounding.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices needs more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    Dependencies are added up in pinned memory [1]_, 8 bytes an edge and direction. Each source reads rows over the
    link twice, and adds to each edge of a shortest path.
    """
    kept = RunCache.of(DeviceView.of(view))
    taken = kept.take(view.num_edges, np.float64)
    try:
        sums = taken[: view.num_edges]
        sums.fill(0)
        given = {"weighted": weighted, "endpoints": False, "along": in_place(sums)}
        sums_in_place(view, sources, **given, report=report)
        sums = sums.copy()
    finally:
        kept.give_back(taken)
    if not view.directed:
        sums = both_directions(view, view.out, sums, transpose_column, weighted=weighted)
    return (*view.ends(), sums)


def sums_in_place(
    view: View, sources: Any, *, weighted: bool, endpoints: bool, along: Any, report: Report
) -> np.ndarray:
    """The sources' dependencies on every vertex, and ``along`` edges unless it is None.

    With weights distances are found first, by the engine's programs, for one source after another.
    """
    chosen, through = np.asarray(sources), np.zeros(view.num_vertices)
    names = ("weight",) if weighted else ()
    shown = View(view.rows, names=names, user_rank=view.user_rank)

    def add(some: np.ndarray, *lengths: Any) -> None:
        start = time.perf_counter()

        def summed(rows: View) -> Any:
            here = DeviceView.of(rows)
            require(here.n * _VERTEX, "betweenness")
            weight = here.out.weight if weighted else None
            room = min(free_bytes(), MOST_BYTES)
            search = PathSums(here, weight, endpoints, along, room)
            on_device = cupy.asarray(some).astype(here.id_dtype)
            if weighted:
                search.run(on_device, *map(cupy.asarray, lengths))
            else:
                search.run_all(on_device)
            search.tell(report, len(some), time.perf_counter() - start)
            return search.through

        np.add(through, read_in_place(shown, summed), out=through)

    if not weighted:
        add(chosen)
        return through
    for i, source in enumerate(chosen.tolist()):
        add(chosen[i : i + 1], *distances_by(run, shown, source, view.out.weight))
    return through
