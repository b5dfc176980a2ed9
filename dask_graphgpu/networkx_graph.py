"""Graphs of NetworkX's, converted once: to arrays of edges, and to the graphs that methods run on."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from dask_graphgpu.graphs import Graph

LIMIT = 2**53  # of weights: from here on a float next to an integer may round it

# Types of weights: NetworkX works with those of others, and its results are of them.
_TYPES = {int, float, np.int64, np.float64}


class BackendGraph:
    """A graph of NetworkX's as arrays of edges; its nodes are numbered in their order.

    Parameters
    ----------
    graph : nx.Graph
    attributes : mapping of str to object
        Attributes of the edges to take along, and what an edge without one has.

    Attributes
    ----------
    source, destination : int64 arrays
        Places in ``nodes``; of an undirected graph each edge once, from the earlier node.
    values : dict of str to list
        The attributes of the edges.
    """

    __networkx_backend__ = "graphgpu"

    def __init__(self, graph: nx.Graph, attributes: Mapping[str, Any]) -> None:
        self.kind = type(graph)
        self.directed, self.multi = bool(graph.is_directed()), bool(graph.is_multigraph())
        self.nodes = list(graph)
        self.attributes = dict(attributes)
        rows = [row for _, row in graph.adjacency()]
        degrees = np.fromiter(map(len, rows), np.int64, len(rows))
        source = np.repeat(np.arange(len(rows)), degrees)
        heads: Iterator[Any] = chain.from_iterable(rows)
        if self.nodes != list(range(len(rows))):  # else they are their places
            heads = map(self.place.__getitem__, heads)
        destination = np.fromiter(heads, np.int64, len(source))
        once = None if self.directed else source <= destination
        if once is not None:
            source, destination = source[once], destination[once]
        held: Any = ()  # of each edge its attributes; of a multigraph, of all between two nodes
        if attributes or self.multi:
            held = chain.from_iterable(row.values() for row in rows)
            held = list(held if once is None else compress(held, once.tolist()))
        if self.multi:
            times = np.fromiter(map(len, held), np.int64, len(held))
            source, destination = np.repeat(source, times), np.repeat(destination, times)
            held = [data for keys in held for data in keys.values()]
        self.source, self.destination = source, destination
        self.values = {
            name: [data.get(name, default) for data in held] for name, default in attributes.items()
        }
        self._graphs: dict[tuple[str | None, bool], Graph] = {}
        self._weights: dict[str, Weights] = {}

    @cached_property
    def place(self) -> dict[Any, int]:
        """Where each node is in ``nodes``."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def has_loops(self) -> bool:
        """Whether an edge joins a node to itself."""
        return bool((self.source == self.destination).any())

    def is_directed(self) -> bool:
        """As NetworkX's graphs have it."""
        return self.directed

    def is_multigraph(self) -> bool:
        """As NetworkX's graphs have it."""
        return self.multi

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.place
        except TypeError:  # cannot be hashed
            return False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_graphs": {}}  # what is built is of this process

    def weights(self, name: str) -> Weights:
        """An attribute as weights; looked at once."""
        if name not in self._weights:
            self._weights[name] = Weights(self.values[name])
        return self._weights[name]

    def graph(self, weight: str | None = None, *, ones: bool = False) -> Graph:
        """The same as a `Graph`, built once; its weight is an attribute, or 1 with ``ones``."""
        key = (weight, ones and weight is None)
        if key not in self._graphs:
            frame = pd.DataFrame({"src": self.source, "dst": self.destination})
            if weight is not None:
                frame["weight"] = self.weights(weight).numbers
            elif ones:
                frame["weight"] = 1
            named = "weight" if "weight" in frame else None
            vertices = pd.DataFrame({"vertex": np.arange(len(self.nodes))})
            made = Graph(frame, weight=named, directed=self.directed, vertices=vertices, ranks=1)
            self._graphs[key] = made.persist()
        return self._graphs[key]

    def by_node(self, frame: pd.DataFrame, column: str) -> dict[Any, Any]:
        """A column of a result by node, in the order of the rows."""
        nodes = map(self.nodes.__getitem__, frame["vertex"].tolist())
        return dict(zip(nodes, frame[column].tolist(), strict=True))

    def parts(self, frame: pd.DataFrame) -> list[set[Any]]:
        """Components as sets of nodes, ordered by their first nodes."""
        found: dict[int, set[Any]] = {}
        for node, label in zip(self.nodes, frame["component"].tolist(), strict=True):
            found.setdefault(label, set()).add(node)
        return list(found.values())


