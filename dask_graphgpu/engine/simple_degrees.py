"""Neighbours of each vertex, counted; for all engines that see a graph's symmetric rows."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.partition.ranks.view import AnyView


def simple_degrees(view: AnyView) -> Any:
    """How many neighbours each vertex has; see `contract.Engine`."""
    return view.symmetric.degrees
