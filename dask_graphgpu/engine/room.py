"""Whether memory may hold what a method is about to make."""

from __future__ import annotations

from typing import Any

from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.partition.paged.limits import configured, machine_memory


def require_room(view: Any, num_bytes: int, what: str) -> None:
    """Raise LimitTooSmall where ``what`` takes more than ``graphgpu.host-memory-limit``, or the machine, has."""
    _require(view, num_bytes, (1, 1), what)


def require_room_on_each(view: Any, num_bytes: int, what: str) -> None:
    """The same where each rank takes so many bytes: ranks of a process share the limit, those of a machine its memory.

    Collective.
    """
    nearby = view.ranks.nearby()
    _require(view, num_bytes, (nearby.machine, nearby.process), what)


def require_room_for_all(view: Any, own: int, edge: int, what: str) -> None:
    """The same of all edges on each rank, of which this one has ``own``, at so many bytes an ``edge``. Collective."""
    edges = int(view.ranks.sum(own))
    require_room_on_each(view, edge * edges, f"{what} {edges:,} edges")


def _require(view: Any, num_bytes: int, sharing: tuple[int, int], what: str) -> None:
    """``sharing`` : how many take so many bytes each, on this machine and in this process."""
    limits = view.given().limits if view.paged else configured()
    there, whose, times = machine_memory(), "the machine has", sharing[0]
    if limits is not None:
        there, whose, times = limits.memory, "graphgpu.host-memory-limit is", sharing[1]
    if num_bytes * times > there:
        each = f" on each of {times} ranks" if times > 1 else ""
        raise LimitTooSmall(
            f"{what} would take {num_bytes:,} bytes of memory at once{each}, and {whose} {there:,}: raise the limit, "
            "or take fewer edges, vertices or draws, or a machine with more memory"
        )
