"""The direction that a user forces."""

from __future__ import annotations

from dask_graphgpu import config
from dask_graphgpu.errors import InvalidArgument

DIRECTIONS = ("auto", "push", "pull", "notify-pull")


def configured_direction() -> str:
    """``graphgpu.direction`` of Dask's configuration; InvalidArgument if there is no such one."""
    direction = config.get("direction")
    if direction not in DIRECTIONS:
        raise InvalidArgument(
            f"graphgpu.direction is {direction!r}: allowed are {', '.join(DIRECTIONS)}."
        )
    return str(direction)
