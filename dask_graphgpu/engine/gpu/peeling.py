"""Core numbers and k-cores by peeling: one launch.

References
----------
.. [1] Matula, Beck. Smallest-last ordering and clustering and graph coloring algorithms. J. ACM 30 (1983).
.. [2] Liu, Huang. SIMD-X: programming and processing of graph algorithms on GPUs. USENIX ATC 2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.degree_lists import SEPARATORS, degree_lists, most_pieces
from dask_graphgpu.engine.gpu.device import DeviceView, integer_types
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.engine.schedule import configured_separators
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report


def core_numbers(view: View, report: Report) -> Any:
    """Core number of every vertex in the simple undirected graph; as `engine.cpu.core_numbers`.

    Notes
    -----
    Each edge is read twice at most, and each vertex that is left once for every k: O(V + E). See
    kernels/cuda/peeling.cu.
    """
    here = DeviceView.of(view)
    return here.to_caller(elements.converted(_peeled(here, None, report), np.int64))


def k_core(view: View, k: int, report: Report) -> Any:
    """Whether each vertex is in the k-core; as `engine.cpu.k_core`.

    Notes
    -----
    Reads the rows of the vertices that are not in it only.
    """
    here = DeviceView.of(view)
    if k < 1 or k > here.n:  # in it are all, or none: more neighbours than there are vertices
        return here.to_caller(cupy.full(here.n, k < 1))
    return here.to_caller(_peeled(here, k - 1, report) >= k)


def _peeled(here: DeviceView, up_to: int | None, report: Report) -> Any:
    """Core numbers; or with `up_to` numbers that are larger for vertices whose core number is."""
    rows = here.symmetric
    return peeled(rows, rows.neighbours, {}, SEPARATORS, up_to, report)[0]


def peeled(
    rows: Adjacency,
    neighbours: Any,
    defines: Mapping[str, str],
    separators: tuple[int, int],
    up_to: int | None,
    report: Report,
) -> tuple[Any, int]:
    """Degrees at which vertices of a simple graph are peeled, which are core numbers, and edges read of host memory.

    Parameters
    ----------
    rows : Adjacency
        Offsets on the device.
    neighbours : array or struct
        What peeling.cu reads them from, as `defines` say.
    separators
        Of the worklists, unless the user has others.
    up_to : int, optional
        Vertices that are not peeled up to this level are left with any larger number.
    """
    n = rows.num_vertices
    degree = cupy.empty(n, rows.offsets.dtype)
    lists, limits = degree_lists(rows, separators=separators)
    words = [(name, np.uint64) for name in ("barrier", "read", "far")]
    state = LaunchState(words, {0: "peel"})
    types = integer_types(rows.neighbours.dtype, rows.offsets.dtype)
    launch.cooperative(
        cuda("peeling", defines={**types, **defines}).kernel("peeling"),
        (
            rows.offsets, neighbours, np.uint64(n), degree,
            np.uint64(up_to or 0), np.uint32(up_to is not None),
            cupy.empty(2 * n, rows.neighbours.dtype), *lists, *limits, state.memory,
        ),
    )  # fmt: skip
    found, (run,) = state.read()
    run.note(
        report,
        run.edges * (rows.neighbours.itemsize + degree.itemsize)
        + n * (8 + 2 * rows.neighbours.itemsize + 2 * degree.itemsize),
        frontier=n,
    )
    return degree, int(found["far"])


def bytes_of_peeling(rows: Adjacency, separators: tuple[int, int]) -> int:
    """Device memory that `peeled` takes beside the rows, and core numbers on their way."""
    degree, ids = rows.offsets.itemsize, rows.neighbours.itemsize
    pieces = most_pieces(rows, configured_separators(separators)[1])
    return rows.num_vertices * (degree + 3 * ids + 8) + pieces * (ids + 4)
