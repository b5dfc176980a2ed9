"""Predecessors of a finished path search, by a rule that does not depend on how the search went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import State
from dask_graphgpu.kernels.compile import cuda

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "unordered", "without", "read")]
_NONE = np.uint64(0)  # a null pointer


def predecessors(
    view: View, source: int, distance: Any, reached: Any, *, hops: bool, report: Report
) -> Any:
    """Predecessor of every vertex on a shortest path from `source`; as `engine.cpu.predecessors`.

    Parameters
    ----------
    view : View
    source : int
        Dense id.
    distance : array, shape (num_vertices,)
        What the search found: hops, or sums of weights in the type in which they were summed.
    reached : array of bool, shape (num_vertices,)
    hops : bool
        Whether every edge counts one, and weights are ignored.
    report : Report
        Gets one row, and another when there are plateaus.

    Returns
    -------
    array of the type of the neighbours, shape (num_vertices,)
        Dense ids; a vertex's own id where it has none (the source, unreached vertices).

    Notes
    -----
    At most one read of each edge, two with plateaus; early exit when rows are in the order of
    preference. A directed view without in-edges is gone through by out-edges, with an atomic for
    each edge that fits; the in-edges are not made for this.
    """
    here = DeviceView.of(view)
    pulls = here.has_into
    rows = here.into if pulls else here.out
    distance, reached = cupy.asarray(distance), cupy.asarray(reached)
    weight = None if hops else rows.weight
    rank = here.user_rank
    degree = here.degrees("both") if here.directed else None
    predecessor = cupy.empty(here.n, here.id_dtype)
    module = cuda(
        "predecessors",
        defines={
            **here.defines,
            "DIST": c_type(distance.dtype),
            "WEIGHT": c_type(distance.dtype if weight is None else weight.dtype),
            "RANK": c_type(np.dtype(np.int64) if rank is None else rank.dtype),
        },
    )
    preference = (_NONE if degree is None else degree, _NONE if rank is None else rank)
    lists, separators = degree_lists(rows)
    state = State(_FIELDS, {0: "predecessor"})
    launch.cooperative(
        module.kernel("predecessors"),
        (
            rows.offsets, rows.neighbours, _NONE if weight is None else weight,
            np.uint64(here.n), distance, reached, here.out.offsets, *preference, np.uint32(pulls),
            *lists, *separators, predecessor, state.memory,
        ),
    )  # fmt: skip

    edge_bytes = here.id_dtype.itemsize + distance.itemsize
    edge_bytes += 0 if weight is None else weight.itemsize
    vertex_bytes = 8 + here.offset_dtype.itemsize + predecessor.itemsize

    def note(state: State, frontier: int) -> int:
        read, (run,) = state.read()
        report.advance(
            run.direction, supersteps=run.supersteps, frontier=frontier, edges=run.edges,
            bytes=run.edges * edge_bytes + here.n * vertex_bytes, seconds=run.seconds,
        )  # fmt: skip
        return int(read["without"])

    without = note(state, here.n)
    if without > 1:  # one is the source
        rows = here.out
        weight = None if hops else rows.weight
        state = State(_FIELDS, {0: "predecessor"})
        launch.cooperative(
            module.kernel("plateaus"),
            (
                rows.offsets, rows.neighbours, _NONE if weight is None else weight,
                np.uint64(here.n), here.id_dtype.type(source), distance, reached, *preference,
                *lists, *separators, cupy.empty(here.n, cupy.uint32), predecessor, state.memory,
            ),
        )  # fmt: skip
        note(state, without - 1)
    return here.to_caller(predecessor)
