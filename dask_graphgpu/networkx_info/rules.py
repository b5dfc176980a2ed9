"""Which calls the backend can run, and which are likely to be faster than in NetworkX."""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import networkx as nx

from _dask_graphgpu_networkx.functions import FUNCTIONS

# The module that has the functions, and how many times more edges importing it takes to pay off.
BACKEND = "dask_graphgpu.networkx_backend"
_UNTIL_LOADED = 10

_Check = Callable[[str, Any, Mapping[str, Any]], str]

_GRAPHS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def can_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a function runs here with these arguments; a text says why it does not.

    Edges are looked at once a graph is converted: what is wrong with them a call says then.
    """
    try:
        given = arguments(name, args, {key: kwargs[key] for key in kwargs if key != "backend"})
    except TypeError as error:
        return str(error)
    graph = given["G"]
    if type(graph) not in _GRAPHS and not _is_converted(graph):
        return f"a {type(graph).__name__} may have edges of its own making"
    if not graph.is_directed() and behind(graph).is_directed():
        return "an edge of an undirected view of a directed graph may have two weights"
    if not len(graph):
        return "the graph has no nodes"
    kinds = FUNCTIONS[name].kinds
    if "undirected" in kinds and graph.is_directed():
        return "only for undirected graphs"
    if "directed" in kinds and not graph.is_directed():
        return "only for directed graphs"
    if "simple" in kinds and graph.is_multigraph():
        return "only for simple graphs"
    checks: list[_Check] = [_no_node, _no_other, _no_value]
    if _is_converted(graph):
        checks.append(no_edges)
    return next((reason for check in checks if (reason := check(name, graph, given))), True)


def should_run(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a call that can run here is likely to take less time than NetworkX; a text says why not."""
    given = arguments(name, args, {key: kwargs[key] for key in kwargs if key != "backend"})
    graph, offer = given["G"], FUNCTIONS[name]
    if _is_converted(graph):
        return True
    kept = "graphgpu" in (getattr(graph, "__networkx_cache__", None) or ())
    least = offer.least_kept if kept else offer.least
    if least is None:
        return "NetworkX takes less time than converting the graph"
    if BACKEND not in sys.modules:
        least *= _UNTIL_LOADED
    if offer.counted == "pair":
        enough = len(given["ebunch"]) >= least
        return enough or f"NetworkX is likely to be faster on {len(given['ebunch']):,} pairs"
    if offer.counted == "source":
        least //= given.get("k") or _sources(name, graph, given)
    ends, of_edge = 0, 1 if graph.is_directed() else 2
    for _, row in graph.adjacency():  # of a large graph a few
        ends += len(row)
        if ends >= least * of_edge:
            return True
    return f"NetworkX is likely to be faster on {ends // of_edge:,} edges"


def behind(graph: Any) -> Any:
    """The graph that a view shows, through all views; any other as it is."""
    while hasattr(graph, "_graph"):
        graph = graph._graph
    return graph


