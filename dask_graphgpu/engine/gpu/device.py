"""A view's edges on the device."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import cupy
import numpy as np

from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.device.host import to_device, to_new_memory
from dask_graphgpu.partition.device.memory import require, use_pool
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.partition.view import View

Made = TypeVar("Made")

_NAMES = {4: "unsigned int", 8: "unsigned long long"}


class DeviceView:
    """What kernels see of a view: its arrays, on the device.

    Views of the same rows share them. Rows of the host are brought over when they are first asked
    for, and stay as long as the rows themselves.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.n, self.num_edges = view.num_vertices, view.num_edges
        self.directed = view.directed
        self._held = _held(view.rows)

    @classmethod
    def of(cls, view: View) -> DeviceView:
        """The view on the current device."""
        return cls(view)

    # -- edges -----------------------------------------------------------------------------------

    @property
    def out(self) -> Adjacency:
        """Rows by source (CSR)."""
        return self._held.adjacency(self.view.out)

    @property
    def into(self) -> Adjacency:
        """Rows by destination (CSC); the same object as `out` when undirected."""
        return self._held.adjacency(self.view.into)

    @property
    def symmetric(self) -> Adjacency:
        """Both directions of every edge, without repeats, self-loops and columns."""
        return self._held.adjacency(self.view.symmetric)

    def offsets(self, rows: Adjacency) -> Any:
        """Those of rows alone, in as few bits as they take."""
        return self._held.offsets(rows)

    @property
    def has_into(self) -> bool:
        """Whether `into` is there already."""
        return self.view.has_into

    def note_missed(self, edges: float) -> float:
        return self.view.note_missed(edges)

    # -- vertices --------------------------------------------------------------------------------

    @cached_property
    def user_rank(self) -> Any:
        """Place of each dense id in the order of the user's ids; None when that is the order."""
        rank = self.view.user_rank
        return None if rank is None else self._held.array(rank)

    def degrees(self, direction: str) -> Any:
        """As of `View.degrees`, on the device."""
        return self._held.made(
            ("degrees", direction), lambda: cupy.asarray(self.view.degrees(direction))
        )

    def weighted_degrees(self, direction: str) -> Any:
        """As of `View.weighted_degrees`, on the device."""
        key = ("weighted", direction) if self.view.is_weighted else ("degrees", direction)
        return self._held.made(key, lambda: cupy.asarray(self.view.weighted_degrees(direction)))

    def made(self, key: Any, make: Callable[[], Made]) -> Made:
        """What is computed once for the rows, and kept with them."""
        return self._held.made(key, make)

    # -- types -----------------------------------------------------------------------------------

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Of neighbours."""
        return self.view.id_dtype

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        """Of offsets on the device: 32 bits while they do."""
        return np.dtype(np.uint32 if self.num_edges < 2**32 else np.uint64)

    @property
    def defines(self) -> dict[str, str]:
        """The types that kernels are written over."""
        return integer_types(self.id_dtype, self.offset_dtype)

    def in_dense_ids(self, places: Any) -> Any:
        """Dense ids of places in the order of the user's ids."""
        if self.user_rank is None:
            return places
        return elements.gathered(elements.places_in(self.user_rank, self.id_dtype), places)

    def to_caller(self, array: Any) -> Any:
        """A result where the view has its arrays, on the device or on the host, or where it may stay."""
        return array if self.view.on_device or self.view.stays else to_new_memory(array)


def integer_types(ids: np.dtype[Any], offsets: np.dtype[Any]) -> dict[str, str]:
    """Macros for kernels over rows of such neighbours and offsets."""
    return {"ID": _NAMES[ids.itemsize], "OFFSET": _NAMES[offsets.itemsize]}


class _Held:
    """Device arrays that belong to one `Rows`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._arrays: dict[int, tuple[Any, Any]] = {}  # by id of an array that is held as well
        self._shown: dict[int, tuple[Adjacency, Adjacency]] = {}
        self._made: dict[Any, Any] = {}

    def array(self, array: Any) -> Any:
        """An array, brought over once."""
        with self._lock:
            if id(array) not in self._arrays:
                self._arrays[id(array)] = (array, to_device(array))
            return self._arrays[id(array)][1]

    def adjacency(self, given: Adjacency) -> Adjacency:
        """Rows of neighbours, brought over once; offsets in as few bits as they take."""
        with self._lock:
            if id(given) not in self._shown:
                arrays = (given.offsets, given.neighbours, *given.columns.values())
                missing = [
                    array.nbytes
                    for array in arrays
                    if isinstance(array, np.ndarray) and id(array) not in self._arrays
                ]
                if missing:
                    require(sum(missing), f"bringing {given.num_edges:,} edges to the GPU")
                offsets = self.offsets(given)
                columns = {name: self.array(column) for name, column in given.columns.items()}
                made = Adjacency(offsets, self.array(given.neighbours), columns)
                self._shown[id(given)] = (given, made)
            return self._shown[id(given)][1]

    def offsets(self, given: Adjacency) -> Any:
        """Offsets of rows, brought over once, in as few bits as they take."""
        narrow = np.uint32 if given.num_edges < 2**32 else np.uint64
        return self.made(
            ("offsets", id(given.offsets)),
            lambda: to_device(given.offsets.astype(narrow, copy=False)),
        )

    def made(self, key: Any, make: Callable[[], Made]) -> Made:
        """What is computed once for the rows."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            made: Made = self._made[key]
            return made


_of_rows: weakref.WeakKeyDictionary[Rows, dict[int, _Held]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _held(rows: Rows) -> _Held:
    # By which CuPy allocates from RMM, whatever frames the edges came from.
    if "cudf" in sys.modules:
        use_pool()
    device = cupy.cuda.Device().id
    with _lock:
        return _of_rows.setdefault(rows, {}).setdefault(device, _Held())
