"""How layers of edges are gone over: which by themselves, and how often."""

from __future__ import annotations

from dask_graphgpu import config
from dask_graphgpu.errors import InvalidArgument


def layer_edges(default: int) -> int:
    """``graphgpu.layer-edges``: edges below which a layer is combined with its neighbours."""
    given = config.get("layer-edges")
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InvalidArgument(
            f"graphgpu.layer-edges is {given!r}: give a number of edges from 1, or None."
        )
    return given


def layer_repeats() -> int:
    """``graphgpu.layer-repeats``: times that layers are gone over again while their vertices improve."""
    given = config.get("layer-repeats")
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise InvalidArgument(
            f"graphgpu.layer-repeats is {given!r}: give a number of times from 0."
        )
    return given
