"""Values of own vertices flow to their ghosts on other ranks, from GPU to GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import integer_types
from dask_graphgpu.exchange.border import Border
from dask_graphgpu.exchange.nccl import IDLE, DeviceLink
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cuda_build import Kernel
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.device import memory

# Engines and searches that stay with a share, at most: each holds some words a vertex.
MOST_KEPT = 4

# Each peer's part of what is sent begins at a multiple of so many values, and what comes is received
# where an address is a multiple of so many bytes: else NCCL copies byte by byte. A part of few bytes is
# received in its place all the same.
ALIGNED, FEW_BYTES = 16, 1 << 20

_TOGETHER = SIZES["ranks.cu"]["TOGETHER"]  # values for each thread that packs them

_VALUES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}


memory.keep(IDLE)  # connections that nobody uses hold memory of the GPU


class KeptBorder(Protocol):
    """What a run leaves to the next one."""

    def forget(self) -> None:
        """End what was recorded for it."""


class DeviceBorder:
    """A `Border` whose values are on the device.

    The ghosts of a peer stand in a row, in the order in which it sends them, so what comes is
    received in its place, or copied there as a whole. All values go, changed or not: how many did
    would have to be asked of the device, which takes longer than most borders take to travel.

    Attributes
    ----------
    vertices : array of local ids, on the device
        Own ones that peers hold as ghosts, one peer's after another's.
    cuts : list of (first, end)
        Places in it, of each peer.
    padded : array of local ids, on the device
        The same as they are packed: up to where the next peer's begin, the last of a peer's again.
    starts, lengths : uint64 arrays, on the device
        Where each peer's begin in it, with the end of all, and how many there are.
    ghosts : list of (first, end)
        Local ids, of each peer.
    nbytes : int
        What one `refresh` of a byte a vertex packs.
    """

    def __init__(self, link: DeviceLink, border: Border) -> None:
        self.link = link
        lengths = [len(vertices) for vertices in border.sends]
        self.cuts = list(pairwise(np.cumsum([0, *lengths]).tolist()))
        self.ghosts = list(pairwise(border.ghosts.tolist()))
        self._rooms = _aligned([last - first for first, last in self.ghosts])
        self.vertices = cupy.asarray(np.concatenate(border.sends))
        self.padded, self._places = self.vertices, self.cuts
        if sum(length > 0 for length in lengths) > 1:
            self._places = _aligned(lengths)
            self.padded = cupy.asarray(_padded(border.sends, self._places))
        self.nbytes = int(self.padded.size)
        starts = [*(first for first, _ in self._places), self.nbytes]
        self.starts = cupy.asarray(np.array(starts, np.uint64))
        self.lengths = cupy.asarray(np.array(lengths, np.uint64))
        self._packed: dict[tuple[int, ...], list[tuple[Any, Any]]] = {}
        self._kernels = {
            (name, size): self._kernel(name, value)
            for name in ("pack", "unpack", "put")
            for size, value in _VALUES.items()
        }
        self._kept: dict[Any, KeptBorder] = {}
        memory.keep(self)

    # -- what runs leave -------------------------------------------------------------------------

    def take(self, key: Any) -> Any:
        """What was left under a key, for one run alone; None where there is nothing."""
        return self._kept.pop(key, None)

    def leave(self, key: Any, made: KeptBorder) -> None:
        """Keep what the next run can use, until memory is short or others have come."""
        self._kept[key] = made
        while len(self._kept) > MOST_KEPT:
            self._kept.pop(next(iter(self._kept))).forget()

    def drop(self) -> bool:
        """Let go of what runs have left. Return whether there was any."""
        kept = list(self._kept)
        dropped = [made for key in kept if (made := self.take(key)) is not None]
        for made in dropped:
            made.forget()
        return bool(dropped)

    # -- values ----------------------------------------------------------------------------------

    def refresh(self, arrays: Sequence[Any]) -> None:
        """Queue that own vertices' values are copied to where they are ghosts; collective.

        Parameters
        ----------
        arrays : sequence of arrays, shape (num_local,)
            The ghosts' part is written to. The same dtypes on every rank.
        """
        pairs, elsewhere = [], []
        for array, (packed, came) in zip(arrays, self._room(arrays), strict=True):
            values, staged = packed.view(array.dtype), came.view(array.dtype)
            self.pack(self.padded, array, values)
            sent = [values[first:last] for first, last in self._places]
            received = [array[first:last] for first, last in self.ghosts]
            for peer, part in enumerate(received):
                if part.data.ptr % ALIGNED and part.nbytes > FEW_BYTES:
                    first, last = self._rooms[peer]
                    received[peer] = staged[first:last]
                    elsewhere.append((part, received[peer]))
            pairs.append((sent, received))
        self.link.swap(pairs)
        for part, from_where in elsewhere:
            kernel = self._kernels["put", part.dtype.itemsize]
            launch.flat(kernel, part.size, (np.uint64(part.size), part, from_where))

    def keep_packed(self, arrays: Sequence[Any]) -> None:
        """Queue that own vertices' values are packed as for `refresh`, where the peers have them already."""
        for array, packed in zip(arrays, self.make_room(arrays), strict=True):
            self.pack(self.padded, array, packed.view(array.dtype))

    def own_at(self, places: Sequence[np.ndarray]) -> Any:
        """Local ids of the own vertices that stand at these places of what each peer gets."""
        each = [first + at for (first, _), at in zip(self.cuts, places, strict=True)]
        return self.vertices[cupy.asarray(np.concatenate(each))]

    def make_room(self, arrays: Sequence[Any]) -> list[Any]:
        """What `refresh` of such arrays packs values in; it stays, as recorded launches write to it."""
        return [packed for packed, _ in self._room(arrays)]

    def _room(self, arrays: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The same, each with what is received elsewhere."""
        sizes = tuple(array.dtype.itemsize for array in arrays)
        if sizes not in self._packed:
            came = max((last - first for first, last in self.ghosts), default=0)
            self._packed[sizes] = [
                (
                    cupy.empty(self.nbytes, array.dtype),
                    cupy.empty(
                        # Else all parts are received in their places.
                        self._rooms[-1][1] if came * array.itemsize > FEW_BYTES else 0,
                        array.dtype,
                    ),
                )
                for array in arrays
            ]
        return self._packed[sizes]

    def pack(self, vertices: Any, array: Any, values: Any) -> None:
        """Queue that these vertices' values are copied from ``array`` to ``values``."""
        self._launch("pack", vertices, array, values, -(-values.size // _TOGETHER))

    def unpack(self, vertices: Any, array: Any, values: Any) -> None:
        """Queue the same the other way round."""
        self._launch("unpack", vertices, array, values, values.size)

    def _launch(self, name: str, vertices: Any, array: Any, values: Any, threads: int) -> None:
        kernel = self._kernels[name, array.dtype.itemsize]
        launch.flat(kernel, threads, (vertices, np.uint64(values.size), array, values))

    def _kernel(self, name: str, value: str) -> Kernel:
        ids = self.vertices.dtype
        kernel = cuda("ranks", defines=integer_types(ids, ids) | {"VALUE": value}).kernel(name)
        return launch.loaded(kernel)


def _aligned(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Where parts of these lengths begin and end, each at a multiple of `ALIGNED`."""
    starts = np.cumsum([0, *(-(-length // ALIGNED) * ALIGNED for length in lengths[:-1])]).tolist()
    return [(first, first + length) for first, length in zip(starts, lengths, strict=True)]


def _padded(parts: Sequence[np.ndarray], places: Sequence[tuple[int, int]]) -> np.ndarray:
    """The parts at these places, with the last of each again up to the next one."""
    ends = [*(first for first, _ in places[1:]), places[-1][1]]
    return np.concatenate(
        [
            np.pad(part, (0, end - last), "edge") if len(part) else part
            for part, (_, last), end in zip(parts, places, ends, strict=True)
        ]
    )
