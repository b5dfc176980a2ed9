"""Edges in any order become rows on disk: dealt to buckets of rows, and each bucket sorted in memory."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.errors import SpillError
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import num_threads
from dask_graphgpu.partition.csr import Adjacency, Coo, from_coo, offsets_of
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.paged.as_given import AsGivenWriter
from dask_graphgpu.partition.paged.files import PagedArray, PageWriter, create, full, write
from dask_graphgpu.partition.paged.folder import SpillFolder
from dask_graphgpu.partition.paged.limits import AT_ONCE, REQUEST, Limits
from dask_graphgpu.partition.undirected import marked_dtype, settle

# Rows, neighbours and columns of a run of edges, all of one length.
Edges = tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]

# An edge of a bucket that is sorted: both ends, the key, what was dealt, the row, 4 or 8 bytes each.
_SORTED, _CARRIED = 32, 3

# Files that are open at a time while edges are dealt.
_MOST_BUCKETS = 256


@dataclass(frozen=True, eq=False)
class PagedAdjacency(Adjacency):
    """Rows whose neighbours and columns are `PagedArray`.

    Attributes
    ----------
    counts : int64, shape (num_vertices,)
        How often each vertex is a neighbour.
    limits : Limits
    """

    counts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    limits: Limits = field(default_factory=lambda: Limits(0, (), 0))

    @property
    def folder(self) -> SpillFolder:
        found: SpillFolder = self.arrays["neighbours"].folder
        return found

    @property
    def arrays(self) -> dict[str, PagedArray]:
        """Neighbours and columns, the latter with "column " before their names."""
        named: dict[str, Any] = {"neighbours": self.neighbours}
        return named | {f"column {name}": column for name, column in self.columns.items()}

    @property
    def disk_bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def page_edges(self) -> int:
        """Edges of which no array has more than a page."""
        widest = max(array.itemsize for array in self.arrays.values())
        return max(self.limits.page_bytes // widest, 1)

    @property
    def span_edges(self) -> int:
        """Edges that a thread works on at a time: of a page, or of a part of one where there are several threads."""
        parts = max(min(num_threads(), AT_ONCE) // 2, 1)
        parts = max(min(parts, self.limits.page_bytes // REQUEST), 1)
        return max(self.page_edges // parts, 1)

    def with_columns(self, names: tuple[str, ...]) -> PagedAdjacency:
        columns = {name: self.columns[name] for name in names}
        return PagedAdjacency(self.offsets, self.neighbours, columns, self.counts, self.limits)

    def among(self, held: Mapping[str, np.ndarray]) -> Adjacency:
        """The same with the arrays of a window, which may lack columns, in place of those on disk."""
        kept = [name for name in self.columns if f"column {name}" in held]
        columns = {name: held[f"column {name}"] for name in kept}
        return Adjacency(self.offsets, held["neighbours"], columns)


class RowWriter:
    """Writes rows in their order, in runs that lie in memory; ``dtype`` is that of neighbours."""

    def __init__(
        self,
        num_vertices: int,
        dtype: Any,
        kinds: Mapping[str, np.dtype[Any]],
        folder: SpillFolder,
        limits: Limits,
    ) -> None:
        folder.spare.take()  # memory is needed for other things now
        self._limits, self.dtype = limits, dtype
        self._lengths = np.zeros(num_vertices, np.int64)
        self._counts = np.zeros(num_vertices, np.int64)
        self._neighbours = PageWriter(folder, "neighbours", dtype, limits.page_bytes)
        self._columns = {
            name: PageWriter(folder, f"column-{i}", kind, limits.page_bytes)
            for i, (name, kind) in enumerate(kinds.items())
        }

    def append(self, first: int, rows: Adjacency) -> None:
        """Write the rows from ``first`` on."""
        self._lengths[first : first + rows.num_vertices] = rows.degrees
        kernels.csr.count(0, rows.num_edges, rows.neighbours, self._counts)
        self._neighbours.append(rows.neighbours)
        for name, writer in self._columns.items():
            writer.append(rows.columns[name])

    def close(self) -> PagedAdjacency:
        columns: dict[str, Any] = {name: each.close() for name, each in self._columns.items()}
        neighbours: Any = self._neighbours.close()
        offsets = offsets_of(self._lengths)
        return PagedAdjacency(offsets, neighbours, columns, self._counts, self._limits)


@dataclass(frozen=True)
class AboutEdges:
    """What is known of edges before they are sorted.

    Attributes
    ----------
    num_vertices : int
    number : int
        Of edges, about.
    dtype : unsigned dtype of ids
    kinds : dtypes of what edges carry, by name
    """

    num_vertices: int
    number: int
    dtype: Any
    kinds: Mapping[str, np.dtype[Any]]


@dataclass(frozen=True)
class SortRoom:
    """Where edges are sorted.

    Attributes
    ----------
    folder : SpillFolder
    limits : Limits
    held : int
        Bytes of memory that are taken already, a few arrays over the vertices among them.
    """

    folder: SpillFolder
    limits: Limits
    held: int


def sorted_rows(
    edges: Iterable[Edges],
    about: AboutEdges,
    room: SortRoom,
    *,
    marked: bool = False,
    aside: AsGivenWriter | None = None,
) -> PagedAdjacency:
    """Rows of some edges, neighbours ascending within a row.

    Every edge is written and read twice. Rows with more edges than a bucket may have are an error.

    Parameters
    ----------
    edges : iterable of runs of edges
        Small ones, as each is copied.
    marked : bool
        Neighbours are given with `undirected.mark`, and the rows are settled.
    aside : AsGivenWriter, optional
        Takes what settled rows do not say.

    Raises
    ------
    SpillError, LimitTooSmall
    """
    num_vertices, dtype, limits, held = about.num_vertices, about.dtype, room.limits, room.held
    made = RowWriter(num_vertices, dtype, about.kinds, room.folder, limits)
    of_edge = bytes_sorted(about.kinds)
    most = max(limits.work(held) // of_edge, 1)
    number_of = min(max(-(-2 * about.number // most), 1), _MOST_BUCKETS, max(num_vertices, 1))
    bounds = np.linspace(0, num_vertices, number_of + 1).astype(np.int64)
    ends = np.dtype(marked_dtype(num_vertices, dtype) if marked else dtype)

    def check(longest: int) -> None:
        """Raise LimitTooSmall where a row has more edges than are sorted at a time."""
        if longest > most:
            least = limits.least(held, longest * of_edge)
            limits.require(least, f"a vertex with {longest:,} edges on one side")

    of = _Kinds(ends, dict(about.kinds), marked, check)
    _sort(edges, bounds, most, made, aside, of, room)
    rows = made.close()
    give_back()
    return rows


def bytes_sorted(kinds: Mapping[str, np.dtype[Any]]) -> int:
    """Bytes of an edge that carries columns of some kinds while it is sorted."""
    return _SORTED + _CARRIED * sum(kind.itemsize for kind in kinds.values())


def give_back() -> None:
    """Have the C library hand to the system what was freed: after sorting it is a third of the limit."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)


