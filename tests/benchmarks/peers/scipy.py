"""SciPy: csgraph on a CSR matrix; PageRank is a loop of sparse products. One thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from ours import PAGERANK_ITERATIONS
from scipy.sparse import csgraph

from peers.peer import WEIGHTED, Peer, num_vertices


class SciPy(Peer):
    """``A`` has a row a source and float64 weights, to which csgraph would convert at every call."""

    name = "SciPy"
    calls: ClassVar = {
        "bfs": "csgraph.breadth_first_order(A, source)",
        "sssp": "csgraph.dijkstra(A, indices=source)",
        "pagerank": "50 times A.T.tocsr() @ (x / degree) in float64, dangling rank spread",
        "pagerank float32": "the same in float32",
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
        if algorithm == "sssp":
            return lambda: csgraph.dijkstra(matrix, indices=source)
        if algorithm == "spanning forest":
            return lambda: csgraph.minimum_spanning_tree(matrix).data
        kind = "strong" if algorithm == "strong components" else "weak"
        return lambda: csgraph.connected_components(matrix, connection=kind)[1]

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
