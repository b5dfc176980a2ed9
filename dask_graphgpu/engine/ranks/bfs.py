"""Direction-optimizing breadth-first search on many ranks, level by level.

References
----------
.. [1] Beamer, Asanovic, Patterson. Direction-optimizing breadth-first search. SC 2012.
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def bfs(
    view: RankView,
    source: int,
    *,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """Hops from `source` along the edges. Collective.

    Returns
    -------
    array of int32, shape (num_vertices,)
        -1 where not reached; right for own vertices.

    Notes
    -----
    One exchange a level, in which new vertices are told to their owners or, by these, to the ranks
    that have edges from them. All ranks push, or all pull, by what the whole frontier has of edges
    [2]_. At most one read of each edge that is here, plus about one a vertex in every pull.

    After some levels of few edges, ranks push several levels between two exchanges, as monotone
    programs do (``graphgpu.local-convergence``): an edge may be read more than once then.

    Where the view has layers, each rank sweeps over its own between two exchanges instead.
    """
    from dask_graphgpu.engine import hops
    from dask_graphgpu.engine.cpu.programs import run
    from dask_graphgpu.engine.direction import configured_direction
    from dask_graphgpu.engine.ranks.in_place import FEW_EDGES, converges_locally
    from dask_graphgpu.engine.ranks.search import Search
    from dask_graphgpu.engine.ranks.stretches import SMALL_LEVELS, Stretches

    if view.levels is not None:
        return hops.by_layers(run, view, source, cutoff, report)
    search = Search(view, source, cutoff, targets, report)
    forced, local = configured_direction(), converges_locally()
    small = 0
    while search.goes_on():
        small = small + 1 if search.ahead < FEW_EDGES * view.ranks.size else 0
        if local and forced == "auto" and small > SMALL_LEVELS:
            if Stretches(search).run():
                break
            small = 0
        if forced == "pull" or (forced != "push" and search.prefers_pull()):
            search.pull()
        else:
            search.push()
    return search.level
