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
from dask_graphgpu.partition.device import memory

# Engines and searches that stay with a share, at most: each holds some words a vertex.
MOST_KEPT = 4

_VALUES = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}


memory.keep(IDLE)  # connections that nobody uses hold memory of the GPU


class Kept(Protocol):
    """What a run leaves to the next one."""

    def forget(self) -> None:
        """End what was recorded for it."""


class DeviceBorder:
    """A `Border` whose values are on the device.

    The ghosts of a peer stand in a row, in the order in which it sends them, so what comes is
    received in its place. All values go, changed or not: how many did would have to be asked of the
    device, which takes longer than most borders take to travel.

    Attributes
    ----------
    vertices : array of local ids, on the device
        Own ones that peers hold as ghosts, one peer's after another's.
    cuts : list of (first, end)
        Places in it, of each peer.
    ghosts : list of (first, end)
        Local ids, of each peer.
    nbytes : int
        What one `refresh` of a byte a vertex sends.
    """

    def __init__(self, link: DeviceLink, border: Border) -> None:
        self.link = link
        lengths = [len(vertices) for vertices in border.sends]
        self.cuts = list(pairwise(np.cumsum([0, *lengths]).tolist()))
        self.ghosts = list(pairwise(border.ghosts.tolist()))
        self.vertices = cupy.asarray(np.concatenate(border.sends))
        self.nbytes = int(self.vertices.size)
        self._packed: dict[tuple[int, ...], list[Any]] = {}
        self._kernels = {
            (name, size): self._kernel(name, value)
            for name in ("pack", "unpack")
            for size, value in _VALUES.items()
        }
        self._kept: dict[Any, Kept] = {}
        memory.keep(self)

    # -- what runs leave -------------------------------------------------------------------------

    def take(self, key: Any) -> Any:
        """What was left under a key, for one run alone; None where there is nothing."""
        return self._kept.pop(key, None)

    def leave(self, key: Any, made: Kept) -> None:
        """Keep what the next run can use, until memory is short or others have come."""
        self._kept[key] = made
        while len(self._kept) > MOST_KEPT:
            self._kept.pop(next(iter(self._kept))).forget()

    def drop(self) -> bool:
        """Let go of what runs have left; whether there was any."""
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
        pairs = []
        for array, packed in zip(arrays, self.make_room(arrays), strict=True):
            values = packed.view(array.dtype)
            self.pack(self.vertices, array, values)
            sent = [values[first:last] for first, last in self.cuts]
            received = [array[first:last] for first, last in self.ghosts]
            pairs.append((sent, received))
        self.link.swap(pairs)

    def own_at(self, places: Sequence[np.ndarray]) -> Any:
        """Local ids of the own vertices that stand at these places of what each peer gets."""
        each = [first + at for (first, _), at in zip(self.cuts, places, strict=True)]
        return self.vertices[cupy.asarray(np.concatenate(each))]

    def make_room(self, arrays: Sequence[Any]) -> list[Any]:
        """What `refresh` of such arrays packs values in; it stays, as recorded launches write to it."""
        sizes = tuple(array.dtype.itemsize for array in arrays)
        if sizes not in self._packed:
            self._packed[sizes] = [cupy.empty(self.nbytes, array.dtype) for array in arrays]
        return self._packed[sizes]

    def pack(self, vertices: Any, array: Any, values: Any) -> None:
        """Queue that these vertices' values are copied from ``array`` to ``values``."""
        self._launch("pack", vertices, array, values)

    def unpack(self, vertices: Any, array: Any, values: Any) -> None:
        """Queue the same the other way round."""
        self._launch("unpack", vertices, array, values)

    def _launch(self, name: str, vertices: Any, array: Any, values: Any) -> None:
        kernel = self._kernels[name, array.dtype.itemsize]
        launch.flat(kernel, values.size, (vertices, np.uint64(values.size), array, values))

    def _kernel(self, name: str, value: str) -> Kernel:
        ids = self.vertices.dtype
        kernel = cuda("ranks", defines=integer_types(ids, ids) | {"VALUE": value}).kernel(name)
        return launch.loaded(kernel)
