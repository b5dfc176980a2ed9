"""SciPy: csgraph on a CSR matrix; PageRank is a loop of sparse products. One thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from ours import HITS_ITERATIONS, PAGERANK_ITERATIONS, RADIUS
from scipy.sparse import csgraph

from peers.peer import WEIGHTED, Peer, edges_among, num_vertices


class SciPy(Peer):
    """``A`` has a row a source and float64 weights, to which csgraph would convert at every call."""

    name = "SciPy"
    calls: ClassVar = {
        "bfs": "csgraph.breadth_first_order(A, source)",
        "bfs, 64 sources": "the same, source after source",
        "sssp": "csgraph.dijkstra(A, indices=source)",
        "sssp, 16 sources": "csgraph.dijkstra(A, indices=sources)",
        "shortest path": "csgraph.dijkstra(A, indices=source, return_predecessors=True), followed back",
        "pagerank": "50 times A.T.tocsr() @ (x / degree) in float64, dangling rank spread",
        "pagerank float32": "the same in float32",
        "hits": "50 times A.T.tocsr() @ hub and A @ authority, scaled to sum 1",
        "ego": "csgraph.dijkstra(A, indices=source, unweighted=True, limit=2), edges by numpy",
        "components": "csgraph.connected_components(A, connection='weak')",
        "spanning forest": "csgraph.minimum_spanning_tree(A)",
        "strong components": "csgraph.connected_components(A, connection='strong')",
    }

    def kernel(self, algorithm: str, source: Any) -> Callable[[], np.ndarray]:
        if algorithm.startswith("pagerank"):
            kind = np.float32 if algorithm.endswith("float32") else np.float64
            matrix = self._plain.T.tocsr().astype(kind)
            return lambda: self._pagerank(matrix, kind)
        matrix = self._weighted if algorithm in WEIGHTED else self._plain
        if algorithm == "bfs":
            return lambda: csgraph.breadth_first_order(matrix, source)[0]
        if algorithm == "bfs, 64 sources":
            return lambda: np.concatenate(
                [csgraph.breadth_first_order(matrix, each)[0] for each in source]
            )
        if algorithm.startswith("sssp"):
            return lambda: csgraph.dijkstra(matrix, indices=source)
        if algorithm == "shortest path":
            return lambda: _path(matrix, *source)
        if algorithm == "hits":
            turned = matrix.T.tocsr()
            return lambda: _authorities(matrix, turned)
        if algorithm == "ego":
            return lambda: self._ego(source)
        if algorithm == "spanning forest":
            return lambda: csgraph.minimum_spanning_tree(matrix).data
        kind = "strong" if algorithm == "strong components" else "weak"
        return lambda: csgraph.connected_components(matrix, connection=kind)[1]

    def _ego(self, center: int) -> tuple[np.ndarray, np.ndarray]:
        how = {"unweighted": True, "limit": RADIUS}
        return edges_among(
            self.ends, np.isfinite(csgraph.dijkstra(self._plain, indices=center, **how))
        )

    @cached_property
    def _plain(self) -> sp.csr_array:
        src, dst = self.ends
        n = num_vertices(src, dst)
        rows, columns = self.both_ways(src, dst)
        return sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()

    @cached_property
    def _weighted(self) -> sp.csr_array:
        src, dst, weight = self.weighted_ends
        n = num_vertices(src, dst)
        values = self.both_weights(weight).astype(float)
        return sp.coo_array((values, self.both_ways(src, dst)), shape=(n, n)).tocsr()

    def _pagerank(self, transposed: sp.csr_array, kind: type) -> np.ndarray:
        degree = np.diff(self._plain.indptr)
        n, dangling = len(degree), np.flatnonzero(degree == 0)
        share = np.where(degree == 0, 0, 1 / np.maximum(degree, 1)).astype(kind)
        rank = np.full(n, 1 / n, kind)
        damping, rest = kind(0.85), kind(0.15 / n)
        for _ in range(PAGERANK_ITERATIONS):
            lost = kind(rank[dangling].sum() / n)
            rank = rest + damping * (transposed @ (rank * share) + lost)
        return rank


def _path(matrix: sp.csr_array, source: int, target: int) -> np.ndarray:
    """Distances of the vertices of a shortest path, but the source."""
    distance, before = csgraph.dijkstra(matrix, indices=source, return_predecessors=True)
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return distance[path[-2::-1]]


def _authorities(matrix: sp.csr_array, turned: sp.csr_array) -> np.ndarray:
    hub = np.full(matrix.shape[0], 1 / matrix.shape[0])
    for _ in range(HITS_ITERATIONS):
        authority = turned @ hub
        authority /= authority.sum()
        hub = matrix @ authority
        hub /= hub.sum()
    return authority
