"""Trusses by peeling edges: one launch a level.

References
----------
.. [1] Wang, Cheng. Truss decomposition in massive networks. PVLDB 5 (2012).
.. [2] Kabir, Madduri. Shared-memory graph truss decomposition. HiPC 2017.
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def trussness(view: View, report: Report) -> tuple[Any, Any, Any]:
    """Every edge of the simple undirected graph, and the largest k of the k-trusses that it is in.

    Notes
    -----
    Triangles are counted, and edges that are in the fewest are taken away until none is left [1]_, in rounds [2]_: for
    every edge a look at the shorter row of its ends, each a bisection of the longer one. Rows are made anew when half
    of them is gone. See kernels/cuda/trusses.cu.
    """
    begun = time.perf_counter()
    here = DeviceView.of(view)
    rows, n = here.symmetric, here.n
    ids, wide = rows.neighbours.dtype, rows.offsets.dtype
    offsets, neighbours, edges = rows.offsets, rows.neighbours, rows.num_edges // 2
    require(edges * (5 * wide.itemsize + 2 * ids.itemsize + 26) + 2 * n * 8, "peeling edges")
    kernel = cuda("trusses", defines=integer_types(ids, wide)).kernel

    after = cupy.empty(n, wide)
    launch.flat(kernel("count_after"), n, (offsets, neighbours, np.uint64(n), after))
    starts = elements.offsets_of(after, wide)
    number = cupy.empty(rows.num_edges, wide)
    low, high = cupy.empty(edges, ids), cupy.empty(edges, ids)
    launch.flat(
        kernel("number_arcs"), rows.num_edges,
        (
            offsets, neighbours, np.uint64(n), np.uint64(rows.num_edges), starts, number, low,
            high,
        ),
    )  # fmt: skip
    support, counts = cupy.empty(edges, np.uint32), cupy.zeros(5, np.uint64)
    ends = low, high
    launch.flat(
        kernel("supports"), edges * 32,
        (offsets, neighbours, number, *ends, np.uint64(edges), support, counts),
        threads=launch.THREADS,
    )  # fmt: skip

    state, left = cupy.zeros(edges, np.uint8), elements.counted_up(cupy, edges, wide)
    at = elements.gathered
    now, later = cupy.empty(edges, wide), cupy.empty(edges, wide)
    while len(left):
        supports = at(support, left)
        level = int(supports.min())
        some = at(left, elements.places_of(elements.between(supports, level, level + 1)))
        now[: len(some)] = some
        elements.mark(some, state)
        launch.cooperative(
            kernel("peel"),
            (
                offsets, neighbours, number, *ends, np.uint32(level), now, later,
                np.uint64(len(some)), state, support, counts, launch.barrier(),
            ),
        )  # fmt: skip
        left = at(left, elements.places_of(elements.between(at(state, left), 0, 1)))
        if 4 * len(left) < len(number):
            arcs = elements.places_of(elements.between(at(state, number), 0, 1))
            neighbours, number = at(neighbours, arcs), at(number, arcs)
            offsets = elements.first_not_below(arcs, offsets, wide)
    read, rounds = (int(each) for each in cupy.asnumpy(counts)[:2])
    found = low, high, support
    if here.user_rank is not None:
        found = _in_user_order(kernel("keys_of_edges"), here, *found)
    report.advance(
        "peel", supersteps=rounds, frontier=n, edges=read,
        bytes=read * (ids.itemsize + wide.itemsize), seconds=time.perf_counter() - begun,
    )  # fmt: skip
    first, second, supports = found
    truss = elements.added(
        elements.converted(supports, np.int64), elements.filled(cupy, edges, 2, np.int64)
    )
    return here.to_caller(first), here.to_caller(second), here.to_caller(truss)


def _in_user_order(
    kernel: Any, here: DeviceView, low: Any, high: Any, support: Any
) -> tuple[Any, Any, Any]:
    """Edges with the end first that comes first in the user's order, ordered by both."""
    edges, keys = len(low), cupy.empty(len(low), np.uint64)
    rank = elements.converted(here.user_rank, low.dtype)
    launch.flat(kernel, edges, (rank, np.uint64(edges), low, high, keys))
    order = cupy.argsort(keys)
    first, second, supports = (elements.gathered(each, order) for each in (low, high, support))
    return first, second, supports
