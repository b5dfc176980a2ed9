"""Rows between two finished breadth-first levels, where edges lie in host memory: the fewer ones, and how they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine import link_rates
from dask_graphgpu.engine.tiered.small_levels import IN_PLACE

if TYPE_CHECKING:
    from dask_graphgpu.engine.tiered.rows import TieredRows
    from dask_graphgpu.engine.tiered.transfer import Go
    from dask_graphgpu.partition.view import View


class LevelRows:
    """Which rows the edges between levels are read from.

    Parameters
    ----------
    rows : TieredRows
        Of a source that includes tier_levels.cuh.
    levels : array of int32 on the device, shape (num_vertices,) or (num_vertices, searches)
        -1 where not reached.
    depth : int
        The last level.
    view : View
        That ``rows`` are of; of a directed one rows are no in-edges, and none is pulled.

    Attributes
    ----------
    pulls : list of bool, of `depth` items
        Whether the next level's rows are fewer bytes over the link than its own.
    """

    def __init__(self, rows: TieredRows, levels: Any, depth: int, view: View) -> None:
        self._rows, self._levels = rows, levels
        self._width = np.uint32(levels.size // max(rows.n, 1))
        found = cupy.zeros((2, depth + 1), np.uint64)
        rows.over_vertices(
            "measure_levels", rows.tier.offsets, np.uint64(rows.n),
            np.uint64(rows.tier.cut.resident), levels, self._width, np.uint64(depth + 1), *found,
            shared=True,
        )  # fmt: skip
        edges, number = cupy.asnumpy(found).astype(np.int64)
        size = edges * rows.tier.bytes_of_edge + number * link_rates.LINE
        pulled = (size[1:] < size[:-1]) & (not view.directed)
        self.pulls: list[bool] = pulled.tolist()
        self._crossing: list[int] = np.where(pulled, edges[1:], edges[:-1]).tolist()

    def over(self, depth: int, go: Go) -> None:
        """Go along the edges between a level and the next."""
        rows, crossing = self._rows, self._crossing[depth]
        whose = np.int32(depth + self.pulls[depth])
        rows.over_vertices(
            "find_level", self._levels, np.uint64(rows.n), self._width, whose, rows.active
        )
        if rows.transfer.reads and crossing <= IN_PLACE:
            rows.transfer.in_place(go, crossing)
        else:
            rows.transfer.superstep(rows.active, go)
