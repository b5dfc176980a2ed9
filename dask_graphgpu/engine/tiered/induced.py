"""Edges among some of the vertices, listed by the host, in whose memory or on whose disk they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask_graphgpu.engine import cpu, paged
from dask_graphgpu.engine.tiered.disk import is_on_disk

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View


def edges_among(view: View, inside: Any) -> tuple[Any, Any, Any]:
    """Edges with both ends in a set of vertices, as `engine.cpu.edges_among`: the answer is the host's too."""
    listing = paged.edges_among if is_on_disk(view.out) else cpu.edges_among
    return listing(view, inside)
