"""A backend of NetworkX: its functions, computed here.

``nx.pagerank(G, backend="graphgpu")``, or ``nx.config.backend_priority = ["graphgpu"]`` for all calls.
A graph is converted once; NetworkX keeps what is made of it with the graph. Vertices are numbered in the
order of the graph's nodes, so they may be anything that NetworkX allows. What is not supported, or would
take longer, NetworkX computes itself, or another backend.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from dask_graphgpu.errors import (
    EngineUnavailable,
    IntegerOverflow,
    InvalidEdges,
    LimitTooSmall,
    NotConverged,
)
from dask_graphgpu.networkx_graph import (
    BackendGraph,
    behind,
    convert_from_nx,
    convert_to_nx,
    sums_are_floats,
)

__all__ = ["BackendGraph", "convert_from_nx", "convert_to_nx"]

# How often each function was called here.
calls: Counter[str] = Counter()

# What NetworkX does in less than a microsecond an edge, about what converting a graph takes.
_SEARCHES = {
    "connected_components", "descendants", "is_connected", "is_weakly_connected",
    "node_connected_component", "number_connected_components", "number_weakly_connected_components",
    "single_source_shortest_path_length", "weakly_connected_components",
}  # fmt: skip

# Edges from which on others pay off in one call, and searches in a few: where a graph is yet to be converted, and
# where that has been done. Of betweenness, edges times sources.
_LEAST = 10_000, 100_000
_LEAST_KEPT = 1_000, 10_000

# What NetworkX may be able to do: it has other integers and floats, and no limits of memory.
_DECLINED = IntegerOverflow, InvalidEdges, EngineUnavailable, LimitTooSmall

_GRAPHS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def on_start_tests(items: Sequence[Any]) -> None:
    """Mark what of NetworkX's own tests asks for more than its documentation says."""
    import pytest

    reasons = {
        "test_condensation_mapping_and_members": "numbers components in the order of NetworkX's search",
    }
    for item in items:
        if reason := reasons.get(item.name):
            item.add_marker(pytest.mark.xfail(reason=reason))


# -- what can be run, and what should ---------------------------------------------------------------


def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a function runs here with these arguments; a text says why it does not.

    Edges are looked at once a graph is converted: what is wrong with them a call says then.
    """
    try:
        given = _given(name, args, {key: kwargs[key] for key in kwargs if key != "backend"})
    except TypeError as error:
        return str(error)
    graph = given["G"]
    if type(graph) not in (*_GRAPHS, BackendGraph):
        return f"a {type(graph).__name__} may have edges of its own making"
    if not graph.is_directed() and behind(graph).is_directed():
        return "an edge of an undirected view of a directed graph may have two weights"
    if not len(graph):
        return "the graph has no nodes"
    kinds = _KINDS[name]
    if "undirected" in kinds and graph.is_directed():
        return "only for undirected graphs"
    if "directed" in kinds and not graph.is_directed():
        return "only for directed graphs"
    if "simple" in kinds and graph.is_multigraph():
        return "only for simple graphs"
    checks = [_no_node, _no_other]
    if isinstance(graph, BackendGraph):
        checks.append(_no_edges)
    return next((reason for check in checks if (reason := check(name, graph, given))), True)


def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a call that can run here is likely to take less time than NetworkX; a text says why not."""
    given = _given(name, args, {key: kwargs[key] for key in kwargs if key != "backend"})
    graph = given["G"]
    if isinstance(graph, BackendGraph):
        return True
    kept = (getattr(graph, "__networkx_cache__", None) or {}).get("backends", {})
    least = (_LEAST_KEPT if "graphgpu" in kept else _LEAST)[name in _SEARCHES]
    if "betweenness" in name:
        least //= given["k"] or len(graph)
    ends, of_edge = 0, 1 if graph.is_directed() else 2
    for _, row in graph.adjacency():  # of a large graph a few
        ends += len(row)
        if ends >= least * of_edge:
            return True
    return f"NetworkX is likely to be faster on {ends // of_edge:,} edges"


