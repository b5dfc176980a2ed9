"""What comes after a search: passes of the CPU over the rows in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask_graphgpu.engine import cpu

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def predecessors(
    view: View, source: int, distance: Any, reached: Any, *, hops: bool, report: Report
) -> Any:
    """Predecessor of every vertex on a shortest path, as `engine.cpu.predecessors`."""
    return cpu.predecessors(view, source, distance, reached, hops=hops, report=report)


def path(view: View, source: int, target: int, predecessor: Any) -> Any:
    """The vertices on the path that predecessors make, as `engine.cpu.path`."""
    return cpu.path(view, source, target, predecessor)


def edges_among(view: View, inside: Any) -> Any:
    """Edges with both ends in a set of vertices, as `engine.cpu.edges_among`."""
    return cpu.edges_among(view, inside)
