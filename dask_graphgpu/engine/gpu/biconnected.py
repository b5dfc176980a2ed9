"""Bridges and biconnected components, by a spanning tree of the GPU and one look at every edge.

References
----------
.. [1] Tarjan, Vishkin. An efficient parallel biconnectivity algorithm. SIAM J. Computing 14 (1985).
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.blocks import Blocks, WalkedTrees
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.spanning_forest import spanning_forest
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def bridges(view: View, report: Report) -> tuple[Any, Any]:
    """Edges without which their ends are not joined.

    Notes
    -----
    The GPU finds the forest and looks at the edges [1]_; the host goes through the trees, on one thread. See
    kernels/cuda/biconnected.cu.
    """
    here = DeviceView.of(view)
    low, high = _blocks(here, report)[0].bridges()
    return here.to_caller(cupy.asarray(low)), here.to_caller(cupy.asarray(high))


def num_blocks(view: View, report: Report) -> Any:
    """How many biconnected components each vertex is in. As of `bridges`."""
    here = DeviceView.of(view)
    blocks, place = _blocks(here, report)
    return here.to_caller(cupy.asarray(blocks.number())[place])


def biconnected_edges(view: View, report: Report) -> tuple[Any, Any, Any]:
    """Every edge, and its biconnected component; as of `engine.cpu.biconnected`."""
    here = DeviceView.of(view)
    blocks, place = _blocks(here, report)
    rows, rank = here.symmetric, here.user_rank
    require(
        rows.num_edges * (here.id_dtype.itemsize * 2 + 16), "listing edges with their component"
    )
    first = cupy.searchsorted(rows.offsets[1:], cupy.arange(rows.num_edges), side="right")
    second = rows.neighbours.astype(np.int64)
    places = (first, second) if rank is None else (rank[first], rank[second])
    once = cupy.flatnonzero(places[0] < places[1])
    ends = [each[once] for each in places]
    order = once[cupy.lexsort(cupy.stack(ends[::-1]))]
    first, second = first[order], second[order]
    later = cupy.maximum(place[first], place[second])
    names = cupy.asarray(blocks.block)[later]
    known, where, number = cupy.unique(names, return_index=True, return_inverse=True)
    numbers = cupy.empty(len(known), np.int64)
    numbers[cupy.argsort(where)] = cupy.arange(len(known))
    found = first.astype(here.id_dtype), second.astype(here.id_dtype), numbers[number]
    one, other, component = (here.to_caller(each) for each in found)
    return one, other, component


def _blocks(here: DeviceView, report: Report) -> tuple[Blocks, Any]:
    return blocks_of(here, spanning_forest(here.view, report)[:2], report)


def blocks_of(here: DeviceView, forest: tuple[Any, Any], report: Report) -> tuple[Blocks, Any]:
    """The components of a graph, by the ends of a forest's edges, and the place of each vertex, on the device."""
    rows, n, ids = here.out, here.n, here.id_dtype
    low_end, high_end = forest
    start = time.perf_counter()
    tree = WalkedTrees.of(n, cupy.asnumpy(low_end), cupy.asnumpy(high_end), ids)
    report.advance(
        "traverse", supersteps=1, frontier=n, edges=len(low_end), bytes=n * 9 * ids.itemsize,
        seconds=time.perf_counter() - start,
    )  # fmt: skip
    start = time.perf_counter()
    require(n * 8 * ids.itemsize, "looking at edges beside a tree")
    place = cupy.asarray(tree.place)
    if here.user_rank is not None:
        place = place[here.user_rank]
    up, last = (cupy.asarray(each)[place] for each in (tree.up, tree.last))
    low, high, parent = place.copy(), place.copy(), cupy.arange(n, dtype=ids)
    arrays = rows.offsets, rows.neighbours, np.uint64(n), np.uint64(rows.num_edges)
    kernel = cuda("biconnected", defines=here.defines).kernel("look")
    launch.flat(kernel, rows.num_edges, (*arrays, place, up, last, low, high, parent))
    joined = cupy.flatnonzero(parent != cupy.arange(n, dtype=ids))
    pair = cupy.asnumpy(place[joined]), cupy.asnumpy(place[parent[joined]])
    at = cupy.asnumpy(place).astype(np.intp)
    lowest, highest = np.empty(n, ids), np.empty(n, ids)
    lowest[at], highest[at] = cupy.asnumpy(low), cupy.asnumpy(high)
    report.advance(
        "look", supersteps=1, frontier=n, edges=rows.num_edges,
        bytes=3 * rows.num_edges * ids.itemsize, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return Blocks(tree, lowest, highest, [pair]), place
