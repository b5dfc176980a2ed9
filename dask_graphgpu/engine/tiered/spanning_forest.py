"""Minimum spanning forest over edges in host memory: in one pass, by forests of what came by so far.

References
----------
.. [1] Feigenbaum, Kannan, McGregor, Suri, Zhang. On graph problems in a semi-streaming model. Theoretical Computer
   Science 348 (2005).
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.spanning_forest import forest, new_state, number_listed, types_of
from dask_graphgpu.engine.tiered.rows import TieredRows
from dask_graphgpu.engine.tiered.transfer import AtHand
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Edges for which there is room on the device: so many a vertex, and some.
_ROOM, _SOME = 3, 1 << 10

_VERTEX = 40  # bytes of what rounds take, without the edges of the forest


def spanning_forest(view: View, report: Report, *, largest: bool = False) -> tuple[Any, Any, Any]:
    """The edges of the minimum spanning forest, directions ignored; as `engine.gpu.spanning_forest`.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices, and three edges for each, needs more than ``graphgpu.device-memory-limit``.

    Notes
    -----
    An edge that is not in the forest of some edges is not in that of more of them [1]_. So edges are listed on the
    device while there is room, and those stay that are in the forest of these. Each crosses the link once.
    """
    here, weight, n = DeviceView.of(view), view.out.weight, view.num_vertices
    kind = np.dtype(np.uint8) if weight is None else weight.dtype
    defines, ids = types_of(kind, view.user_rank), here.id_dtype
    if not n:
        return tuple(here.to_caller(cupy.empty(0, each)) for each in (ids, ids, kind))
    edge = 8 + kind.itemsize
    vertex = _VERTEX + edge + _ROOM * (edge + 2 * here.offset_dtype.itemsize)

    def found(rows: TieredRows) -> tuple[Any, Any, Any]:
        module = cuda("spanning_forest", defines={**here.defines, **defines})
        batch = _Batch(rows, module, here, view, kind, report, largest=largest)
        rows.active.fill(1)
        rows.transfer.superstep(rows.active, batch.add, everything=True)
        low, high, weights = (rows.to_caller(array) for array in batch.reduced())
        return low.astype(ids, copy=False), high.astype(ids, copy=False), weights

    names, what = () if weight is None else ("weight",), "the forest"
    return TieredRows.run(
        view, "tier_forest", defines, vertex, what, report, found, names, packs=True
    )


class _Batch:
    """Edges that may be in the forest, listed on the device."""

    def __init__(
        self,
        rows: TieredRows,
        module: Any,
        here: Any,
        view: View,
        kind: np.dtype[Any],
        report: Report,
        *,
        largest: bool,
    ) -> None:
        self._largest = largest
        self._rows, self._module, self._report = rows, module, report
        self._n, self._kind, self._offset = rows.n, kind, here.offset_dtype
        self._rank, self._directed = here.user_rank, view.directed
        room = _ROOM * rows.n + _SOME
        self._low, self._high = cupy.empty(room, np.uint32), cupy.empty(room, np.uint32)
        self._weights = None if view.out.weight is None else cupy.empty(room, kind)
        self._state, self._most, self._room = new_state(), 0, room
        self._number = number_listed(self._state)

    def add(self, edges: AtHand) -> None:
        """List edges, as far as there is room at a time."""
        none, lo = np.uint64(0), edges.lo
        while lo < edges.hi:
            if self._most == self._room:  # as far as is known without a look
                self._most = int(self._number[0])
                if 2 * self._most > self._room:
                    self._keep(self.reduced())
            upto = min(edges.hi, lo + self._room - self._most)
            self._rows.along(
                "list_part", *(() if self._weights is not None else (none,)),
                none if self._rank is None else self._rank, np.uint32(self._directed),
                self._low, self._high, none if self._weights is None else self._weights,
                self._number,
            )(edges._replace(lo=lo, hi=upto))  # fmt: skip
            self._most += upto - lo
            lo = upto

    def reduced(self) -> tuple[Any, Any, Any]:
        """The forest of what is listed."""
        edges = self._low, self._high, self._weights
        given = self._kind, self._offset, self._state, self._report
        return forest(self._module, self._n, edges, *given, largest=self._largest)

    def _keep(self, edges: tuple[Any, Any, Any]) -> None:
        self._most = len(edges[0])
        for array, left in zip((self._low, self._high, self._weights), edges, strict=True):
            if array is not None:
                array[: self._most] = left
        self._state = new_state()
        self._number = number_listed(self._state)
        self._number[:] = self._most
