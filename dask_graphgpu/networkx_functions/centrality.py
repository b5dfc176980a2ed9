"""Ranks and centralities."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from dask_graphgpu.errors import NotConverged
from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def pagerank(
    G: BackendGraph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-06,
    nstart: Any = None,
    weight: str | None = "weight",
    dangling: Any = None,
) -> dict[Any, float]:
    """As ``networkx.pagerank``."""
    wanted = None
    if personalization is not None:
        some = [node for node in personalization if node in G]
        wanted = pd.DataFrame({
            "vertex": np.array([G.place[node] for node in some], np.int64),
            "value": np.array([personalization[node] for node in some], np.float64),
        })  # fmt: skip
    try:
        found = G.graph(weight).pagerank(
            damping=alpha, tolerance=tol * len(G), max_iterations=max_iter, personalization=wanted
        )
    except NotConverged as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    return G.by_node(found, "rank")


@offered
def betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """As ``networkx.betweenness_centrality``."""
    found = G.graph(weight).betweenness_centrality(
        _drawn(G, k, seed), weighted=weight is not None, normalized=bool(normalized),
        endpoints=bool(endpoints),
    )  # fmt: skip
    return G.by_node(found, "betweenness")


@offered
def edge_betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: str | None = None,
    seed: Any = None,
) -> dict[Any, float]:
    """As ``networkx.edge_betweenness_centrality``."""
    if not len(G.source):
        return {}
    found = G.graph(weight).edge_betweenness_centrality(
        _drawn(G, k, seed), weighted=weight is not None, normalized=bool(normalized)
    )
    value = np.empty(len(G.source))
    value[np.lexsort((G.destination, G.source))] = found["betweenness"]
    ends = (map(G.nodes.__getitem__, side.tolist()) for side in (G.source, G.destination))
    return dict(zip(zip(*ends, strict=True), value.tolist(), strict=True))


def _drawn(G: BackendGraph, k: int | None, seed: Any) -> list[int] | None:
    """Sources that NetworkX would draw."""
    if k is None or k == len(G):
        return None
    drawn = nx.utils.create_py_random_state(seed).sample(G.nodes, k)
    return [G.place[node] for node in drawn]


@offered
def eigenvector_centrality(
    G: BackendGraph,
    max_iter: int = 100,
    tol: float = 1e-06,
    nstart: Any = None,
    weight: str | None = None,
) -> dict[Any, float]:
    """As ``networkx.eigenvector_centrality``."""
    count = len(G)
    x = np.full(count, 1 / count)
    for _ in range(max_iter):
        before = x
        x = before + _received(G, before, weight)
        x /= np.linalg.norm(x) or 1
        if np.abs(x - before).sum() < count * tol:
            return dict(zip(G.nodes, x.tolist(), strict=True))
    raise nx.PowerIterationFailedConvergence(max_iter)


@offered
def katz_centrality(
    G: BackendGraph,
    alpha: float = 0.1,
    beta: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-06,
    nstart: Any = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """As ``networkx.katz_centrality``."""
    x = np.zeros(len(G))
    for _ in range(max_iter):
        before = x
        with np.errstate(over="ignore", invalid="ignore"):  # then it does not converge
            x = alpha * _received(G, before, weight) + beta
            change = np.abs(x - before).sum()
        if change < len(G) * tol:
            x *= 1 / (np.linalg.norm(x) or 1) if normalized else 1
            return dict(zip(G.nodes, x.tolist(), strict=True))
    raise nx.PowerIterationFailedConvergence(max_iter)


def _received(G: BackendGraph, sent: np.ndarray, weight: str | None) -> np.ndarray:
    """The sum that each node gets over the edges into it."""
    tails, heads, numbers = G.arcs(weight)
    return np.bincount(heads, sent[tails] * numbers, minlength=len(G))


@offered
def hits(
    G: BackendGraph,
    max_iter: int = 100,
    tol: float = 1e-08,
    nstart: Any = None,
    normalized: bool = True,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """As ``networkx.hits``."""
    G.read_again("weight")
    if reason := G.weights("weight").reason or (not len(G.source) and "only with edges"):
        raise NotImplementedError(reason)
    try:
        found = G.graph("weight").hits(tolerance=tol, max_iterations=max_iter)
    except NotConverged as error:  # NetworkX may need fewer iterations, of another method
        raise NotImplementedError(str(error)) from error
    return G.by_node(found, "hub"), G.by_node(found, "authority")
