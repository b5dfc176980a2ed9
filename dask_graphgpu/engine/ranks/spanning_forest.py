"""Minimum spanning forest on many ranks: a forest of each rank's edges, and forests made one, two at a time.

References
----------
.. [1] Boruvka. O jistem problemu minimalnim. Prace Moravske prirodovedecke spolecnosti 3 (1926).
.. [2] Karger, Klein, Tarjan. A randomized linear-time algorithm to find minimum spanning trees. J. ACM 42 (1995).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.spanning_forest import edges_of, forest

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def spanning_forest(view: RankView, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges of the minimum spanning forest, as the CPU engine's `spanning_forest`. Collective.

    Returns
    -------
    tuple of ndarray, shape (edges,)
        Numbers of both ends of each edge, the smaller first; its weight. All of them on the first rank, none on others.

    Notes
    -----
    The heaviest edge of a cycle is in no minimum forest [2]_, so an edge that is not in the forest of one rank's edges
    is not in that of all. Each rank makes its own by rounds [1]_, then of every two forests one is made, until one is
    left: log2(ranks) times one rank sends another at most one edge for each vertex of the whole graph. What is left in
    the end lies on one rank: two ids and a weight a vertex.
    """
    ranks, numbers = view.ranks, view.numbers
    order = np.argsort(numbers)
    place = np.empty_like(numbers)
    place[order] = np.arange(len(order), dtype=numbers.dtype)
    low, high, weight = edges_of(view.out, place, view.directed)
    taken = forest(len(order), low, high, weight, report)
    table = numbers[order]
    edges = table[low[taken]], table[high[taken]], weight[taken]
    step = 1
    while step < ranks.size:
        sends = ranks.rank % (2 * step) == step
        to = ranks.rank - step if sends else -1
        arrived = [_sent(view, each, to) for each in edges]
        edges = arrived[0], arrived[1], arrived[2]
        if not sends and ranks.rank % (2 * step) == 0 and ranks.rank + step < ranks.size:
            edges = _one_forest(edges, report)
        step *= 2
    return edges


def _sent(view: RankView, array: np.ndarray, to: int) -> np.ndarray:
    """What this rank has after it has sent all of an array to another, or to nobody, and has got theirs."""
    ranks, nothing = view.ranks, array[:0]
    every = ranks.all_to_all([array if peer == to else nothing for peer in range(ranks.size)])
    kept = nothing if to >= 0 else array
    return np.concatenate([kept, *(each for peer, each in enumerate(every) if peer != ranks.rank)])


def _one_forest(
    edges: tuple[np.ndarray, np.ndarray, np.ndarray], report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The forest of the edges of two."""
    low, high, weight = edges
    table = np.union1d(low, high)
    first, second = (np.searchsorted(table, each).astype(low.dtype) for each in (low, high))
    taken = forest(len(table), first, second, weight, report)
    return low[taken], high[taken], weight[taken]
