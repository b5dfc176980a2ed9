"""Predecessors of a finished path search, by a rule that does not depend on how the search went."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "unordered", "without", "read")]


def predecessors(
    view: View, source: int, distance: Any, reached: Any, *, hops: bool, report: Report
) -> Any:
    """Predecessor of every vertex on a shortest path from `source`; as `engine.cpu.predecessors`.

    Notes
    -----
    At most one read of each edge, two with plateaus; early exit when rows are in the order of
    preference. A directed view without in-edges is gone through by out-edges, with an atomic for
    each edge that fits; the in-edges are not made for this.
    """
    here = DeviceView.of(view)
    distance, reached = cupy.asarray(distance), cupy.asarray(reached)
    rank = here.user_rank
    degree = here.degrees("both") if here.directed else None
    pulls = here.has_into
    rows = here.into if pulls else here.out
    given = distance, reached, degree, rank
    predecessor, without = pulled(here, rows, *given, hops=hops, report=report, pulls=pulls)
    if without > 1:  # one is the source
        rows = here.out
        weight = None if hops else rows.weight
        lists, separators = degree_lists(rows)
        state = LaunchState(_FIELDS, {0: "predecessor"})
        launch.cooperative(
            _module(here, distance, weight, rank).kernel("plateaus"),
            (
                rows.offsets, rows.neighbours, launch.or_null(weight),
                np.uint64(here.n), here.id_dtype.type(source), distance, reached,
                *_preference(degree, rank), *lists, *separators, cupy.empty(here.n, cupy.uint32),
                predecessor, state.memory,
            ),
        )  # fmt: skip
        _note(here, state, without - 1, distance, weight, report)
    return here.to_caller(predecessor)


def pulled(
    here: DeviceView,
    rows: Adjacency,
    distance: Any,
    reached: Any,
    degree: Any,
    rank: Any,
    *,
    hops: bool,
    report: Report,
    pulls: bool = True,
) -> tuple[Any, int]:
    """Predecessors that are nearer than their vertices, and how many reached vertices have none.

    Parameters
    ----------
    here : DeviceView
    rows : Adjacency
        Of in-edges where it ``pulls``, else of out-edges, on the device.
    distance, reached : arrays of shape (num_vertices,), on the device
    degree : int64, shape (num_vertices,), optional
        By which neighbours are preferred; None: the lengths of the rows of out-edges.
    rank : integers, shape (num_vertices,), optional
        The same where degrees are equal; None: the dense ids.
    """
    weight = None if hops else rows.weight
    predecessor = cupy.empty(here.n, here.id_dtype)
    lists, separators = degree_lists(rows)
    lengths = here.out.offsets if degree is None else rows.offsets
    state = LaunchState(_FIELDS, {0: "predecessor"})
    launch.cooperative(
        _module(here, distance, weight, rank).kernel("predecessors"),
        (
            rows.offsets, rows.neighbours, launch.or_null(weight),
            np.uint64(here.n), distance, reached, lengths, *_preference(degree, rank),
            np.uint32(pulls), *lists, *separators, predecessor, state.memory,
        ),
    )  # fmt: skip
    return predecessor, _note(here, state, here.n, distance, weight, report)


def _preference(degree: Any, rank: Any) -> tuple[Any, Any]:
    return (launch.or_null(degree), launch.or_null(rank))


def _module(here: DeviceView, distance: Any, weight: Any, rank: Any) -> Any:
    return cuda(
        "predecessors",
        defines={
            **here.defines,
            "DIST": c_type(distance.dtype),
            "WEIGHT": c_type(distance.dtype if weight is None else weight.dtype),
            "RANK": c_type(np.dtype(np.int64) if rank is None else rank.dtype),
        },
    )


def _note(
    here: DeviceView, state: LaunchState, frontier: int, distance: Any, weight: Any, report: Report
) -> int:
    """A row for the report; reached vertices that have no predecessor."""
    edge_bytes = here.id_dtype.itemsize + distance.itemsize
    edge_bytes += 0 if weight is None else weight.itemsize
    vertex_bytes = 8 + here.offset_dtype.itemsize + here.id_dtype.itemsize
    read, (run,) = state.read()
    run.note(report, run.edges * edge_bytes + here.n * vertex_bytes, frontier=frontier)
    return int(read["without"])


def path(view: View, source: int, target: int, predecessor: Any) -> tuple[Any, Any, int]:
    """The vertices on the path, without the source; as `engine.cpu.path`.

    Notes
    -----
    One thread follows it: a read that waits for the one before, for every edge.
    """
    here = DeviceView.of(view)
    found, length = cupy.empty(here.n, here.id_dtype), cupy.zeros(1, np.uint64)
    launch.flat(
        cuda("path", defines=here.defines).kernel("path"), 1,
        (
            cupy.asarray(predecessor), here.id_dtype.type(source), here.id_dtype.type(target),
            found, length,
        ),
        threads=1,
    )  # fmt: skip
    size = int(length[0])
    left = cupy.arange(size, dtype=np.int64)[::-1]
    return here.to_caller(found[:size][::-1]), here.to_caller(left), size
