"""Triangles at every vertex, along edges oriented by degree.

References
----------
.. [1] Latapy. Main-memory triangle computations for very large (sparse (power-law)) graphs. TCS 407 (2008).
.. [2] Pandey, Wang, Zhong, Tian, Zheng, Li, Li, Hoisie, Ding, Li, Liu. TRUST: triangle counting reloaded on GPUs.
   IEEE TPDS 32 (2021).
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.gpu.hub_triangles import count_hubs, hubs_of
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "last_barrier", "read")]


def triangles(view: View, report: Report) -> Any:
    """Triangles that each vertex of the simple undirected graph is in; as `engine.cpu.triangles`.

    Notes
    -----
    Every edge is kept at its end of fewer neighbours [1]_; the neighbours kept at a vertex are a hash
    table, in which the rows of each of them are looked up [2]_. Cost: O(E^1.5) looks in the worst
    case; memory for E / 2 neighbours and three numbers a vertex. See kernels/cuda/triangles.cu.
    """
    here = DeviceView.of(view)
    return here.to_caller(_counted(here, False, report))


def neighbour_arcs(view: View, report: Report) -> Any:
    """Edges that join two neighbours of each vertex; as `engine.cpu.neighbour_arcs`.

    Notes
    -----
    As `triangles`; of a directed view a byte more for each of the E / 2 neighbours. Directions are
    looked up in the out-edges, so the in-edges are not made for this.
    """
    here = DeviceView.of(view)
    if not view.directed:
        found = _counted(here, False, report)
        return here.to_caller(elements.added(found, found))
    return here.to_caller(_counted(here, True, report))


def _counted(here: DeviceView, arcs: bool, report: Report) -> Any:
    """What is found at all vertices: triangles, or `arcs`."""
    rows = here.symmetric
    n, size = rows.num_vertices, rows.num_edges // 2
    ids, offset = rows.neighbours.dtype, rows.offsets.dtype
    if n == 0:
        return cupy.zeros(n, np.int64)
    require(size * (ids.itemsize + arcs) + n * (12 + 2 * ids.itemsize), "counting triangles")
    out = here.out if arcs else None
    if out is not None and out.offsets.dtype != offset:  # one of them has 2**32 edges or more
        offset = np.dtype(np.uint64)
        rows, out = _wide(rows), _wide(out)
    module = cuda("triangles", defines={**integer_types(ids, offset), "ARCS": str(int(arcs))})
    lists, separators = degree_lists(rows)
    state = LaunchState(_FIELDS, {0: "intersect"})
    given = (rows.offsets, rows.neighbours, np.uint64(n), *lists, *separators)
    lengths = cupy.zeros(n, offset)
    launch.cooperative(module.kernel("up_lengths"), (*given, lengths, state.memory))
    starts = elements.offsets_of(lengths, offset)
    up, todo = cupy.empty(size, ids), cupy.empty(n, ids)
    ways = cupy.empty(size if arcs else 0, np.uint8)
    hubs = None if arcs else hubs_of(rows)
    least = np.iinfo(offset).max if hubs is None else hubs.degree
    ends, backs = starts[:-1].copy(), starts[1:].copy()
    launch.cooperative(
        module.kernel("up_rows"),
        (
            *given, starts, ends, backs, offset.type(least), up, todo,
            *launch.ends_or_null(out), ways, state.memory,
        ),
    )  # fmt: skip
    found = cupy.zeros(n, np.int64)
    row_of, others, read = (
        (None, None, 0) if hubs is None else count_hubs(hubs, starts, ends, up, found)
    )
    launch.cooperative(
        module.kernel("count"),
        (
            np.uint64(n), starts, up, ways, todo, launch.or_null(row_of), launch.or_null(others),
            found, state.memory,
        ),
    )  # fmt: skip
    (run,) = state.read()[1]
    run.note(
        report, run.edges * ids.itemsize + read + rows.num_edges * (ids.itemsize + 4), frontier=n
    )
    return found


def _wide(rows: Adjacency) -> Adjacency:
    """The same rows under offsets of 64 bits."""
    return Adjacency(elements.converted(rows.offsets, np.uint64), rows.neighbours)
