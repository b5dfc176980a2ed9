"""Triangles over edges in host memory: those that go up are brought part by part, and read once for each.

References
----------
.. [1] Latapy. Main-memory triangle computations for very large (sparse (power-law)) graphs. TCS 407 (2008).
"""

from __future__ import annotations

from typing import Any

from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.triangles import counted
from dask_graphgpu.engine.tiered.in_place import Elsewhere, read_in_place
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def triangles(view: View, report: Report) -> Any:
    """Triangles that each vertex of the simple undirected graph is in; as `engine.gpu.triangles`.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices needs more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    Every edge crosses the link twice to be kept at its end of fewer neighbours [1]_. What is kept, 4 bytes for each
    two entries, goes to the device if it fits there, or to pinned memory. Then the rows that are looked up are on the
    device, one part after another, and what is looked up crosses the link once for each part.
    """
    return _counted(view, False, report)


def neighbour_arcs(view: View, report: Report) -> Any:
    """Edges that join two neighbours of each vertex; as `engine.gpu.neighbour_arcs`, and errors as of `triangles`."""
    if not view.directed:
        return 2 * _counted(view, False, report)
    return _counted(view, True, report)


def _counted(view: View, arcs: bool, report: Report) -> Any:
    elsewhere = Elsewhere(view)
    try:
        return read_in_place(
            view, lambda rows: counted(DeviceView.of(rows), arcs, report, elsewhere)
        )
    finally:
        elsewhere.give_back()
