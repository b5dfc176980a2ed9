"""Shortest paths, and their lengths."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import networkx as nx
import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_functions.search import Found, whole
from dask_graphgpu.networkx_graph import BackendGraph
from dask_graphgpu.networkx_weights import sums_are_floats


@offered
def single_source_shortest_path_length(
    G: BackendGraph, source: Any, cutoff: float | None = None
) -> dict[Any, int]:
    """As ``networkx.single_source_shortest_path_length``."""
    return Found(G.successors, [G.place[source]], whole(cutoff, G)).lengths(G)


@offered
def single_target_shortest_path_length(
    G: BackendGraph, target: Any, cutoff: float | None = None
) -> dict[Any, int]:
    """As ``networkx.single_target_shortest_path_length``."""
    return Found(G.predecessors, [G.place[target]], whole(cutoff, G)).lengths(G)


@offered
def all_pairs_shortest_path_length(
    G: BackendGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    """As ``networkx.all_pairs_shortest_path_length``."""
    limit = whole(cutoff, G)
    return ((node, Found(G.successors, [i], limit).lengths(G)) for i, node in enumerate(G.nodes))


@offered
def single_source_shortest_path(
    G: BackendGraph, source: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """As ``networkx.single_source_shortest_path``."""
    found = Found(G.successors, [G.place[source]], whole(cutoff, G))
    paths = {source: [source]}
    for node, before in zip(G.named(found.order[1:]), G.named(found.parents()), strict=True):
        paths[node] = [*paths[before], node]
    return paths


@offered
def single_target_shortest_path(
    G: BackendGraph, target: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """As ``networkx.single_target_shortest_path``."""
    found = Found(G.predecessors, [G.place[target]], whole(cutoff, G))
    paths = {target: [target]}
    for node, after in zip(G.named(found.order[1:]), G.named(found.parents()), strict=True):
        paths[node] = [node, *paths[after]]
    return paths


@offered
def all_pairs_shortest_path(
    G: BackendGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    """As ``networkx.all_pairs_shortest_path``."""
    return ((node, single_source_shortest_path(G, node, cutoff)) for node in G.nodes)


@offered
def single_source_dijkstra_path_length(
    G: BackendGraph, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, float]:
    """As ``networkx.single_source_dijkstra_path_length``."""
    return _weighted(G, source, cutoff, weight)


@offered
def single_source_bellman_ford_path_length(
    G: BackendGraph, source: Any, weight: str | None = "weight"
) -> dict[Any, float]:
    """As ``networkx.single_source_bellman_ford_path_length``."""
    return _weighted(G, source, None, weight)


@offered
def multi_source_dijkstra_path_length(
    G: BackendGraph,
    sources: Collection[Any],
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> dict[Any, float]:
    """As ``networkx.multi_source_dijkstra_path_length``."""
    at = [G.place[source] for source in sources]
    found = G.graph(weight, ones=True).nearest(at, cutoff=cutoff)
    lengths = G.by_node(found.sort_values("distance", kind="stable"), "distance")
    return lengths | dict.fromkeys(sources, 0)


@offered
def all_pairs_dijkstra_path_length(
    G: BackendGraph, cutoff: float | None = None, weight: str | None = "weight"
) -> Iterator[tuple[Any, dict[Any, float]]]:
    """As ``networkx.all_pairs_dijkstra_path_length``."""
    return ((node, _weighted(G, node, cutoff, weight)) for node in G.nodes)


@offered
def all_pairs_bellman_ford_path_length(
    G: BackendGraph, weight: str | None = "weight"
) -> Iterator[tuple[Any, dict[Any, float]]]:
    """As ``networkx.all_pairs_bellman_ford_path_length``."""
    return ((node, _weighted(G, node, None, weight)) for node in G.nodes)


@offered
def dijkstra_path_length(
    G: BackendGraph, source: Any, target: Any, weight: str | None = "weight"
) -> float:
    """As ``networkx.dijkstra_path_length``."""
    return _to(target, _weighted(G, source, None, weight), source)


@offered
def bellman_ford_path_length(
    G: BackendGraph, source: Any, target: Any, weight: str | None = "weight"
) -> float:
    """As ``networkx.bellman_ford_path_length``."""
    return _to(target, _weighted(G, source, None, weight), source)


@offered
def shortest_path_length(
    G: BackendGraph,
    source: Any = None,
    target: Any = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """As ``networkx.shortest_path_length``."""
    if weight is not None:
        if source is None:
            return all_pairs_dijkstra_path_length(G, None, weight)
        lengths = _weighted(G, source, None, weight)
        return lengths if target is None else _to(target, lengths, source)
    if source is None:
        if target is None:
            return all_pairs_shortest_path_length(G)
        return single_target_shortest_path_length(G, target)
    return single_source_shortest_path_length(G, source)


def _to(target: Any, lengths: dict[Any, float], source: Any) -> float:
    """The length to one node."""
    try:
        return lengths[target]
    except KeyError as error:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from error


def _weighted(
    G: BackendGraph, source: Any, cutoff: float | None, weight: str | None
) -> dict[Any, float]:
    """Lengths by weight, nearest first, with the types that they have in NetworkX."""
    at = G.place[source]
    found = G.graph(weight, ones=True).sssp(at, cutoff=cutoff)
    reached = found[found["distance"].notna()].sort_values("distance", kind="stable")
    lengths: dict[Any, float] = G.by_node(reached, "distance")
    if weight is not None and G.weights(weight).are_floats is not None:
        distance = found["distance"].to_numpy(np.float64, na_value=np.nan)
        ends = G.source, G.destination
        are_floats = sums_are_floats(ends, G.weights(weight), G.directed, at, distance)
        lengths = {v: d if are_floats[G.place[v]] else int(d) for v, d in lengths.items()}
    lengths[source] = 0
    return lengths
