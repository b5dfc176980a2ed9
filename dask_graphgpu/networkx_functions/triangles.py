"""Triangles and clustering."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def triangles(G: BackendGraph, nodes: Any = None) -> Any:
    """As ``networkx.triangles``."""
    return G.chosen(G.by_node(G.graph().triangle_count(), "triangles"), nodes)


@offered
def clustering(G: BackendGraph, nodes: Any = None, weight: str | None = None) -> Any:
    """As ``networkx.clustering``."""
    found = G.by_node(G.graph().clustering_coefficient(), "clustering_coefficient")
    # an int where there is no triangle, as NetworkX has it
    return G.chosen({node: value or 0 for node, value in found.items()}, nodes)


@offered
def average_clustering(
    G: BackendGraph, nodes: Any = None, weight: str | None = None, count_zeros: bool = True
) -> float:
    """As ``networkx.average_clustering``."""
    values = list(clustering(G, nodes).values())
    if not count_zeros:
        values = [value for value in values if value]
    return float(sum(values) / len(values))


@offered
def transitivity(G: BackendGraph) -> float:
    """As ``networkx.transitivity``."""
    found = 2 * int(G.graph().triangle_count()["triangles"].sum())
    rows = G.successors
    degree = np.diff(rows.offsets)
    np.subtract.at(degree, rows.tails[rows.tails == rows.neighbours], 1)  # without self-loops
    return found / int((degree * (degree - 1)).sum()) if found else 0
