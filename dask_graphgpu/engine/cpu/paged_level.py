"""Levels of Louvain and Leiden whose rows lie on disk: those that are needed next are brought to memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.aggregated import OF_ENTRY, PIECE
from dask_graphgpu.engine.cpu.community_level import (
    Level,
    exact_sums,
    to_join,
    weigh,
)
from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks, num_threads
from dask_graphgpu.partition.csr import Adjacency, at_ends, from_edges, offsets_of
from dask_graphgpu.partition.paged.huge_pages import aligned
from dask_graphgpu.partition.paged.sort import PagedAdjacency, RowWriter, give_back
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex: where its row begins, among those at hand as well; its degree, loop, label before and after, and
# those of the graph; the degree and the size of its community, of two sides as well; who waits, and in which order;
# what becomes the next level; its id, and where its row is in those that were given, of which repeats were merged. And
# of one of a level beneath.
_OF_VERTEX, _BENEATH = 344, 48

# Levels with as many vertices that may be there besides: the last two that were cut, and one above.
_CUT = 3

# Bytes of a slot of a table beside a label; see ``kernels/cpu/tallies.py``.
_OF_SLOT = 10

# Rows at hand and those of the next level share what is left.
_SHARED = 2

# As often rows are there while they are brought into order: they and the vertices that they are of, dealt, and sorted.
_SORTED = 5

# Passes over all pages, about, in which each row is looked for once where memory is as small as it may be. With memory
# for the longest row alone there would be a pass for every few vertices.
_LOOKS = 16

# Vertices of a ring of which the first are looked for that there is memory for; more if there is for all of these.
_LOOKED_AT = 1 << 14

# Arrays of the length of a level's rows that are taken beside these where they are in memory.
_BESIDE = 3


class PagedLevel:
    """As `community_level.Level`; `along` and `sweep` give levels that have some rows only.

    Parameters
    ----------
    sides : one or two adjacencies on disk
        Of two, a vertex has the rows of both.
    in_order : bool
        Whether rows are to be brought into the order of neighbours.
    exact : bool
        Whether it does not matter in which order weights are added up.
    beneath : int
        Bytes that levels beneath this one have.
    root : int, optional
        Of a level with the vertices of the one that it is cut from: bytes of the levels beneath the first such one.
    """

    def __init__(
        self,
        *sides: Any,
        loops: np.ndarray,
        degree: np.ndarray,
        report: Report,
        in_order: bool = False,
        exact: bool = True,
        beneath: int = 0,
        root: int | None = None,
    ) -> None:
        self._sides = [Paged(rows_on_disk(side), report) for side in sides]
        self._in_order, self._exact, self._report = in_order, exact, report
        self.loops, self.degree = loops, degree
        first = self._sides[0]
        self._degrees = first.rows.degrees
        offsets = first.rows.offsets
        for other in self._sides[1:]:
            self._degrees, offsets = (
                self._degrees + other.rows.degrees,
                offsets + other.rows.offsets,
            )
        self.offsets = offsets.view(np.uint64)
        self.ids, self.weighted = first.rows.neighbours.dtype, first.rows.weight is not None
        self.left = 0  # bytes that rows at hand, and what is beside them, do not take
        self._beneath, self._root = beneath + len(self) * _BENEATH, root
        self._each = self.entry_bytes * (_SORTED if in_order else 1)
        tables = num_threads() * self.room * (self.ids.itemsize + _OF_SLOT)
        vertices = len(self) * _OF_VERTEX
        self.held = sum(each.held for each in self._sides) + vertices + tables + beneath
        entries = min(int(offsets[-1]), self.free // self._each)
        self._room = _Room(len(self), entries, self.ids, weighted=self.weighted)

    @classmethod
    def first(cls, view: View, report: Report, *, in_order: bool) -> PagedLevel:
        """The graph itself, whose vertices are in the order of the user's ids."""
        assert view.user_rank is None
        names = () if view.out.weight is None else ("weight",)
        sides = [view.out, view.into] if view.directed else [view.out]
        empty = np.empty((2, view.num_vertices))
        bare = [rows_on_disk(side).with_columns(names) for side in sides]
        made = cls(
            *bare, loops=empty[0], degree=empty[1], report=report, in_order=in_order and view.directed,
            exact=in_order or exact_sums(view),
        )  # fmt: skip
        made.pages.limits.require(made.least, f"communities of {len(made):,} vertices")
        weigh(made, directed=view.directed)
        return made

    def __len__(self) -> int:
        return len(self.loops)

    @property
    def least(self) -> int:
        """Bytes with which rows are looked for in `_LOOKS` passes or so, of levels above as well."""
        entries, longest = int(self.offsets[-1]), int(self._degrees.max(initial=0))
        rows = self._each * (longest + -(-entries // _LOOKS))
        piece = (self._each + OF_ENTRY) * (longest + min(PIECE, entries))
        # Levels above have weights.
        weights = 0 if self.weighted else self.pages.limits.window_bytes(1)
        return self.pages.limits.least(self.held + max(rows, piece) + weights)

    @property
    def free(self) -> int:
        """Bytes that there are for rows."""
        return self.pages.limits.left(self.held)

    @property
    def entry_bytes(self) -> int:
        return int(self.ids.itemsize) + 8 * self.weighted

    @cached_property
    def room(self) -> int:
        return int(kernels.tallies.room_for(min(int(self._degrees.max(initial=0)), len(self))))

    def sweep(self) -> Iterator[tuple[int, int, Level]]:
        """As of `Level`."""
        for first, last in self._groups(self.offsets.view(np.int64)):
            yield first, last, self._at_hand(np.arange(first, last, dtype=self.ids))

    def along(
        self, listed: np.ndarray, cuts: np.ndarray, beside: np.ndarray | None = None
    ) -> Iterator[tuple[int, int, Level]]:
        """As of `Level`.

        Raises
        ------
        LimitTooSmall, SpillError
        """
        for first, last in self._groups(offsets_of(at_ends(self._degrees, listed))[cuts], beside):
            yield first, last, self._at_hand(listed[cuts[first] : cuts[last]])

    def ahead(self, ring: np.ndarray, head: int, left: int) -> tuple[Level, int]:
        """As of `Level`."""
        number = _LOOKED_AT
        while True:
            number = min(number, left)
            some = ring.take(np.arange(head, head + number), mode="wrap")
            entries = offsets_of(at_ends(self._degrees, some))
            _, last = next(self._groups(entries))
            # Where as many entries are read as there are, nobody behind these vertices is looked at.
            if last < number or number == left:
                return self._at_hand(some[:last]), max(int(entries[last]), 1)
            number *= 4

    def _groups(
        self, entries: np.ndarray, beside: np.ndarray | None = None
    ) -> Iterator[tuple[int, int]]:
        """Stretches, as long as there is memory for, of what begins after so many entries, and bytes ``beside``."""
        each, needed, part = self._each, entries, 1
        if beside is not None:
            self.release()  # what was there may be more than is left now
            each, needed, part = 1, each * entries, _SHARED
            needed += beside
        largest = int(np.diff(needed).max(initial=0))
        limits, what = self.pages.limits, f"communities of {len(self):,} vertices"
        limits.require(limits.least(self.held + each * largest), what)
        most = max(self.free // part // each, largest)
        self.left = self.free - each * most
        first, end = 0, len(needed) - 1
        while first < end:
            last = int(np.searchsorted(needed, needed[first] + most, side="right")) - 1
            yield first, last
            first = last

    def _at_hand(self, some: np.ndarray) -> Level:
        """A level that has the rows of some vertices, where those had theirs that were asked for before."""
        give_back()  # what else there was since the rows before these
        some = np.sort(some)
        lengths = at_ends(self._degrees, some)
        offsets, neighbours, weight = self._room.rows(int(lengths.sum()))
        offsets[:] = 0
        offsets[1:][some] = lengths
        np.cumsum(offsets, out=offsets)
        begins = offsets[some]
        for passes in self._sides:
            with passes:
                after = offsets_of(passes.rows.degrees[some])
                for lo, hi, rows in passes.among(some):
                    blocks = lo + edge_blocks(after[lo : hi + 1])
                    for_blocks(
                        kernels.communities.join_rows, blocks, some, some[:0], *to_join(rows), begins, neighbours,
                        weight,
                    )  # fmt: skip
            begins = begins + np.diff(after)
        if self._in_order:
            source = np.repeat(np.arange(len(self), dtype=self.ids), np.diff(offsets))
            columns = {"weight": weight} if self.weighted else {}
            rows = from_edges(len(self), source, neighbours, columns)
            neighbours[:] = rows.neighbours
            if rows.weight is not None:
                weight[:] = rows.weight
        found = Level(offsets.view(np.uint64), neighbours, weight, self.loops, self.degree)
        if not self._exact:
            blocks = found.blocks(0, len(self))
            for_blocks(kernels.communities.sort_rows, blocks, offsets, neighbours, weight)
        return found

    def release(self) -> None:
        """Give back the memory for rows at hand, until some are asked for again."""
        self._room.release()

    @property
    def pages(self) -> PagedAdjacency:
        """Where rows of other levels may be written as well."""
        return self._sides[0].rows

    def upon(self, rows: PagedAdjacency, loops: np.ndarray, degree: np.ndarray) -> PagedLevel:
        """A level above this one, or one with its vertices, loops and degrees, which is cut from it.

        Of levels that are cut from one another only the first and the last two are there.
        """
        beneath, root = self._beneath, None
        if loops is self.loops:
            if self._root is None:  # before the work of many such levels
                needed = self.least + _CUT * len(self) * _BENEATH
                self.pages.limits.require(needed, f"smaller communities of {len(self):,} vertices")
            root = self._beneath if self._root is None else self._root
            beneath = root if self._root is None else root + len(self) * _BENEATH
        return PagedLevel(
            rows, loops=loops, degree=degree, report=self._report, beneath=beneath, root=root
        )

    def above(self, count: int, *, weighted: bool = True) -> _Above:
        """As of `Level`."""
        return _Above(count, self, weighted=weighted)


class _Room:
    """Memory for the rows at hand, in which the next ones take the place of those before.

    Only what has been written to is taken of the system, until `release`.
    """

    def __init__(self, vertices: int, entries: int, ids: np.dtype[Any], *, weighted: bool) -> None:
        sizes = vertices + 1, entries, entries * weighted
        self._kinds = list(zip((np.dtype(np.int64), ids, np.dtype(np.float64)), sizes, strict=True))
        self._held: list[np.ndarray] = []

    def rows(self, entries: int) -> tuple[np.ndarray, ...]:
        """Offsets, and neighbours and weights of so many entries; nothing of them is filled in."""
        if not self._held:
            self._held = [
                aligned(size * kind.itemsize).view(kind) if size else np.empty(0, kind)
                for kind, size in self._kinds
            ]
        offsets, neighbours, weight = self._held
        return offsets, neighbours[:entries], weight[:entries]

    def release(self) -> None:
        """Give the memory back."""
        self._held.clear()


class _Above:
    """Takes the rows of a level, which are written to disk where memory does not hold them."""

    def __init__(self, count: int, below: PagedLevel, *, weighted: bool) -> None:
        self._count, self._below = count, below
        self._kinds: dict[str, Any] = {"weight": np.dtype(np.float64)} if weighted else {}
        self._rows: list[tuple[Any, ...]] = []
        self._writer: RowWriter | None = None
        self._entries = 0

    def append(
        self, first: int, offsets: np.ndarray, neighbours: np.ndarray, weight: np.ndarray
    ) -> None:
        self._rows.append((first, offsets, neighbours, weight))
        self._entries += len(neighbours)
        of_entry = (1 + _BESIDE) * (self._below.ids.itemsize + 8)
        if self._writer or self._entries * of_entry > self._below.left - self._count * _OF_VERTEX:
            self._write()

    def _write(self) -> None:
        if self._writer is None:
            near, ids = self._below.pages, self._below.ids
            self._writer = RowWriter(self._count, ids, self._kinds, near.folder, near.limits)
        for first, offsets, neighbours, weight in self._rows:
            columns = dict.fromkeys(self._kinds, weight)
            self._writer.append(first, Adjacency(offsets.view(np.int64), neighbours, columns))
        self._rows.clear()

    def level(self, loops: np.ndarray, degree: np.ndarray) -> Level | PagedLevel:
        self._below.release()
        if self._writer is not None:
            self._write()
            written = self._writer.close()
            give_back()
            return self._below.upon(written, loops, degree)
        lengths = [np.diff(offsets.view(np.int64)) for _, offsets, _, _ in self._rows]
        _, _, neighbours, weight = (list(each) for each in zip(*self._rows, strict=True))
        offsets = offsets_of(np.concatenate(lengths)).view(np.uint64)
        self._rows.clear()
        return Level(offsets, np.concatenate(neighbours), np.concatenate(weight), loops, degree)
