"""Whether memory may hold what a method is about to make."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.partition.paged.limits import configured, machine_memory


def require_room(view: Any, num_bytes: int, what: str) -> None:
    """Raise LimitTooSmall where so much is more than memory may hold: by the limit that is set, else than there is."""
    limits = view.given().limits if view.paged else configured()
    if limits is not None:
        limits.require(num_bytes, what)
    elif num_bytes > (there := machine_memory()):
        raise LimitTooSmall(
            f"{what} need {num_bytes:,} bytes of memory, and the machine has {there:,}: ask for fewer"
        )
