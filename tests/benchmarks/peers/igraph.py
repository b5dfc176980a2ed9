"""python-igraph; its algorithms use one thread.

Its PageRank and HITS are left out: they have no number of iterations to set. Its label propagation goes on until
nothing changes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import igraph
import numpy as np
from ours import RADIUS

from peers.peer import WEIGHTED, Peer, edges_among, num_vertices


class IGraph(Peer):
    """``G`` is ``Graph(n, edges=np.column_stack([src, dst]), directed=...)``."""

    name = "igraph"
    calls: ClassVar = {
        "bfs": "G.distances(source, mode='out')",
        "sssp": "G.distances(source, weights=weight, mode='out')",
        "bfs, 64 sources": "G.distances(sources, mode='out')",
        "sssp, 16 sources": "G.distances(sources, weights=weight, mode='out')",
        "shortest path": "G.get_shortest_path(source, target, weights=weight, output='epath')",
        "components": "G.connected_components(mode='weak').membership, its cache emptied before",
        "betweenness": "G.betweenness(directed=..., sources=...), then scaled to be an estimate of all",
        "edge betweenness": "G.edge_betweenness(directed=..., sources=...), scaled likewise",
        "strong components": "the same with mode='strong'",
        "triangles": "G.as_undirected().simplify().transitivity_local_undirected(mode='zero'), times pairs",
        "jaccard": "G.as_undirected().simplify().similarity_jaccard(pairs=...)",
        "louvain": "G.as_undirected('each').community_multilevel().membership",
        "leiden": "G.as_undirected('each').community_leiden('modularity', n_iterations=2).membership",
        "label propagation": "G.as_undirected('each').community_label_propagation().membership",
        "clustering": "G.transitivity_local_undirected(mode='zero')",
        "core numbers": "G.as_undirected().simplify().coreness()",
        "k-core": "the same, edges by numpy",
        "ego": "G.neighborhood(source, order=2, mode='out'), edges by numpy",
    }
    undirected_only: ClassVar = ("clustering",)

    def kernel(self, algorithm: str, source: Any) -> Callable[[], Any]:
        if algorithm in WEIGHTED:
            src, dst, weight = self.weighted_ends
            weighted, lengths = self._of(src, dst), weight.astype(float).tolist()
            if algorithm == "shortest path":
                how = {"weights": lengths, "output": "epath"}
                return lambda: weight[weighted.get_shortest_path(*source, **how)].cumsum()
            found = functools.partial(weighted.distances, source, weights=lengths, mode="out")
            if algorithm == "sssp":
                return lambda: np.array(found()[0])
            return lambda: np.array(found())
        graph = self._plain
        if algorithm == "bfs, 64 sources":
            return lambda: np.array(graph.distances(source, mode="out"))
        if algorithm == "ego":
            return lambda: self._ego(graph, source)
        if algorithm == "clustering":
            return lambda: np.array(graph.transitivity_local_undirected(mode="zero"))
        if algorithm == "bfs":
            return lambda: np.array(graph.distances(source, mode="out")[0])
        if algorithm in ("louvain", "leiden", "label propagation"):
            both = graph.as_undirected("each")
            if algorithm == "label propagation":
                return lambda: np.array(both.community_label_propagation().membership)
            if algorithm == "louvain":
                return lambda: np.array(both.community_multilevel().membership)
            return lambda: np.array(both.community_leiden("modularity", n_iterations=2).membership)
        if algorithm in ("core numbers", "k-core", "triangles", "jaccard"):
            simple = graph.as_undirected().simplify()
        if algorithm == "jaccard":
            pairs = source.tolist()
            return lambda: np.array(simple.similarity_jaccard(pairs=pairs, loops=False))
        if algorithm == "triangles":
            degree = np.array(simple.degree())
            wedges = degree * (degree - 1) / 2
            return lambda: np.array(simple.transitivity_local_undirected(mode="zero")) * wedges
        if algorithm == "core numbers":
            return lambda: np.array(simple.coreness())
        if algorithm == "k-core":
            return lambda: edges_among(self.ends, np.array(simple.coreness()) >= source)
        if algorithm == "betweenness":
            return lambda: self._estimate(graph, source)
        if algorithm == "edge betweenness":
            return lambda: self._edge_estimate(graph, source)

        def components() -> np.ndarray:
            getattr(graph, "__invalidate_cache")()  # it remembers the components of the last call
            kind = "strong" if algorithm == "strong components" else "weak"
            return np.array(graph.connected_components(mode=kind).membership)

        return components

    def _estimate(self, graph: igraph.Graph, sources: list[int]) -> np.ndarray:
        """The mean over pairs that can be counted for a vertex, a source being in fewer."""
        sums = np.array(graph.betweenness(directed=self.directed, sources=sources))
        counted = np.full(len(sums), len(sources))
        counted[sources] -= 1
        ways = 1 if self.directed else 2  # it counts undirected pairs once
        return sums * ways / (counted * (len(sums) - 2))

    def _edge_estimate(self, graph: igraph.Graph, sources: list[int]) -> np.ndarray:
        sums = np.array(graph.edge_betweenness(directed=self.directed, sources=sources))
        ways = 1 if self.directed else 2
        return sums * ways / (len(sources) * (graph.vcount() - 1))

    def _ego(self, graph: igraph.Graph, center: int) -> tuple[np.ndarray, np.ndarray]:
        near = np.zeros(graph.vcount(), bool)
        near[graph.neighborhood(center, order=RADIUS, mode="out")] = True
        return edges_among(self.ends, near)

    @cached_property
    def _plain(self) -> igraph.Graph:
        return self._of(*self.ends)

    def _of(self, src: np.ndarray, dst: np.ndarray) -> igraph.Graph:
        edges = np.column_stack([src, dst])
        return igraph.Graph(num_vertices(src, dst), edges, directed=self.directed)
