"""The arrays of a run whose edges are not all on the device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.lower import CHUNK
from dask_graphgpu.engine.cuda.outline import columns
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.worklists import SEPARATORS
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered.copies import to_host
from dask_graphgpu.engine.tiered.disk import kinds_of
from dask_graphgpu.engine.tiered.packed import packing_of, sending
from dask_graphgpu.engine.tiered.store import EdgeStore
from dask_graphgpu.partition.csr import Adjacency

# Of program.cuh: partial aggregates; the log, its counters, and what allocations are rounded up by.
_PARTIALS, _FIXED = 2048 * 32, 128 << 10


class TieredArrays(Arrays):
    """`Arrays` of vertices on the device, with edges by source in an `EdgeStore`."""

    def __init__(
        self, binding: Binding, sources: np.ndarray | None, cut: Cut, bits: int | None = None
    ) -> None:
        """``bits``: of an edge, where these stand one after the other as of `bits_in_order`."""
        self._cut, self._bits, self.packing = cut, bits, packing_of(binding)
        self.macros = {"TIERED": "1", "WORD_BITS": str(bits or 0)}
        super().__init__(binding, sources)

    @cached_property
    def tier(self) -> EdgeStore:
        """The edges that messages go along."""
        names = tuple(columns(self.binding))
        kind, _ = kinds_of(self.binding.send)
        given = self.edge_view, self.binding.send, names, self._cut, self.packing, self._bits
        return kind(*given)

    def edges(self, kind: str) -> Adjacency:
        """Rows by source, without columns: where these are is different from part to part."""
        return Adjacency(self.tier.offsets, self.binding.send.neighbours)

    def _to_caller(self) -> Callable[[Any], Any]:
        kept, on_device = self.tier.kept, self.binding.view.on_device
        return lambda array: array if on_device else to_host(array, kept)

    @cached_property
    def degree(self) -> Any:
        kind, direction = _wide_or_not(2 * self.view.num_edges), self.binding.direction
        return self.view.made(
            ("degrees of a tier", direction),
            lambda: cupy.asarray(self.binding.view.degrees(direction).astype(kind)),
        )


def _wide_or_not(largest: int) -> Any:
    return np.uint32 if largest < 2**32 else np.uint64


def num_chunks(view: DeviceView, rows: Adjacency) -> int:
    """Chunks of all rows that are cut into some, wherever in a line of the link they begin.

    Counted once for the rows of the view.
    """

    def counted() -> int:
        lengths = np.diff(rows.offsets)
        long = lengths[lengths >= SEPARATORS[1]]
        return int(((long + (CHUNK - 1)) // CHUNK + 1).sum())

    found: int = view.made(("chunks of parts", id(rows.offsets)), counted)
    return found


def bytes_of_vertices(binding: Binding) -> int:
    """Device memory of a run beside its edges: what is a number a vertex, and what has a fixed size."""
    program, view = binding.program, binding.view
    offset = np.dtype(_wide_or_not(binding.send.num_edges)).itemsize
    degree = np.dtype(_wide_or_not(2 * view.num_edges)).itemsize
    ids, message = binding.send.neighbours.itemsize, binding.message.itemsize
    fields = sum(dtype.itemsize for dtype in binding.dtypes.values())
    changing = sum(binding.dtypes[name].itemsize for name in program.changing)
    vertex = 3 * offset + degree + 3 * ids  # three times rows, and three lists
    vertex += fields + changing + 2 * message + 3  # with flags
    vertex += 0 if view.numbers is None else view.numbers.itemsize
    vertex += 8  # weighted degrees; while fields are made, one in its own type
    chunks = num_chunks(sending(binding), binding.send) * (ids + 4)
    aggregates = max(1, len(program.aggregates)) * _PARTIALS
    return int((view.num_vertices + 1) * vertex + chunks + aggregates + _FIXED)
