"""Sums over breadth-first searches from many sources, without the levels of each.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine.cpu.edges import passes_over
from dask_graphgpu.engine.cpu.multi_bfs import LONG_ROWS, multi_bfs
from dask_graphgpu.engine.cpu.sweep import AT_ONCE, OF_VERTEX, Sweep
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report


def hop_sums(view: AnyView, sources: np.ndarray, *, report: Report) -> np.ndarray:
    """Sums over searches from many sources: of how many reach each vertex, and of their hops.

    Notes
    -----
    A level of a vertex is the bits of the searches that have just come to it [1]_: their number is added, times what
    the level makes of each, and nothing is kept of a search. Where searches rarely meet, as of `multi_bfs`, levels of
    as many are added up. Cost: a sweep for 64 sources; 80 bytes a vertex, and where they rarely meet 4 a source.
    """
    sums = np.zeros((view.num_vertices, 5))
    short = not view.paged and view.graph_edges < LONG_ROWS * view.graph_vertices
    (_of_levels if short or view.levels is not None else _of_sweeps)(view, sources, sums, report)
    return sums


def _of_sweeps(view: AnyView, sources: np.ndarray, sums: np.ndarray, report: Report) -> None:
    n, rows = view.num_vertices, view.out
    with passes_over(rows, report) as passes:
        more = n * (OF_VERTEX + 2 * rows.neighbours.itemsize) + sums.nbytes
        passes.require(more, f"a search of {n:,} vertices")
        for first in range(0, len(sources), AT_ONCE):
            some = sources[first : first + AT_ONCE]
            Sweep(view, passes, some, None, None, report, sums).search()


def _of_levels(view: AnyView, sources: np.ndarray, sums: np.ndarray, report: Report) -> None:
    for first in range(0, len(sources), AT_ONCE):
        some = sources[first : first + AT_ONCE]
        level = multi_bfs(view, some, cutoff=None, targets=None, report=report)
        blocks = even_blocks(view.num_owned, work=len(some))
        for_blocks(kernels.multi_bfs.add_levels, blocks, level, sums)
