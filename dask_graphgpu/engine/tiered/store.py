"""Edges in tiers: the first ones on the device, the others in pinned host memory, or in `disk`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from dask_graphgpu.engine.cuda.packing import Packing
from dask_graphgpu.engine.gpu.copies import brought
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.host import room
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.limits import BLOCK, Cut
from dask_graphgpu.engine.tiered.packed import in_order, packed
from dask_graphgpu.partition.csr import Adjacency


class EdgeStore(ABC):
    """Rows by source of a graph, for one run, in three tiers: device, pinned host memory, pages on disk.

    The first edges are in the device's memory, all of them where they fit; the others are in the tier that
    a class is of. Engines bring these within reach of kernels by a `Transfer`, whatever the tier.

    Rows stand in their order: where that is by falling degree, those on the device are of the hubs.

    Parameters
    ----------
    view : DeviceView
        What does not change from run to run is kept with its rows.
    host : Adjacency
        In host memory, offsets in int64.
    names : sequence of str
        The columns that are read.
    cut : Cut
    packing : Packing, optional
        How these columns are in words with the ends of edges.
    bits : int, optional
        Of an edge's word, if they are to stand one after the other (`packed.in_order`).

    Attributes
    ----------
    offsets : device array of shape (num_vertices + 1,)
    arrays : dict of str to array of shape (num_edges,)
        Where edges beyond the device come from: "neighbours" and the columns; words alone where edges are packed.
    per_item : int
        Edges of an item of these arrays: 1, or `limits.BLOCK` where bits stand one after the other.
    kept : RunCache
        What the run leaves to the next one: to pin memory takes longer than to fill it.
    bounds, rows : int64 arrays
        Edges where segments begin and the last one ends, and the last row that begins there or before.
    cut_row : int
        Of which only some edges are resident; -1: there is none.
    """

    def __init__(
        self,
        view: DeviceView,
        host: Adjacency,
        names: Sequence[str],
        cut: Cut,
        packing: Packing | None = None,
        bits: int | None = None,
    ) -> None:
        self.host, self.cut = host, cut
        self.num_vertices, self.num_edges = host.num_vertices, host.num_edges
        self.offsets = view.offsets(host)
        self.kept = RunCache.of(view)
        self.kept.bound(room(host))
        self.per_item = 1 if bits is None else BLOCK
        self.arrays = self._at_hand(names, packing, bits)
        self.resident = self.kept.resident(self.arrays, cut.resident, self._brought)
        self.bounds = cut.bounds
        self.rows = np.searchsorted(host.offsets, self.bounds, side="right") - 1
        last = int(self.rows[0])
        is_cut = 0 < cut.resident < self.num_edges and host.offsets[last] < cut.resident
        self.cut_row = last if is_cut else -1

    @abstractmethod
    def _at_hand(
        self, names: Sequence[str], packing: Packing | None, bits: int | None
    ) -> dict[str, Any]:
        """The arrays that edges come from, by name."""

    @abstractmethod
    def _brought(self, name: str, edges: int) -> Any:
        """The first edges of an array, on the device."""

    @abstractmethod
    def on_host(self) -> dict[str, int]:
        """Address of edge 0 of each array, for kernels that read it in host memory; 0: they cannot."""

    @property
    def bytes_of_edge(self) -> int:
        """Where edges are not bit after bit."""
        assert self.per_item == 1
        return self.bytes_of(1)

    def bytes_of(self, edges: int) -> int:
        """What so many edges take."""
        item: int = sum(array.itemsize for array in self.arrays.values())
        return edges * item // self.per_item

    def on_device(self) -> dict[str, int]:
        """Where on the device the arrays of the resident edges begin."""
        return {name: int(array.data.ptr) for name, array in self.resident.items()}


class HostTier(EdgeStore):
    """Edges beyond the device in pinned host memory, where kernels may read them too."""

    arrays: dict[str, np.ndarray]

    def _at_hand(
        self, names: Sequence[str], packing: Packing | None, bits: int | None
    ) -> dict[str, np.ndarray]:
        """The arrays that edges cross the link from, or are brought from if none do."""
        host, kept, cross = self.host, self.kept, self.cut.resident < self.num_edges
        given = {"neighbours": host.neighbours, **{name: host.columns[name] for name in names}}
        empty = kept.empty if cross else np.empty
        key, arrays = (packing, bits, cross, *given), tuple(given.values())
        if bits is not None:
            order = kept.made(key, arrays, lambda: in_order(packing, bits, host, empty))
            return {"neighbours": order}
        if packing is not None:
            words = kept.made(key, arrays, lambda: packed(packing, host, empty))
            return {"neighbours": words}
        return {name: kept.pinned(array) for name, array in given.items()} if cross else given

    def _brought(self, name: str, edges: int) -> Any:
        """The first edges of an array, on the device."""
        return brought(self.arrays[name][: -(-edges // self.per_item)])

    def on_host(self) -> dict[str, int]:
        """Where the pinned arrays begin; kernels may read there."""
        return {name: array.ctypes.data for name, array in self.arrays.items()}
