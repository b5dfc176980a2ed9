"""A backend of NetworkX: its functions, computed here.

``nx.pagerank(G, backend="graphgpu")``, or ``nx.config.backend_priority = ["graphgpu"]`` for all calls.
A graph is converted once, to a frame of edges; NetworkX keeps it with the graph. Vertices are numbered
in the order of the graph's nodes, so they may be anything that NetworkX allows. What is not supported
NetworkX computes itself, or another backend.
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

from dask_graphgpu.errors import IntegerOverflow, InvalidEdges, NotConverged
from dask_graphgpu.graph import Graph

# How often each function was called here.
calls: Counter[str] = Counter()

_GRAPHS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
_EXACT = 2**53  # beyond this a float next to an integer rounds it


class BackendGraph:
    """A graph of NetworkX's as a frame of edges, ``src`` and ``dst`` being places in ``nodes``.

    An undirected graph has each edge in both directions, as its adjacency has.
    """

    __networkx_backend__ = "graphgpu"

    def __init__(self, graph: nx.Graph, attributes: Mapping[str, Any]) -> None:
        self.kind = type(graph)
        self.directed, self.multi = graph.is_directed(), graph.is_multigraph()
        self.nodes = list(graph)
        self.place = {node: i for i, node in enumerate(self.nodes)}
        self.attributes = dict(attributes)
        rows = [
            (self.place[u], self.place[v], *(data.get(a, d) for a, d in attributes.items()))
            for u, neighbours in graph.adjacency()
            for v, held in neighbours.items()
            for data in (held.values() if self.multi else (held,))
        ]
        columns = list(zip(*rows, strict=True)) or [()] * (2 + len(self.attributes))
        self.edges = pd.DataFrame({"src": columns[0], "dst": columns[1]}, dtype="int64")
        for name, values in zip(self.attributes, columns[2:], strict=True):
            self.edges[f"value {name}"] = pd.Series(values, dtype=None if values else "float64")

    def is_directed(self) -> bool:
        """As NetworkX's graphs have it."""
        return bool(self.directed)

    def is_multigraph(self) -> bool:
        """As NetworkX's graphs have it."""
        return bool(self.multi)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.place
        except TypeError:  # cannot be hashed
            return False

    def graph(self, weight: str | None = None, *, ones: bool = False) -> Graph:
        """The same as a `Graph`; its weight is an attribute, or 1 where ``ones`` and there is none."""
        frame = self.edges[["src", "dst"]]
        if weight is not None:
            frame = frame.assign(weight=self.edges[f"value {weight}"])
        elif ones:
            frame = frame.assign(weight=1)
        named = "weight" if "weight" in frame else None
        vertices = pd.DataFrame({"vertex": np.arange(len(self.nodes))})
        return Graph(frame, weight=named, directed=self.directed, vertices=vertices, ranks=1)

    def by_node(self, frame: pd.DataFrame, column: str) -> dict[Any, Any]:
        """A column of a result by node, in the order of the rows."""
        return dict(
            zip(map(self.nodes.__getitem__, frame["vertex"]), frame[column].tolist(), strict=True)
        )

    def parts(self, frame: pd.DataFrame) -> list[set[Any]]:
        """Components as sets of nodes, ordered by their first nodes."""
        found: dict[int, set[Any]] = {}
        for node, label in zip(self.nodes, frame["component"].tolist(), strict=True):
            found.setdefault(label, set()).add(node)
        return list(found.values())


def convert_from_nx(
    graph: nx.Graph, *, edge_attrs: Mapping[str, Any] | None = None, **others: Any
) -> BackendGraph:
    """A graph of NetworkX's as the backend has it, with the values of some attributes of the edges."""
    if _behind(graph) is not graph:
        graph.__networkx_cache__ = (
            None  # NetworkX would not see that the graph behind a view changes
        )
    return BackendGraph(graph, edge_attrs or {})


def _behind(graph: Any) -> Any:
    """The graph that a view shows, through all views; any other as it is."""
    while hasattr(graph, "_graph"):
        graph = graph._graph
    return graph


def convert_to_nx(result: Any, **others: Any) -> Any:
    """A graph of the backend as NetworkX has it; any other result as it is."""
    if not isinstance(result, BackendGraph):
        return result
    graph = result.kind()
    graph.add_nodes_from(result.nodes)
    edges = result.edges if result.directed else result.edges.query("src <= dst")
    names = list(result.attributes)
    for src, dst, *values in edges.itertuples(index=False):
        data = dict(zip(names, values, strict=True))
        graph.add_edge(result.nodes[src], result.nodes[dst], **data)
    return graph


def on_start_tests(items: Sequence[Any]) -> None:
    """Mark what of NetworkX's own tests asks for more than its documentation says."""
    import pytest

    reasons = {
        "test_condensation_mapping_and_members": "numbers components in the order of NetworkX's search",
    }
    for item in items:
        if reason := reasons.get(item.name):
            item.add_marker(pytest.mark.xfail(reason=reason))


# -- what can be run ------------------------------------------------------------------------------


