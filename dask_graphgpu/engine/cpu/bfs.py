"""Direction-optimizing breadth-first search.

References
----------
.. [1] Beamer, Asanovic, Patterson. Direction-optimizing breadth-first search. SC 2012.
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine import hops
from dask_graphgpu.engine.cpu.programs import run
from dask_graphgpu.engine.cpu.search import Search
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import num_threads
from dask_graphgpu.partition.ranks.view import AnyView, RankView
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Edges of a level, in units of little work, from which it goes to the threads: an edge takes about a nanosecond on one,
# and cutting a level into blocks and waking the others as much as a hundred thousand.
LARGE_LEVEL = 32


def bfs(
    view: AnyView, source: int, *, cutoff: int | None, targets: np.ndarray | None, report: Report
) -> np.ndarray:
    """Hops from `source` along the edges.

    Returns
    -------
    ndarray of int32, shape (num_vertices,)
        -1 where not reached; right for own vertices.

    Notes
    -----
    Levels of few edges are pushed one after another on one thread without coming back to Python, so a deep and narrow
    graph costs microseconds a level. A level of many edges is pushed by all threads, or pulled when it holds a large
    part of the edges not read so far and the view has its in-edges. At most one read of each edge, plus about one a
    vertex in every pull.

    Where the view has layers, it sweeps over them instead: once from their root, from other sources until levels are
    quiet; each rank over its own between two exchanges.

    Edges on disk are gone over by a vertex program in place, as far as the rows at hand lead. Where
    ``graphgpu.direction`` has vertices pull, it runs in supersteps, one a level, and ``targets`` do not end it earlier.

    On ranks there is one exchange a level, in which new vertices are told to their owners or, by these, to the ranks
    that have edges from them. All ranks push, or all pull, by what the whole frontier has of edges [2]_. After some
    levels of few edges, ranks push several levels between two exchanges, as monotone programs do
    (``graphgpu.local-convergence``): an edge may be read more than once then.
    """
    if view.levels is not None:
        return hops.in_place(run, view, source, cutoff, report)
    direction = configured_direction()
    if view.paged and direction in ("auto", "push"):
        return hops.in_place(run, view, source, cutoff, report, targets)
    if view.paged:
        steps = None if cutoff is None else int(cutoff)
        return hops.in_supersteps(run, hops.PROGRAM, view, source, steps, report)
    if not isinstance(view, View):
        return _over_ranks(view, source, cutoff, targets, report)
    if targets is None:
        targets = np.empty(0, np.int64)
    search = Search(view, source, cutoff, targets, report)
    if direction == "pull":
        search.pull(int(view.out.degrees[source]), forever=True)
        return search.level
    limit = LARGE_LEVEL * threads.LITTLE_WORK
    while ahead := search.push_small_levels(limit):
        if direction != "push" and search.prefers_pull(ahead):
            search.pull(ahead)
        elif num_threads() > 1:
            search.push_large_level(ahead)
        else:
            limit = max(limit, ahead)  # also large levels are pushed on the one thread
    return search.level


def _over_ranks(
    view: RankView, source: int, cutoff: int | None, targets: np.ndarray | None, report: Report
) -> np.ndarray:
    """As `bfs` on one of several ranks."""
    from dask_graphgpu.engine.ranks.in_place import STRETCHES, converges_locally
    from dask_graphgpu.engine.ranks.search import SMALL_LEVELS, LevelStretches, Search

    search = Search(view, source, cutoff, targets, report)
    forced, local, small = configured_direction(), converges_locally(), 0
    while search.goes_on():
        small = small + 1 if search.ahead < STRETCHES.few_edges * view.ranks.size else 0
        if local and forced == "auto" and small > SMALL_LEVELS:
            if LevelStretches(search).run():
                break
            small = 0
        if forced == "pull" or (forced != "push" and search.prefers_pull()):
            search.pull()
        else:
            search.push()
    return search.level
