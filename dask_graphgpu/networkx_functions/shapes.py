"""Which kind of graph one is: tree, forest, bipartite, regular, Eulerian, without cycles."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_functions.search import Found
from dask_graphgpu.networkx_graph import BackendGraph


def _parts(G: BackendGraph) -> np.ndarray:
    """A label of each node's component, whatever the directions."""
    return np.asarray(G.graph().weakly_connected_components()["component"])


def _is_whole(G: BackendGraph) -> bool:
    """Whether the graph is connected, whatever the directions."""
    label = _parts(G)
    return bool((label == label[0]).all())


@offered
def is_tree(G: BackendGraph) -> bool:
    """As ``networkx.is_tree``."""
    return len(G.source) == len(G) - 1 and _is_whole(G)


@offered
def is_forest(G: BackendGraph) -> bool:
    """As ``networkx.is_forest``."""
    return len(G.source) < len(G) and len(G.source) == len(G) - len(pd.unique(_parts(G)))


@offered
def is_arborescence(G: BackendGraph) -> bool:
    """As ``networkx.is_arborescence``."""
    return is_tree(G) and int(G.in_degrees.max()) <= 1


@offered
def is_branching(G: BackendGraph) -> bool:
    """As ``networkx.is_branching``."""
    return is_forest(G) and int(G.in_degrees.max()) <= 1


@offered
def is_directed_acyclic_graph(G: BackendGraph) -> bool:
    """As ``networkx.is_directed_acyclic_graph``."""
    if not G.directed or G.has_loops:
        return False
    return int(G.graph().strongly_connected_components()["component"].nunique()) == len(G)


@offered
def is_bipartite(G: BackendGraph) -> bool:
    """As ``networkx.is_bipartite``."""
    return _sides(G) is not None


@offered
def color(G: BackendGraph) -> dict[Any, int]:
    """As ``networkx.bipartite.color``."""
    side = _sides(G)
    if side is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return dict(zip(G.nodes, side.tolist(), strict=True))


@offered
def sets(G: BackendGraph, top_nodes: Any = None) -> tuple[set[Any], set[Any]]:
    """As ``networkx.bipartite.sets``."""
    if not _is_whole(G):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    sides = color(G)
    top = {node for node, side in sides.items() if side}
    return top, sides.keys() - top


def _sides(G: BackendGraph) -> np.ndarray | None:
    """1 for the first node of each component and all that lie an even number of edges away, else 0.

    Nodes without edges have 0. None: the graph is not bipartite.
    """
    _, first = np.unique(_parts(G), return_index=True)
    side = 1 - Found(G.successors, first.tolist()).level % 2
    if (side[G.source] == side[G.destination]).any():
        return None
    return np.where(np.diff(G.successors.offsets) > 0, side, 0)


@offered
def is_regular(G: BackendGraph) -> bool:
    """As ``networkx.is_regular``."""
    every = [G.in_degrees, G.out_degrees] if G.directed else [G.degrees]
    return all(bool((degrees == degrees[0]).all()) for degrees in every)


@offered
def is_k_regular(G: BackendGraph, k: int) -> bool:
    """As ``networkx.is_k_regular``."""
    return bool((G.degrees == k).all())


@offered
def is_eulerian(G: BackendGraph) -> bool:
    """As ``networkx.is_eulerian``."""
    if G.directed:
        even = bool((G.in_degrees == G.out_degrees).all())
        return even and G.graph().strongly_connected_components()["component"].nunique() == 1
    return bool((G.degrees % 2 == 0).all()) and _is_whole(G)


@offered
def has_eulerian_path(G: BackendGraph, source: Any = None) -> bool:
    """As ``networkx.has_eulerian_path``."""
    if is_eulerian(G):
        return True
    if G.directed:
        more = G.out_degrees - G.in_degrees
        at_source = source is None or more[G.place[source]] == 1
        few = np.abs(more).max() <= 1 and (more == 1).sum() <= 1 and (more == -1).sum() <= 1
        return bool(at_source and few) and _is_whole(G)
    odd = G.degrees % 2 == 1
    at_source = source is None or odd[G.place[source]]
    return bool(at_source and odd.sum() == 2) and _is_whole(G)


@offered
def is_semieulerian(G: BackendGraph) -> bool:
    """As ``networkx.is_semieulerian``."""
    return has_eulerian_path(G) and not is_eulerian(G)
