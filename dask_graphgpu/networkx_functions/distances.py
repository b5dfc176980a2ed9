"""Measures of the distances between all nodes, which are searched from in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_functions.search import Found
from dask_graphgpu.networkx_graph import BackendGraph

_BATCH = 64  # sources that are searched from in one sweep
_CELLS = 2**24  # distances at once


class _Sums:
    """Sums over distances from each source.

    Attributes
    ----------
    reached, total, farthest : int64 arrays, shape (sources,)
        Nodes that a source reaches, itself too; the sum of their distances, and the largest.
    """

    def __init__(self, G: BackendGraph, sources: Sequence[int]) -> None:
        count = len(G)
        self.reached, self.total, self.farthest = np.zeros((3, len(sources)), np.int64)
        batch = max(1, min(_BATCH, _CELLS // count))
        for first in range(0, len(sources), batch):
            some = list(sources[first : first + batch])
            found = G.graph().bfs(some)["distance"].to_numpy(np.int64, na_value=-1)
            level = found.reshape(len(some), count)
            reached = (level >= 0).sum(1)
            level = np.maximum(level, 0)
            part = slice(first, first + len(some))
            self.reached[part], self.total[part] = reached, level.sum(1)
            self.farthest[part] = level.max(1)


def _all(G: BackendGraph) -> _Sums:
    return _Sums(G, range(len(G)))


@offered
def eccentricity(G: BackendGraph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    """As ``networkx.eccentricity``."""
    nodes = list(G.origin.nbunch_iter(v))
    found = _eccentricity(G, [G.place[node] for node in nodes]).tolist()
    return found[0] if v in G else dict(zip(nodes, found, strict=True))


def _eccentricity(G: BackendGraph, sources: Sequence[int]) -> np.ndarray:
    if sources and len(Found(G.successors, [sources[0]]).order) == len(G):
        sums = _Sums(G, sources)
        if (sums.reached == len(G)).all():
            return sums.farthest
    elif not sources:
        return np.empty(0, np.int64)
    kind = "digraph is not strongly" if G.directed else "graph is not"
    raise nx.NetworkXError(f"Found infinite path length because the {kind} connected")


@offered
def diameter(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    """As ``networkx.diameter``."""
    return int(_eccentricity(G, range(len(G))).max())


@offered
def radius(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> int:
    """As ``networkx.radius``."""
    return int(_eccentricity(G, range(len(G))).min())


@offered
def center(
    G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None
) -> list[Any]:
    """As ``networkx.center``."""
    found = _eccentricity(G, range(len(G)))
    return G.named((found == found.min()).nonzero()[0])


@offered
def periphery(
    G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None
) -> list[Any]:
    """As ``networkx.periphery``."""
    found = _eccentricity(G, range(len(G)))
    return G.named((found == found.max()).nonzero()[0])


@offered
def barycenter(G: BackendGraph, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    """As ``networkx.barycenter``."""
    sums = _all(G)
    if (sums.reached < len(G)).any():
        raise nx.NetworkXNoPath(
            f"Input graph {G.origin} is disconnected, so every induced subgraph has infinite barycentricity."
        )
    return G.named((sums.total == sums.total.min()).nonzero()[0])


@offered
def average_shortest_path_length(
    G: BackendGraph, weight: Any = None, method: str | None = None
) -> float:
    """As ``networkx.average_shortest_path_length``."""
    count = len(G)
    if count == 1:
        return 0
    sums = _all(G)
    if (sums.reached < count).any():
        kind = "strongly connected" if G.directed else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return int(sums.total.sum()) / (count * (count - 1))


@offered
def wiener_index(G: BackendGraph, weight: Any = None) -> float:
    """As ``networkx.wiener_index``."""
    sums = _all(G)
    if (sums.reached < len(G)).any():
        return float("inf")
    total = int(sums.total.sum())
    return total if G.directed else total / 2


@offered
def global_efficiency(G: BackendGraph) -> float:
    """As ``networkx.global_efficiency``."""
    count = len(G)
    if count < 2:
        return 0
    return float(G.graph().harmonic_centrality()["harmonic"].sum()) / (count * (count - 1))


@offered
def closeness_centrality(
    G: BackendGraph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> Any:
    """As ``networkx.closeness_centrality``."""
    if u is None or distance is not None:
        target, weighted = None if u is None else G.place[u], distance is not None
        found = G.graph(distance).closeness_centrality(
            target=target, weighted=weighted, wf_improved=bool(wf_improved)
        )
        every = G.by_node(found, "closeness")
        return every if u is None else every[u]
    near = Found(G.predecessors, [G.place[u]])
    others, total = len(near.order) - 1, near.level[near.order].sum().item()
    closeness = others / max(total, 1)
    return closeness * (others / max(len(G) - 1, 1)) if wf_improved else closeness


@offered
def harmonic_centrality(
    G: BackendGraph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> dict[Any, float]:
    """As ``networkx.harmonic_centrality``."""
    weighted = distance is not None
    found = G.by_node(G.graph(distance).harmonic_centrality(weighted=weighted), "harmonic")
    return {node: value or 0 for node, value in found.items()}  # an int, as NetworkX has it
