"""Rows, views and the partition of a graph whose edges lie on disk."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar, NoReturn

import numpy as np

from dask_graphgpu.errors import EngineUnavailable
from dask_graphgpu.partition.as_given import refuse_lost
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.paged import rowwise
from dask_graphgpu.partition.paged.as_given import PagedAsGiven
from dask_graphgpu.partition.paged.sort import (
    AboutEdges,
    Edges,
    PagedAdjacency,
    SortRoom,
    sorted_rows,
)
from dask_graphgpu.partition.paged.window import Window, even_spans
from dask_graphgpu.partition.partition import Partition
from dask_graphgpu.partition.rows import Rows
from dask_graphgpu.partition.view import View


class PagedRows(Rows):
    """As `Rows`; the other direction is sorted on disk, with all columns, when it is first asked for."""

    rowwise: ClassVar[ModuleType] = rowwise
    _BY_DIRECTION: ClassVar[tuple[str, ...]] = ("_columns", "_bare", "_whole")

    def __init__(self, given: PagedAdjacency, *, by: str = "source", directed: bool = True) -> None:
        super().__init__(given, by=by, directed=directed)
        self.limits = given.limits
        self._whole = {by: given}
        self._on_both_sides: PagedAdjacency | None = None

    def has(self, by: str) -> bool:
        return not self.directed or by in self._whole

    def adjacency(self, by: str, names: tuple[str, ...]) -> PagedAdjacency:
        by = by if self.directed else self.by
        with self._lock:
            if by not in self._whole:
                given = self._whole[self.by]
                self._whole[by] = again(given, _turned(given), given.num_edges)
            if (by, names) not in self._shown:
                self._shown[by, names] = self._whole[by].with_columns(names)
            found = self._shown[by, names]
        assert isinstance(found, PagedAdjacency)
        return found

    def symmetric(self) -> PagedAdjacency:
        with self._lock:
            given = self._whole[self.by].with_columns(())
            if self._on_both_sides is None:
                edges = _without_loops(edges_of(given))
                if self.directed:
                    both = again(given, _mirrored(edges), 2 * given.num_edges)
                else:
                    both = again(given, edges, given.num_edges)
                repeated = rowwise.repeats(both)
                self._on_both_sides = rowwise.merge_repeats(both, "one") if repeated else both
            return self._on_both_sides

    def arrays(self) -> list[np.ndarray]:
        return [array for rows in self.all() for array in (rows.offsets, rows.counts)]

    def all(self) -> list[PagedAdjacency]:
        """Every adjacency that is held."""
        both = self._on_both_sides
        return [*self._whole.values()] + ([] if both is None else [both])

    @property
    def disk_bytes(self) -> int:
        """Bytes of all pages."""
        return sum(rows.disk_bytes for rows in self.all())

    @property
    def folder_paths(self) -> list[str]:
        """Where the pages are."""
        return list(self._whole[self.by].folder.paths)


class PagedView(View):
    """As `View`; what would make edges in memory makes them on disk, or is an error."""

    rows: PagedRows
    paged: ClassVar[bool] = True

    def undirected(self) -> View:
        if not self.directed:
            return self
        given = self.rows.adjacency(self.rows.by, self._names)
        both = again(given, _both(given), 2 * given.num_edges)
        return PagedView(
            PagedRows(both, directed=False),
            vertex_columns=self.vertex_columns,
            user_rank=self.user_rank,
        )

    def simple(self) -> View:
        return PagedView(PagedRows(self.rows.symmetric(), directed=False), user_rank=self.user_rank)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """As of `View`, in memory."""
        rows = self.rows.adjacency("source", ())
        source, destination = (np.empty(rows.num_edges, rows.neighbours.dtype) for _ in range(2))
        done = 0
        for first, second, _ in edges_of(rows):
            here = slice(done, done + len(first))
            source[here], destination[here] = first, second
            done = here.stop
        return source, destination

    def with_edge_column(self, name: str, column: str) -> View:
        given = self.rows.adjacency(self.rows.by, self._names)
        edges = PagedAdjacency(
            given.offsets,
            given.neighbours,
            {name: given.columns[column]},
            given.counts,
            given.limits,
        )
        rows = PagedRows(edges, by=self.rows.by, directed=self.directed)
        return PagedView(rows, vertex_columns=self.vertex_columns, user_rank=self.user_rank)


class PagedPartition(Partition):
    """As `Partition`, with the edges in pages of this process, which go when it does.

    ``directions`` : in place of ``as_given``, of an undirected graph whose edges carry something.
    """

    paged: ClassVar[bool] = True
    rows_kind: ClassVar[type[Rows]] = PagedRows

    def __init__(self, *given: Any, directions: PagedAsGiven | None = None, **more: Any) -> None:
        super().__init__(*given, **more)
        self.directions = directions

    def __reduce__(self) -> NoReturn:
        refuse_to_send()

    @property
    def nbytes(self) -> int:
        """Bytes of what is in memory: ids, offsets and degrees."""
        return self.ids.nbytes + sum({id(a): a.nbytes for a in self._arrays()}.values())

    @property
    def disk_bytes(self) -> int:
        """Bytes of the pages of all rows that are held."""
        arrays = {id(a): a for rows in self._all() for a in rows.arrays.values()}
        arrays |= {} if self.directions is None else {id(a): a for a in self.directions.arrays}
        return sum(array.nbytes for array in arrays.values())

    @property
    def folder_paths(self) -> list[str]:
        """Where the pages are."""
        return list(self._given_rows().folder.paths)

    def view(self, rule: str, weight: bool = True, columns: tuple[str, ...] = ()) -> View:
        _, rows, names = self.under(rule, weight, columns)
        assert isinstance(rows, PagedRows)
        if self.directions is not None and (lost := self.directions.lost & {*columns}):
            refuse_lost(min(lost))
        columns_of = self.vertex_columns
        return PagedView(rows, names=names, vertex_columns=columns_of, user_rank=self.ids.rank)

    def _rows_under(self, rule: str, names: tuple[str, ...]) -> Rows:
        rows = self._given_rows().with_columns(names)
        if rule not in ("any", "keep"):
            rows = rowwise.merge_repeats(rows, rule)
        return PagedRows(rows, by=self.layout.by, directed=self.layout.directed)

    def _given_rows(self) -> PagedAdjacency:
        given = self.given
        assert isinstance(given, PagedAdjacency)
        return given

    def _all(self) -> Iterator[PagedAdjacency]:
        yield self._given_rows()
        for rows in self._rows.values():
            assert isinstance(rows, PagedRows)
            yield from rows.all()

    def _arrays(self) -> Iterator[np.ndarray]:
        for rows in self._all():
            yield rows.offsets
            yield rows.counts


def refuse_to_send() -> NoReturn:
    """Raise EngineUnavailable: a graph beyond the limit is of one process."""
    raise EngineUnavailable(
        "the pages of a graph beyond graphgpu.host-memory-limit are of the process that wrote "
        "them, and it was to be sent to another: call methods without .persist(), or .save() "
        "it and load that"
    )


def again(given: PagedAdjacency, edges: Iterator[Edges], number: int) -> PagedAdjacency:
    """Other rows, on the same disks, from the edges of some."""
    held = 4 * given.offsets.nbytes + given.limits.window_bytes(len(given.arrays))
    kinds = {name: column.dtype for name, column in given.columns.items()}
    dtype: Any = given.neighbours.dtype
    about = AboutEdges(given.num_vertices, number, dtype, kinds)
    return sorted_rows(edges, about, SortRoom(given.folder, given.limits, held))


def _turned(given: PagedAdjacency) -> Iterator[Edges]:
    for rows, neighbours, columns in edges_of(given):
        yield neighbours, rows, columns


def _both(given: PagedAdjacency) -> Iterator[Edges]:
    return _mirrored(edges_of(given))


def _mirrored(edges: Iterator[Edges]) -> Iterator[Edges]:
    for rows, neighbours, columns in edges:
        yield rows, neighbours, columns
        yield neighbours, rows, columns


def _without_loops(edges: Iterator[Edges]) -> Iterator[Edges]:
    """Of edges without columns."""
    for rows, neighbours, _ in edges:
        kept = rows != neighbours
        yield rows[kept], neighbours[kept], {}


def edges_of(given: PagedAdjacency) -> Iterator[Edges]:
    """The edges in their order, in runs that lie in memory."""
    offsets, total = given.offsets, given.num_edges
    size = min(given.page_edges, given.limits.run_length)
    cuts = np.append(np.arange(0, total, size), total)
    window = Window(given.arrays)
    for i, held in enumerate(window.over(even_spans(cuts))):
        lo, hi = int(cuts[i]), int(cuts[i + 1])
        if hi == lo:
            continue
        first, last = np.searchsorted(offsets, [lo, hi - 1], side="right") - 1
        ends = np.clip(offsets[first : last + 2], lo, hi)
        rows = np.repeat(np.arange(first, last + 1, dtype=given.neighbours.dtype), np.diff(ends))
        found: Adjacency = given.among(held)
        columns = {name: column[lo:hi] for name, column in found.columns.items()}
        yield rows, found.neighbours[lo:hi], columns
