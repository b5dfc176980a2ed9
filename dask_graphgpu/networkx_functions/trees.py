"""Minimum and maximum spanning trees: the edges that Kruskal's algorithm takes, ties as NetworkX has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def minimum_spanning_edges(
    G: BackendGraph,
    algorithm: str = "kruskal",
    weight: str | None = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """As ``networkx.minimum_spanning_edges``."""
    return _edges(G, 1, weight, keys, data)


@offered
def maximum_spanning_edges(
    G: BackendGraph,
    algorithm: str = "kruskal",
    weight: str | None = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """As ``networkx.maximum_spanning_edges``."""
    return _edges(G, -1, weight, keys, data)


@offered
def minimum_spanning_tree(
    G: BackendGraph,
    weight: str | None = "weight",
    algorithm: str = "kruskal",
    ignore_nan: bool = False,
) -> nx.Graph:
    """As ``networkx.minimum_spanning_tree``."""
    return _tree(G, 1, weight)


@offered
def maximum_spanning_tree(
    G: BackendGraph,
    weight: str | None = "weight",
    algorithm: str = "kruskal",
    ignore_nan: bool = False,
) -> nx.Graph:
    """As ``networkx.maximum_spanning_tree``."""
    return _tree(G, -1, weight)


def _tree(G: BackendGraph, sign: int, weight: str | None) -> nx.Graph:
    tree = type(G.origin)()
    tree.graph.update(G.origin.graph)
    tree.add_nodes_from(G.origin.nodes.items())
    tree.add_edges_from(_edges(G, sign, weight, True, True))
    return tree


def _edges(
    G: BackendGraph, sign: int, weight: str | None, keys: bool, data: bool
) -> Iterator[tuple[Any, ...]]:
    """The edges, in the order in which Kruskal's algorithm takes them.

    An edge's weight is here its place in that order, so that no two weigh the same and there is one forest.
    """
    numbers = np.zeros(len(G.source)) if weight is None else sign * G.weights(weight).numbers
    order = np.argsort(numbers, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    found = G.weighed(rank).minimum_spanning_forest()
    taken = order[np.sort(found["weight"].to_numpy())]
    columns: list[list[Any]] = [G.named(G.source[taken]), G.named(G.destination[taken])]
    if keys and G.multi:
        every = [key for *_, key in G.origin.edges(keys=True)]
        columns.append([every[edge] for edge in taken.tolist()])
    if data:
        columns.append([G.data[edge] for edge in taken.tolist()])
    return zip(*columns, strict=True)
