"""Cycles of a few edges, and triads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.networkx_functions.offer import offered
from dask_graphgpu.networkx_graph import BackendGraph


@offered
def simple_cycles(G: BackendGraph, length_bound: int | None = None) -> Iterator[list[Any]]:
    """As ``networkx.simple_cycles``, in another order; all are found before the first is given."""
    assert length_bound is not None
    try:
        found = G.graph().cycles(int(length_bound))
    except InvalidArgument as error:  # too many; NetworkX gives one after the other
        raise NotImplementedError(str(error)) from error
    nodes = G.named(found["vertex"].to_numpy())
    begins = [*np.flatnonzero(found["position"].to_numpy() == 0).tolist(), len(nodes)]
    return (nodes[lo:hi] for lo, hi in pairwise(begins))


@offered
def triadic_census(G: BackendGraph, nodelist: Any = None) -> dict[str, int]:
    """As ``networkx.triadic_census``."""
    found = G.graph().triad_census()
    counts = dict(zip(found["triad"], found["count"].fillna(0).astype(int).tolist(), strict=True))
    n = len(G)
    counts["003"] = n * (n - 1) * (n - 2) // 6 - sum(counts.values()) + counts["003"]
    return counts