@dataclass(frozen=True)
class _Kinds:
    """Types of ends of edges and of what they carry, whether neighbours are marked; ``check`` takes the longest row."""

    ends: np.dtype[Any]
    columns: dict[str, np.dtype[Any]]
    marked: bool
    check: Callable[[int], None]

    @cached_property
    def record(self) -> np.dtype[Any]:
        """An edge as it lies in the file of a bucket, nothing between its fields."""
        return np.dtype([("", kind) for kind in (self.ends, self.ends, *self.columns.values())])

    def packed(self, edges: Edges, order: np.ndarray | slice) -> np.ndarray:
        """Edges as records, in some order."""
        rows, neighbours, columns = edges
        arrays = [rows, neighbours, *(columns[name] for name in self.columns)]
        made = np.empty(len(rows), self.record)
        for field_name, array in zip(self.record.names or (), arrays, strict=True):
            made[field_name] = array[order]
        return made

    def split(self, records: np.ndarray) -> Edges:
        """Records as edges, which are views."""
        rows, neighbours, *columns = (records[name] for name in self.record.names or ())
        return rows, neighbours, dict(zip(self.columns, columns, strict=True))


def _sort(
    edges: Iterable[Edges],
    bounds: np.ndarray,
    most: int,
    made: RowWriter,
    aside: AsGivenWriter | None,
    kinds: _Kinds,
    room: SortRoom,
) -> None:
    """Deal edges to buckets between bounds of rows; sort each, or deal it again where it is large."""
    limits, paths = room.limits, room.folder.paths
    buckets = [
        _Bucket(paths[i % len(paths)], kinds, int(bounds[i]), int(bounds[i + 1]))
        for i in range(len(bounds) - 1)
    ]
    try:
        for run in edges:
            _deal(run, bounds, buckets, kinds)
        cut = {i: each.bounds(most, limits) for i, each in enumerate(buckets) if len(each) > most}
        kinds.check(max((longest for longest, _ in cut.values()), default=0))
        for i, bucket in enumerate(buckets):
            if i in cut:
                runs = bucket.runs(min(most, limits.run_length))
                _sort(runs, cut[i][1], most, made, aside, kinds, room)
            elif len(bucket):
                rows = bucket.sorted()
                if kinds.marked:
                    rows, given = settle(rows, made.dtype, first=bucket.first)
                    if aside is not None:
                        aside.append(bucket.first, rows, given)
                made.append(bucket.first, rows)
            bucket.close()
    finally:
        for bucket in buckets:
            bucket.close()


