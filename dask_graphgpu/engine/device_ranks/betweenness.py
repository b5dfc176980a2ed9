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

from dask_graphgpu.engine.device_ranks.bfs import forced_direction, searching

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
) -> np.ndarray:
    """Sums of the sources' dependencies; as `engine.ranks.betweenness`. Collective.

    Notes
    -----
    A search from each source, path counts from level to level, and dependencies back [1]_. The edges
    between two levels are found from the end whose rows have fewer entries, on each rank as it takes
    least; what travels are the values of the border vertices of the smaller level [2]_, whose order is
    found on both sides from the levels alone. 33 bytes an own vertex, 25 a ghost and about 12 a value
    that may travel, which stay with the share for the next run; and the edges once more, by their other
    ends, of directed graphs in both directions. Sums over weights or of edges, and searches of more than
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
    from dask_graphgpu.engine.device_ranks.connected import connected
    from dask_graphgpu.engine.gpu.level_sweeps import MOST_LEVELS

    rest = len(sources)
    key = "betweenness", view.toward("out").rows, view.toward("in").rows
    with searching(view) as search, connected(view, key) as (border, made):
        if made is None:
            made = Accumulation(view, border)
            view.ranks.barrier()  # to allocate waits for devices, and a peer's may wait for this one
        made.clear()
        for i, source in enumerate(sources.tolist()):
            search.run(source, None, forced_direction(), report)
            start = time.perf_counter()
            sizes = search.sizes
            if len(sizes) > MOST_LEVELS:
                rest = i
                break
            read = made.add(search.level, sizes, endpoints=endpoints)
            report.advance(
                "accumulate", supersteps=2 * (len(sizes) - 1), frontier=1, edges=read,
                bytes=read * (view.id_dtype.itemsize + 9) + 60 * view.num_vertices,
                seconds=time.perf_counter() - start,
            )  # fmt: skip
        sums: np.ndarray = made.sums()
        border.leave(key, made)
    if rest < len(sources):
        sums += on_host(view, sources[rest:], **how)
    return sums
