"""Edges go to the ranks that own their ends, as entries of rows there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.ranks.homes import PIECE
from dask_graphgpu.partition.ranks.numbering import EdgeRun
from dask_graphgpu.partition.row_sort import each, num_blocks, to_move


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of rows: ``rows`` are local ids of the receiver, ``neighbours`` places."""

    rows: np.ndarray
    neighbours: np.ndarray
    columns: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Tables:
    """Of each table of codes: the place and the owner of each code."""

    places: list[np.ndarray]
    owners: list[np.ndarray]


def shuffle(
    ranks: Ranks,
    runs: list[EdgeRun],
    tables: Tables,
    bounds: np.ndarray,
    ways: Sequence[str],
    kinds: dict[str, np.dtype[Any]],
) -> list[Entries]:
    """Send every edge to the owners of the rows that it is in. Collective; ``runs`` is emptied.

    Edges travel in rounds of bounded size, as many on every rank, and a run is given up once it has
    been sent. Entries come in the order of the ranks that they are from, and from each in the order
    of its edges: when ranks hold consecutive parts of a frame, in the order of its rows.

    Parameters
    ----------
    bounds : dtype of places, shape (size + 1,)
        Which places each rank owns.
    ways : sequence of "source" or "destination"
        What the rows are made by.
    kinds : dtype of each column

    Returns
    -------
    list of Entries
        One for each of ``ways``.
    """
    whole = [(run, 0, len(run)) for run in runs]
    got = []
    for way in ways:
        given = _counted(whole, way, tables, ranks.size)
        # How much others send is told before it comes, so that it goes to one array, without a copy.
        counts = np.concatenate(ranks.all_to_all(np.split(given, ranks.size)))
        got.append(_Arriving(counts, bounds.dtype, kinds))
    num_pieces = -(-sum(map(len, runs)) // _PIECE)
    del whole
    pieces = _cut(_taken(runs), _PIECE)
    for _ in range(int(ranks.max(num_pieces))):
        piece = _Piece.of(next(pieces, []), tables, bounds)
        for way, arriving in zip(ways, got, strict=True):
            dealt = _Dealt.of(piece, way)
            room = arriving.entries
            rows, neighbours = dealt.entries(bounds)
            arriving.put(room.rows, dealt.sent(ranks, rows))
            arriving.put(room.neighbours, dealt.sent(ranks, neighbours))
            del rows, neighbours
            for name, column in room.columns.items():
                arriving.put(column, dealt.sent(ranks, dealt.column(name, column.dtype)))
            arriving.next_piece()
            del dealt
        del piece
    return [arriving.entries for arriving in got]


def ends_of(run: EdgeRun, by: str) -> tuple[Any, Any]:
    """Codes of the rows and of the neighbours of a run's edges, for rows by one of the ends."""
    return (run.source, run.destination) if by == "source" else (run.destination, run.source)


_Part = tuple[EdgeRun, int, int]  # the edges of a run from one on to before another
_PIECE = PIECE // 2  # edges a round, each an entry of up to two ways


class _Arriving:
    """Entries that come to this rank in pieces: room for all of them, those from rank 0 first.

    ``counts``, of shape (size,), int64, says how many come from each rank.
    """

    def __init__(
        self, counts: np.ndarray, dtype: np.dtype[Any], kinds: dict[str, np.dtype[Any]]
    ) -> None:
        total = int(counts.sum())
        columns = {name: np.empty(total, kind) for name, kind in kinds.items()}
        self.entries = Entries(np.empty(total, dtype), np.empty(total, dtype), columns)
        self._upto = np.cumsum(counts) - counts  # where the next from each rank go
        self._lengths = np.zeros_like(counts)  # of the piece that comes

    def put(self, room: np.ndarray, parts: Sequence[np.ndarray]) -> None:
        """Copy one of the arrays of a piece to its place."""
        for j, (start, part) in enumerate(zip(self._upto.tolist(), parts, strict=True)):
            room[start : start + len(part)] = part
            self._lengths[j] = len(part)

    def next_piece(self) -> None:
        self._upto += self._lengths


def _blocks(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Parts of edges for threads."""
    edges = sum(hi - lo for _, lo, hi in parts)
    return list(_cut(parts, max(-(-edges // num_blocks(edges)), 1)))


def _counted(parts: Sequence[_Part], way: str, tables: Tables, size: int) -> np.ndarray:
    """How many entries each rank gets."""
    blocks = _blocks(parts)
    counts = np.zeros((len(blocks), size), np.int64)

    def count(block: int) -> None:
        for run, lo, hi in blocks[block]:
            rows, _ = ends_of(run, way)
            kernels.shuffle.count_entries(lo, hi, rows, run.codes.of(tables.owners), counts[block])

    each(count, len(blocks))
    total: np.ndarray = counts.sum(axis=0)
    return total


@dataclass(frozen=True, eq=False)
class _Ends:
    """Sources or destinations: their places and owners, and ``counts`` of owners in each block."""

    places: np.ndarray
    owners: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some of a rank's edges in blocks, where each begins and the last one ends, and ends as all ranks know them."""

    blocks: list[list[_Part]]
    starts: list[int]
    ends: dict[str, _Ends]

    @classmethod
    def of(cls, parts: Sequence[_Part], tables: Tables, bounds: np.ndarray) -> _Piece:
        blocks = _blocks(parts)
        starts = [0, *accumulate(sum(hi - lo for _, lo, hi in block) for block in blocks)]
        owner = np.result_type(np.uint8, *tables.owners)
        size = len(blocks), len(bounds) - 1
        found = [
            _Ends(
                np.empty(starts[-1], bounds.dtype),
                np.empty(starts[-1], owner),
                np.zeros(size, np.int64),
            )
            for _ in range(2)
        ]

        def look_up(block: int) -> None:
            at = starts[block]
            for run, lo, hi in blocks[block]:
                known = run.codes.of(tables.places), run.codes.of(tables.owners)
                for ends, codes in zip(found, (run.source, run.destination), strict=True):
                    to = ends.places[at:], ends.owners[at:], ends.counts[block]
                    kernels.shuffle.look_up(lo, hi, codes, *known, *to)
                at += hi - lo

        each(look_up, len(blocks))
        return cls(blocks, starts, dict(zip(("source", "destination"), found, strict=True)))


@dataclass(frozen=True, eq=False)
class _Dealt:
    """A piece of a rank's edges, and where the entries that they make go in what is sent.

    ``cursors``, of shape (blocks, ranks), say where the entries of each block for each rank start, and ``cuts`` where
    all of those for a rank do.
    """

    piece: _Piece
    rows: _Ends
    neighbours: _Ends
    cursors: np.ndarray
    cuts: np.ndarray

    @classmethod
    def of(cls, piece: _Piece, way: str) -> _Dealt:
        other = "destination" if way == "source" else "source"
        rows, counts = piece.ends[way], piece.ends[way].counts
        cuts = np.append(0, np.cumsum(counts.sum(axis=0)))
        cursors = cuts[:-1] + np.cumsum(counts, axis=0) - counts
        return cls(piece, rows, piece.ends[other], cursors, cuts)

    def entries(self, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and neighbours of the entries, those for rank 0 first."""
        rows, neighbours = np.empty((2, int(self.cuts[-1])), bounds.dtype)
        given = self.rows.places, self.rows.owners, self.neighbours.places, bounds

        def deal(block: int) -> None:
            part = self.piece.starts[block : block + 2]
            cursor = self.cursors[block].copy()
            kernels.shuffle.deal_entries(*part, *given, cursor, rows, neighbours)

        each(deal, len(self.piece.blocks))
        return rows, neighbours

    def column(self, name: str, kind: np.dtype[Any]) -> np.ndarray:
        """A column of the entries."""
        dealt = np.empty(int(self.cuts[-1]), kind)
        themselves = np.arange(len(self.cuts) - 1, dtype=self.rows.owners.dtype)

        def deal(block: int) -> None:
            cursor, at = self.cursors[block].copy(), self.piece.starts[block]
            for run, lo, hi in self.piece.blocks[block]:
                moved = to_move(run.columns[name][lo:hi], dealt)
                owners = self.rows.owners[at:]
                kernels.shuffle.deal_column(0, hi - lo, owners, themselves, cursor, *moved)
                at += hi - lo

        each(deal, len(self.piece.blocks))
        return dealt

    def sent(self, ranks: Ranks, dealt: np.ndarray) -> list[np.ndarray]:
        """What all ranks have dealt to this one."""
        return ranks.all_to_all(np.split(dealt, self.cuts[1:-1]))


def _taken(runs: list[EdgeRun]) -> Iterator[_Part]:
    """All edges of the runs, each of which leaves the list as it comes."""
    runs.reverse()
    while runs:
        run = runs.pop()
        yield run, 0, len(run)


def _cut(parts: Iterable[_Part], size: int) -> Iterator[list[_Part]]:
    """The same edges, ``size`` of them at a time."""
    cut: list[_Part] = []
    room = size
    for run, lo, hi in parts:
        while lo < hi:
            take = min(room, hi - lo)
            cut.append((run, lo, lo + take))
            lo, room = lo + take, room - take
            if not room:
                yield cut
                cut, room = [], size
    if cut:
        yield cut
