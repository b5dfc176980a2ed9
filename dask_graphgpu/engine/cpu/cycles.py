"""Simple cycles of bounded length on all cores: counted from each edge that one may begin with, then listed.

References
----------
.. [1] Gupta, Suzumura. Finding all bounded-length simple cycles in a directed graph. arXiv 2105.10094 (2021).
.. [2] Kumar, Calders. 2SCENT: an efficient algorithm for enumerating all simple temporal cycles. VLDB 2018.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dask_graphgpu.engine import cycle_search
from dask_graphgpu.engine.cycle_search import Core, CycleRule, Found
from dask_graphgpu.engine.room import require_room, require_room_for_all
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

_BUILDING = 100  # bytes an edge while rows are sorted
_STEPS = 1 << 8  # of a search from one edge, for blocks of the right size
_ANY = np.uint32(2**32 - 1)


def cycles(view: AnyView, edges: tuple[Any, Any, Any], rule: CycleRule, report: Report) -> Found:
    """Simple cycles of some edges; see the contract. Collective.

    Notes
    -----
    Depth-first from each edge [1]_, by time within the time that its cycles may take [2]_.
    """
    source, destination, times = (None if each is None else to_host(each) for each in edges)
    require_room_for_all(view, len(edges[0]), _BUILDING, "cycles along")
    made = partial(_Search, view)
    return cycle_search.search(np, view, (source, destination, times), rule, report, made)


class _Search:
    """See `cycle_search.Search`."""

    def __init__(self, view: AnyView, core: Core, rule: CycleRule, first: int, last: int) -> None:
        length = max(min(rule.max_length, len(core.members)), 1)
        self._view, self._rule = view, rule
        self._counts = np.zeros(last - first, np.int64)
        rows = (
            (core.out_offsets, core.out_ends, core.out_keys),
            (core.in_offsets, core.in_ends, core.in_keys),
            (core.near_ends, core.near_keys),
        )
        asked = length, rule.timed, rule.directed, _ANY
        self._search = partial(
            for_blocks, kernels.cycles.search, even_blocks(last - first, work=_STEPS) + first, *rows,
            core.last, asked, first, self._counts,
        )  # fmt: skip

    def count(self) -> tuple[int, int]:
        none = np.empty((0, 0), np.uint32)
        found = self._search(self._rule.limit, self._counts[:0], False, (none, none))
        return sum(number for number, _ in found), max((long for _, long in found), default=0)

    def listed(self, number: int, longest: int) -> tuple[np.ndarray, np.ndarray | None]:
        row = longest * (36 if self._rule.timed else 20)
        require_room(self._view, number * row, f"{number:,} cycles")
        vertices = np.zeros((number, longest), np.uint32)
        keys = np.zeros(vertices.shape if self._rule.timed else (0, 0), np.uint32)
        self._search(number, offsets_of(self._counts), True, (vertices, keys))
        return vertices, keys if self._rule.timed else None
