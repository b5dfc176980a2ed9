"""Simple cycles of bounded length on the GPU: the same as `engine.cpu.cycles` finds.

References
----------
.. [1] Gupta, Suzumura. Finding all bounded-length simple cycles in a directed graph. arXiv 2105.10094 (2021).
.. [2] Kumar, Calders. 2SCENT: an efficient algorithm for enumerating all simple temporal cycles. VLDB 2018.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import cycle_search
from dask_graphgpu.engine.cycle_search import Core, CycleRule, Found
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Edges that follow one, from which a block searches from it instead of a thread.
MANY_WAYS = 1 << 8

_GROUP = 256
BUILDING = 100  # bytes an edge while rows are sorted
_OF_STACK = 24  # bytes of a vertex of a path
_MOST_OF_STACKS = 1 << 30  # bytes of the paths of all threads


def cycles(view: AnyView, edges: tuple[Any, Any, Any], rule: CycleRule, report: Report) -> Found:
    """Simple cycles of some edges; see the contract.

    Notes
    -----
    Depth-first from each edge by a thread, or where many follow it by a block of them [1]_ [2]_. Memory: 100 bytes an
    edge while rows are sorted. On ranks with a GPU each the edges are in host memory, and so is what is found.
    """
    number = int(view.ranks.sum(len(edges[0])))
    require(BUILDING * number, f"cycles along {number:,} edges")
    found = cycle_search.search(cupy, view, edges, rule, report, _Search)
    if isinstance(view, View) and view.on_device:
        return found
    cycle, position, vertex, times = (
        None if each is None else cupy.asnumpy(each) for each in found
    )
    return cycle, position, vertex, times


class _Search:
    """See `cycle_search.Search`."""

    def __init__(self, core: Core, rule: CycleRule, first: int, last: int) -> None:
        self._length = max(min(rule.max_length, len(core.members)), 1)
        self._rule, self._first, self._number = rule, np.uint64(first), last - first
        rows = [
            core.out_offsets, core.out_ends, core.out_keys, core.in_offsets, core.in_ends, core.in_keys,
            core.in_offsets, core.near_ends, core.near_keys,
        ]  # fmt: skip
        last_key = core.last if len(core.last) else None
        self._held = core  # what the struct points to
        self._core = launch.struct([*rows, last_key, self._length, rule.timed, rule.directed])
        places = cupy.arange(first, last, dtype=np.int64)
        rows_of = cupy.searchsorted(core.out_offsets, places, side="right") - 1
        self._roots = rows_of.astype(np.uint32)
        self._counts = cupy.zeros(self._number, np.uint64)

    def count(self) -> tuple[int, int]:
        ways = cupy.zeros(self._number, np.uint32)
        launch.flat(
            cuda("cycles").kernel("look"), self._number,
            (self._core, self._roots, self._first, np.uint64(self._number), ways),
        )  # fmt: skip
        self._few = cupy.flatnonzero((ways > 0) & (ways < MANY_WAYS)).astype(np.int64)
        self._many = cupy.flatnonzero(ways >= MANY_WAYS).astype(np.int64)
        found = cupy.zeros(2, np.uint64)
        self._launch([self._counts, found, min(self._rule.limit, 2**62), None, None, 0])
        number, longest = found.get().tolist()
        return int(number), int(longest)

    def listed(self, number: int, longest: int) -> tuple[Any, Any]:
        both = 2 if self._rule.timed else 1
        require(number * longest * 4 * (4 * both + 1), f"{number:,} cycles")
        vertices = cupy.zeros((number, longest), np.uint32)
        keys = cupy.zeros((number, longest), np.uint32) if self._rule.timed else None
        self._few, self._many = (each[self._counts[each] > 0] for each in (self._few, self._many))
        starts = cupy.cumsum(self._counts, dtype=np.uint64) - self._counts
        if number:
            self._launch([starts, None, number, vertices, keys, longest])
        return vertices, keys

    def _launch(self, cycles: list[Any]) -> None:
        """Search from all edges that are worth it; ``cycles`` are the members of the struct."""
        kernel = cuda("cycles").kernel("search")
        for listed, group in ((self._few, 1), (self._many, _GROUP)):
            if not len(listed):
                continue
            level = _OF_STACK * (self._length + 1)
            resident = launch.resident_blocks(kernel, threads=_GROUP)
            blocks = min(
                resident,
                max(_MOST_OF_STACKS // (level * _GROUP), 1),
                -(-len(listed) * group // _GROUP),
            )
            threads = blocks * _GROUP
            require(threads * level, f"{threads:,} paths of {self._length:,} vertices")
            path, taken = cupy.empty((2, self._length + 1, threads), np.uint32)
            cursor, stop = cupy.empty((2, self._length + 1, threads), np.int64)
            launch.flat(
                kernel, threads,
                (
                    self._core, self._roots, self._first, listed, np.uint64(len(listed)),
                    np.uint64(group), np.uint64(threads), launch.struct([path, taken, cursor, stop, 0, 0]),
                    launch.struct(cycles),
                ),
                threads=_GROUP,
            )  # fmt: skip
