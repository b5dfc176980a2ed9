"""python-graphblas on SuiteSparse:GraphBLAS, all threads: algorithms are loops of its products.

The loops are LAGraph's: levels behind a complemented mask, Bellman-Ford over the vertices that
improved, and FastSV [1]_, whose hooking is NumPy's because a scatter with a minimum is no product.

References
----------
.. [1] Zhang, Azad, Hu. FastSV: a distributed-memory connected component algorithm with fast
   convergence. SIAM PP 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import graphblas as gb
import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring
from ours import HITS_ITERATIONS, LABEL_ITERATIONS, PAGERANK_ITERATIONS, RADIUS

from peers.peer import WEIGHTED, Peer, edges_among, num_vertices

# Share of the vertices in a level from which to pull: sparse vectors are pushed.
_PULL = 1 / 16


class GraphBLAS(Peer):
    """``A`` is ``Matrix.from_coo(src, dst, weight)``, of an undirected graph both ways."""

    name = "GraphBLAS"
    calls: ClassVar = {
        "bfs": "levels q(~level.S, replace) << any_pair(q @ A), A.T @ q where a level is large",
        "bfs, 64 sources": "the same with a row a source, q @ A throughout",
        "hits": "50 times plus_second(A.T @ hub) and plus_second(A @ authority), scaled to sum 1",
        "ego": "levels 0 to 2, edges by numpy",
        "clustering": "common(E.S) << plus_pair(E @ A), rows added up, over d (d - 1)",
        "sssp": "f(~worse.V, replace) << min_plus(f @ A) until f is empty",
        "sswp": "the same with max_min",
        "ssnsp": "levels q(~paths.S, replace) << plus_first(q @ A), int64",
        "pagerank": "50 times rank(plus) << plus_second(A.T @ share) in float64, dangling spread",
        "pagerank float32": "the same in float32",
        "label propagation": "LAGraph's: 10 times labels of edges sorted by row, the most frequent taken",
        "jaccard": "common(pairs.S) << plus_pair(E @ E.T), E without directions and loops",
        "components": "FastSV: min_second(A | A.T @ grandparents), hooking by np.minimum.at",
    }

    def kernel(self, algorithm: str, source: Any) -> Callable[[], np.ndarray]:
        matrix = self._weighted if algorithm in WEIGHTED else self._plain
        if algorithm == "bfs":
            turned = self._turned
            return lambda: _levels(matrix, turned, source)
        if algorithm == "bfs, 64 sources":
            return lambda: _many_levels(matrix, source)
        if algorithm == "hits":
            turned = self._turned
            return lambda: _authorities(matrix, turned)
        if algorithm == "ego":
            turned = self._turned
            return lambda: edges_among(self.ends, _levels(matrix, turned, source, RADIUS) >= 0)
        if algorithm == "label propagation":
            counted = [matrix, self._turned] if self.directed else [matrix]
            return lambda: _labels(counted)
        if algorithm == "clustering":
            return lambda: _clustering(self._simple, self._plain)
        if algorithm == "ssnsp":
            return lambda: _path_counts(matrix, source)
        if algorithm == "sssp":
            return lambda: _best(matrix, source, 0.0, semiring.min_plus, binary.ge)
        if algorithm == "sswp":
            return lambda: _best(matrix, source, np.inf, semiring.max_min, binary.le)
        if algorithm == "jaccard":
            return lambda: _jaccard(self._simple, source)
        if algorithm == "components":
            either = matrix if not self.directed else binary.pair(matrix | self._turned).new()
            return lambda: _components(either)
        turned, degree = self._turned, _dense(matrix.reduce_rowwise(monoid.plus[int]).new(), 0)
        kind = gb.dtypes.FP32 if algorithm.endswith("float32") else gb.dtypes.FP64
        return lambda: _pagerank(turned, degree, kind)

    @cached_property
    def _plain(self) -> Any:
        src, dst = self.ends
        n = num_vertices(src, dst)
        return Matrix.from_coo(*self.both_ways(src, dst), True, nrows=n, ncols=n)

    @cached_property
    def _simple(self) -> Any:
        """Both directions of every edge but loops."""
        either = binary.pair(self._plain | self._turned).new()
        return either.select("offdiag").new()

    @cached_property
    def _weighted(self) -> Any:
        src, dst, weight = self.weighted_ends
        n = num_vertices(src, dst)
        values = self.both_weights(weight).astype(float)
        return Matrix.from_coo(*self.both_ways(src, dst), values, nrows=n, ncols=n)

    @cached_property
    def _turned(self) -> Any:
        return self._plain.T.new() if self.directed else self._plain


def _dense(vector: Any, missing: Any) -> np.ndarray:
    return vector.to_dense(fill_value=missing)


def _levels(matrix: Any, turned: Any, source: int, last: float = np.inf) -> np.ndarray:
    n = matrix.nrows
    level, q, depth = Vector(int, n), Vector(bool, n), 0
    q[source] = True
    while q.nvals and depth <= last:
        level(q.S) << depth
        step = turned @ q if q.nvals > _PULL * n else q @ matrix
        q(~level.S, replace=True) << semiring.any_pair(step)
        depth += 1
    return _dense(level, -1)


def _many_levels(matrix: Any, sources: list[int]) -> np.ndarray:
    shape = len(sources), matrix.nrows
    level, depth = Matrix(int, *shape), 0
    q = Matrix.from_coo(range(len(sources)), sources, True, nrows=shape[0], ncols=shape[1])
    while q.nvals:
        level(q.S) << depth
        q(~level.S, replace=True) << semiring.any_pair(q @ matrix)
        depth += 1
    return level.to_dense(fill_value=-1)


def _authorities(matrix: Any, turned: Any) -> np.ndarray:
    n = matrix.nrows
    hub = Vector.from_scalar(1 / n, n, float)
    for _ in range(HITS_ITERATIONS):
        authority = semiring.plus_second(turned @ hub).new()
        authority << authority / authority.reduce(monoid.plus).value
        hub = semiring.plus_second(matrix @ authority).new()
        hub << hub / hub.reduce(monoid.plus).value
    return _dense(authority, 0.0)


def _labels(matrices: list[Any]) -> np.ndarray:
    n = matrices[0].nrows
    parts = [each.to_coo(values=False)[:2] for each in matrices]
    row, column = (np.concatenate(ends).astype(np.int64) for ends in zip(*parts, strict=True))
    labels = np.arange(n)
    for _ in range(LABEL_ITERATIONS):
        keys = np.sort(row * n + labels[column])
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        v, label = np.divmod(keys[first], n)
        count = np.diff(first, append=len(keys))
        order = np.lexsort((label, -count, v))
        rows, best = np.unique(v[order], return_index=True)
        labels = labels.copy()
        labels[rows] = label[order][best]
    return labels


def _clustering(either: Any, matrix: Any) -> np.ndarray:
    arcs = Matrix(int, *either.shape)
    arcs(either.S) << semiring.plus_pair[int](either @ matrix)
    found = _dense(arcs.reduce_rowwise(monoid.plus).new(), 0)
    degree = _dense(either.reduce_rowwise(monoid.plus[int]).new(), 0)
    return found / np.maximum(degree * (degree - 1), 1)


def _jaccard(matrix: Any, pairs: np.ndarray) -> np.ndarray:
    n = matrix.nrows
    asked = Matrix.from_coo(*np.unique(pairs, axis=0).T, True, nrows=n, ncols=n)
    common = Matrix(int, n, n)
    common(asked.S) << semiring.plus_pair[int](matrix @ matrix.T)
    degree = _dense(matrix.reduce_rowwise(monoid.plus[int]).new(), 0)
    first, second, found = common.to_coo()
    values = np.zeros(len(pairs))
    keys = first.astype(np.int64) * n + second.astype(np.int64)
    place = np.minimum(np.searchsorted(keys, pairs @ [n, 1]), max(len(keys) - 1, 0))
    if len(keys):
        counts = np.where(keys[place] == pairs @ [n, 1], found[place], 0)
        values = counts / np.maximum(degree[pairs].sum(axis=1) - counts, 1)
    return values


def _path_counts(matrix: Any, source: int) -> np.ndarray:
    paths, q = Vector(int, matrix.nrows), Vector(int, matrix.nrows)
    q[source] = 1
    while q.nvals:
        paths(binary.plus) << q
        q(~paths.S, replace=True) << semiring.plus_first(q @ matrix)
    return _dense(paths, 0)


def _best(matrix: Any, source: int, start: float, product: Any, no_better: Any) -> np.ndarray:
    best, f = Vector(float, matrix.nrows), Vector(float, matrix.nrows)
    best[source] = f[source] = start
    while f.nvals:
        found = product(f @ matrix).new()
        worse = no_better(found & best).new()
        f(~worse.V, replace=True) << found
        best(f.S) << f
    return _dense(best, np.inf if product is semiring.min_plus else -np.inf)


def _components(matrix: Any) -> np.ndarray:
    n = matrix.nrows
    parent = np.arange(n)
    grandparent = parent
    while True:
        least = semiring.min_second(matrix @ Vector.from_dense(grandparent)).new()
        index, values = least.to_coo()
        np.minimum.at(parent, parent[index], values)  # hook the trees' roots
        parent[index] = np.minimum(parent[index], values)  # hook the vertices
        parent = np.minimum(parent, grandparent)  # shortcut
        before, grandparent = grandparent, parent[parent]
        if np.array_equal(before, grandparent):
            return parent


def _pagerank(turned: Any, degree: np.ndarray, kind: Any) -> np.ndarray:
    n, sends = len(degree), np.flatnonzero(degree)
    share = Vector.from_coo(sends, 0.85 / degree[sends], dtype=kind, size=n)
    sinks = Vector.from_coo(np.flatnonzero(degree == 0), 1.0, dtype=kind, size=n)
    rank = Vector.from_scalar(1 / n, n, kind)
    for _ in range(PAGERANK_ITERATIONS):
        lost = binary.times(rank & sinks).new().reduce(monoid.plus).get(0.0)
        handed = binary.times(rank & share).new()
        rank = Vector.from_scalar(0.15 / n + 0.85 * lost / n, n, kind)
        rank(binary.plus) << semiring.plus_second(turned @ handed)
    return _dense(rank, 0.0)
