"""Levels of few edges, which kernels go over without the host, reading rows where they lie: see tier_frontier.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask_graphgpu.engine.gpu.copies import address
from dask_graphgpu.engine.gpu.structs import struct

if TYPE_CHECKING:
    from dask_graphgpu.engine.tiered.store import EdgeStore

# Edges and rows of a level that is left to the device: of as many, at most some 0.7 ms of the link, which
# is what a level takes that the host looks at. Long rows of a list.
FEW, MOST_ROWS, LONG_ROWS = 1 << 20, 1 << 18, 1024

# Edges over the link of a level that are read where they lie, without a look in which segments they are: some 0.4 ms.
IN_PLACE = 1 << 22


def edges_of(tier: EdgeStore) -> Any:
    """Struct Edges."""
    places = (tier.on_device()["neighbours"], tier.on_host()["neighbours"])
    return struct([tier.offsets, *map(address, places), tier.cut.resident, tier.num_vertices])
