"""The peers' sides, each by the fastest of its documented calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from graphs import BenchmarkGraph
from ours import PAGERANK_ITERATIONS
from scipy.sparse import csgraph


class SciPy:
    """csgraph on a CSR matrix; PageRank is a loop of sparse products. One thread."""

    name = "SciPy"
    calls: ClassVar = {
        "bfs": "csgraph.breadth_first_order(A, source)",
        "sssp": "csgraph.dijkstra(A, indices=source)",
        "pagerank": "50 times A.T @ (x / degree) in float64, dangling rank spread",
        "components": "csgraph.connected_components(A, connection='weak')",
    }

    def __init__(self, graph: BenchmarkGraph) -> None:
        src, dst, weight = graph.arrays()
        if not graph.directed:
            src, dst, weight = *_both(src, dst), np.concatenate([weight, weight])
        n = int(max(src.max(), dst.max())) + 1
        # float64, which csgraph would otherwise convert to at every call
        self._matrix = sp.coo_array((weight.astype(float), (src, dst)), shape=(n, n)).tocsr()
        self._transposed = None

    def kernel(self, algorithm: str, source: int) -> Callable[[], np.ndarray]:
        matrix = self._matrix
        if algorithm == "bfs":
            return lambda: csgraph.breadth_first_order(matrix, source)[0]
        if algorithm == "sssp":
            return lambda: csgraph.dijkstra(matrix, indices=source)
        if algorithm == "components":
            return lambda: csgraph.connected_components(matrix, connection="weak")[1]
        if self._transposed is None:
            ones = sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape)
            self._transposed = ones.T.tocsr()
        return lambda: self._pagerank(self._transposed)

    def _pagerank(self, transposed: sp.csr_array) -> np.ndarray:
        degree = np.diff(self._matrix.indptr)
        n, dangling = len(degree), degree == 0
        share = np.where(dangling, 0, 1 / np.maximum(degree, 1))
        rank = np.full(n, 1 / n)
        for _ in range(PAGERANK_ITERATIONS):
            rank = 0.15 / n + 0.85 * (transposed @ (rank * share) + rank[dangling].sum() / n)
        return rank

    @classmethod
    def end_to_end(
        cls, graph: BenchmarkGraph, algorithm: str, source: int, out: Path
    ) -> Callable[[], None]:
        return lambda: _write(out, cls(graph).kernel(algorithm, source)())


class NetworKit:
    """NetworKit; its BFS, Dijkstra and components use one thread, the others all."""

    name = "NetworKit"
    calls: ClassVar = {
        "bfs": "distance.BFS(G, source, storePaths=False)",
        "sssp": "distance.Dijkstra(G, source, storePaths=False)",
        "pagerank": "centrality.PageRank(G, 0.85, 1e-30, distributeSinks), 50 iterations",
        "components": "components.WeaklyConnectedComponents(G), ConnectedComponents undirected",
        "core numbers": "centrality.CoreDecomposition(undirected G)",
        "path counts": "distance.BFS(G, source, storePaths=True), counts not read out",
    }

    def __init__(self, graph: BenchmarkGraph) -> None:
        import networkit as nk

        src, dst, weight = graph.arrays()
        n = int(max(src.max(), dst.max())) + 1
        ends = (src, dst)
        self._directed = graph.directed
        self._plain = nk.GraphFromCoo(ends, n, directed=graph.directed)
        self._weighted = lambda: nk.GraphFromCoo(
            (weight.astype(float), ends), n, directed=graph.directed, weighted=True
        )
        self._nk = nk

    def kernel(self, algorithm: str, source: int) -> Callable[[], np.ndarray]:
        nk, plain = self._nk, self._plain
        if algorithm == "bfs":
            return lambda: (
                nk.distance.BFS(plain, source, storePaths=False).run().getDistances(asarray=True)
            )
        if algorithm == "path counts":
            return lambda: (
                nk.distance.BFS(plain, source, storePaths=True).run().getDistances(asarray=True)
            )
        if algorithm == "sssp":
            weighted = self._weighted()
            return lambda: (
                nk.distance.Dijkstra(weighted, source, storePaths=False)
                .run()
                .getDistances(asarray=True)
            )
        if algorithm == "components":
            kind = "WeaklyConnectedComponents" if self._directed else "ConnectedComponents"
            find = getattr(nk.components, kind)
            return lambda: np.asarray(find(plain).run().getPartition().getVector())
        if algorithm == "core numbers":
            both = nk.graphtools.toUndirected(plain) if self._directed else plain
            both.removeMultiEdges()
            return lambda: np.asarray(nk.centrality.CoreDecomposition(both).run().scores())

        def pagerank() -> np.ndarray:
            spread = nk.centrality.SinkHandling.DistributeSinks
            ranks = nk.centrality.PageRank(plain, 0.85, 1e-30, distributeSinks=spread)
            ranks.maxIterations = PAGERANK_ITERATIONS
            return np.asarray(ranks.run().scores())

        return pagerank

    @classmethod
    def end_to_end(
        cls, graph: BenchmarkGraph, algorithm: str, source: int, out: Path
    ) -> Callable[[], None]:
        return lambda: _write(out, cls(graph).kernel(algorithm, source)())


class IGraph:
    """python-igraph; its algorithms use one thread."""

    name = "igraph"
    calls: ClassVar = {
        "bfs": "G.distances(source, mode='out')",
        "components": "G.connected_components(mode='weak')",
        "core numbers": "G.coreness() of the simple undirected graph",
    }

    def __init__(self, graph: BenchmarkGraph) -> None:
        import igraph

        src, dst, _ = graph.arrays()
        n = int(max(src.max(), dst.max())) + 1
        self._graph = igraph.Graph(n, np.column_stack([src, dst]), directed=graph.directed)

    def kernel(self, algorithm: str, source: int) -> Callable[[], np.ndarray]:
        graph = self._graph
        if algorithm == "bfs":
            return lambda: np.array(graph.distances(source, mode="out")[0])
        if algorithm == "core numbers":
            simple = graph.as_undirected().simplify()
            return lambda: np.array(simple.coreness())

        def components() -> np.ndarray:
            getattr(graph, "__invalidate_cache")()  # it remembers the components of the last call
            return np.array(graph.connected_components(mode="weak").membership)

        return components

    @classmethod
    def end_to_end(
        cls, graph: BenchmarkGraph, algorithm: str, source: int, out: Path
    ) -> Callable[[], None]:
        return lambda: _write(out, cls(graph).kernel(algorithm, source)())


def _both(src: np.ndarray, dst: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([src, dst]), np.concatenate([dst, src])


def _write(out: Path, values: np.ndarray) -> None:
    pq.write_table(pa.table({"vertex": np.arange(len(values)), "value": values}), out)
