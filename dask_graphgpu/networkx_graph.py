"""Graphs of NetworkX's, converted once: to arrays of edges, and to the graphs that methods run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from operator import is_, itemgetter
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd

from _dask_graphgpu_networkx.rules import behind
from dask_graphgpu.graphs import Graph
from dask_graphgpu.networkx_weights import Weights


class Neighbours(NamedTuple):
    """Who is next to whom, in NetworkX's order.

    Attributes
    ----------
    offsets : int64 array, shape (nodes + 1,)
        Where each node's neighbours begin.
    neighbours : uint32 array
        Places of nodes; of several edges to a neighbour one.
    """

    offsets: np.ndarray
    neighbours: np.ndarray

    @property
    def tails(self) -> np.ndarray:
        """The node whose neighbour each one is."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


class BackendGraph:
    """A graph of NetworkX's as arrays of edges; its nodes are numbered in their order.

    Attributes
    ----------
    origin : nx.Graph
        The graph as it was given. Attributes are read from it when they are first asked for.
    successors : Neighbours
    source, destination : int64 arrays
        Places in ``nodes``; of an undirected graph each edge once, from the earlier node. In the order of
        ``origin.edges``.
    """

    __networkx_backend__ = "graphgpu"

    def __init__(self, graph: nx.Graph) -> None:
        self.origin = graph
        self.directed, self.multi = bool(graph.is_directed()), bool(graph.is_multigraph())
        self.nodes = list(graph)
        rows = [row for _, row in graph.adjacency()]
        if (
            self.multi and behind(graph) is not graph
        ):  # rows of such a view may tell too large a length
            rows = list(map(dict, rows))
        self.successors = self._rows(rows)
        source, destination = self.successors.tails, self.successors.neighbours.astype(np.int64)
        if not self.directed:
            once = source <= destination
            source, destination = source[once], destination[once]
        if self.multi:
            times = np.fromiter(map(len, self._held(rows)), np.int64, len(source))
            source, destination = np.repeat(source, times), np.repeat(destination, times)
        self.source, self.destination = source, destination
        self._graphs: dict[tuple[str | None, bool], Graph] = {}
        self._weights: dict[str, Weights] = {}

    def _held(self, rows: Iterable[Mapping[Any, Any]]) -> Iterable[Any]:
        """What rows hold of each edge: its attributes; of a multigraph those of all between two nodes, by key."""
        held = chain.from_iterable(row.values() for row in rows)
        if self.directed:
            return held
        return compress(held, (self.successors.tails <= self.successors.neighbours).tolist())

    @cached_property
    def data(self) -> list[dict[str, Any]]:
        """The attributes of each edge, as they are now: these are the graph's own."""
        held = self._held(row for _, row in self.origin.adjacency())
        if self.multi:
            held = chain.from_iterable(keys.values() for keys in held)
        return list(held)

    def read_again(self, name: str) -> None:
        """Read an attribute of the edges; what was made of other values is forgotten.

        NetworkX does not see that a value is set in place, as by ``G[u][v][name] = 5``.
        """
        try:
            values = list(map(itemgetter(name), self.data))
        except KeyError:  # some edges do not have it
            values = [held.get(name, 1) for held in self.data]
        kept = self._weights.get(name)
        if kept is None or not all(map(is_, values, kept.values)):
            self._weights[name] = Weights(values)
            self._graphs.pop((name, False), None)

    def _rows(self, rows: Sequence[Iterable[Any]]) -> Neighbours:
        """Neighbours of each node as arrays."""
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=offsets[1:])  # type: ignore[arg-type]
        heads: Iterator[Any] = chain.from_iterable(rows)
        if self._table is None:
            heads = map(self.place.__getitem__, heads)
        neighbours = np.fromiter(heads, np.int64, int(offsets[-1]))
        if self._table is not None and len(self._table):
            neighbours = self._table[neighbours]
        return Neighbours(offsets, neighbours.astype(np.uint32))

    @cached_property
    def _table(self) -> np.ndarray | None:
        """The place of each node, where nodes are integers from 0 to not much more than there are.

        Empty: they are their places. None: they have to be looked up.
        """
        count = len(self.nodes)
        if self.nodes == list(range(count)):
            return np.empty(0, np.int64)
        if (
            set(map(type, self.nodes)) != {int}
            or min(self.nodes) < 0
            or max(self.nodes) > 8 * count
        ):
            return None
        table = np.empty(max(self.nodes) + 1, np.int64)
        table[self.nodes] = np.arange(count)
        return table

    @cached_property
    def predecessors(self) -> Neighbours:
        """The same against the direction of the edges."""
        return self._rows(list(self.origin.pred.values())) if self.directed else self.successors

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
        kept = {key: value for key, value in self.__dict__.items() if key != "data"}
        return {**kept, "_graphs": {}, "_weights": {}}  # what is built is of this process

    def weights(self, name: str) -> Weights:
        """An attribute as weights, as it was last read."""
        if name not in self._weights:
            self.read_again(name)
        return self._weights[name]

    def graph(self, weight: str | None = None, *, ones: bool = False) -> Graph:
        """The same as a `Graph`, built once; its weight is an attribute, or 1 with ``ones``."""
        key = weight, ones and weight is None
        if key not in self._graphs:
            numbers: np.ndarray | None = np.ones(len(self.source), np.int64) if ones else None
            if weight is not None:
                numbers = self.weights(weight).numbers
            self._graphs[key] = self.weighed(numbers).persist()
        return self._graphs[key]

    def weighed(self, numbers: np.ndarray | None) -> Graph:
        """The same as a `Graph` with a weight for each edge, or without."""
        frame = pd.DataFrame({"src": self.source, "dst": self.destination})
        if numbers is not None:
            frame["weight"] = numbers
        named = None if numbers is None else "weight"
        vertices = pd.DataFrame({"vertex": np.arange(len(self.nodes))})
        return Graph(frame, weight=named, directed=self.directed, vertices=vertices, ranks=1)

    def arcs(self, weight: str | None = None) -> tuple[np.ndarray, np.ndarray, Any]:
        """Every edge in each of its directions, and its weight, or 1 for all; a self-loop once."""
        numbers: Any = 1 if weight is None else self.weights(weight).numbers
        if self.directed:
            return self.source, self.destination, numbers
        back = self.source != self.destination
        tails = np.concatenate([self.source, self.destination[back]])
        heads = np.concatenate([self.destination, self.source[back]])
        return tails, heads, 1 if weight is None else np.concatenate([numbers, numbers[back]])

    @cached_property
    def arc_keys(self) -> np.ndarray:
        """``tail * nodes + head`` of each pair of neighbours, ascending."""
        return np.sort(self.successors.tails * len(self) + self.successors.neighbours)

    @cached_property
    def in_degrees(self) -> np.ndarray:
        """Edges into each node of a directed graph."""
        return np.bincount(self.destination, minlength=len(self))

    @cached_property
    def out_degrees(self) -> np.ndarray:
        """Edges out of each node of a directed graph."""
        return np.bincount(self.source, minlength=len(self))

    @property
    def degrees(self) -> np.ndarray:
        """Ends of edges at each node: two of a self-loop."""
        return np.asarray(self.in_degrees + self.out_degrees)

    def named(self, places: Any) -> list[Any]:
        """Nodes by their places."""
        return list(map(self.nodes.__getitem__, places.tolist()))

    def ends(self, places: Any = slice(None)) -> list[tuple[Any, Any]]:
        """Both nodes of edges."""
        sides = self.named(self.source[places]), self.named(self.destination[places])
        return list(zip(*sides, strict=True))

    def pairs(self, frame: pd.DataFrame) -> list[tuple[Any, Any]]:
        """Both nodes of the edges that a result has rows of."""
        sides = (self.named(frame[name].to_numpy()) for name in ("src", "dst"))
        return list(zip(*sides, strict=True))

    def chosen(self, found: dict[Any, Any], nodes: Any) -> Any:
        """Of a value for each node those asked for: all, those of some nodes, or that of a single one."""
        if nodes is None:
            return found
        if nodes in self:
            return found[nodes]
        return {node: found[node] for node in self.origin.nbunch_iter(nodes)}

    def by_node(self, frame: pd.DataFrame, column: str) -> dict[Any, Any]:
        """A column of a result by node, in the order of the rows."""
        nodes = map(self.nodes.__getitem__, frame["vertex"].tolist())
        return dict(zip(nodes, frame[column].tolist(), strict=True))

    def parts(self, frame: pd.DataFrame) -> list[set[Any]]:
        """Components or communities as sets of nodes, ordered by their first nodes."""
        found: dict[int, set[Any]] = {}
        label = frame.columns[1]
        for node, part in zip(self.named(frame["vertex"]), frame[label].tolist(), strict=True):
            found.setdefault(part, set()).add(node)
        return list(found.values())


def convert_from_nx(graph: nx.Graph, **asked: Any) -> BackendGraph:
    """A graph of NetworkX's as the backend has it: the one that was made for another call, if there is one.

    What NetworkX asks to take along is left to be read later, from the graph itself. The graph is kept in the place
    that NetworkX empties when a graph changes, but not by NetworkX's own cache, which would hold one for each
    attribute and warn at every use.
    """
    if behind(graph) is not graph:  # NetworkX would not see that the graph behind a view changes
        graph.__networkx_cache__ = None
    cache = getattr(graph, "__networkx_cache__", None)
    if cache is None or not nx.config.cache_converted_graphs:
        return BackendGraph(graph)
    cache.get("backends", {}).pop("graphgpu", None)
    if "graphgpu" not in cache:
        cache["graphgpu"] = BackendGraph(graph)
    kept: BackendGraph = cache["graphgpu"]
    return kept


def convert_to_nx(result: Any, **others: Any) -> Any:
    """A graph of the backend as NetworkX has it; any other result as it is."""
    return result.origin.copy() if isinstance(result, BackendGraph) else result
