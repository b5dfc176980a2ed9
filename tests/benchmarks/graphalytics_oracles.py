"""Answers of LDBC Graphalytics on small undirected graphs, from a full matrix of them and word for word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

DAMPING = 0.85


def _matrix(edges: pd.DataFrame, values: object = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Ids, and a row for each with the values of its edges: infinity where there is none."""
    ids, places = np.unique(edges[["src", "dst"]].to_numpy(), return_inverse=True)
    source, destination = places.reshape(-1, 2).T
    matrix = np.full((len(ids), len(ids)), np.inf)
    matrix[source, destination] = matrix[destination, source] = values
    return ids, matrix


def _distances(edges: pd.DataFrame, source: int, values: object) -> pd.Series:
    """By Bellman and Ford: as many rounds as there are vertices; -1: not reached."""
    ids, matrix = _matrix(edges, values)
    found = np.where(ids == source, 0.0, np.inf)
    for _ in ids:
        found = np.minimum(found, (found[:, None] + matrix).min(axis=0))
    return pd.Series(np.where(np.isinf(found), -1, found), ids)


def components(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """The smallest place in a component, handed on as many times as there are vertices."""
    ids, matrix = _matrix(edges)
    joined = np.isfinite(matrix) | np.eye(len(ids), dtype=bool)
    label = np.arange(len(ids))
    for _ in ids:
        label = np.where(joined, label, len(ids)).min(axis=1)
    return pd.Series(label, ids)


def pagerank(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """So many rounds from equal ranks; every vertex has an edge."""
    ids, matrix = _matrix(edges)
    joined = np.isfinite(matrix)
    rank = np.full(len(ids), 1 / len(ids))
    for _ in range(rounds):
        rank = (1 - DAMPING) / len(ids) + DAMPING * (joined @ (rank / joined.sum(axis=1)))
    return pd.Series(rank, ids)


def labels(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """In each round all take the label that most of their neighbours have, of several the smallest."""
    ids, matrix = _matrix(edges)
    near = [np.flatnonzero(np.isfinite(row)) for row in matrix]
    label = ids.tolist()
    for _ in range(rounds):
        counts = [Counter(label[j] for j in places) for places in near]
        label = [min(each, key=lambda one: (-each[one], one)) for each in counts]
    return pd.Series(label, ids)


def coefficients(edges: pd.DataFrame, source: int, rounds: int) -> pd.Series:
    """Edges among the neighbours of a vertex over those that there could be; 0 for one neighbour."""
    ids, matrix = _matrix(edges)
    joined = np.isfinite(matrix).astype(np.int64)
    degree = joined.sum(axis=1)
    closed = ((joined @ joined) * joined).sum(axis=1)
    return pd.Series(closed / np.maximum(degree * (degree - 1), 1), ids)


def as_partition(labels: pd.Series) -> set[frozenset]:
    """Groups of vertices with one label."""
    return {frozenset(group) for group in labels.groupby(labels).groups.values()}


# Of edges, a source and a number of rounds.
ANSWERS: dict[str, Callable[[pd.DataFrame, int, int], pd.Series]] = {
    "BFS": lambda edges, source, _: _distances(edges, source, 1.0),
    "SSSP": lambda edges, source, _: _distances(edges, source, edges["weight"]),
    "WCC": components,
    "PR": pagerank,
    "CDLP": labels,
    "LCC": coefficients,
}
