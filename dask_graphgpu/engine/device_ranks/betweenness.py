"""Betweenness on several GPUs by Brandes' accumulation, level by level.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.accumulation import Accumulation
from dask_graphgpu.engine.device_ranks.bfs import forced_direction, searching
from dask_graphgpu.engine.device_ranks.connected import connected
from dask_graphgpu.engine.gpu import level_sweeps
from dask_graphgpu.engine.ranks.betweenness import betweenness as on_host

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def betweenness(
    view: RankView,
    sources: np.ndarray,
    *,
    weighted: bool,
    endpoints: bool,
    edges: bool,
    report: Report,
) -> Any:
    """Sums of the sources' dependencies; as `engine.ranks.betweenness`. Collective.

    Returns
    -------
    array of float64
        On the host, but for vertices without weights of a view that is `RankView.staying`.

    Notes
    -----
    A search from each source, path counts from level to level, and dependencies back [1]_. The edges
    between two levels are found from the end whose rows have fewer entries, on each rank as it takes
    least; what travels are the values of the border vertices of the smaller level [2]_, whose order is
    found on both sides from the levels alone. Levels of several sources, a batch, share launches and
    messages. 29 bytes a vertex or ghost and about 20 a value that may travel, of each source of a batch,
    which stay with the share for the next run; and the edges once more, by their other ends, of directed
    graphs in both directions. Sums over weights or of edges, and of all sources from the first on whose
    search has more than `MOST_LEVELS` levels, are made on the ranks' processors. Last bits may change from
    run to run.
    """
    how: dict[str, Any] = {
        "weighted": weighted,
        "endpoints": endpoints,
        "edges": edges,
        "report": report,
    }
    if weighted or edges:
        return on_host(view, sources, **how)

    done, total = 0, len(sources)
    key = "betweenness", view.toward("out").rows, view.toward("in").rows
    with searching(view, level_sweeps.SEPARATORS) as search, connected(view, key) as (border, made):
        if made is None or made.sources < min(total, made.most):
            del made  # its memory may be needed
            made = Accumulation(view, border, total)
            view.ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        made.clear()
        deep = False
        while done < total and not deep:
            levels: list[int] = []
            for source in sources[done : done + made.sources].tolist():
                search.run(source, None, forced_direction(), report)
                deep = search.levels > level_sweeps.MOST_LEVELS
                if deep:
                    break
                made.take(len(levels), search)
                levels.append(search.levels)
            start = time.perf_counter()
            if levels:
                read = made.add(levels, endpoints=endpoints)
                report.advance(
                    "accumulate", supersteps=2 * (max(levels) - 1), frontier=len(levels),
                    edges=read, bytes=read * (view.id_dtype.itemsize + 9)
                    + 60 * view.num_vertices * len(levels), seconds=time.perf_counter() - start,
                )  # fmt: skip
            done += len(levels)
        sums = made.sums(stays=view.stays)
        border.leave(key, made)
    if done < total:
        rest = on_host(view, sources[done:], **how)
        sums += cupy.asarray(rest) if view.stays else rest
    return sums


def edge_betweenness(view: RankView, sources: np.ndarray, *, weighted: bool, report: Report) -> Any:
    """Sums of the sources' dependencies on every edge: as `betweenness` with ``edges``."""
    return betweenness(view, sources, weighted=weighted, endpoints=False, edges=True, report=report)
