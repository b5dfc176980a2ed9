"""Degrees, and how those of neighbours are alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def degree_centrality(G: BackendGraph) -> dict[Any, float]:
    """As ``networkx.degree_centrality``."""
    return _central(G, G.degrees)


@offered
def in_degree_centrality(G: BackendGraph) -> dict[Any, float]:
    """As ``networkx.in_degree_centrality``."""
    return _central(G, G.in_degrees)


@offered
def out_degree_centrality(G: BackendGraph) -> dict[Any, float]:
    """As ``networkx.out_degree_centrality``."""
    return _central(G, G.out_degrees)


def _central(G: BackendGraph, degrees: np.ndarray) -> dict[Any, float]:
    if len(G) == 1:
        return dict.fromkeys(G, 1)
    return dict(zip(G.nodes, (degrees * (1.0 / (len(G) - 1.0))).tolist(), strict=True))


@offered
def isolates(G: BackendGraph) -> Iterator[Any]:
    """As ``networkx.isolates``."""
    return iter(G.named((G.degrees == 0).nonzero()[0]))


@offered
def number_of_isolates(G: BackendGraph) -> int:
    """As ``networkx.number_of_isolates``."""
    return int((G.degrees == 0).sum())


@offered
def number_of_selfloops(G: BackendGraph) -> int:
    """As ``networkx.number_of_selfloops``."""
    return int((G.source == G.destination).sum())


@offered
def average_neighbor_degree(
    G: BackendGraph,
    source: str = "out",
    target: str = "out",
    nodes: Any = None,
    weight: Any = None,
) -> dict[Any, float]:
    """As ``networkx.average_neighbor_degree``."""
    rows = G.successors
    theirs, own = (G.out_degrees, G.out_degrees) if G.directed else (G.degrees, G.degrees)
    total = np.bincount(rows.tails, theirs[rows.neighbours], minlength=len(G))
    mean = np.divide(total, own, out=np.zeros(len(G)), where=own > 0).tolist()
    found = dict(zip(G.nodes, mean, strict=True))
    return found if nodes is None else {node: found[node] for node in G.origin.nbunch_iter(nodes)}


@offered
def average_degree_connectivity(
    G: BackendGraph,
    source: str = "in+out",
    target: str = "in+out",
    nodes: Any = None,
    weight: Any = None,
) -> dict[int, float]:
    """As ``networkx.average_degree_connectivity``."""
    rows, degrees = G.successors, G.degrees
    total = np.bincount(degrees[rows.tails], degrees[rows.neighbours])
    nodes_of = np.bincount(degrees)
    found = {}
    for degree in nodes_of.nonzero()[0].tolist():
        ends = degree * int(nodes_of[degree])
        found[degree] = int(total[degree]) / ends if ends else 0
    return found


@offered
def degree_assortativity_coefficient(
    G: BackendGraph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """As ``networkx.degree_assortativity_coefficient``."""
    return _alike(G, x, y)


@offered
def degree_pearson_correlation_coefficient(
    G: BackendGraph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    """As ``networkx.degree_pearson_correlation_coefficient``."""
    return _alike(G, x, y)


def _alike(G: BackendGraph, x: str, y: str) -> float:
    """The correlation of the degrees at both ends of the edges."""
    tails, heads, _ = G.arcs()
    by = {"out": G.out_degrees, "in": G.in_degrees} if G.directed else {x: G.degrees, y: G.degrees}
    here, there = by[x][tails], by[y][heads]
    if len(tails) < 2 or np.ptp(here) == 0 or np.ptp(there) == 0:
        raise NotImplementedError("only where degrees differ")
    return float(np.corrcoef(here, there)[0, 1])


@offered
def overall_reciprocity(G: BackendGraph) -> float:
    """As ``networkx.overall_reciprocity``."""
    if not len(G.source):
        raise nx.NetworkXError("Not defined for empty graphs")
    apart = G.source != G.destination
    back = G.destination[apart] * len(G) + G.source[apart]
    return float(np.isin(back, G.arc_keys, assume_unique=True).sum()) / len(G.source)


@offered
def reciprocity(G: BackendGraph, nodes: Any = None) -> float:
    """As ``networkx.reciprocity``."""
    return overall_reciprocity(G)


@offered
def s_metric(G: BackendGraph) -> float:
    """As ``networkx.s_metric``."""
    return float((G.degrees[G.source] * G.degrees[G.destination]).sum())
