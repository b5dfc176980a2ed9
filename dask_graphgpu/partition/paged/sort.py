"""Edges in any order become rows on disk: dealt to buckets of rows, and each bucket sorted in memory."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dask_graphgpu.errors import SpillError
from dask_graphgpu.partition.csr import Adjacency, Coo, from_coo, offsets_of
from dask_graphgpu.partition.paged.files import PagedArray, Writer, create, full, write
from dask_graphgpu.partition.paged.folder import SpillFolder
from dask_graphgpu.partition.paged.limits import AT_ONCE, REQUEST, Limits

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
        from dask_graphgpu.kernels.cpu.threads import num_threads

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
    """Writes rows in their order, in runs that lie in memory."""

    def __init__(
        self,
        num_vertices: int,
        dtype: Any,
        kinds: Mapping[str, np.dtype[Any]],
        folder: SpillFolder,
        limits: Limits,
    ) -> None:
        folder.spare.take()  # memory is needed for other things now
        self._limits = limits
        self._lengths = np.zeros(num_vertices, np.int64)
        self._counts = np.zeros(num_vertices, np.int64)
        self._neighbours = Writer(folder, "neighbours", dtype, limits.page_bytes)
        self._columns = {
            name: Writer(folder, f"column-{i}", kind, limits.page_bytes)
            for i, (name, kind) in enumerate(kinds.items())
        }

    def append(self, first: int, rows: Adjacency) -> None:
        """Write the rows from ``first`` on."""
        from dask_graphgpu.kernels.cpu import csr

        self._lengths[first : first + rows.num_vertices] = rows.degrees
        csr.count(0, rows.num_edges, rows.neighbours, self._counts)
        self._neighbours.append(rows.neighbours)
        for name, writer in self._columns.items():
            writer.append(rows.columns[name])

    def close(self) -> PagedAdjacency:
        columns: dict[str, Any] = {name: each.close() for name, each in self._columns.items()}
        neighbours: Any = self._neighbours.close()
        offsets = offsets_of(self._lengths)
        return PagedAdjacency(offsets, neighbours, columns, self._counts, self._limits)


def sorted_rows(
    edges: Iterable[Edges],
    num_vertices: int,
    number: int,
    dtype: Any,
    kinds: Mapping[str, np.dtype[Any]],
    folder: SpillFolder,
    limits: Limits,
    work: int,
) -> PagedAdjacency:
    """Rows of some edges, neighbours ascending within a row.

    Every edge is written and read twice. Rows with more edges than a bucket may have are an error.

    Parameters
    ----------
    edges : iterable of runs of edges
        Small ones, as each is copied.
    number : int
        Of edges, about.
    work : int
        Bytes of memory that this may take beside a few arrays over the vertices.

    Raises
    ------
    SpillError, LimitTooSmall
    """
    made = RowWriter(num_vertices, dtype, kinds, folder, limits)
    carried = sum(kind.itemsize for kind in kinds.values())
    most = max(work // (_SORTED + _CARRIED * carried), 1)
    number_of = min(max(-(-2 * number // most), 1), _MOST_BUCKETS, max(num_vertices, 1))
    bounds = np.linspace(0, num_vertices, number_of + 1).astype(np.int64)
    _sort(edges, bounds, most, made, _Kinds(np.dtype(dtype), dict(kinds)), folder, limits)
    rows = made.close()
    _give_back()
    return rows


def _give_back() -> None:
    """Have the C library hand to the system what sorting has freed: a third of the limit, else."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc
    if trim is not None:
        trim(0)


@dataclass(frozen=True)
class _Kinds:
    """Types of the ends of edges and of what they carry."""

    ends: np.dtype[Any]
    columns: dict[str, np.dtype[Any]]

    @property
    def edge_bytes(self) -> int:
        return 2 * self.ends.itemsize + sum(kind.itemsize for kind in self.columns.values())


def _sort(
    edges: Iterable[Edges],
    bounds: np.ndarray,
    most: int,
    made: RowWriter,
    kinds: _Kinds,
    folder: SpillFolder,
    limits: Limits,
) -> None:
    """Deal edges to buckets between bounds of rows; sort each, or deal it again where it is large."""
    buckets = [
        _Bucket(folder.paths[i % len(folder.paths)], kinds, int(bounds[i]), int(bounds[i + 1]))
        for i in range(len(bounds) - 1)
    ]
    try:
        for rows, neighbours, columns in edges:
            _deal(rows, neighbours, columns, bounds, buckets)
        for bucket in buckets:
            if len(bucket) > most:
                within = bucket.bounds(most, limits)
                _sort(bucket.edges(most), within, most, made, kinds, folder, limits)
            elif len(bucket):
                made.append(bucket.first, bucket.sorted())
            bucket.close()
    finally:
        for bucket in buckets:
            bucket.close()


