"""Buffers on the device that edges of pinned host memory go through, a segment at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.copies import copy, on_device
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.limits import BUFFERS, Cut
from dask_graphgpu.kernels.device_streams import stream_of


class Streamed(Protocol):
    """What buffers are for: pinned arrays of one length, of which ``cut.segment`` edges go at once."""

    cut: Cut
    arrays: dict[str, np.ndarray]
    per_item: int
    kept: RunCache


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
