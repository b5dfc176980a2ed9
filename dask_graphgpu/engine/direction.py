"""The direction that a user forces."""

from __future__ import annotations

from dask_graphgpu import config

DIRECTIONS = ("auto", "push", "pull", "notify-pull")


def configured_direction() -> str:
    """``graphgpu.direction`` of Dask's configuration; InvalidArgument if there is no such one."""
    return config.word("direction", DIRECTIONS)
