"""Triangles at every vertex, along edges oriented by degree.

References
----------
.. [1] Latapy. Main-memory triangle computations for very large (sparse (power-law)) graphs. TCS 407 (2008).
.. [2] Pandey, Wang, Zhong, Tian, Zheng, Li, Li, Hoisie, Ding, Li, Liu. TRUST: triangle counting reloaded on GPUs.
   IEEE TPDS 32 (2021).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import address
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.gpu.hub_triangles import count_hubs, hubs_of
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.memory import free_bytes, require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

_FIELDS = [(name, np.uint64) for name in ("barrier", "smalls", "larges")]

_TURN = 4  # words of struct Turn

_VERTEX = (
    16  # bytes of a vertex, beside ids and offsets: what is found, and whose row of bits it has
)

# Makes an array that need not lie on the device, where kernels read and write it all the same.
Make: TypeAlias = Callable[[int, Any], Any]


def triangles(view: View, report: Report) -> Any:
    """Triangles that each vertex of the simple undirected graph is in; as `engine.cpu.triangles`.

    Notes
    -----
    Every edge is kept at its end of fewer neighbours [1]_; the neighbours kept at a vertex are a hash
    table, in which the rows of each of them are looked up [2]_. Cost: O(E^1.5) looks in the worst
    case; memory for E / 2 neighbours and three numbers a vertex. See kernels/cuda/triangles.cu.
    """
    here = DeviceView.of(view)
    return here.to_caller(counted(here, False, report))


def neighbour_arcs(view: View, report: Report) -> Any:
    """Edges that join two neighbours of each vertex; as `engine.cpu.neighbour_arcs`.

    Notes
    -----
    As `triangles`; of a directed view a byte more for each of the E / 2 neighbours. Directions are
    looked up in the out-edges, so the in-edges are not made for this.
    """
    here = DeviceView.of(view)
    if not view.directed:
        found = counted(here, False, report)
        return here.to_caller(elements.added(found, found))
    return here.to_caller(counted(here, True, report))


def counted(here: DeviceView, arcs: bool, report: Report, elsewhere: Make | None = None) -> Any:
    """What is found at all vertices: triangles, or `arcs`.

    ``elsewhere`` : where the E / 2 neighbours go that do not fit the device; rows of them are then brought part by
    part, and all are read once for each part.
    """
    rows = here.symmetric
    n, size = rows.num_vertices, rows.num_edges // 2
    ids, offset = rows.neighbours.dtype, rows.offsets.dtype
    if n == 0:
        return cupy.zeros(n, np.int64)
    room, entry = free_bytes(), ids.itemsize + arcs
    vertices = n * (_VERTEX + 2 * ids.itemsize + 8 * offset.itemsize)
    most = size  # entries of a part; as much as they take rows of bits
    if elsewhere is None or size * entry + vertices <= room:
        require(size * entry + vertices, "counting triangles")
        elsewhere, room = cupy.empty, room - size * entry - vertices
    else:
        room = max(room - vertices, 0)
        most = room // (2 * entry)
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
    parts = [(0, size)] if most >= size else _parts(starts, lengths, most, entry)
    up, todo = elsewhere(size, ids), cupy.empty(n, ids)
    ways = elsewhere(size if arcs else 0, np.uint8)
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
        (None, None, 0) if hubs is None else count_hubs(hubs, starts, ends, up, found, room // 2)
    )
    for begin, end in parts:
        held = [array if most >= size else array[begin:end].copy() for array in (up, ways)]
        first = 0 if most >= size else begin
        places = [int(array.data.ptr) - first * array.itemsize for array in held]
        part = launch.struct([*map(address, places), begin, end])
        launch.cooperative(
            module.kernel("count"),
            (
                np.uint64(n), starts, up, ways, part, todo, launch.or_null(row_of),
                launch.or_null(others), found, cupy.zeros(_TURN, np.uint64), state.memory,
            ),
        )  # fmt: skip
    (run,) = state.read()[1]
    run.note(
        report, run.edges * ids.itemsize + read + rows.num_edges * (ids.itemsize + 4), frontier=n
    )
    return found


def _parts(starts: Any, lengths: Any, most: int, entry: int) -> list[tuple[int, int]]:
    """Where runs of whole rows begin and end, of so many edges at most, of ``entry`` bytes each."""
    longest = int(lengths.max())
    if most < longest:
        require(free_bytes() + 2 * (longest - most) * entry, "counting triangles")
    offsets, parts, begin = cupy.asnumpy(starts).astype(np.int64), [], 0
    while begin < offsets[-1]:
        end = int(offsets[np.searchsorted(offsets, begin + most, side="right") - 1])
        parts.append((begin, end))
        begin = end
    return parts


def _wide(rows: Adjacency) -> Adjacency:
    """The same rows under offsets of 64 bits."""
    return Adjacency(elements.converted(rows.offsets, np.uint64), rows.neighbours)
