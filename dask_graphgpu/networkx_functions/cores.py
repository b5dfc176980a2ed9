"""Cores and trusses. What is left of a graph keeps its attributes."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def core_number(G: BackendGraph) -> dict[Any, int]:
    """As ``networkx.core_number``."""
    return G.by_node(G.graph().core_number(), "core_number")


@offered
def k_core(G: BackendGraph, k: int | None = None, core_number: Any = None) -> nx.Graph:
    """As ``networkx.k_core``."""
    core = _core(G)
    return _induced(G, core >= (core.max() if k is None else k))


@offered
def k_shell(G: BackendGraph, k: int | None = None, core_number: Any = None) -> nx.Graph:
    """As ``networkx.k_shell``."""
    core = _core(G)
    return _induced(G, core == (core.max() if k is None else k))


@offered
def k_crust(G: BackendGraph, k: int | None = None, core_number: Any = None) -> nx.Graph:
    """As ``networkx.k_crust``."""
    core = _core(G)
    return _induced(G, core <= (core.max() - 1 if k is None else k))


@offered
def k_corona(G: BackendGraph, k: int, core_number: Any = None) -> nx.Graph:
    """As ``networkx.k_corona``."""
    core = _core(G)
    rows = G.successors
    high = np.bincount(rows.tails[core[rows.neighbours] >= k], minlength=len(G))
    return _induced(G, (core == k) & (high == k))


@offered
def k_truss(G: BackendGraph, k: int) -> nx.Graph:
    """As ``networkx.k_truss``."""
    found = G.graph().k_truss()["trussness"].to_numpy()
    kept = np.sort(np.lexsort((G.destination, G.source))[found >= k])
    inside = np.zeros(len(G), bool)
    inside[G.source[kept]] = inside[G.destination[kept]] = True
    return _part(G, inside, kept)


def _core(G: BackendGraph) -> np.ndarray:
    return np.asarray(G.graph().core_number()["core_number"])


def _induced(G: BackendGraph, inside: np.ndarray) -> nx.Graph:
    """The graph of some nodes and the edges between them."""
    return _part(G, inside, (inside[G.source] & inside[G.destination]).nonzero()[0])


def _part(G: BackendGraph, inside: np.ndarray, kept: np.ndarray) -> nx.Graph:
    """The graph of some nodes and edges, with copies of their attributes."""
    part = type(G.origin)()
    part.graph.update(G.origin.graph)
    held = G.origin.nodes
    part.add_nodes_from((node, held[node]) for node in G.named(inside.nonzero()[0]))
    data = map(G.data.__getitem__, kept.tolist())
    part.add_edges_from((u, v, d) for (u, v), d in zip(G.ends(kept), data, strict=True))
    return part
