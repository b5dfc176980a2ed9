"""How likely a link between two nodes is, by the neighbours that they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph

_CELLS = 2**22  # neighbours that are looked up at once


@offered
def jaccard_coefficient(G: BackendGraph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """As ``networkx.jaccard_coefficient``."""
    u, v = _places(G, ebunch)
    common = _over_common(G, u, v, np.ones(len(G)))
    degree = np.diff(G.successors.offsets)
    # Common neighbours leave out both nodes themselves, which self-loops may make neighbours of both.
    looped = _adjacent(G, u, u).astype(np.int64) + _adjacent(G, v, v)
    both = np.where(u == v, degree[u], common + _adjacent(G, u, v) * looped)
    either = degree[u] + degree[v] - both
    values = np.divide(common, either, out=np.zeros(len(u)), where=either > 0)
    return _rated(ebunch, values, either > 0)


@offered
def adamic_adar_index(G: BackendGraph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    """As ``networkx.adamic_adar_index``."""
    with np.errstate(divide="ignore"):
        each = 1 / np.log(np.maximum(G.degrees, 1))
    return _sums(G, ebunch, each)


@offered
def resource_allocation_index(
    G: BackendGraph, ebunch: Any = None
) -> Iterator[tuple[Any, Any, float]]:
    """As ``networkx.resource_allocation_index``."""
    return _sums(G, ebunch, 1 / np.maximum(G.degrees, 1))


@offered
def preferential_attachment(G: BackendGraph, ebunch: Any = None) -> Iterator[tuple[Any, Any, int]]:
    """As ``networkx.preferential_attachment``."""
    u, v = _places(G, ebunch)
    values = (G.degrees[u] * G.degrees[v]).tolist()
    return ((*pair, value) for pair, value in zip(ebunch, values, strict=True))


def _sums(G: BackendGraph, ebunch: Any, each: np.ndarray) -> Iterator[tuple[Any, Any, float]]:
    """A sum over the common neighbours of each pair; without any an int, as NetworkX has it."""
    u, v = _places(G, ebunch)
    values = _over_common(G, u, v, each)
    if np.isinf(values).any():
        raise NotImplementedError("only for common neighbours that have another neighbour")
    return _rated(ebunch, values, values > 0)


def _rated(ebunch: Any, values: np.ndarray, are_floats: np.ndarray) -> Iterator[Any]:
    rated = zip(ebunch, values.tolist(), are_floats.tolist(), strict=True)
    return ((*pair, value if is_float else 0) for pair, value, is_float in rated)


def _places(G: BackendGraph, ebunch: Iterable[tuple[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Places of both nodes of each pair."""
    place, found = G.place, []
    for pair in ebunch:
        u, v = pair
        for node in (u, v):
            if node not in place:
                raise nx.NodeNotFound(f"Node {node} not in G.")
        found.append((place[u], place[v]))
    both = np.array(found, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _adjacent(G: BackendGraph, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Whether v is a neighbour of u."""
    if not len(G.arc_keys):
        return np.zeros(len(u), bool)
    wanted = u * len(G) + v
    at = np.searchsorted(G.arc_keys, wanted)
    return np.asarray(G.arc_keys[np.minimum(at, len(G.arc_keys) - 1)] == wanted)


def _over_common(G: BackendGraph, u: np.ndarray, v: np.ndarray, each: np.ndarray) -> np.ndarray:
    """The sum of ``each`` over the common neighbours of u and v, without these two.

    The neighbours of that of lower degree are looked up among those of the other.
    """
    offsets, neighbours = G.successors.offsets, G.successors.neighbours
    degree = np.diff(offsets)
    few, many = np.where(degree[u] <= degree[v], [u, v], [v, u])
    total = np.zeros(len(u))
    bounds = np.searchsorted(np.cumsum(degree[few]), np.arange(0, degree[few].sum(), _CELLS))
    for part in np.split(np.arange(len(u)), bounds[1:] + 1):
        lengths = degree[few[part]]
        pair = np.repeat(part, lengths)
        begin = np.cumsum(lengths) - lengths
        at = np.arange(len(pair)) + np.repeat(offsets[few[part]] - begin, lengths)
        near = neighbours[at].astype(np.int64)
        counts = _adjacent(G, many[pair], near) & (near != u[pair]) & (near != v[pair])
        total += np.bincount(pair[counts], each[near[counts]], minlength=len(u))
    return total
