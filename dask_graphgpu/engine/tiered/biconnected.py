"""Bridges and biconnected components over edges in host memory, each of which crosses the link twice.

References
----------
.. [1] Tarjan, Vishkin. An efficient parallel biconnectivity algorithm. SIAM J. Computing 14 (1985).
"""

from __future__ import annotations

from typing import Any

from dask_graphgpu.engine.blocks import Blocks
from dask_graphgpu.engine.cpu.biconnected import edges_with_blocks
from dask_graphgpu.engine.gpu.biconnected import blocks_of
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.tiered.in_place import read_in_place
from dask_graphgpu.engine.tiered.spanning_forest import spanning_forest
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def bridges(view: View, report: Report) -> tuple[Any, Any]:
    """Edges without which their ends are not joined; as `engine.gpu.bridges`.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices needs more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    Edges are brought once for a spanning forest; then all are looked at where they lie [1]_.
    """
    low, high = _blocks(view, report)[0].bridges()
    return low, high


def num_blocks(view: View, report: Report) -> Any:
    """How many biconnected components each vertex is in. As of `bridges`."""
    blocks, place = _blocks(view, report)
    return blocks.number()[place]


def biconnected_edges(view: View, report: Report) -> tuple[Any, Any, Any]:
    """Every edge, and its biconnected component. As of `bridges`; the host lists the edges."""
    return edges_with_blocks(view, *_blocks(view, report), report)


def _blocks(view: View, report: Report) -> tuple[Blocks, Any]:
    """The components of a graph, and the place of each vertex, in host memory."""
    forest = spanning_forest(view, report)[:2]
    bare = View(view.rows, names=(), user_rank=view.user_rank)
    found: tuple[Blocks, Any] = read_in_place(
        bare, lambda rows: blocks_of(DeviceView.of(rows), forest, report)
    )
    return found
