"""Levels of Louvain and Leiden whose rows lie on disk: those that are needed next are brought to memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.community_level import (
    Level,
    exact_sums,
    sort_rows,
    to_join,
    weigh,
)
from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.paged.sort import RowWriter, give_back
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex: where its row begins, among those at hand as well; its degree, loop, label before and after, and
# those of the graph; the degree and the size of its community; who waits, and in which order.
_OF_VERTEX = 128

# So many times less memory is taken than is left: there is other memory, and what was freed is not always given back.
_USED = 2

# Arrays of the length of a level's rows that are taken beside these where they are in memory.
_BESIDE = 3


class PagedLevel:
    """As `community_level.Level`; `along` and `sweep` give levels that have some rows only.

    Parameters
    ----------
    sides : one or two adjacencies on disk
        Of two, a vertex has the rows of both.
    sorts : bool
        Whether rows are to be sorted.
    """

    def __init__(
        self, *sides: Any, sorts: bool, loops: np.ndarray, degree: np.ndarray, report: Report
    ) -> None:
        self._sides = [Paged(rows_on_disk(side), report) for side in sides]
        self._sorts, self._report = sorts, report
        self.loops, self.degree = loops, degree
        self.offsets = sum(side.offsets for side in sides).view(np.uint64)
        first = self._sides[0]
        self.ids, self.weighted = first.rows.neighbours.dtype, first.rows.weight is not None
        held = sum(each.held for each in self._sides) + len(self) * _OF_VERTEX
        self._held = held

    @classmethod
    def first(cls, view: View, report: Report, *, in_order: bool) -> PagedLevel:
        """The graph itself, whose vertices are in the order of the user's ids."""
        assert view.user_rank is None
        names = () if view.out.weight is None else ("weight",)
        sides = [view.out, view.into] if view.directed else [view.out]
        n, exact = view.num_vertices, exact_sums(view)
        sorts = (in_order and view.directed) or not (exact or in_order)
        bare = [rows_on_disk(side).with_columns(names) for side in sides]
        made = cls(*bare, sorts=sorts, loops=np.empty(n), degree=np.empty(n), report=report)
        weigh(made, directed=view.directed)
        return made

    def __len__(self) -> int:
        return len(self.loops)

    @property
    def entry_bytes(self) -> int:
        return int(self.ids.itemsize) + 8 * self.weighted

    @cached_property
    def room(self) -> int:
        return int(
            kernels.tallies.room_for(min(int(np.diff(self.offsets).max(initial=0)), len(self)))
        )

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
        for first, last in self._groups(offsets_of(self._lengths(listed))[cuts], beside):
            yield first, last, self._at_hand(listed[cuts[first] : cuts[last]])

    def ahead(self, ring: np.ndarray, head: int, left: int) -> tuple[Level, int]:
        """As of `Level`."""
        some = ring.take(np.arange(head, head + left), mode="wrap")
        entries = offsets_of(self._lengths(some))
        _, last = next(self._groups(entries))
        # Rows without entries are right though they are not at hand.
        return self._at_hand(some[:last]), max(int(entries[last]), 1)

    def _lengths(self, some: np.ndarray) -> np.ndarray:
        offsets = self.offsets.view(np.int64)
        some = some.astype(np.intp, copy=False)
        lengths: np.ndarray = offsets.take(some + 1) - offsets.take(some)
        return lengths

    def _groups(
        self, entries: np.ndarray, beside: np.ndarray | None = None
    ) -> Iterator[tuple[int, int]]:
        """Stretches, as long as there is memory for, of what begins after so many entries, and bytes ``beside``."""
        limits, needed = self._sides[0].rows.limits, self.entry_bytes * entries
        if beside is not None:
            needed += beside
        largest = int(np.diff(needed).max(initial=0))
        limits.require(self._held + _USED * largest, f"communities of {len(self):,} vertices")
        most = (limits.memory - self._held) // _USED
        first, end = 0, len(needed) - 1
        while first < end:
            last = int(np.searchsorted(needed, needed[first] + most, side="right")) - 1
            yield first, last
            first = last

    def _at_hand(self, some: np.ndarray) -> Level:
        """A level that has the rows of some vertices."""
        some = np.sort(some)
        lengths = np.zeros(len(self), np.int64)
        lengths[some] = self._lengths(some)
        offsets = offsets_of(lengths)
        neighbours = np.empty(offsets[-1], self.ids)
        weight = np.empty(offsets[-1] if self.weighted else 0)
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
        found = Level(offsets.view(np.uint64), neighbours, weight, self.loops, self.degree)
        if self._sorts:
            sort_rows(found.blocks(0, len(self)), offsets, neighbours, weight)
        return found

    def above(self, count: int, *, weighted: bool = True) -> _Above:
        """As of `Level`."""
        return _Above(count, self.ids, self._sides[0], self._report, weighted=weighted)


class _Above:
    """Takes the rows of a level, which are written to disk where memory does not hold them."""

    def __init__(
        self, count: int, ids: np.dtype[Any], beside: Paged, report: Report, *, weighted: bool
    ) -> None:
        self._count, self._ids, self._beside, self._report = count, ids, beside.rows, report
        self._kinds: dict[str, Any] = {"weight": np.dtype(np.float64)} if weighted else {}
        self._rows: list[tuple[Any, ...]] = []
        self._writer: RowWriter | None = None
        each = (1 + _BESIDE) * (ids.itemsize + 8)
        free = beside.rows.limits.memory - beside.held - count * _OF_VERTEX
        self._left = free // (_USED * each)  # entries that memory may hold

    def append(
        self, first: int, offsets: np.ndarray, neighbours: np.ndarray, weight: np.ndarray
    ) -> None:
        self._rows.append((first, offsets, neighbours, weight))
        self._left -= len(neighbours)
        if self._left < 0:
            self._write()

    def _write(self) -> None:
        if self._writer is None:
            near = self._beside
            self._writer = RowWriter(self._count, self._ids, self._kinds, near.folder, near.limits)
        for first, offsets, neighbours, weight in self._rows:
            columns = dict.fromkeys(self._kinds, weight)
            self._writer.append(first, Adjacency(offsets.view(np.int64), neighbours, columns))
        self._rows.clear()

    def level(self, loops: np.ndarray, degree: np.ndarray) -> Level | PagedLevel:
        if self._writer is not None:
            self._write()
            written = self._writer.close()
            give_back()
            return PagedLevel(written, sorts=False, loops=loops, degree=degree, report=self._report)
        lengths = [np.diff(offsets.view(np.int64)) for _, offsets, _, _ in self._rows]
        _, _, neighbours, weight = (list(each) for each in zip(*self._rows, strict=True))
        offsets = offsets_of(np.concatenate(lengths)).view(np.uint64)
        self._rows.clear()
        return Level(offsets, np.concatenate(neighbours), np.concatenate(weight), loops, degree)
