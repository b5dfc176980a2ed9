"""The arrays of a run whose edges are not all on the device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.outline import columns
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.copies import to_host
from dask_graphgpu.engine.gpu.sizes import wide_or_not
from dask_graphgpu.engine.limits import Cut
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered.disk import kinds_of
from dask_graphgpu.engine.tiered.packed import packing_of
from dask_graphgpu.engine.tiered.store import EdgeStore
from dask_graphgpu.partition.csr import Adjacency


class TieredArrays(Arrays):
    """`Arrays` of vertices on the device, with edges by source in an `EdgeStore`."""

    def __init__(
        self, binding: Binding, sources: np.ndarray | None, cut: Cut, bits: int | None = None
    ) -> None:
        """``bits``: how many an edge has, where edges are packed without gaps, see `bits_in_order`."""
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
        kind, direction = wide_or_not(2 * self.view.num_edges), self.binding.direction
        return self.view.made(
            ("degrees of a tier", direction),
            lambda: cupy.asarray(self.binding.view.degrees(direction).astype(kind)),
        )