def arguments(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a call by name."""
    bound = _signature(name).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


@functools.cache
def _signature(name: str) -> inspect.Signature:
    places = (nx, nx.community, nx.bipartite)
    function = next(getattr(place, name) for place in places if hasattr(place, name))
    return inspect.signature(function.orig_func)


def _is_converted(graph: Any) -> bool:
    return getattr(graph, "__networkx_backend__", None) == "graphgpu"


def _sources(name: str, graph: Any, given: Mapping[str, Any]) -> int:
    """From how many nodes a function that searches from each searches."""
    return 1 if given.get("u") is not None or given.get("v") is not None else len(graph)


def _no_node(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    for key in ("source", "target", "n", "u"):
        if isinstance(_default(name, key), str):  # no node, but a direction
            continue
        optional = _default(name, key) is None
        if key in given and not (optional and given[key] is None) and given[key] not in graph:
            return f"{key} is not in the graph"
    return ""


def _default(name: str, key: str) -> Any:
    """What an argument is by itself."""
    parameter = _signature(name).parameters.get(key)
    return parameter.default if parameter else inspect.Parameter.empty


# Arguments that have to be left out, where a function has them.
_LEFT_OUT = (
    "attr", "core_number", "dangling", "e", "nbunch", "nodelist", "nstart", "root", "sort_neighbors",
    "sources", "sp", "top_nodes",
)  # fmt: skip
_WITH_NODES = {"average_clustering", "average_neighbor_degree", "clustering", "triangles"}
_UNWEIGHTED = {
    "average_clustering", "average_degree_connectivity", "average_neighbor_degree", "average_shortest_path_length",
    "barycenter", "center", "clustering", "degree_assortativity_coefficient", "degree_pearson_correlation_coefficient",
    "diameter", "eccentricity", "periphery", "radius", "wiener_index",
}  # fmt: skip
_BY_DISTANCE = {"closeness_centrality", "harmonic_centrality"}  # who call the attribute of edges so
_AS_THEY_ARE = ("algorithm", "ignore_nan", "max_level", "threshold", "usebounds")


def weight_of(name: str, given: Mapping[str, Any]) -> Any:
    """The attribute of edges that is their length or weight; None: there is none."""
    return given.get("distance" if name in _BY_DISTANCE else "weight")


def _no_other(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    """Arguments of which only the default is supported."""
    for key in _LEFT_OUT:
        needed = _default(name, key) is inspect.Parameter.empty
        if given.get(key) is not None and not needed:
            return f"only without {key}"
    if given.get("nodes") is not None and name not in _WITH_NODES:
        return "only for all nodes alike"
    weight = weight_of(name, given)
    if weight is not None and not isinstance(weight, str):
        return "only for weights that are an attribute"
    if weight is not None and name in _UNWEIGHTED:
        return "only without weights"
    for key in _AS_THEY_ARE:
        if key in given and given[key] != _default(name, key):
            return f"only for {key}={_default(name, key)!r}"
    return ""


def _no_value(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    """Arguments of which only some values are supported."""
    wanted = given.get("personalization")
    if wanted is not None and not _is_personal(wanted, graph):
        return "only for a personalization of numbers from 0, one of them above"
    for key in ("cutoff", "depth_limit", "distance"):
        limit = given.get(key)
        if limit is None or (key == "distance" and name in _BY_DISTANCE):
            continue
        if not (isinstance(limit, Real) and float(limit) >= 0):
            return f"only for a {key} of at least 0"
        weighted = "dijkstra" in name or "bellman" in name
        if not weighted and math.isfinite(limit) and limit % 1:
            return f"only for a whole {key}, as NetworkX goes on to the next whole number"
    k = given.get("k")
    if (
        "betweenness" in name
        and k is not None
        and not (isinstance(k, Integral) and 1 <= int(k) <= len(graph))
    ):
        return "only for a number of sources that there are"
    if "ebunch" in given and not isinstance(given["ebunch"], Collection):
        return "only for pairs that can be counted and read twice"
    if name.startswith("multi_source") and not _are_nodes(given["sources"], graph):
        return "only for sources that can be read twice, at least one, which are nodes"
    own = _OWN.get(name)
    return own(given) if own else ""


def _are_nodes(sources: Any, graph: Any) -> bool:
    some = isinstance(sources, Collection) and len(sources) > 0
    return some and all(source in graph for source in sources)


def _of_pagerank(given: Mapping[str, Any]) -> str:
    if not (0 < given["alpha"] < 1 and given["max_iter"] >= 1):
        return "only for 0 < alpha < 1 and at least one iteration"
    return "" if given["tol"] > 0 else "only for a tolerance above 0"


def _of_hits(given: Mapping[str, Any]) -> str:
    fine = given["max_iter"] >= 1 and given["tol"] > 0 and given["normalized"]
    return (
        "" if fine else "only for normalized scores, a tolerance above 0 and at least one iteration"
    )


def _of_katz(given: Mapping[str, Any]) -> str:
    numbers = isinstance(given["alpha"], Real) and isinstance(given["beta"], Real)
    return "" if numbers else "only for an alpha and a beta that are numbers"


def _of_shortest_path_length(given: Mapping[str, Any]) -> str:
    if given["method"] != "dijkstra":
        return "only for method='dijkstra'"
    if given["target"] is None:
        return ""
    if given["weight"] is None and given["source"] is not None:
        return "only for many nodes: NetworkX searches from both ends"
    one_way = given["weight"] is None or given["source"] is not None
    return "" if one_way else "only without weights, or from a source"


def _of_average(given: Mapping[str, Any]) -> str:
    return "" if given["method"] in (None, "unweighted") else "only for method='unweighted'"


def _of_communities(given: Mapping[str, Any]) -> str:
    good = isinstance(given["resolution"], Real) and float(given["resolution"]) > 0
    return "" if good else "only for a resolution above 0"


def _of_out_degrees(given: Mapping[str, Any]) -> str:
    outward = given["source"] == given["target"] == "out"
    return "" if outward else "only for degrees and neighbours along the edges"


def _of_both_degrees(given: Mapping[str, Any]) -> str:
    both = given["source"] == given["target"] == "in+out"
    return "" if both else "only for degrees of both directions"


def _of_cycles(given: Mapping[str, Any]) -> str:
    bound = given["length_bound"]
    fine = isinstance(bound, Integral) and int(bound) >= 1
    return "" if fine else "only for a length_bound of at least 1"


def _of_ends(given: Mapping[str, Any]) -> str:
    known = given["x"] in ("in", "out") and given["y"] in ("in", "out")
    return "" if known else "only for x and y of 'in' and 'out'"


_OWN: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "average_degree_connectivity": _of_both_degrees,
    "average_neighbor_degree": _of_out_degrees,
    "average_shortest_path_length": _of_average,
    "degree_assortativity_coefficient": _of_ends,
    "degree_pearson_correlation_coefficient": _of_ends,
    "hits": _of_hits,
    "katz_centrality": _of_katz,
    "leiden_communities": _of_communities,
    "louvain_communities": _of_communities,
    "pagerank": _of_pagerank,
    "shortest_path_length": _of_shortest_path_length,
    "simple_cycles": _of_cycles,
}


def _is_personal(wanted: Any, graph: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return False
    values = [value for node, value in wanted.items() if node in graph]
    numbers = all(isinstance(v, Real) and float(v) >= 0 and math.isfinite(v) for v in values)
    return numbers and any(float(v) > 0 for v in values)


def no_edges(name: str, graph: Any, given: Mapping[str, Any]) -> str:
    """Edges of a converted graph, or weights of theirs, that are not supported; found out once."""
    if "no loops" in FUNCTIONS[name].kinds and graph.has_loops:
        return "only without self-loops"
    weight = weight_of(name, given)
    if weight is None:
        return ""
    weights = graph.weights(weight)
    if weights.reason:
        return str(weights.reason)
    if "betweenness" in name and weights.has_zero:  # which divides by numbers of paths
        return "only for weights above 0"
    if ("bellman" in name or "multi_source" in name) and weights.are_floats is not None:
        return "only for weights of one type"
    if "length" in name and not weights.plain:
        return "only for int and float as weights, of which sums of weights are then"
    return ""
