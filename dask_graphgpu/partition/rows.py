"""Edges by source and by destination, each sorted when it is first asked for."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import ClassVar, TypeAlias

import numpy as np

from dask_graphgpu.partition import csr, rowwise
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.layered import Layered, Levels, order_edges

# Looks at arrays that are about to be read for the first time, and raises when they are damaged.
BeforeUse: TypeAlias = Callable[..., None]


_OTHER = {"source": "destination", "destination": "source"}


class Rows:
    """The edges of a graph, given in one direction; the other is made of it on demand.

    Neighbours are brought into the other direction once, and a column only when a view that shows
    it asks for that direction. Threads may share one object.

    Parameters
    ----------
    given : Adjacency
        Of an undirected graph, both directions of every edge.
    by : "source" or "destination"
        What a row of ``given`` is.
    """

    on_device: ClassVar[bool] = False
    # What turns rows over and works on them one by one, for arrays of the kind that is held.
    csr: ClassVar[ModuleType] = csr
    rowwise: ClassVar[ModuleType] = rowwise
    _BY_DIRECTION: ClassVar[tuple[str, ...]] = ("_columns", "_bare")

    def __init__(self, given: Adjacency, *, by: str = "source", directed: bool = True) -> None:
        self.by = by
        self.directed = directed
        self.names = tuple(given.columns)
        self.num_vertices = given.num_vertices
        self.num_edges = given.num_edges
        self._columns = {by: dict(given.columns)}
        self._bare = {by: Adjacency(given.offsets, given.neighbours)}
        self._shown: dict[tuple[str, tuple[str, ...]], Adjacency] = {}
        self._symmetric: Adjacency | None = None
        self._layered: dict[str, Layered] = {}
        self._missed = 0.0
        self._largest: dict[str, int | float | None] = {}
        self._counts: dict[str, np.ndarray] = {}
        self._before_use: BeforeUse | None = None
        self._lock = threading.RLock()
        self._reversed: Rows | None = None

    @classmethod
    def of(
        cls,
        held: Mapping[str, Adjacency],
        symmetric: Adjacency | None,
        *,
        by: str,
        directed: bool,
        before_use: BeforeUse,
    ) -> Rows:
        """Rows of which both directions, or one, and `symmetric` are there already.

        ``before_use`` is called with arrays of these that are about to be read, and may raise.
        """
        rows = cls(held[by], by=by, directed=directed)
        rows._before_use = before_use
        for other, adjacency in held.items():
            rows._bare[other] = Adjacency(adjacency.offsets, adjacency.neighbours)
            rows._columns[other] = dict(adjacency.columns)
        rows._symmetric = symmetric
        return rows

    def has(self, by: str) -> bool:
        """Whether this direction is there already."""
        return not self.directed or by in self._bare

    def note_missed(self, edges: float) -> float:
        """Add reads of edges that the other direction would have saved; return their sum so far."""
        with self._lock:
            self._missed += edges
            return self._missed

    def largest(self, name: str) -> int | float | None:
        """Largest value of a column, a Python number; None without edges. Looked for once."""
        with self._lock:
            if name not in self._largest:
                column = self._columns[self.by][name]
                self._use(column)
                self._largest[name] = column.max().item() if len(column) else None
            return self._largest[name]

    def counts(self, what: str) -> np.ndarray:
        """How often each vertex is among the "neighbours" of rows as given, or its "loops"; int64.

        Counted once: nobody is to write to it.
        """
        with self._lock:
            if what not in self._counts:
                count = getattr(self.rowwise, f"count_{what}")
                self._counts[what] = count(self.adjacency(self.by, ()))
            return self._counts[what]

    def adjacency(self, by: str, names: tuple[str, ...]) -> Adjacency:
        """Rows by "source" or "destination" with some columns; the same object every time."""
        by = by if self.directed else self.by
        with self._lock:
            if (by, names) not in self._shown:
                bare = self._direction(by)
                columns = {name: self._column(by, name) for name in names}
                self._use(bare.offsets, bare.neighbours, *columns.values())
                self._shown[by, names] = Adjacency(bare.offsets, bare.neighbours, columns)
            return self._shown[by, names]

    def reversed(self) -> Rows:
        """The edges the other way round, by the arrays that are here; both directions are made, once."""
        with self._lock:
            if self._reversed is None:
                for by in _OTHER:
                    self.adjacency(by, self.names)
                self._reversed = self._turned()
            return self._reversed

    def symmetric(self) -> Adjacency:
        """Both directions of every edge, without repeats, self-loops and columns."""
        with self._lock:
            if self._symmetric is None:
                rows = self.rowwise.merge_repeats(self._given(), "one")
                if self.directed:
                    rows = self.rowwise.union(rows, self.csr.transpose(rows))
                self._symmetric = self.rowwise.without_loops(rows)
            self._use(self._symmetric.offsets, self._symmetric.neighbours)
            return self._symmetric

    def layered(self, by: str, levels: Levels) -> Layered:
        """The edges by layers of their sources, or destinations, with all columns.

        Made once, and anew for other levels.
        """
        by = by if self.directed else self.by
        with self._lock:
            made = self._layered.get(by)
            if made is None or made.level is not levels.level:
                # Rows of the other direction are not kept: only their layers are wanted.
                given = self.adjacency(self.by, self.names)
                there = by in self._bare
                rows = self.adjacency(by, self.names) if there else self.csr.transpose(given)
                self._layered[by] = order_edges(rows, levels)
            self._use(*self._layered[by].arrays())
            return self._layered[by]

    def take_layered(self, made: Mapping[str, Layered]) -> None:
        """Take what `layered` has given before, by direction."""
        self._layered.update(made)

    def layers(self) -> dict[str, Layered]:
        """What `layered` has given so far, by direction."""
        with self._lock:
            return dict(self._layered)

    def arrays(self) -> list[np.ndarray]:
        """Every array that is held, for counting their bytes."""
        held = list(self._bare.values()) + ([self._symmetric] if self._symmetric else [])
        columns = [column for named in self._columns.values() for column in named.values()]
        columns += [array for layered in self._layered.values() for array in layered.arrays()]
        columns += self._counts.values()
        return [array for a in held for array in (a.offsets, a.neighbours)] + columns

    def _turned(self) -> Rows:
        other = copy.copy(self)
        other.by = _OTHER[self.by]
        for name in self._BY_DIRECTION:
            setattr(other, name, {_OTHER[by]: held for by, held in getattr(self, name).items()})
        other._shown, other._layered = {}, {}
        other._counts = {}
        return other

    def _direction(self, by: str) -> Adjacency:
        if by not in self._bare:
            self._bare[by] = self.csr.transpose(self._given())
        return self._bare[by]

    def _column(self, by: str, name: str) -> np.ndarray:
        held = self._columns.setdefault(by, {})
        if name not in held:
            column = self._columns[self.by][name]
            self._use(column)
            held[name] = self.csr.transpose_column(self._given(), column)
        return held[name]

    def _given(self) -> Adjacency:
        """The direction that was given, to be read."""
        given = self._bare[self.by]
        self._use(given.offsets, given.neighbours)
        return given

    def _use(self, *arrays: np.ndarray) -> None:
        if self._before_use is not None:
            self._before_use(*arrays)
