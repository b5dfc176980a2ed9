"""The arrays of a run on the device, and the kernels over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import FunctionType, MappingProxyType
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.lower import lowered, may_be_narrow
from dask_graphgpu.engine.cuda.outline import reads_weighted_degree
from dask_graphgpu.engine.cuda.packing import Packing
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.schedule import macros
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.values import given_columns, initial
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device import elements, memory
from dask_graphgpu.partition.view import View

# Words of struct RunControl in program.cuh, and of struct Aggregate.
CONTROL = (
    "superstep", "limit", "num_active", "active_edges", "next_active", "next_edges", "completed",
    "done", "stopped", "bad", "direction", "read", "log_size", "began", "blocks", "rows", "chunks",
    "listed", "overflow", "overflows", "batched", "batch",
)  # fmt: skip
_AGGREGATE_WORDS = 4


class _TooLarge(Exception):
    """A value at the start does not fit the narrow type."""


class _Fields(State):
    """Fields that leave the device when they are asked for: most callers want one of them."""

    def __init__(self, names: tuple[str, ...], bring: Callable[[str], Any]) -> None:
        super().__init__()
        self._bring, self._left = bring, set(names)
        self.update(dict.fromkeys(names, np.empty(0)))  # in their order

    def __getitem__(self, name: str) -> Any:
        if name in self._left:
            self[name] = self._bring(name)
            self._left.remove(name)
        return super().__getitem__(name)

    def items(self) -> Any:
        """As of a dict."""
        return {name: self[name] for name in self}.items()

    def values(self) -> Any:
        """As of a dict."""
        return {name: self[name] for name in self}.values()


class Arrays:
    """State and degrees of one run.

    Attributes
    ----------
    state : dict of str to array
        Fields, in the types in which they are stored.
    reached, active : uint8 arrays of shape (num_vertices,)
        Who has a value, who sends.
    control : int64 array
        See ``CONTROL``.
    """

    macros: Mapping[str, str] = MappingProxyType({})  # of kernels, beside those asked for
    packing: Packing | None = None  # of edges, where they are words
    column_bits = 0  # of the number of values that a vertex has side by side: see `Columns`

    def __init__(
        self, binding: Binding, sources: np.ndarray | None, *, every: bool = False
    ) -> None:
        self.binding, self.program = binding, binding.program
        self.view = self._on_device(binding.view)
        self.n = self.view.n
        self.sources, self.every = sources, every
        self.control = cupy.zeros(len(CONTROL), np.int64)
        self.aggregates = cupy.zeros(
            max(1, len(self.program.aggregates)) * _AGGREGATE_WORDS, np.int64
        )
        self._given = given_columns(binding)
        narrow = may_be_narrow(binding) and all(
            column.dtype != np.int64 or _fits(column) for column in self._given.values()
        )
        narrow = self._everywhere(narrow)
        if not self._started(narrow):
            self._start(False)
        self.new: dict[str, Any] = {name: self.state[name] for name in self.program.changing}
        self.active = self._first_senders()
        none = cupy.empty(0, np.uint8)
        self.reached: Any = self._first_senders() if self.program.has_reached else none

    def _first_senders(self) -> Any:
        """Who sends first, as bytes."""
        made = elements.filled(cupy, self.n, self.sources is None, np.uint8)
        if self.sources is not None:
            elements.mark(cupy.asarray(self.sources), made)
        return made

    @cached_property
    def numbers(self) -> Any:
        """The number of each vertex, where it is not its place; else nothing."""
        numbers = self.binding.view.numbers
        return None if numbers is None else self.view.made("numbers", lambda: cupy.asarray(numbers))

    # -- edges -----------------------------------------------------------------------------------

    @cached_property
    def edge_view(self) -> DeviceView:
        """Where the edges come from that messages go along."""
        return self._on_device(self.binding.mirror) if self.binding.mirrored else self.view

    def _on_device(self, view: View) -> DeviceView:
        return DeviceView.of(view)

    def edges(self, kind: str) -> Adjacency:
        """Rows on the device: "send", a row is a source, or "gather"."""
        if self.binding.mirrored:
            return self.edge_view.out
        return (
            self.edge_view.into if self.binding.against == (kind == "send") else self.edge_view.out
        )

    @cached_property
    def num_edges(self) -> int:
        return self.edge_view.num_edges

    @property
    def bytes_of_edge(self) -> int:
        """What is read of an edge where messages are made."""
        if self.packing is not None:
            return self.packing.word.itemsize
        columns = self.lowered.glue.columns.values()
        return self.binding.edges.neighbours.itemsize + sum(dtype.itemsize for dtype in columns)

    @cached_property
    def degree(self) -> Any:
        """Edges that each vertex sends over, in 32 bits if they fit."""
        direction = self.binding.direction
        wide = self.view.degrees(direction)
        if 2 * self.view.num_edges >= 2**32:
            return wide
        return self.view.made(
            ("degrees in 32 bits", direction), lambda: elements.converted(wide, np.uint32)
        )

    @cached_property
    def weighted_degree(self) -> Any:
        """Sum of their weights; None if no function names it."""
        if not reads_weighted_degree(self.program):
            return None
        if not self.binding.view.is_weighted:
            return self.degree
        return self.view.weighted_degrees(self.binding.direction)

    # -- kernels ---------------------------------------------------------------------------------

    def module(self, source: str, defines: Mapping[str, str] | None = None) -> Any:
        """A kernel source for this program."""
        return self.lowered.module(source, defines)

    def run(self, kind: str) -> Any:
        """Struct Run, with the columns of that adjacency."""
        glue, view, constants = self.lowered.glue, self.binding.view, self.binding.constants
        numbers = ("num_vertices", "num_owned", "graph_vertices")
        held: Mapping[str, Mapping[str, Any]] = {
            "scalar": {
                "control": self.control,
                "aggregates": self.aggregates,
                "numbers": self.numbers,
            },
            "degree": {"degree": self.degree, "weighted_degree": self.weighted_degree},
            "state": self.state,
            "new": getattr(self, "new", {}),
            "column": self.edges(kind).columns if glue.columns else {},
        }

        def word(of: str, what: str) -> Any:
            if of == "constant":
                return constants[what]
            if of == "scalar" and what in numbers:
                return getattr(view, what)
            return held[of][what].data.ptr if what in held[of] else 0

        words = tuple(word(member.of, member.what) for member in glue.members)
        return np.array([words], glue.layout)[0]

    # -- values at the start ---------------------------------------------------------------------

    def _everywhere(self, fits: bool) -> bool:
        """Whether it is so on all ranks: here is only one."""
        return fits

    def _started(self, narrow: bool) -> bool:
        """Fields at the start; False where they do not fit a narrow type."""
        fits = True
        try:
            self._start(narrow)
        except _TooLarge:
            fits = False
        return not narrow or self._everywhere(fits)

    def _start(self, narrow: bool) -> None:
        """Fields at the start, and the program lowered for how they are stored."""
        weighted = self.weighted_degree
        defines = {**self.view.defines, **self.edge_view.defines, **macros(), **self.macros}
        self.lowered = lowered(
            self.binding,
            narrow=narrow,
            every=self.every,
            defines=defines,
            degree=self.degree.dtype,
            weighted_degree=None if weighted is None else weighted.dtype,
            packing=self.packing,
        )
        self.state = {
            name: cupy.asarray(self._stored(column)) for name, column in self._given.items()
        }
        sources = None if self.sources is None else cupy.asarray(self.sources)
        made = initial(self.binding, self.state, self._evaluate, sources, self._full)
        self.state = {name: self._stored(column) for name, column in made.items()}

    def _stored(self, column: Any) -> Any:
        storage = self.lowered.glue.storage(column.dtype)
        if column.dtype.kind == "b":
            return column.view(np.uint8)
        return elements.converted(column, storage)

    def _full(self, n: int, value: Any, dtype: np.dtype[Any]) -> Any:
        storage = self.lowered.glue.storage(dtype)
        if storage != dtype and dtype.kind != "b" and value == self.binding.identity(dtype):
            value = self.lowered.glue.identity(dtype)  # `may_be_narrow` saw all other values
        return elements.filled(cupy, n, value, storage)

    def _evaluate(self, role: str, function: FunctionType, dtype: np.dtype[Any]) -> Any:
        out = cupy.empty(self.n, dtype)
        which = self.lowered.wrappers.starts.index(role)
        kernel = self.module("program").kernel("start_fields")
        run = self.run("send" if self.binding.has_send else "gather")  # it reads no edges
        launch.flat(kernel, self.n, (run, np.int64(which), out))
        if self.binding.checks(dtype) and int(self.control[CONTROL.index("bad")]):
            raise overflow(self.program, role)
        storage = self.lowered.glue.storage(dtype)
        if storage != dtype and dtype.kind != "b" and not _fits(out):
            raise _TooLarge
        return self._stored(out)

    # -- what a run gives ------------------------------------------------------------------------

    def _handed(self) -> tuple[dict[str, Any], Any]:
        """Fields and who is reached, which no later run writes to."""
        return self.state, self.reached

    def _to_caller(self) -> Callable[[Any], Any]:
        """What brings an answer where it is wanted."""
        return self.view.to_caller

    def last_aggregates(self) -> dict[str, Any]:
        """Their values, as Python's numbers."""
        words = cupy.asnumpy(self.aggregates).reshape(-1, _AGGREGATE_WORDS)
        found: dict[str, Any] = {}
        for i, (name, dtype) in enumerate(self.lowered.wrappers.aggregates.items()):
            value = words[i, 0] if dtype.kind == "i" else words[i, 1:2].view(np.float64)[0]
            empty = not words[i, 2] and self.program.aggregates[name].combine != "sum"
            found[name] = None if empty else value.item()
        return found

    def set_aggregates(self, values: Mapping[str, Any]) -> None:
        """Have these values, as `last_aggregates` gives them; None where one is missing."""
        words = cupy.asnumpy(self.aggregates).reshape(-1, _AGGREGATE_WORDS)
        for i, (name, dtype) in enumerate(self.lowered.wrappers.aggregates.items()):
            value = values.get(name)
            words[i] = 0, 0, int(value is not None), 0
            if value is None:
                continue
            if dtype.kind == "i":
                words[i, 0] = value
            words[i, 1:2].view(np.float64)[0] = value
        self.aggregates[:] = cupy.asarray(words.reshape(-1))

    def wide(self, column: Any, dtype: np.dtype[Any]) -> Any:
        """A column, or a part of it, in the type ``dtype`` that others have it in."""
        glue = self.lowered.glue
        if glue.storage(dtype).itemsize == dtype.itemsize:
            return column
        none = self.binding.identity(dtype)
        return cupy.where(column == glue.identity(dtype), none, column.astype(dtype))

    def stored(self, column: Any, dtype: np.dtype[Any]) -> Any:
        """Such a column, on the device, as it is stored here."""
        storage = self.lowered.glue.storage(dtype)
        if storage.itemsize == dtype.itemsize:
            return column
        none = self.lowered.glue.identity(dtype)
        return cupy.where(column == self.binding.identity(dtype), none, column).astype(storage)

    def result(self, supersteps: int) -> State:
        """The fields in their own types, where the view has its arrays."""
        fields, mask = self._handed()
        reached = mask.view(bool) if self.program.has_reached else None
        caller, dtypes = self._to_caller(), self.binding.dtypes

        def brought(name: str) -> Any:
            column, dtype = fields[name], dtypes[name]

            def wide() -> Any:
                wide = column.view(bool) if dtype.kind == "b" else elements.converted(column, dtype)
                return wide if reached is None else elements.kept(wide, reached)

            with column.device:  # whoever asks may be at another one
                return caller(memory.retried(wide))

        state = _Fields(tuple(fields), brought)
        state.supersteps = supersteps
        state.reached = None if reached is None else caller(reached)
        return state


def _fits(column: Any) -> bool:
    """Whether values fit 32 bits, with both ends left for "none"."""
    largest = np.iinfo(np.int32).max
    return not column.size or -largest < int(column.min()) <= int(column.max()) < largest
