"""Breadth-first search, and what it reaches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import networkx as nx

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_functions.search import Found, whole
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def bfs_edges(
    G: BackendGraph,
    source: Any,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> Iterator[tuple[Any, Any]]:
    """As ``networkx.bfs_edges``."""
    rows = G.predecessors if reverse else G.successors
    found = Found(rows, [G.place[source]], whole(depth_limit, G))
    return zip(G.named(found.parents()), G.named(found.order[1:]), strict=True)


@offered
def bfs_tree(
    G: BackendGraph,
    source: Any,
    reverse: bool = False,
    depth_limit: int | None = None,
    sort_neighbors: Any = None,
) -> nx.DiGraph:
    """As ``networkx.bfs_tree``."""
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit))
    return tree


@offered
def bfs_predecessors(
    G: BackendGraph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    """As ``networkx.bfs_predecessors``."""
    return ((child, parent) for parent, child in bfs_edges(G, source, depth_limit=depth_limit))


@offered
def bfs_successors(
    G: BackendGraph, source: Any, depth_limit: int | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    """As ``networkx.bfs_successors``."""
    edges = list(bfs_edges(G, source, depth_limit=depth_limit))
    if not edges:
        return iter([(source, [])])
    groups = groupby(edges, itemgetter(0))
    return ((parent, [child for _, child in group]) for parent, group in groups)


@offered
def bfs_layers(G: BackendGraph, sources: Any) -> Iterator[list[Any]]:
    """As ``networkx.bfs_layers``."""
    first = [sources] if sources in G else list(set(sources))
    for node in first:
        if node not in G:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
    if not first:
        return iter(())
    return map(G.named, Found(G.successors, [G.place[node] for node in first]).layers())


@offered
def descendants_at_distance(G: BackendGraph, source: Any, distance: int) -> set[Any]:
    """As ``networkx.descendants_at_distance``."""
    found = Found(G.successors, [G.place[source]], whole(distance, G))
    return set(G.named((found.level == distance).nonzero()[0]))


@offered
def descendants(G: BackendGraph, source: Any) -> set[Any]:
    """As ``networkx.descendants``."""
    return set(G.named(Found(G.successors, [G.place[source]]).order)) - {source}


@offered
def ancestors(G: BackendGraph, source: Any) -> set[Any]:
    """As ``networkx.ancestors``."""
    return set(G.named(Found(G.predecessors, [G.place[source]]).order)) - {source}
