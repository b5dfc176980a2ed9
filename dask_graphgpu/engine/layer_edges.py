"""How many edges make a layer one to be gone over by itself."""

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
