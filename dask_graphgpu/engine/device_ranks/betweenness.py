"""Betweenness on several GPUs by Brandes' accumulation, level by level.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report

# Levels of a search, at most; deeper ones are left to the processors, which go on as far as they can
# between two exchanges. Each level is some launches here.
MOST_LEVELS = 250


def betweenness(
    view: RankView,
    sources: np.ndarray,
    *,
    weighted: bool,
    endpoints: bool,
    edges: bool,
    report: Report,
) -> np.ndarray:
    """Sums of the sources' dependencies; as `engine.ranks.betweenness`. Collective.

    Notes
    -----
    A search from each source, path counts from level to level, and dependencies back [1]_: each vertex
    takes what its own edges bring, so that a look at each edge is made twice, and what travels of a
    level are the values of its border vertices [2]_. Their order by level is found on both sides from
    the levels alone. 41 bytes a vertex. Sums over weights or of edges, and searches of more than
    `MOST_LEVELS` levels, are made on the ranks' processors. Last bits may change from run to run.
    """
    from dask_graphgpu.engine.ranks import betweenness as on_host

    how: dict[str, Any] = {
        "weighted": weighted,
        "endpoints": endpoints,
        "edges": edges,
        "report": report,
    }
    if weighted or edges:
        return on_host(view, sources, **how)
    # No CuPy before a run.
    from dask_graphgpu.engine.device_ranks.accumulation import Accumulation
    from dask_graphgpu.engine.device_ranks.bfs import bfs
    from dask_graphgpu.engine.device_ranks.connected import connected

    staying, rest = view.staying(), len(sources)
    with connected(view) as (border, _):
        made = Accumulation(view, border)
        for i, source in enumerate(sources.tolist()):
            level = bfs(staying, source, cutoff=None, targets=None, report=report)
            start = time.perf_counter()
            depth = made.begin(level)
            if depth >= MOST_LEVELS:
                rest = i
                break
            read = made.add(source, depth, endpoints=endpoints)
            report.advance(
                "accumulate", supersteps=2 * depth, frontier=1, edges=2 * read,
                bytes=2 * read * (view.id_dtype.itemsize + 1) + 60 * view.num_vertices,
                seconds=time.perf_counter() - start,
            )  # fmt: skip
        sums = made.sums()
    if rest < len(sources):
        sums += on_host(view, sources[rest:], **how)
    return sums
