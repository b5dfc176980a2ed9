"""What a graph falls apart without: bridges and articulation points."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def bridges(G: BackendGraph, root: Any = None) -> Iterator[tuple[Any, Any]]:
    """As ``networkx.bridges``."""
    return iter(_bridges(G))


@offered
def has_bridges(G: BackendGraph, root: Any = None) -> bool:
    """As ``networkx.has_bridges``."""
    return bool(_bridges(G))


def _bridges(G: BackendGraph) -> list[tuple[Any, Any]]:
    found = G.graph().bridges()
    if G.multi:  # of two edges between the same nodes neither is one
        key = G.source * len(G) + G.destination
        keys, times = np.unique(key, return_counts=True)
        single = np.isin(found["src"] * len(G) + found["dst"], keys[times == 1])
        found = found[single]
    return G.pairs(found)


@offered
def articulation_points(G: BackendGraph) -> Iterator[Any]:
    """As ``networkx.articulation_points``."""
    return iter(G.named(G.graph().articulation_points()["vertex"]))


@offered
def biconnected_component_edges(G: BackendGraph) -> Iterator[list[tuple[Any, Any]]]:
    """As ``networkx.biconnected_component_edges``."""
    return iter(_parts(G))


@offered
def biconnected_components(G: BackendGraph) -> Iterator[set[Any]]:
    """As ``networkx.biconnected_components``."""
    return ({node for edge in edges for node in edge} for edges in _parts(G))


def _parts(G: BackendGraph) -> list[list[tuple[Any, Any]]]:
    """The edges of each biconnected component."""
    found = G.graph().biconnected_components()
    parts: dict[int, list[tuple[Any, Any]]] = {}
    for edge, part in zip(G.pairs(found), found["component"].tolist(), strict=True):
        parts.setdefault(part, []).append(edge)
    return list(parts.values())


@offered
def is_biconnected(G: BackendGraph) -> bool:
    """As ``networkx.is_biconnected``."""
    found = G.graph().biconnected_components()
    ends = np.concatenate([found["src"], found["dst"]])
    return found["component"].nunique() == 1 and len(pd.unique(ends)) == len(G)
