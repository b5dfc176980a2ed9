"""Edges in tiers: the first ones on the device, the others in pinned host memory, or in `disk`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.packing import Packing
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.limits import BLOCK, BUFFERS, Cut
from dask_graphgpu.engine.tiered.copies import brought, copy, on_device
from dask_graphgpu.engine.tiered.host import room
from dask_graphgpu.engine.tiered.kept import Kept
from dask_graphgpu.engine.tiered.packed import in_order, packed
from dask_graphgpu.kernels.device_streams import stream_of
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
    kept : Kept
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
        self.kept = Kept.of(view)
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
        """Where edge 0 of each array would be for kernels that read it where it lies; 0: they cannot."""

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


class Streamed(Protocol):
    """What buffers are for: pinned arrays of one length, of which ``cut.segment`` edges go at once."""

    cut: Cut
    arrays: dict[str, np.ndarray]
    per_item: int
    kept: Kept


class Slot:
    """A buffer on the device for edges that are on their way, and one on the host to send from."""

    def __init__(self, tier: Streamed) -> None:
        size = tier.cut.segment // tier.per_item
        self.arrays = {name: on_device(size, a.dtype) for name, a in tier.arrays.items()}
        self.staged: dict[str, np.ndarray] = {}
        self.copied = cupy.cuda.Event(disable_timing=True)
        self.used = cupy.cuda.Event(disable_timing=True)
        self.used.record(cupy.cuda.get_current_stream())  # by who had the memory before
        self._kept = tier.kept

    def stage(self) -> dict[str, np.ndarray]:
        """The buffer on the host, whose last copy has ended."""
        if not self.staged:
            self.staged = {n: self._kept.take(a.size, a.dtype) for n, a in self.arrays.items()}
        self.copied.synchronize()
        return self.staged

    def give_back(self) -> None:
        """Leave the buffer on the host, from which nothing is copied any more, to other runs."""
        for array in self.staged.values():
            self._kept.give_back(array)
        self.staged = {}


class Ring:
    """Buffers that take turns: one is filled while the kernels go over the other."""

    def __init__(self, tier: Streamed) -> None:
        self._stream, self._per_item = stream_of(self), tier.per_item
        self._slots = [Slot(tier) for _ in range(BUFFERS)]

    def next(self) -> Slot:
        """The one that was used the longest ago."""
        self._slots.append(self._slots.pop(0))
        return self._slots[-1]

    def ready(self) -> None:
        """Wait until the one that is next may be filled."""
        self._slots[0].used.synchronize()

    def send(
        self, slot: Slot, arrays: Mapping[str, np.ndarray], lo: int, hi: int, first: int = 0
    ) -> dict[str, int]:
        """Begin to copy edges lo to hi into a buffer; where there edge 0 would be.

        The pinned arrays begin with edge ``first``.
        """
        self._stream.wait_event(slot.used)
        begins, per = {}, self._per_item
        lo, hi, first = lo // per, -(-hi // per), first // per
        for name, array in arrays.items():
            size, into = array.itemsize, int(slot.arrays[name].data.ptr)
            copy(into, array.ctypes.data + (lo - first) * size, (hi - lo) * size, self._stream)
            begins[name] = into - lo * size
        slot.copied.record(self._stream)
        return begins

    def arrive(self, slot: Slot) -> None:
        """What is launched from here on comes after the copy into the buffer."""
        cupy.cuda.get_current_stream().wait_event(slot.copied)

    def release(self, slot: Slot) -> None:
        """What was launched up to here goes over the buffer; it may be filled again after that."""
        slot.used.record(cupy.cuda.get_current_stream())

    @property
    def nbytes(self) -> int:
        """Of the buffers on the device."""
        return sum(int(a.nbytes) for slot in self._slots for a in slot.arrays.values())

    def close(self) -> None:
        """Wait for copies that are on their way, before the buffers go."""
        self._stream.synchronize()
        for slot in self._slots:
            slot.give_back()
