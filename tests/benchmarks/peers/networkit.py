"""NetworKit; its BFS, Dijkstra and components use one thread, the others all."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import networkit as nk
import numpy as np
from ours import LABEL_ITERATIONS, PAGERANK_ITERATIONS, RADIUS

from peers.peer import WEIGHTED, Peer, edges_among, num_vertices


class NetworKit(Peer):
    """``G`` is ``GraphFromCoo((src, dst), n, directed=...)``, with weights for Dijkstra."""

    name = "NetworKit"
    calls: ClassVar = {
        "bfs": "distance.BFS(G, source, storePaths=False).run().getDistances(asarray=True)",
        "bfs, 64 sources": "distance.SPSP(G, sources).run().getDistances(asarray=True)",
        "sssp, 16 sources": "the same with weights",
        "shortest path": "distance.BidirectionalDijkstra(G, source, target).run(), its path",
        "ego": "distance.BFS(G, source, storePaths=False), edges by numpy",
        "k-core": "centrality.CoreDecomposition(graphtools.toUndirected(G)), edges by numpy",
        "clustering": "centrality.LocalClusteringCoefficient(G, turbo=True)",
        "label propagation": "community.PLP(graphtools.toUndirected(G), maxIterations=10)",
        "sssp": "distance.Dijkstra(G, source, storePaths=False).run().getDistances(asarray=True)",
        "ssnsp": "distance.BFS(G, source, storePaths=True).run(), counts not read out",
        "pagerank": "centrality.PageRank(G, 0.85, 1e-30, distributeSinks), maxIterations = 50",
        "components": "components.WeaklyConnectedComponents(G), ConnectedComponents undirected",
        "strong components": "components.StronglyConnectedComponents(G), ConnectedComponents undirected",
        "triangles": "centrality.LocalClusteringCoefficient(simple undirected G, turbo=True), times pairs",
        "louvain": "community.PLM(graphtools.toUndirected(G))",
        "leiden": "community.ParallelLeiden(graphtools.toUndirected(G), iterations=2)",
        "core numbers": "centrality.CoreDecomposition(graphtools.toUndirected(G))",
    }

    undirected_only: ClassVar = ("clustering",)

    def kernel(self, algorithm: str, source: Any) -> Callable[[], Any]:
        if algorithm == "sssp":
            weighted = self._weighted
            return lambda: (
                nk.distance.Dijkstra(weighted, source, storePaths=False)
                .run()
                .getDistances(asarray=True)
            )
        if algorithm == "shortest path":
            weighted = self._weighted
            return lambda: _path(nk.distance.BidirectionalDijkstra(weighted, *source))
        if algorithm.endswith(" sources"):
            graph = self._weighted if algorithm in WEIGHTED else self._plain
            return lambda: np.asarray(
                nk.distance.SPSP(graph, source).run().getDistances(asarray=True)
            )
        plain = self._plain
        if algorithm == "ego":
            search = functools.partial(nk.distance.BFS, plain, source, storePaths=False)
            return lambda: edges_among(
                self.ends, np.asarray(search().run().getDistances(asarray=True)) <= RADIUS
            )
        if algorithm in ("bfs", "ssnsp"):
            paths = algorithm == "ssnsp"
            return lambda: (
                nk.distance.BFS(plain, source, storePaths=paths).run().getDistances(asarray=True)
            )
        if algorithm.endswith("components"):
            way = "Weakly" if algorithm == "components" else "Strongly"
            kind = f"{way}ConnectedComponents" if self.directed else "ConnectedComponents"
            find = getattr(nk.components, kind)
            return lambda: np.asarray(find(plain).run().getPartition().getVector())
        if algorithm == "triangles":
            simple = self._simple
            degree = np.array([simple.degree(v) for v in simple.iterNodes()])
            pairs, local = degree * (degree - 1) / 2, nk.centrality.LocalClusteringCoefficient
            return lambda: np.asarray(local(simple, turbo=True).run().scores()) * pairs
        if algorithm == "clustering":
            local = nk.centrality.LocalClusteringCoefficient
            return lambda: np.asarray(local(plain, turbo=True).run().scores())
        if algorithm in ("louvain", "leiden", "label propagation"):
            both = nk.graphtools.toUndirected(plain) if self.directed else plain
            if algorithm == "louvain":
                return lambda: np.asarray(nk.community.PLM(both).run().getPartition().getVector())
            if algorithm == "label propagation":
                labels = functools.partial(nk.community.PLP, both, maxIterations=LABEL_ITERATIONS)
                return lambda: np.asarray(labels().run().getPartition().getVector())
            leiden = nk.community.ParallelLeiden
            return lambda: np.asarray(leiden(both, iterations=2).run().getPartition().getVector())
        if algorithm in ("core numbers", "k-core"):
            both = nk.graphtools.toUndirected(plain) if self.directed else plain
            both.removeMultiEdges()

            def cores() -> np.ndarray:
                return np.asarray(nk.centrality.CoreDecomposition(both).run().scores())

            if algorithm == "core numbers":
                return cores
            return lambda: edges_among(self.ends, cores() >= source)

        def pagerank() -> np.ndarray:
            spread = nk.centrality.SinkHandling.DistributeSinks
            ranks = nk.centrality.PageRank(plain, 0.85, 1e-30, distributeSinks=spread)
            ranks.maxIterations = PAGERANK_ITERATIONS
            return np.asarray(ranks.run().scores())

        return pagerank

    @cached_property
    def _simple(self) -> Any:
        """Without directions, repeats and loops."""
        src, dst = self.ends
        n = num_vertices(src, dst)
        keys = np.minimum(src, dst) * np.int64(n) + np.maximum(src, dst)
        low, high = np.divmod(np.unique(keys[src != dst]), n)
        return nk.GraphFromCoo((low, high), n, directed=False)

    @cached_property
    def _plain(self) -> Any:
        src, dst = self.ends
        return nk.GraphFromCoo((src, dst), num_vertices(src, dst), directed=self.directed)

    @cached_property
    def _weighted(self) -> Any:
        src, dst, weight = self.weighted_ends
        edges = weight.astype(float), (src, dst)
        n = num_vertices(src, dst)
        return nk.GraphFromCoo(edges, n, directed=self.directed, weighted=True)


def _path(search: Any) -> np.ndarray:
    """The length of the path, which is made as well."""
    search.run()
    search.getPath()
    return np.array([search.getDistance()])
