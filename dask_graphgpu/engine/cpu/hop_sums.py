"""Sums over breadth-first searches from many sources, without the levels of each.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine.cpu.edges import passes_over
from dask_graphgpu.engine.cpu.multi_bfs import LONG_ROWS
from dask_graphgpu.engine.cpu.sweep import AT_ONCE, OF_VERTEX, Sweep
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report


def hop_sums(view: AnyView, sources: np.ndarray, *, report: Report) -> np.ndarray | None:
    """Sums over searches from many sources: of how many reach each vertex, and of their hops.

    Notes
    -----
    A level of a vertex is the bits of the searches that have just come to it [1]_: their number is added, times what
    the level makes of each, and nothing is kept of a search. None where searches rarely meet, as of `multi_bfs`.
    Cost: a sweep for 64 sources; 80 bytes a vertex.
    """
    n, rows = view.num_vertices, view.out
    if not view.paged and view.graph_edges < LONG_ROWS * view.graph_vertices:
        return None
    if view.on_ranks and view.levels is not None:
        return None
    sums = np.zeros((n, 5))
    with passes_over(rows, report) as passes:
        more = n * (OF_VERTEX + 2 * rows.neighbours.itemsize) + sums.nbytes
        passes.require(more, f"a search of {n:,} vertices")
        for first in range(0, len(sources), AT_ONCE):
            some = sources[first : first + AT_ONCE]
            Sweep(view, passes, some, None, None, report, sums).search()
    return sums
