"""Edges go to the ranks that own their ends, as entries of rows there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
        given = np.diff(_Dealt.of(whole, way, tables, ranks.size).cuts)
        # How much others send is told before it comes, so that it goes to one array, without a copy.
        counts = np.concatenate(ranks.all_to_all(np.split(given, ranks.size)))
        got.append(_Arriving(counts, bounds.dtype, kinds))
    num_pieces = -(-sum(map(len, runs)) // _PIECE)
    del whole
    pieces = _cut(_taken(runs), _PIECE)
    for _ in range(int(ranks.max(num_pieces))):
        piece = next(pieces, [])
        for way, arriving in zip(ways, got, strict=True):
            dealt = _Dealt.of(piece, way, tables, ranks.size)
            room = arriving.entries
            rows, neighbours = dealt.ends(tables, bounds)
            arriving.put(room.rows, dealt.sent(ranks, rows))
            arriving.put(room.neighbours, dealt.sent(ranks, neighbours))
            del rows, neighbours
            for name, column in room.columns.items():
                arriving.put(column, dealt.sent(ranks, dealt.column(name, column.dtype)))
            arriving.next_piece()
        piece.clear()
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


@dataclass(frozen=True, eq=False)
class _Dealt:
    """A piece of a rank's edges, and where the entries that they make go in what is sent.

    ``blocks`` are parts of the piece for threads; ``cursors``, of shape (blocks, ranks), say where
    their entries for each rank start, and ``cuts`` where all of those for a rank do.
    """

    blocks: list[list[_Part]]
    way: str
    owners: list[np.ndarray]
    cursors: np.ndarray
    cuts: np.ndarray

    @classmethod
    def of(cls, piece: Sequence[_Part], way: str, tables: Tables, size: int) -> _Dealt:

        edges = sum(hi - lo for _, lo, hi in piece)
        blocks = list(_cut(piece, max(-(-edges // num_blocks(edges)), 1)))
        counts = np.zeros((len(blocks), size), np.int64)

        def count(block: int) -> None:
            for run, lo, hi in blocks[block]:
                rows, _ = ends_of(run, way)
                kernels.shuffle.count_entries(
                    lo, hi, rows, run.codes.of(tables.owners), counts[block]
                )

        each(count, len(blocks))
        cuts = np.append(0, np.cumsum(counts.sum(axis=0)))
        return cls(blocks, way, tables.owners, cuts[:-1] + np.cumsum(counts, axis=0) - counts, cuts)

    def ends(self, tables: Tables, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and neighbours of the entries, those for rank 0 first."""
        rows, neighbours = np.empty((2, int(self.cuts[-1])), bounds.dtype)

        def deal(block: int) -> None:
            cursor = self.cursors[block].copy()
            for run, lo, hi in self.blocks[block]:
                owners, places = run.codes.of(self.owners), run.codes.of(tables.places)
                kernels.shuffle.deal_entries(
                    lo, hi, *ends_of(run, self.way), owners, places, bounds, cursor, rows, neighbours
                )  # fmt: skip

        each(deal, len(self.blocks))
        return rows, neighbours

    def column(self, name: str, kind: np.dtype[Any]) -> np.ndarray:
        """A column of the entries."""
        dealt = np.empty(int(self.cuts[-1]), kind)

        def deal(block: int) -> None:
            cursor = self.cursors[block].copy()
            for run, lo, hi in self.blocks[block]:
                rows, _ = ends_of(run, self.way)
                moved = to_move(run.columns[name], dealt)
                kernels.shuffle.deal_column(lo, hi, rows, run.codes.of(self.owners), cursor, *moved)

        each(deal, len(self.blocks))
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