def _deal(edges: Edges, bounds: np.ndarray, buckets: list[_Bucket], kinds: _Kinds) -> None:
    rows = edges[0]
    if len(buckets) == 1:
        buckets[0].append(kinds.packed(edges, slice(None)))
        return
    which = (np.searchsorted(bounds, rows, side="right") - 1).astype(np.uint16)
    order = np.argsort(which, kind="stable")
    cuts = np.append(0, np.cumsum(np.bincount(which, minlength=len(buckets)))).tolist()
    # All at once: runs are short where memory is, and of most a bucket gets a few edges.
    dealt = kinds.packed(edges, order)
    for bucket, lo, hi in zip(buckets, cuts[:-1], cuts[1:], strict=True):
        if hi > lo:
            bucket.append(dealt[lo:hi])


class _Bucket:
    """The edges of rows ``first`` to ``last``, in a file, one after the other."""

    def __init__(self, folder: str, kinds: _Kinds, first: int, last: int) -> None:
        self.first, self.last, self._kinds = first, last, kinds
        self._path, self._file = create(folder, "bucket")
        self._number = 0
        self._open = True

    def __len__(self) -> int:
        return self._number

    def append(self, records: np.ndarray) -> None:
        start = self._number * records.itemsize
        write(self._path, self._file, records.view(np.uint8), start)
        self._number += len(records)

    def _read(self, first: int, number: int) -> np.ndarray:
        records = np.empty(number, self._kinds.record)
        left, start = records.view(np.uint8).data, first * records.itemsize
        while len(left):
            try:
                done = os.preadv(self._file, [left], start)
            except OSError as error:
                raise SpillError(f"cannot read {self._path}: {error}; run again") from error
            if not done:
                raise SpillError(f"{self._path} ends early: another process cut it; run again")
            left, start = left[done:], start + done
        return records

    def runs(self, most: int) -> Iterator[Edges]:
        """Runs of at most some length."""
        for first in range(0, self._number, most):
            yield self._kinds.split(self._read(first, min(most, self._number - first)))

    def bounds(self, most: int, limits: Limits) -> tuple[int, np.ndarray]:
        """Edges of the longest row; bounds of rows between which there are at most so many edges, or one row."""
        lengths = np.zeros(self.last - self.first, np.int64)
        for rows, _, _ in self.runs(limits.run_length):
            own = (rows - self._kinds.ends.type(self.first)).astype(np.int64)
            lengths += np.bincount(own, minlength=len(lengths))
        cuts, held = [0], 0
        for row, length in enumerate(lengths.tolist()):
            if held + length > most:
                cuts.append(row)
                held = 0
            held += length
        # More buckets than files may be open are cut again in their turn.
        chosen = distinct(np.array([*cuts, len(lengths)], np.int64))
        if len(chosen) > _MOST_BUCKETS:
            chosen = chosen[np.linspace(0, len(chosen) - 1, _MOST_BUCKETS + 1).astype(np.int64)]
        return int(lengths.max()), chosen + self.first

    def sorted(self) -> Adjacency:
        """All edges, sorted into rows from ``first`` on."""
        rows, neighbours, columns = self._kinds.split(self._read(0, self._number))
        ends, marked = self._kinds.ends, self._kinds.marked
        rows = rows - ends.type(self.first)
        neighbours = neighbours.copy()
        columns = {name: column.copy() for name, column in columns.items()}
        size = max((int(neighbours.max()) >> marked) + 1, self.last - self.first)
        back = None if marked else False
        coo = Coo(rows, neighbours, np.empty(0, ends), columns, back)
        found = from_coo(size, [coo], ends, marked=marked)
        last = self.last - self.first
        return Adjacency(found.offsets[: last + 1], found.neighbours, found.columns)

    def close(self) -> None:
        """Delete the file."""
        if self._open:
            self._open = False
            os.close(self._file)
            try:
                os.unlink(self._path)
            except OSError as error:
                raise full(self._path, error) from error
