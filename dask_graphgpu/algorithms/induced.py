"""Results that are the edges among some of the vertices (an induced subgraph)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import Table, Values
from dask_graphgpu.partition.device.masks import any_true


def edge_table(run: Run, edges: tuple[Any, Any, Any]) -> Table:
    """The result, of what the engine's `edges_among` gives: sources, destinations and weights, or None.

    Ordered by source and destination, equal edges by weight; of an undirected graph every edge once,
    the smaller id first.
    """
    source, destination, weight = edges
    if weight is not None:
        weight = _lighter_first(source, destination, weight)
    if run.ranks is not None:  # where numbers are in the order of the user's ids
        run.order(source, destination)
    table = {"edge source": Values(source), "edge destination": Values(destination)}
    if run.schema.weight is not None:
        table["edge weight"] = Values(np.empty(0) if weight is None else weight)
    return table


def _lighter_first(source: Any, destination: Any, weight: Any) -> Any:
    """The weights of edges of which equal ones are side by side: those of equal ones in order."""
    equal = (source[1:] == source[:-1]) & (destination[1:] == destination[:-1])
    if not any_true(equal):
        return weight
    some = np.zeros_like(source, bool)
    some[1:] = equal
    some[:-1] |= equal
    edge = np.zeros_like(source, np.int64)
    edge[1:] = np.cumsum(~equal)
    edge, weights = edge[some], weight[some]
    order = np.argsort(weights, kind="stable")
    ordered = weight.copy()
    ordered[some] = weights[order[np.argsort(edge[order], kind="stable")]]
    return ordered
