"""Breadth-first searches from many sources, up to 64 in one sweep: a launch, and one that writes the levels.

References
----------
.. [1] Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo. The more the merrier: efficient multi-source
   graph traversal. PVLDB 8 (2014).
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Parts of the edges, of the frontiers of several searches: so many together are pushed before the
# others are pulled, and all of them if they have no more than many together. A pull reads each row
# until it has all, without an atomic for an edge.
FEW, MANY = 0.045, 0.4

LINE = 32  # vertices that levels of a search are rounded up to, whole lines of memory

# Bits of a depth that are kept in words, and vertices of a thread that writes levels.
PLANES, SIDE = (SIZES["multi_bfs_depths.cuh"][name] for name in ("PLANES", "SIDE"))

_FORCED = {"push": 0, "pull": 2}
_FIELDS = [("barrier", np.uint64), ("planes", np.uint64)]
_PLACE_OF_PLANES = slice(8, 16)  # in bytes
_DIRECTIONS = {0: "push", 1: "pull"}


def multi_bfs(view: View, sources: Any, *, cutoff: int | None, targets: Any, report: Report) -> Any:
    """Hops from each of several sources along the edges; as `engine.cpu.multi_bfs`.

    Notes
    -----
    A vertex has a word with a bit for each source, so an edge is read once for all searches that have it in the same
    level [1]_. In a level of many edges the searches that have few of them are pushed and the others pulled, where the
    in-edges are there. Depths are kept as bits, in words beside, and written as levels at the end. 64 bytes a vertex,
    and 4 for each source. See kernels/cuda/multi_bfs.cu.
    """
    here = DeviceView.of(view)
    level = search(here, sources, cutoff, targets, report)
    return here.to_caller(level)[:, : here.n]


def search(here: DeviceView, sources: Any, cutoff: int | None, targets: Any, report: Report) -> Any:
    """What `multi_bfs` gives, on the device, of rows that are longer than there are vertices."""
    n, out = here.n, here.out
    searches = len(sources)
    forced = _FORCED.get(configured_direction(), 1)
    pulls = forced if forced == 2 or here.has_into else 0
    into = here.into if pulls else out
    id_bytes = here.id_dtype.itemsize
    stride = -(-n // LINE) * LINE
    require(
        stride * (4 * searches + 8 * (PLANES + 3) + 2 * id_bytes),
        f"searching from {searches} sources at once",
    )
    level = cupy.empty((searches, stride), np.int32)
    seen, planes = cupy.zeros(stride, np.uint64), cupy.empty(PLANES * stride, np.uint64)
    none = cupy.empty(0, here.id_dtype)
    wanted = none if targets is None else cupy.asarray(targets, here.id_dtype)
    lists, separators = degree_lists(out)
    state = LaunchState(_FIELDS, _DIRECTIONS)
    module = cuda("multi_bfs", defines=here.defines)
    launch.cooperative(
        module.kernel("multi_bfs"),
        (
            out.offsets, out.neighbours, into.offsets, into.neighbours, np.uint64(n),
            cupy.asarray(sources, here.id_dtype), np.uint32(searches), wanted,
            np.uint64(wanted.size), np.uint64(2**64 - 1 if cutoff is None else cutoff),
            np.uint32(pulls), np.uint64(FEW * here.num_edges), np.uint64(MANY * here.num_edges), *lists, *separators,
            seen, cupy.empty(n, np.uint64), cupy.zeros(n, np.uint64), cupy.empty(n, here.id_dtype),
            launch.struct([planes, level, stride]), state.memory,
        ),
    )  # fmt: skip
    used = state.memory[_PLACE_OF_PLANES]
    launch.flat(
        module.kernel("write_levels"),
        stride // SIDE,
        (seen, planes, used, np.uint64(stride), np.uint32(searches), level),
    )
    for run in state.read()[1]:
        run.note(report, run.edges * (id_bytes + 8) + run.frontier * 24)
    return level
