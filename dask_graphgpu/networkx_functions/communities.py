"""Communities, and how good a partition is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.community.quality import NotAPartition

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def louvain_communities(
    G: BackendGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 1e-07,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """As ``networkx.community.louvain_communities``: another answer of about the same modularity."""
    found = G.graph(weight).louvain(
        resolution=resolution, seed=_number(seed), weighted=weight is not None
    )
    return G.parts(found)


@offered
def leiden_communities(
    G: BackendGraph,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """As ``networkx.community.leiden_communities``, which NetworkX leaves to its backends."""
    found = G.graph(weight).leiden(
        resolution=resolution, seed=_number(seed), weighted=weight is not None
    )
    return G.parts(found)


def _number(seed: Any) -> int:
    """A seed as NetworkX takes it, as an integer."""
    return int(nx.utils.create_py_random_state(seed).randrange(2**31))


@offered
def modularity(
    G: BackendGraph, communities: Any, weight: str | None = "weight", resolution: float = 1
) -> float:
    """As ``networkx.community.modularity``."""
    parts = communities if isinstance(communities, list) else list(communities)
    label = _labels(G, parts)
    numbers = np.ones(len(G.source)) if weight is None else G.weights(weight).numbers
    tails, heads = label[G.source], label[G.destination]
    inside = np.bincount(tails[tails == heads], numbers[tails == heads], len(parts))
    away = np.bincount(tails, numbers, len(parts))
    into = np.bincount(heads, numbers, len(parts))
    total = float(numbers.sum())
    if not G.directed:
        away = into = away + into
    norm = 1 / (total if G.directed else 2 * total) ** 2
    return float((inside / total - resolution * away * into * norm).sum())


def _labels(G: BackendGraph, parts: Sequence[Any]) -> np.ndarray:
    """Of each node the part that it is in."""
    label = np.full(len(G), -1, np.int64)
    for i, part in enumerate(parts):
        if not all(node in G for node in part):
            raise NotAPartition(G.origin, parts)
        label[[G.place[node] for node in part]] = i
    if (label < 0).any() or sum(map(len, parts)) != len(G):
        raise NotAPartition(G.origin, parts)
    return label
