"""Passes over rows wherever they lie: in memory one run of all, on disk runs that come to about a page.

An edge is at its own index in every run, so kernels need not know where it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.paged.limits import AT_ONCE, pages_ahead
from dask_graphgpu.partition.paged.rowwise import row_cuts
from dask_graphgpu.partition.paged.sort import PagedAdjacency
from dask_graphgpu.partition.paged.window import Window, even_spans
from dask_graphgpu.report import Report


def passes_over(
    rows: Adjacency,
    report: Report,
    cuts: np.ndarray | None = None,
    *,
    columns: tuple[str, ...] | None = None,
) -> InMemory | Paged:
    """What goes over rows, by where they lie.

    ``columns`` : those that are read of a disk; default: all. Other parameters are those of `Paged`.
    """
    if not isinstance(rows, PagedAdjacency):
        return InMemory(rows)
    return Paged(rows if columns is None else rows.with_columns(columns), report, cuts)


def rows_on_disk(rows: Adjacency) -> PagedAdjacency:
    """The same rows: those of a `PagedView` lie on disk."""
    assert isinstance(rows, PagedAdjacency)
    return rows


class InMemory:
    """Passes over rows in memory: one run, which costs nothing; see `Paged` for what is given."""

    held: ClassVar[int] = 0

    def __init__(self, rows: Adjacency) -> None:
        self.rows = rows
        self.cuts = np.array([0, rows.num_vertices])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def has_room(self, more: int) -> bool:
        return True

    def require(self, more: int, what: str) -> None:
        pass

    def each(self, work: Callable[[int, Adjacency], Any]) -> list[Any]:
        return [work(0, self.rows)]

    def over(self) -> Iterator[tuple[int, int, Adjacency]]:
        yield 0, self.rows.num_vertices, self.rows

    def among(self, some: np.ndarray) -> Iterator[tuple[int, int, Adjacency]]:
        yield 0, len(some), self.rows

    def each_of(self, some: np.ndarray, work: Callable[[int, int, Adjacency], Any]) -> list[Any]:
        return [work(0, len(some), self.rows)]


class Paged:
    """What goes over the rows of a graph on disk, any number of times; as a context, memory goes at its end.

    Parameters
    ----------
    rows : PagedAdjacency
        With the columns that are read.
    report : Report
        Gets what was read of the disk, after every pass.
    cuts : int64 array, optional
        Bounds of runs of rows. Default: runs come to about a page.

    Attributes
    ----------
    cuts : int64 array
    longest : int
        Edges of the longest run: one row may be longer than a page.
    nbytes : int
        Memory for pages, which stays until `release`.
    held : int
        And for what tells where rows are.
    """

    def __init__(
        self, rows: PagedAdjacency, report: Report, cuts: np.ndarray | None = None
    ) -> None:
        self.rows, self._report = rows, report
        self.cuts = row_cuts(rows) if cuts is None else cuts
        self._spans = even_spans(rows.offsets[self.cuts])
        self._window, self._read = Window(rows.arrays, stays=True), 0
        self.longest = int(np.diff(self._spans).max(initial=0))

    @property
    def nbytes(self) -> int:
        limits, arrays = self.rows.limits, self.rows.arrays.values()
        ahead = pages_ahead(len(limits.directories))
        total = 0
        for array in arrays:
            pages = self.longest * array.itemsize // limits.page_bytes + 2
            # As of `Window`: a ring, and a span that goes beyond its end.
            room = max(AT_ONCE + 1, pages)
            total += (room + ahead + pages - 1) * limits.page_bytes
        return total

    @property
    def held(self) -> int:
        return self.nbytes + self.rows.offsets.nbytes + self.rows.counts.nbytes

    def __len__(self) -> int:
        """Runs."""
        return len(self._spans)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def has_room(self, more: int) -> bool:
        """Whether so many bytes may be taken beside what is `held`."""
        return self.held + more <= self.rows.limits.memory

    def require(self, more: int, what: str) -> None:
        """Raise LimitTooSmall unless there is room for so many bytes beside what is `held`."""
        self.rows.limits.require(self.held + more, what)

    def each(self, work: Callable[[int, Adjacency], Any]) -> list[Any]:
        """What ``work(i, rows)`` gives for each run ``i``, of which the rows have edges; some side by side.

        Raises
        ------
        SpillError
        """
        found = self._window.each(self._spans, lambda i, held: work(i, self.rows.among(held)))
        self._note()
        return found

    def over(self, wanted: np.ndarray | None = None) -> Iterator[tuple[int, int, Adjacency]]:
        """The first row of each run, the row after its last, and the rows, of which these have edges.

        Parameters
        ----------
        wanted : array of bool, shape (runs,), optional
            Runs that are read. Default: all.

        Raises
        ------
        SpillError
        """
        chosen = np.arange(len(self)) if wanted is None else np.flatnonzero(wanted)
        ends = zip(self.cuts[chosen].tolist(), self.cuts[chosen + 1].tolist(), strict=True)
        held = self._window.over(self._spans[chosen])
        for (lo, hi), arrays in zip(ends, held, strict=True):
            yield lo, hi, self.rows.among(arrays)
        self._note()

    def in_groups(self, wanted: np.ndarray) -> Iterator[list[tuple[int, int, Adjacency]]]:
        """As `over`, but few runs that are short are at hand together."""
        chosen = np.flatnonzero(wanted)
        spans = self._spans[chosen]
        if not 1 < len(chosen) <= AT_ONCE or np.diff(spans).max() > self.rows.page_edges:
            for one in self.over(wanted):
                yield [one]
            return
        with self._window.passing(spans, len(spans), whole=True):
            held = [self.rows.among(self._window.bring(i)) for i in range(len(spans))]
            yield list(
                zip(self.cuts[chosen].tolist(), self.cuts[chosen + 1].tolist(), held, strict=True)
            )
        self._note()

    def holding(self, marked: np.ndarray) -> np.ndarray:
        """Which runs have a marked row: bool, shape (runs,). ``marked`` : bool a vertex."""
        found: np.ndarray = np.logical_or.reduceat(marked, self.cuts[:-1])
        return found

    def among(self, some: np.ndarray) -> Iterator[tuple[int, int, Adjacency]]:
        """The runs that have some rows, ascending: which of them, from one to before another, and the rows."""
        bounds = np.searchsorted(some, self.cuts.astype(some.dtype))
        wanted = bounds[1:] > bounds[:-1]
        ends = zip(bounds[:-1][wanted].tolist(), bounds[1:][wanted].tolist(), strict=True)
        for (first, last), (_, _, rows) in zip(ends, self.over(wanted), strict=True):
            yield first, last, rows

    def each_of(self, some: np.ndarray, work: Callable[[int, int, Adjacency], Any]) -> list[Any]:
        """What ``work(first, last, rows)`` gives for parts of some rows, ascending; some parts side by side.

        Of a part are rows that begin in one page, and nothing is read before and behind them: for few rows.
        """
        if not len(some):
            return []
        page = self.rows.offsets[some] // self.rows.page_edges
        bounds = np.flatnonzero(np.concatenate([[True], page[1:] != page[:-1], [True]]))
        spans = np.stack(
            [self.rows.offsets[some[bounds[:-1]]], self.rows.offsets[some[bounds[1:] - 1] + 1]], 1
        )
        ends = bounds.tolist()
        found = self._window.each(
            spans, lambda i, held: work(ends[i], ends[i + 1], self.rows.among(held))
        )
        self._note()
        return found

    def until_quiet(
        self,
        due: Callable[[int, int], np.ndarray],
        work: Callable[[np.ndarray, Adjacency], int],
        most: int | None = None,
    ) -> tuple[int, int]:
        """Go along rows that are due, by which others may become so, until none is.

        Rows of a run that become due while it is at hand are gone along again at once.

        Parameters
        ----------
        due : callable
            Which rows from one to before another are: array of bool.
        work : callable
            Goes along some rows, ascending, which are not due any more by what was before; gives the edges read.
        most : int, optional
            Passes after which it is left at that.

        Returns
        -------
        tuple of int
            Passes, and edges read.
        """
        n, ids, passes, read = self.rows.num_vertices, self.rows.neighbours.dtype, 0, 0
        while passes != most and (wanted := self.holding(due(0, n))).any():
            passes += 1
            for lo, hi, rows in self.over(wanted):
                while len(some := (np.flatnonzero(due(lo, hi)) + lo).astype(ids)):
                    read += work(some, rows)
        return passes, read

    def along(
        self, kernel: Callable[..., Any], some: np.ndarray, rows: Adjacency, *given: Any
    ) -> list[Any]:
        """What ``kernel(lo, hi, some, offsets, neighbours, *given)`` gives for blocks of rows that are at hand."""
        blocks = edge_blocks(offsets_of(self.rows.degrees.take(some)))
        arrays = rows.offsets.view(np.uint64), rows.neighbours
        return for_blocks(kernel, blocks, some, *arrays, *given)

    def _note(self) -> None:
        """Add to the report what was read since the last time."""
        self._report.disk_bytes += self._window.read_bytes - self._read
        self._read = self._window.read_bytes

    def release(self) -> None:
        """Give back the memory for pages."""
        self._window.release()
