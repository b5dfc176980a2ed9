"""Answers of LDBC Graphalytics on small undirected graphs, worked out by SciPy or word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse import csgraph

DAMPING = 0.85


def _matrix(edges: pd.DataFrame, *, weighted: bool = False) -> tuple[np.ndarray, sp.csr_array]:
    """Ids, and edges in both directions between their places."""
    ids, places = np.unique(edges[["src", "dst"]].to_numpy(), return_inverse=True)
    source, destination = places.reshape(-1, 2).T
    value = edges["weight"].to_numpy(np.float64) if weighted else np.ones(len(edges))
    matrix = sp.coo_array((value, (source, destination)), shape=(len(ids), len(ids))).tocsr()
    return ids, matrix + matrix.T


def _distances(edges: pd.DataFrame, source: int, *, weighted: bool) -> pd.Series:
    ids, matrix = _matrix(edges, weighted=weighted)
    found = csgraph.dijkstra(matrix, indices=np.searchsorted(ids, source), unweighted=not weighted)
    return pd.Series(np.where(np.isinf(found), -1, found), ids)


def components(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """A label for each component."""
    ids, matrix = _matrix(edges)
    return pd.Series(csgraph.connected_components(matrix)[1], ids)


def pagerank(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """So many rounds from equal ranks; every vertex has an edge."""
    ids, matrix = _matrix(edges)
    rank = np.full(len(ids), 1 / len(ids))
    for _ in range(rounds):
        rank = (1 - DAMPING) / len(ids) + DAMPING * (matrix @ (rank / matrix.sum(axis=1)))
    return pd.Series(rank, ids)


def labels(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """In each round all take the label that most of their neighbours have, of several the smallest."""
    ids, matrix = _matrix(edges)
    label = ids.tolist()
    for _ in range(rounds):
        counts = [Counter(label[j] for j in matrix.indices[a:b]) for a, b in _rows(matrix)]
        label = [min(each, key=lambda one: (-each[one], one)) for each in counts]
    return pd.Series(label, ids)


def _rows(matrix: sp.csr_array) -> zip:
    return zip(matrix.indptr, matrix.indptr[1:], strict=False)


def coefficients(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """Edges among the neighbours of a vertex over those that there could be; 0 for one neighbour."""
    ids, matrix = _matrix(edges)
    degree = matrix.sum(axis=1)
    closed = (matrix @ matrix).multiply(matrix).sum(axis=1)
    return pd.Series(closed / np.maximum(degree * (degree - 1), 1), ids)


def as_partition(labels: pd.Series) -> set[frozenset]:
    """Groups of vertices with one label."""
    return {frozenset(group) for group in labels.groupby(labels).groups.values()}


# Of edges, a source and a number of rounds; -1: not reached.
ANSWERS: dict[str, Callable[[pd.DataFrame, int, int], pd.Series]] = {
    "BFS": lambda edges, source, _: _distances(edges, source, weighted=False),
    "SSSP": lambda edges, source, _: _distances(edges, source, weighted=True),
    "WCC": components,
    "PR": pagerank,
    "CDLP": labels,
    "LCC": coefficients,
}