def _given(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call by name."""
    bound = _SIGNATURES[name].bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _no_node(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    for key in ("source", "n"):
        if key in given and given[key] not in graph:
            return f"{key} is not in the graph"
    return ""


def _no_other(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    """Arguments of which only some values are supported."""
    if any(given.get(key) is not None for key in ("nstart", "dangling", "nodes")):
        return "only for all nodes alike"
    wanted = given.get("personalization")
    if wanted is not None and not _is_personal(wanted, graph):
        return "only for a personalization of numbers from 0, one of them above"
    weight = given.get("weight")
    if weight is not None and not isinstance(weight, str):
        return "only for weights that are an attribute"
    if name == "clustering" and weight is not None:
        return "only without weights"
    cutoff = given.get("cutoff")
    if cutoff is not None and not (isinstance(cutoff, Real) and float(cutoff) >= 0):
        return "only for a cutoff of at least 0"
    hops = name == "single_source_shortest_path_length"
    if hops and cutoff is not None and math.isfinite(cutoff) and cutoff % 1:
        return "only for a whole cutoff, as NetworkX goes on to the next whole number"
    k = given.get("k")
    if k is not None and not (isinstance(k, Integral) and 1 <= int(k) <= len(graph)):
        return "only for a number of sources that there are"
    if name == "pagerank" and not (0 < given["alpha"] < 1 and given["max_iter"] >= 1):
        return "only for 0 < alpha < 1 and at least one iteration"
    if name == "pagerank" and not given["tol"] > 0:
        return "only for a tolerance above 0"
    return ""


def _is_personal(wanted: Any, graph: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return False
    values = [value for node, value in wanted.items() if node in graph]
    numbers = all(isinstance(v, Real) and float(v) >= 0 and math.isfinite(v) for v in values)
    return numbers and any(float(v) > 0 for v in values)


def _no_edges(name: str, graph: BackendGraph, given: Mapping[str, Any]) -> str:
    """Edges, or weights of theirs, that are not supported; what is found out stays with the graph."""
    if "no loops" in _KINDS[name] and graph.has_loops:
        return "only without self-loops"
    weight = given.get("weight")
    if weight is None:
        return ""
    if weight not in graph.values:
        return f"the graph was converted without the attribute {weight!r}"
    weights = graph.weights(weight)
    if weights.reason:
        return weights.reason
    if "betweenness" in name and weights.has_zero:  # which divides by numbers of paths
        return "only for weights above 0"
    if "dijkstra" in name and not weights.plain:
        return "only for int and float as weights, of which sums of weights are then"
    return ""


# -- the functions, with NetworkX's signatures ----------------------------------------------------

_FUNCTIONS: dict[str, Callable[..., Any]] = {}
_KINDS: dict[str, tuple[str, ...]] = {}
_SIGNATURES: dict[str, inspect.Signature] = {}


def _backend(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Offer a function to NetworkX, for some kinds of graphs only."""

    def offered(function: Callable[..., Any]) -> Callable[..., Any]:
        name = function.__name__

        @functools.wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            calls[name] += 1
            given = _given(name, args, kwargs)
            if reason := _no_edges(name, given["G"], given):
                raise NotImplementedError(reason)  # has NetworkX do it
            try:
                return function(*args, **kwargs)
            except _DECLINED as error:
                raise NotImplementedError(str(error)) from error

        _FUNCTIONS[name], _KINDS[name] = counted, kinds
        _SIGNATURES[name] = inspect.signature(function)
        return counted

    return offered


@_backend()
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


@_backend()
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


@_backend("simple")
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


@_backend()
def single_source_shortest_path_length(
    G: BackendGraph, source: Any, cutoff: float | None = None
) -> dict[Any, int]:
    """As ``networkx.single_source_shortest_path_length``."""
    found = G.graph().bfs(G.place[source], cutoff=cutoff)
    return _nearest_first(G, found)


@_backend()
def single_source_dijkstra_path_length(
    G: BackendGraph, source: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, float]:
    """As ``networkx.single_source_dijkstra_path_length``."""
    at = G.place[source]
    found = G.graph(weight, ones=True).sssp(at, cutoff=cutoff)
    lengths = _nearest_first(G, found)
    if weight is not None and G.weights(weight).are_floats is not None:
        distance = found["distance"].to_numpy(np.float64, na_value=np.nan)
        are_floats = sums_are_floats(G, at, distance, weight)
        lengths = {v: d if are_floats[G.place[v]] else int(d) for v, d in lengths.items()}
    lengths[source] = 0
    return lengths


def _nearest_first(G: BackendGraph, found: pd.DataFrame) -> dict[Any, Any]:
    reached = found[found["distance"].notna()].sort_values("distance", kind="stable")
    return G.by_node(reached, "distance")


@_backend()
def descendants(G: BackendGraph, source: Any) -> set[Any]:
    """As ``networkx.descendants``."""
    found = G.graph().bfs(G.place[source])
    reached = found.loc[found["distance"].notna(), "vertex"]
    return set(map(G.nodes.__getitem__, reached.tolist())) - {source}


@_backend("undirected")
def connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.connected_components``."""
    return iter(G.parts(G.graph().weakly_connected_components()))


@_backend("directed")
def weakly_connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.weakly_connected_components``."""
    return iter(G.parts(G.graph().weakly_connected_components()))


@_backend("directed")
def strongly_connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.strongly_connected_components``."""
    return iter(G.parts(G.graph().strongly_connected_components()))


@_backend("undirected")
def number_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_connected_components``."""
    return int(G.graph().weakly_connected_components()["component"].nunique())


@_backend("directed")
def number_weakly_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_weakly_connected_components``."""
    return int(G.graph().weakly_connected_components()["component"].nunique())


@_backend("directed")
def number_strongly_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_strongly_connected_components``."""
    return int(G.graph().strongly_connected_components()["component"].nunique())


@_backend("undirected")
def is_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_connected``."""
    return int(G.graph().weakly_connected_components()["component"].nunique()) == 1


@_backend("directed")
def is_weakly_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_weakly_connected``."""
    return int(G.graph().weakly_connected_components()["component"].nunique()) == 1


@_backend("directed")
def is_strongly_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_strongly_connected``."""
    return int(G.graph().strongly_connected_components()["component"].nunique()) == 1


@_backend("undirected")
def node_connected_component(G: BackendGraph, n: Any) -> set[Any]:
    """As ``networkx.node_connected_component``."""
    component = G.graph().weakly_connected_components()["component"]
    same = np.flatnonzero(component == component[G.place[n]])
    return set(map(G.nodes.__getitem__, same.tolist()))


@_backend("undirected", "simple", "no loops")
def core_number(G: BackendGraph) -> dict[Any, int]:
    """As ``networkx.core_number``."""
    return G.by_node(G.graph().core_number(), "core_number")


@_backend("undirected", "simple")
def triangles(G: BackendGraph, nodes: Any = None) -> dict[Any, int]:
    """As ``networkx.triangles``."""
    return G.by_node(G.graph().triangle_count(), "triangles")


@_backend("undirected", "simple")
def clustering(G: BackendGraph, nodes: Any = None, weight: str | None = None) -> dict[Any, float]:
    """As ``networkx.clustering``."""
    found = G.by_node(G.graph().clustering_coefficient(), "clustering_coefficient")
    return {node: value or 0 for node, value in found.items()}  # an int, as NetworkX has it