def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a function runs here with these arguments; a text says why it does not."""
    kwargs = {key: value for key, value in kwargs.items() if key not in ("backend",)}
    try:
        bound = inspect.signature(_FUNCTIONS[name]).bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    bound.apply_defaults()
    given = bound.arguments
    graph = given["G"]
    if type(graph) not in (*_GRAPHS, BackendGraph):
        return f"a {type(graph).__name__} may have edges of its own making"
    if not graph.is_directed() and _behind(graph).is_directed():
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
    if "no loops" in kinds and _has_loops(graph):
        return "only without self-loops"
    for check in (_no_node, _no_other, _no_weight):
        if reason := check(name, graph, given):
            return reason
    return True


def _has_loops(graph: Any) -> bool:
    if isinstance(graph, BackendGraph):
        return bool((graph.edges["src"] == graph.edges["dst"]).any())
    return any(node in neighbours for node, neighbours in graph.adjacency())


def _no_node(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    for key in ("source", "n"):
        if key in given and given[key] not in graph:
            return f"{key} is not in the graph"
    return ""


def _no_other(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    """Arguments of which only some values are supported."""
    if any(
        given.get(key) is not None for key in ("personalization", "nstart", "dangling", "nodes")
    ):
        return "only for all nodes alike"
    if name == "clustering" and given["weight"] is not None:
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


def _no_weight(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    weight = given.get("weight")
    if weight is None:
        return ""
    if not isinstance(weight, str):
        return "only for weights that are an attribute"
    if isinstance(graph, BackendGraph):
        values: Any = graph.edges.get(f"value {weight}", ())
    else:
        values = (data.get(weight, 1) for _, _, data in graph.edges(data=True))
    above = "betweenness" in name  # which divides by numbers of paths
    for value in values:
        number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
        if not number or not math.isfinite(value) or not 0 <= value <= _EXACT:
            return "only for numbers from 0 as weights"
        if above and value == 0:
            return "only for weights above 0"
    return ""


# -- the functions, with NetworkX's signatures ----------------------------------------------------

_FUNCTIONS: dict[str, Callable[..., Any]] = {}
_KINDS: dict[str, tuple[str, ...]] = {}


def _backend(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Offer a function to NetworkX, for some kinds of graphs only."""

    def offered(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            calls[function.__name__] += 1
            try:
                return function(*args, **kwargs)
            except (IntegerOverflow, InvalidEdges) as error:
                raise NotImplementedError(str(error)) from error  # has NetworkX do it

        _FUNCTIONS[function.__name__], _KINDS[function.__name__] = counted, kinds
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
    try:
        found = G.graph(weight, ones=True).pagerank(
            damping=alpha, tolerance=tol * len(G), max_iterations=max_iter
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
    if G.edges.empty:
        return {}
    found = G.graph(weight).edge_betweenness_centrality(
        _drawn(G, k, seed), weighted=weight is not None, normalized=bool(normalized)
    )
    value = dict(
        zip(
            zip(found["src"], found["dst"], strict=True), found["betweenness"].tolist(), strict=True
        )
    )
    ends = G.edges if G.directed else G.edges.query("src <= dst")
    return {
        (G.nodes[u], G.nodes[v]): value[u, v]
        for u, v in zip(ends["src"].tolist(), ends["dst"].tolist(), strict=True)
    }


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
    found = G.graph(weight, ones=True).sssp(G.place[source], cutoff=cutoff)
    return _nearest_first(G, found)


def _nearest_first(G: BackendGraph, found: pd.DataFrame) -> dict[Any, Any]:
    reached = found[found["distance"].notna()].sort_values("distance", kind="stable")
    return G.by_node(reached, "distance")


@_backend()
def descendants(G: BackendGraph, source: Any) -> set[Any]:
    """As ``networkx.descendants``."""
    found = G.graph().bfs(G.place[source])
    reached = found.loc[found["distance"].notna(), "vertex"]
    return {G.nodes[v] for v in reached} - {source}


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
    return len(G.parts(G.graph().weakly_connected_components()))


@_backend("directed")
def number_weakly_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_weakly_connected_components``."""
    return len(G.parts(G.graph().weakly_connected_components()))


@_backend("directed")
def number_strongly_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_strongly_connected_components``."""
    return len(G.parts(G.graph().strongly_connected_components()))


@_backend("undirected")
def is_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_connected``."""
    return len(G.parts(G.graph().weakly_connected_components())) == 1


@_backend("directed")
def is_weakly_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_weakly_connected``."""
    return len(G.parts(G.graph().weakly_connected_components())) == 1


@_backend("directed")
def is_strongly_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_strongly_connected``."""
    return len(G.parts(G.graph().strongly_connected_components())) == 1


@_backend("undirected")
def node_connected_component(G: BackendGraph, n: Any) -> set[Any]:
    """As ``networkx.node_connected_component``."""
    return next(part for part in G.parts(G.graph().weakly_connected_components()) if n in part)


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
    return G.by_node(G.graph().clustering_coefficient(), "clustering_coefficient")
