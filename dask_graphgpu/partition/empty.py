"""A graph without a vertex: the partition that stands for it, and the error of what has to have one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.errors import InvalidEdges, briefly
from dask_graphgpu.interrupting import stoppable


class NoVertices(InvalidEdges):
    """There is no edge and no vertex."""

    def __init__(self) -> None:
        super().__init__("the edge frame is empty: a graph needs an edge, or a vertices= frame")

    def __reduce__(self) -> tuple[Any, ...]:
        return NoVertices, ()


@dataclass(frozen=True)
class EmptyPartition:
    """In the place of the partition of a graph without a vertex."""

    order: str = "input"
    num_rows: int = 0
    num_vertices: int = 0
    nbytes: int = 0


@briefly
@stoppable
def built(build: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
    """The partition that a function builds, or `EmptyPartition` where there is nothing to build it of."""
    try:
        return build(*arguments, **more)
    except NoVertices:
        return EmptyPartition()