def _deal(
    rows: np.ndarray,
    neighbours: np.ndarray,
    columns: dict[str, np.ndarray],
    bounds: np.ndarray,
    buckets: list[_Bucket],
) -> None:
    if len(buckets) == 1:
        buckets[0].append(rows, neighbours, columns)
        return
    which = (np.searchsorted(bounds, rows, side="right") - 1).astype(np.uint16)
    order = np.argsort(which, kind="stable")
    cuts = np.append(0, np.cumsum(np.bincount(which, minlength=len(buckets))))
    for bucket, lo, hi in zip(buckets, cuts[:-1], cuts[1:], strict=True):
        if hi > lo:
            chosen = order[lo:hi]
            carried = {name: column[chosen] for name, column in columns.items()}
            bucket.append(rows[chosen], neighbours[chosen], carried)


class _Bucket:
    """The edges of rows ``first`` to ``last``, in a file, run after run."""

    def __init__(self, folder: str, kinds: _Kinds, first: int, last: int) -> None:
        self.first, self.last, self._kinds = first, last, kinds
        self._path, self._file = create(folder, "bucket")
        self._runs: list[int] = []
        self._open = True

    def __len__(self) -> int:
        return sum(self._runs)

    def append(
        self, rows: np.ndarray, neighbours: np.ndarray, columns: dict[str, np.ndarray]
    ) -> None:
        start = len(self) * self._kinds.edge_bytes
        ends = self._kinds.ends
        arrays = [rows.astype(ends), neighbours.astype(ends)]
        arrays += [columns[name].astype(kind) for name, kind in self._kinds.columns.items()]
        run = np.concatenate([array.view(np.uint8) for array in arrays])
        write(self._path, self._file, run, start)
        self._runs.append(len(rows))

    def runs(self) -> Iterator[Edges]:
        start = 0
        for length in self._runs:
            size = length * self._kinds.edge_bytes
            try:
                raw = os.pread(self._file, size, start)
            except OSError as error:
                raise SpillError(f"cannot read {self._path}: {error}; run again") from error
            if len(raw) < size:
                raise SpillError(f"{self._path} ends early: another process cut it; run again")
            yield self._split(np.frombuffer(raw, np.uint8), length)
            start += size

    def edges(self, most: int) -> Iterator[Edges]:
        """Runs of at most some length."""
        for rows, neighbours, columns in self.runs():
            for lo in range(0, len(rows), most):
                part = slice(lo, lo + most)
                carried = {name: column[part] for name, column in columns.items()}
                yield rows[part], neighbours[part], carried

    def bounds(self, most: int, limits: Limits) -> np.ndarray:
        """Bounds of rows between which there are at most so many edges."""
        lengths = np.zeros(self.last - self.first, np.int64)
        for rows, _, _ in self.runs():
            own = (rows - self._kinds.ends.type(self.first)).astype(np.int64)
            lengths += np.bincount(own, minlength=len(lengths))
        longest = int(lengths.max())
        if longest > most:
            limits.require(
                limits.memory * -(-longest // most), f"a vertex with {longest:,} edges on one side"
            )
        cuts, held = [0], 0
        for row, length in enumerate(lengths.tolist()):
            if held + length > most:
                cuts.append(row)
                held = 0
            held += length
        # More buckets than files may be open are cut again in their turn.
        chosen = np.unique(np.array([*cuts, len(lengths)], np.int64))
        if len(chosen) > _MOST_BUCKETS:
            chosen = chosen[np.linspace(0, len(chosen) - 1, _MOST_BUCKETS + 1).astype(np.int64)]
        return chosen + self.first

    def sorted(self) -> Adjacency:
        """All edges, sorted into rows from ``first`` on."""
        runs = list(self.runs())
        ends = self._kinds.ends
        # Both ends are codes of one table: rows are looked up by what they are less ``first``.
        rows = np.concatenate([run[0] for run in runs]) - ends.type(self.first)
        neighbours = np.concatenate([run[1] for run in runs])
        columns = {
            name: np.concatenate([run[2][name] for run in runs]) for name in self._kinds.columns
        }
        del runs
        size = max(int(neighbours.max()) + 1, self.last - self.first)
        itself = np.arange(size, dtype=ends)
        found = from_coo(size, [Coo(rows, neighbours, itself, columns)], ends)
        last = self.last - self.first
        return Adjacency(found.offsets[: last + 1], found.neighbours, found.columns)

    def _split(self, raw: np.ndarray, length: int) -> Edges:
        ends = self._kinds.ends
        arrays, place = [], 0
        for kind in (ends, ends, *self._kinds.columns.values()):
            arrays.append(raw[place : place + length * kind.itemsize].view(kind))
            place += length * kind.itemsize
        return arrays[0], arrays[1], dict(zip(self._kinds.columns, arrays[2:], strict=True))

    def close(self) -> None:
        """Delete the file."""
        if self._open:
            self._open = False
            os.close(self._file)
            try:
                os.unlink(self._path)
            except OSError as error:
                raise full(self._path, error) from error
