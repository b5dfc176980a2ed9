"""Rows between two finished breadth-first levels, where edges lie in host memory: the fewer ones, and how they come."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import link_rates
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import address
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.engine.tiered.store import EdgeStore
from dask_graphgpu.engine.tiered.transfer import Go
from dask_graphgpu.partition.view import View

# Edges and rows of a level that is left to the device: of as many, at most some 0.7 ms of the link, which
# is what a level takes that the host looks at. Long rows of a list.
FEW, MOST_ROWS, LONG_ROWS = 1 << 20, 1 << 18, 1024

# Edges over the link of a level that are read where they lie, without a look in which segments they are: some 0.4 ms.
IN_PLACE = 1 << 22


def edges_of(tier: EdgeStore) -> Any:
    """Struct Edges."""
    places = (tier.on_device()["neighbours"], tier.on_host()["neighbours"])
    return launch.struct(
        [tier.offsets, *map(address, places), tier.cut.resident, tier.num_vertices]
    )


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
