"""Minimum spanning forest by Boruvka's algorithm: two launches.

References
----------
.. [1] Chung, Condon. Parallel implementation of Boruvka's minimum spanning tree algorithm. IPPS 1996.
.. [2] Vineet, Harish, Patidar, Narayanan. Fast minimum spanning tree for large graphs on the GPU. HPG 2009.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.engine.weight_order import turned
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [
    (name, np.uint64)
    for name in (
        "barrier", "edges", "taken", "kept_0", "kept_1", "kept_2", "small", "medium", "pieces",
    )
]  # fmt: skip


def spanning_forest(view: View, report: Report, *, largest: bool = False) -> tuple[Any, Any, Any]:
    """The edges of the minimum spanning forest, in any order; as `engine.cpu.spanning_forest`.

    Notes
    -----
    Rounds in which every component takes its lightest edge [1]_, by an atomic minimum of the weight and then of the
    ends; edges within a component are dropped after each [2]_. O(E log V) at most. 16 bytes an edge and the weight, of
    an undirected graph for one of two directions, and 36 a vertex. See kernels/cuda/spanning_forest.cu.
    """
    here = DeviceView.of(view)
    rows, n, rank = here.out, here.n, here.user_rank
    most = rows.num_edges if here.directed else rows.num_edges // 2
    weight = rows.weight
    kind = np.dtype(np.uint8) if weight is None else weight.dtype
    offset = here.offset_dtype
    require(most * (8 + 2 * offset.itemsize + kind.itemsize) + n * 40, "finding a spanning forest")
    module = cuda("spanning_forest", defines={**here.defines, **types_of(kind, rank)})
    lists, separators = degree_lists(rows)
    state = new_state()
    low, high = cupy.empty(most, np.uint32), cupy.empty(most, np.uint32)
    weights = cupy.empty(0 if weight is None else most, kind)
    launch.cooperative(
        module.kernel("list_edges"),
        (
            rows.offsets, rows.neighbours, launch.or_null(weight), np.uint64(n),
            launch.or_null(rank), np.uint32(here.directed), *lists, *separators,
            low, high, weights, state.memory,
        ),
    )  # fmt: skip
    edges = low, high, None if weight is None else weights
    first, second, third = (
        here.to_caller(array)
        for array in forest(module, n, edges, kind, offset, state, report, largest=largest)
    )
    ids = here.id_dtype
    return first.astype(ids, copy=False), second.astype(ids, copy=False), third


def types_of(kind: np.dtype[Any], rank: Any) -> dict[str, str]:
    """Macros for weights and for places of the users' order."""
    return {
        "WEIGHT": c_type(kind),
        "RANK": c_type(np.dtype(np.int64) if rank is None else rank.dtype),
    }


def new_state() -> LaunchState:
    """Of the launches for one forest."""
    return LaunchState(_FIELDS, {0: "hook"})


def number_listed(state: LaunchState) -> Any:
    """The number of edges that are listed: uint64, shape (1,), on the device."""
    at = next(i for i, (name, _) in enumerate(_FIELDS) if name == "edges")
    return state.memory[8 * at : 8 * (at + 1)].view(np.uint64)


def forest(
    module: Any,
    n: int,
    edges: tuple[Any, Any, Any],
    kind: np.dtype[Any],
    offset: np.dtype[Any],
    state: LaunchState,
    report: Report,
    *,
    largest: bool,
) -> tuple[Any, Any, Any]:
    """The edges of the forest of those that are listed.

    Parameters
    ----------
    module : of spanning_forest.cu
    n : int
        Vertices.
    edges : low ends, high ends, weights or None: room for some, of which `number_listed` are there
    kind, offset : types of weights and of places in these
    state : LaunchState
    report : Report
        Gets one row, "hook".
    largest : bool
        Of the maximum forest; the weights that are given are then `turned`.

    Returns
    -------
    low ends, high ends, weights
    """
    low, high, weights = edges
    turn = largest and weights is not None
    if turn:  # with the room behind those that are listed
        weights[:] = turned(weights)
    taken = (cupy.empty(n, np.uint32), cupy.empty(n, np.uint32), cupy.empty(n, kind))
    launch.cooperative(
        module.kernel("spanning_forest"),
        (
            np.uint64(n), low, high, launch.or_null(weights),
            cupy.empty(2 * len(low), offset), cupy.empty(n, np.uint64), cupy.empty(n, np.uint64),
            cupy.empty(n, np.uint32), cupy.empty(n, np.uint32), *taken, state.memory,
        ),
    )  # fmt: skip
    read, runs = state.read()
    for run in runs:
        run.note(report, run.edges * (16 + kind.itemsize) + n * 32)
    first, second, third = (array[: int(read["taken"])] for array in taken)
    return first, second, turned(third) if turn else third
