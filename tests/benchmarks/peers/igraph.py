"""python-igraph; its algorithms use one thread.

Its PageRank is left out: it has no number of iterations to set.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import igraph
import numpy as np

from peers.peer import Peer, num_vertices


class IGraph(Peer):
    """``G`` is ``Graph(n, edges=np.column_stack([src, dst]), directed=...)``."""

    name = "igraph"
    calls: ClassVar = {
        "bfs": "G.distances(source, mode='out')",
        "sssp": "G.distances(source, weights=weight, mode='out')",
        "components": "G.connected_components(mode='weak').membership, its cache emptied before",
        "betweenness": "G.betweenness(directed=..., sources=...), then scaled to be an estimate of all",
        "strong components": "the same with mode='strong'",
        "triangles": "G.as_undirected().simplify().transitivity_local_undirected(mode='zero'), times pairs",
        "jaccard": "G.as_undirected().simplify().similarity_jaccard(pairs=...)",
        "louvain": "G.as_undirected('each').community_multilevel().membership",
        "leiden": "G.as_undirected('each').community_leiden('modularity', n_iterations=2).membership",
        "core numbers": "G.as_undirected().simplify().coreness()",
    }

    def kernel(self, algorithm: str, source: Any) -> Callable[[], np.ndarray]:
        if algorithm == "sssp":
            src, dst, weight = self.weighted_ends
            weighted, lengths = self._of(src, dst), weight.astype(float).tolist()
            return lambda: np.array(weighted.distances(source, weights=lengths, mode="out")[0])
        graph = self._plain
        if algorithm == "bfs":
            return lambda: np.array(graph.distances(source, mode="out")[0])
        if algorithm in ("louvain", "leiden"):
            both = graph.as_undirected("each")
            if algorithm == "louvain":
                return lambda: np.array(both.community_multilevel().membership)
            return lambda: np.array(both.community_leiden("modularity", n_iterations=2).membership)
        if algorithm in ("core numbers", "triangles", "jaccard"):
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

        if algorithm == "betweenness":
            return lambda: self._estimate(graph, source)

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

    @cached_property
    def _plain(self) -> igraph.Graph:
        return self._of(*self.ends)

    def _of(self, src: np.ndarray, dst: np.ndarray) -> igraph.Graph:
        edges = np.column_stack([src, dst])
        return igraph.Graph(num_vertices(src, dst), edges, directed=self.directed)
