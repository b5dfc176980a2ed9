"""Direction-optimizing breadth-first search: the whole of it is one launch.

References
----------
.. [1] Beamer, Asanovic, Patterson. Direction-optimizing breadth-first search. SC 2012.
.. [2] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
.. [3] Liu, Huang. SIMD-X: programming and processing of graph algorithms on GPUs. USENIX ATC 2019.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import hops
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import SEPARATORS, degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.programs import run
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Looks of a pull that take as long as an edge of a push, and as a vertex that a pull goes over.
PUSH_COST = 2.0
VERTEX_COST = 2.0

# Looks that making the in-edges costs, for each edge. A graph without in-edges is searched by pushing,
# until the looks that pulls would have saved add up to that.
INTO_COST = 256

# Largest frontier, and its edges, that one block works on alone while the others wait. A block has
# about a twentieth of the device's throughput to spare before a grid barrier is cheaper.
SOLO_VERTICES = 1024
SOLO_EDGES = 8192

# Blocks of 512 threads on a multiprocessor; more hide more latency, with fewer registers each.
BLOCKS = 2

FORCED = {"push": 1, "pull": 2}
_FIELDS = [("barrier", np.uint64), ("targets", np.uint64), ("missed", np.float64)]
DIRECTIONS = {1: "push", 2: "pull"}


def bfs(view: View, source: int, *, cutoff: int | None, targets: Any, report: Report) -> Any:
    """Hops from `source` along the edges; as `engine.cpu.bfs`.

    Notes
    -----
    At most one read of each edge, plus about one a vertex in every pull. See kernels/cuda/bfs.cu. Where the view has
    layers, it sweeps over these; where the frontier is to notify who pulls, it is a vertex program in supersteps.
    """
    if view.levels is not None:
        return hops.in_place(run, view, source, cutoff, report)
    if configured_direction() == "notify-pull":
        return hops.in_supersteps(run, hops.LEVELS, view, source, cutoff, report)
    here = DeviceView.of(view)
    return here.to_caller(levels(here, source, cutoff, targets, report))


def levels(here: DeviceView, source: int, cutoff: int | None, targets: Any, report: Report) -> Any:
    """What `bfs` gives, of edges by rows, on the device."""
    level, state = queued(here, source, cutoff, targets)
    note(here, state, report)
    return level


def queued(
    here: DeviceView,
    source: int,
    cutoff: int | None,
    targets: Any,
    separators: tuple[int, int] = SEPARATORS,
) -> tuple[Any, LaunchState]:
    """Queue a search of edges by rows: the levels that it finds, and what `note` reads."""
    forced = FORCED.get(configured_direction(), 0)
    n, num_edges = here.n, here.num_edges
    pulls = forced != 1 and (
        forced == 2 or here.has_into or here.note_missed(0) > INTO_COST * num_edges
    )
    out = here.out
    into = here.into if pulls else out
    lists, pair = degree_lists(out, separators=separators)
    words = (n + 31) // 32
    none = cupy.empty(0, here.id_dtype)
    wanted = none if targets is None else cupy.asarray(targets, here.id_dtype)
    level = cupy.empty(n, cupy.int32)
    state = LaunchState(_FIELDS, DIRECTIONS)
    kernel = cuda("bfs", defines={**here.defines, "BLOCKS": str(BLOCKS)}).kernel("bfs")
    launch.cooperative(
        kernel,
        (
            out.offsets, out.neighbours, into.offsets, into.neighbours,
            np.uint64(n), np.uint64(num_edges), here.id_dtype.type(source), level,
            cupy.empty(2 * words, cupy.uint32), *lists,
            cupy.empty(2 * n if pulls else 0, here.id_dtype),
            cupy.empty(words if wanted.size else 0, cupy.uint32), wanted, np.uint64(wanted.size),
            np.int64(-1 if cutoff is None else cutoff), *pair,
            np.uint32(forced), np.uint32(pulls), np.float32(PUSH_COST), np.float32(VERTEX_COST),
            np.uint32(SOLO_VERTICES), np.uint32(SOLO_EDGES),
            cupy.empty(SOLO_EDGES, here.id_dtype), state.memory,
        ),
    )  # fmt: skip
    return level, state


def note(here: DeviceView, state: LaunchState, report: Report) -> None:
    """Wait for a search; what it did goes to the report, and to later searches' choice of direction."""
    read, runs = state.read()
    if read["missed"] > 0:
        here.note_missed(float(read["missed"]))
    id_bytes = here.id_dtype.itemsize
    for each in runs:
        if each.direction == "push":  # a neighbour and its bit for each edge, the queue
            moved = each.edges * (id_bytes + 1) + each.frontier * (id_bytes + 16)
        else:  # the same; two bitmaps and the offsets for all
            moved = each.edges * (id_bytes + 1) + here.n * 5
        each.note(report, moved)
