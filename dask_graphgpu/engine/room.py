"""Whether memory may hold what a method is about to make."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.partition.paged.limits import configured, machine_memory


def require_room(view: Any, num_bytes: int, what: str) -> None:
    """Raise LimitTooSmall where ``what`` takes more than ``graphgpu.host-memory-limit``, or the machine, has."""
    limits = view.given().limits if view.paged else configured()
    there, whose = machine_memory(), "the machine has"
    if limits is not None:
        there, whose = limits.memory, "graphgpu.host-memory-limit is"
    if num_bytes > there:
        raise LimitTooSmall(
            f"{what} would take {num_bytes:,} bytes of memory at once, and {whose} {there:,}: raise the limit, or take "
            "fewer edges, vertices or draws, or a machine with more memory"
        )
