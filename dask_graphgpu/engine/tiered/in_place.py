"""A view whose edges kernels read where they lie, in pinned host memory: for drivers of graphs on the device."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.copies import to_host
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.host import room
from dask_graphgpu.engine.gpu.pinned import Lent, fill
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.tiered.disk import limit_of
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.memory import bounded
from dask_graphgpu.partition.device.rows import DeviceRows
from dask_graphgpu.partition.view import View


class InPlaceView(View):
    """A view whose offsets are on the device, and neighbours and columns in pinned host memory.

    Arrays of both are CuPy's. Edges are pinned when rows are first asked for, and stay so with the rows; as of
    `RunCache`, which bounds them by ``graphgpu.host-memory-limit``.

    Parameters
    ----------
    view : View
        In host memory.
    """

    def __init__(self, view: View) -> None:
        self.__dict__.update(view.__dict__)
        self.rows = _InPlaceRows(view)
        self._host = view
        self.user_rank = DeviceView.of(view).user_rank

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """As of `View.id_dtype`: no rows are pinned for it."""
        return self._host.id_dtype


class _InPlaceRows(DeviceRows):
    """Rows of a view that are shown as `InPlaceView` has them."""

    def __init__(self, view: View) -> None:
        host = view.rows
        super().__init__(host.adjacency(host.by, ()), by=host.by, directed=host.directed)
        self._host, self._here, self.names = host, DeviceView.of(view), host.names
        self._kept = RunCache.of(self._here)
        self._placed: dict[tuple[int, ...], Adjacency] = {}  # by addresses of what the host has

    def adjacency(self, by: str, names: tuple[str, ...]) -> Adjacency:
        """As of `Rows`."""
        return self._in_place(self._host.adjacency(by, names))

    def symmetric(self) -> Adjacency:
        """As of `Rows`."""
        return self._in_place(self._host.symmetric())

    def has(self, by: str) -> bool:
        """As of `Rows`: whether the host has it."""
        return self._host.has(by)

    def largest(self, name: str) -> int | float | None:
        """As of `Rows`."""
        return self._host.largest(name)

    def _in_place(self, rows: Adjacency) -> Adjacency:
        key = tuple(each.ctypes.data for each in (rows.neighbours, *rows.columns.values()))
        if key not in self._placed:
            columns = {n: in_place(self._kept.pinned(each)) for n, each in rows.columns.items()}
            neighbours = in_place(self._kept.pinned(rows.neighbours))
            self._placed[key] = Adjacency(self._here.offsets(rows), neighbours, columns)
        return self._placed[key]


def in_place(array: np.ndarray) -> Any:
    """An array of CuPy's over pinned memory, which kernels read and write over the link."""
    if not array.nbytes:
        return cupy.empty(array.shape, array.dtype)
    device = cupy.cuda.Device().id
    memory = cupy.cuda.UnownedMemory(array.ctypes.data, array.nbytes, array, device)
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


class Elsewhere:
    """Makes arrays in pinned memory for a run over a view."""

    def __init__(self, view: View) -> None:
        self._kept = RunCache.of(DeviceView.of(view))
        self._taken: list[np.ndarray] = []
        self._back: deque[np.ndarray] = (
            deque()
        )  # not taken back at once: who let them go may hold a lock

    def __call__(self, size: int, dtype: Any) -> Any:
        """An array of so many items, whatever is in them; until `give_back`."""
        self._taken.append(self._kept.take(size, dtype))
        return in_place(self._taken[-1][:size])

    def of(self, parts: Sequence[np.ndarray], dtype: Any) -> Any:
        """Some arrays one behind another, as of `lasting`."""
        made, place = self._lent(sum(map(len, parts)), dtype), 0
        for part in parts:
            fill(made[place : place + len(part)], part)
            place += len(part)
        return in_place(made)

    def lasting(self, size: int, dtype: Any) -> Any:
        """As a call, but as long as anybody has it: later ones, of this run or others, may get the memory then."""
        return in_place(self._lent(size, dtype))

    def _lent(self, size: int, dtype: Any) -> np.ndarray:
        while self._back:
            self._kept.give_back(self._back.popleft())
        if not size:
            return np.empty(0, dtype)
        whole = self._kept.take(size, dtype)
        return np.asarray(Lent(whole[:size], partial(self._back.append, whole)))

    def give_back(self) -> None:
        """Leave what was lent to later runs; after the last kernel."""
        for array in (*self._taken, *self._back):
            self._kept.give_back(array)
        self._taken = []
        self._back.clear()


def read_in_place(view: View, work: Callable[[View], Any], vertex: int = 0) -> Any:
    """What work on a view gives, in host memory, the view's edges being read where they lie.

    The work knows of what ``graphgpu.device-memory-limit`` leaves beside offsets of rows, the order of vertices and
    ``vertex`` bytes a vertex, by `require` and `free_bytes`.

    Raises
    ------
    LimitTooSmall
        What belongs to vertices needs more than that limit, or edges more pinned memory than
        ``graphgpu.host-memory-limit`` leaves.
    """
    here = DeviceView.of(view)
    kept = RunCache.of(here)
    kept.bound(room(view.out))
    kept.resident({}, 0, lambda name, edges: None)  # there is no room for those of earlier runs
    offsets = 2 * (here.n + 1) * here.offset_dtype.itemsize
    rank = 0 if here.user_rank is None else int(here.user_rank.nbytes)
    with bounded(limit_of(view.out) - offsets - rank - vertex * here.n):
        found = work(InPlaceView(view))
        cupy.cuda.get_current_stream().synchronize()
    return on_host(found, kept)


def on_host(found: Any, kept: RunCache) -> Any:
    """Arrays of a result in host memory; other values as they are."""
    if isinstance(found, tuple):
        return tuple(on_host(each, kept) for each in found)
    return to_host(found, kept) if isinstance(found, cupy.ndarray) else found
