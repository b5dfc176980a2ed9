"""Direction-optimizing breadth-first search.

References
----------
.. [1] Beamer, Asanovic, Patterson. Direction-optimizing breadth-first search. SC 2012.
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import num_threads

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

# Edges of a level, in units of little work, from which it goes to the threads: an edge takes about a nanosecond on one,
# and cutting a level into blocks and waking the others as much as a hundred thousand.
LARGE_LEVEL = 32


def bfs(
    view: View,
    source: int,
    *,
    cutoff: int | None,
    targets: np.ndarray | None,
    report: Report,
) -> np.ndarray:
    """Hops from `source` along the edges.

    Notes
    -----
    Levels of few edges are pushed one after another on one thread without coming back to Python, so a deep and narrow
    graph costs microseconds a level. A level of many edges is pushed by all threads, or pulled when it holds a large
    part of the edges not read so far and the view has its in-edges. At most one read of each edge, plus about one a
    vertex in every pull.

    Where the view has layers, it sweeps over them instead: once from their root, from other sources until levels are
    quiet.
    """
    from dask_graphgpu.engine import hops
    from dask_graphgpu.engine.cpu.programs import run
    from dask_graphgpu.engine.cpu.search import Search

    if view.levels is not None:
        return hops.by_layers(run, view, source, cutoff, report)
    if targets is None:
        targets = np.empty(0, np.int64)
    search = Search(view, source, cutoff, targets, report)
    direction = configured_direction()
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
