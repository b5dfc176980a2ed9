"""One-to-one links, the largest weight first: what is on the host, on all engines.

References
----------
.. [1] Preis. Linear time 1/2-approximation algorithm for maximum weighted matching in general graphs. STACS 1999.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.engine.weight_order import turned
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.report import Report

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]


def best_links(view: Any, edges: Callable[[], tuple[Any, Any, Any]], report: Report) -> Edges:
    """Edges of which no two share an end, by falling weight, then by their ends.

    Notes
    -----
    A sort by weight, and each edge is looked at once: what mutual best links give when they are taken again and again
    among the vertices that are left [1]_. On several ranks the first one gets all edges, and has the answer.
    """
    start = time.perf_counter()
    source, destination, weight = (to_host(each) for each in edges())
    if view.ranks.size > 1:
        source, destination, weight = (
            view.ranks.to_first(each) for each in (source, destination, weight)
        )
        order = np.lexsort((destination, source))
        source, destination, weight = source[order], destination[order], weight[order]
    left = np.zeros(view.graph_vertices, bool)
    right = np.zeros(view.graph_vertices, bool) if view.directed else left
    if not view.directed:  # a vertex is no partner of itself
        apart = np.flatnonzero(source != destination)
        source, destination, weight = source[apart], destination[apart], weight[apart]
    chosen = np.zeros(len(source), bool)
    order = np.argsort(turned(weight), kind="stable")
    kernels.matching.take_in_turn(order, source, destination, left, right, chosen)
    report.advance(
        "match", supersteps=1, frontier=int(np.count_nonzero(chosen)), edges=len(source),
        bytes=len(source) * (2 * source.itemsize + weight.itemsize + 8),
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    taken = np.flatnonzero(chosen)
    return source[taken], destination[taken], weight[taken]