class Weights:
    """An attribute of the edges as numbers.

    Attributes
    ----------
    reason : str
        Why methods cannot take them; empty: they can.
    numbers : int64 or float64 array
    plain : bool
        All are Python's int and float, so that sums of them are.
    are_floats : bool array, or None
        Which are floats, where there are both; None: all are or none is.
    has_zero : bool
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.numbers, self.are_floats = np.empty(0), None
        self.reason = "only for numbers from 0 as weights"
        types = set(map(type, values))
        if not types <= _TYPES:
            return
        floats = {t for t in types if issubclass(t, float)}
        try:
            self.numbers = np.array(values, np.float64 if floats else np.int64)
        except OverflowError:
            return
        if not ((self.numbers >= 0) & (self.numbers < LIMIT)).all():  # NaN is neither
            return
        self.reason = ""
        self.plain = types <= {int, float}
        self.has_zero = bool((self.numbers == 0).any())
        if floats and types - floats:
            self.are_floats = np.array([isinstance(value, float) for value in values])


def sums_are_floats(G: BackendGraph, source: int, distance: np.ndarray, weight: str) -> np.ndarray:
    """Which distances NetworkX has as floats, where some weights are integers and some floats.

    A distance is a float where the path to it has a float. Of several shortest paths NetworkX keeps the
    one whose last vertex but one it looks at first: by distance, then by when it was met.

    Parameters
    ----------
    distance : float64 array
        Of each vertex; NaN where it is not reached.

    Returns
    -------
    bool array
    """
    weights = G.weights(weight)
    assert weights.are_floats is not None
    ends = [(G.source, G.destination)]
    if not G.directed:
        ends.append((G.destination, G.source))
    u, v = (np.concatenate(side) for side in zip(*ends, strict=True))
    number, is_float = (np.tile(x, len(ends)) for x in (weights.numbers, weights.are_floats))
    shortest = np.flatnonzero(distance[u] + number == distance[v])
    shortest = shortest[np.argsort(u[shortest], kind="stable")]
    bounds = np.searchsorted(u[shortest], np.arange(len(G) + 1)).tolist()
    towards, floating = v[shortest].tolist(), is_float[shortest].tolist()
    lengths = distance.tolist()
    found = np.zeros(len(G), bool)
    met, waiting = {source: False}, [(0.0, 0, source)]
    while waiting:
        *_, near = heapq.heappop(waiting)
        found[near] = met[near]
        for e in range(bounds[near], bounds[near + 1]):
            far = towards[e]
            if far not in met:
                met[far] = met[near] or floating[e]
                heapq.heappush(waiting, (lengths[far], len(met), far))
    return found


def convert_from_nx(
    graph: nx.Graph, *, edge_attrs: Mapping[str, Any] | None = None, **others: Any
) -> BackendGraph:
    """A graph of NetworkX's as the backend has it, with the values of some attributes of the edges."""
    if behind(graph) is not graph:
        # NetworkX would not see that the graph behind a view changes.
        graph.__networkx_cache__ = None
    return BackendGraph(graph, edge_attrs or {})


def behind(graph: Any) -> Any:
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
    names = list(result.values)
    columns = zip(*result.values.values(), strict=True) if names else [()] * len(result.source)
    ends = zip(result.source.tolist(), result.destination.tolist(), strict=True)
    for (u, v), values in zip(ends, columns, strict=True):
        data = dict(zip(names, values, strict=True))
        graph.add_edge(result.nodes[u], result.nodes[v], **data)
    return graph
