"""Components and connectivity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_functions.search import Found
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.connected_components``."""
    return iter(G.parts(G.graph().weakly_connected_components()))


@offered
def weakly_connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.weakly_connected_components``."""
    return iter(G.parts(G.graph().weakly_connected_components()))


@offered
def strongly_connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.strongly_connected_components``."""
    return iter(G.parts(G.graph().strongly_connected_components()))


@offered
def number_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_connected_components``."""
    return int(G.graph().weakly_connected_components()["component"].nunique())


@offered
def number_weakly_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_weakly_connected_components``."""
    return int(G.graph().weakly_connected_components()["component"].nunique())


@offered
def number_strongly_connected_components(G: BackendGraph) -> int:
    """As ``networkx.number_strongly_connected_components``."""
    return int(G.graph().strongly_connected_components()["component"].nunique())


@offered
def is_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_connected``."""
    return int(G.graph().weakly_connected_components()["component"].nunique()) == 1


@offered
def is_weakly_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_weakly_connected``."""
    return int(G.graph().weakly_connected_components()["component"].nunique()) == 1


@offered
def is_strongly_connected(G: BackendGraph) -> bool:
    """As ``networkx.is_strongly_connected``."""
    return int(G.graph().strongly_connected_components()["component"].nunique()) == 1


@offered
def node_connected_component(G: BackendGraph, n: Any) -> set[Any]:
    """As ``networkx.node_connected_component``."""
    return set(G.named(Found(G.successors, [G.place[n]]).order))


@offered
def attracting_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.attracting_components``."""
    return iter(_attracting(G))


@offered
def number_attracting_components(G: BackendGraph) -> int:
    """As ``networkx.number_attracting_components``."""
    return len(_attracting(G))


@offered
def is_attracting_component(G: BackendGraph) -> bool:
    """As ``networkx.is_attracting_component``."""
    found = _attracting(G)
    return len(found) == 1 and len(found[0]) == len(G)


def _attracting(G: BackendGraph) -> list[set[Any]]:
    """Strongly connected components that no edge leaves."""
    frame = G.graph().strongly_connected_components()
    label = frame["component"].to_numpy()
    tails = label[G.source]
    left = tails[tails != label[G.destination]]
    return G.parts(frame[~np.isin(label, left)])
