"""The most similar vertices of each, of a graph on disk: rows of some vertices and of their neighbours in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.jaccard import note
from dask_graphgpu.engine.cpu.similar import Comparing, Found, joined
from dask_graphgpu.engine.paged.at_hand import PLACES, rows_at_hand
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import num_threads
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.paged.rowwise import cuts_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Bytes of a vertex: degrees, amounts, its place in the user's order, where its row is, and which part has it; and for
# each thread at work, a cell and a place in a list.
_OF_VERTEX, _AT_WORK = 48, 24

# Bytes of a pair that is found, beside its ends, and how often they are there when pairs are joined.
_SCORE, _COPIES = 8, 3

# Bytes of a vertex while the partners of one are put in order.
_SORTED = 64

# A part of the memory that is left is for the rows of vertices that get partners, the rest for those of neighbours.
_OWN = 8


def similar(view: View, chosen: np.ndarray, asked: Similarity, report: Report) -> Found:
    """The partners of each chosen vertex; see `contract_similarity.Similarities`.

    Raises
    ------
    LimitTooSmall
        Also where the pairs do not fit: their memory counts.
    SpillError

    Notes
    -----
    Vertices are taken in parts, for which the rows of all their neighbours come together, once for each part. Those of
    a vertex that needs more than there is room for pass by.
    """
    rows, rank = rows_on_disk(view.symmetric), view.user_rank
    degrees, n = rows.degrees, view.num_vertices
    report.left_out = asked.left_out(degrees)
    amounts, scale = asked.amounts(degrees, int(degrees.max(initial=0)))
    kind = rows.neighbours.dtype
    numbers = np.arange(n, dtype=kind) if rank is None else rank.astype(kind, copy=False)
    by_number = np.empty_like(degrees)
    by_number[numbers] = degrees
    comparing = Comparing(asked, amounts, scale, by_number, report)
    vertices = np.flatnonzero(chosen)
    found = [(numbers[:0], numbers[:0], np.empty(0))]
    with Paged(rows, report) as passes:
        walked = np.where(amounts > 0, degrees, 0)
        room = _Room(passes, n)
        for some in _split(vertices, degrees, room.edges // _OWN):
            room.require(int(degrees[some].sum()))
            first = rows_at_hand(passes, some)
            for part in _parts(first, walked, room.edges - len(first.neighbours)):
                near = _near(first, part, amounts)
                if len(first.neighbours) + degrees[near].sum() <= room.edges:
                    lengths = np.zeros(n, np.int64)
                    lengths[near] = degrees[near]
                    targets = numbers[rows_at_hand(passes, near).neighbours]
                    mine = numbers[some[part]]
                    found.append(comparing.best(part, mine, first, offsets_of(lengths), targets))
                    room.pairs += len(found[-1][0])
                    continue
                for place in part:  # one, unless pairs have taken room since
                    near = _near(first, place[None], amounts)
                    if len(near):
                        number = int(numbers[some[place]])
                        found.append(_streamed(comparing, passes, room, number, near, numbers))
                        room.pairs += len(found[-1][0])
    firsts, seconds, scores = joined(found)
    if rank is None:
        return firsts, seconds, scores
    order, user_order = np.argsort(firsts, kind="stable"), np.argsort(rank)
    return user_order[firsts[order]], user_order[seconds[order]], scores[order]


def _near(first: Adjacency, part: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Neighbours of rows one after another that may be in common, ascending; int64."""
    begin, stop = first.offsets[[part[0], part[-1] + 1]].tolist()
    near = distinct(first.neighbours[begin:stop]).astype(np.int64)
    return near[amounts[near] > 0]


def _streamed(
    comparing: Comparing,
    passes: Paged,
    room: _Room,
    number: int,
    near: np.ndarray,
    numbers: np.ndarray,
) -> Found:
    """The partners of the vertex of a number, of whose neighbours some rows are in memory at a time."""
    start, common = time.perf_counter(), np.zeros(len(numbers), np.int64)
    lengths = passes.rows.degrees[near]
    room.require(int(lengths.max()) + len(numbers) * _SORTED // passes.rows.neighbours.itemsize)
    for a, b in pairwise(cuts_of(offsets_of(lengths), room.edges // _OWN).tolist()):
        targets = numbers[rows_at_hand(passes, near[a:b]).neighbours]
        np.add.at(common, targets, np.repeat(comparing.amounts[near[a:b]], lengths[a:b]))
    second = np.flatnonzero(common).astype(numbers.dtype)
    first = np.full_like(second, number)
    degrees, read = comparing.degrees, int(lengths.sum())
    note(comparing.report, read, 1, numbers.itemsize + 8, start)
    found: Found = comparing.asked.best(
        first, second, common[second], degrees[first], degrees[second], comparing.scale
    )
    return found


class _Room:
    """What of the memory is left for rows.

    Attributes
    ----------
    pairs : int
        Pairs that were found.
    """

    def __init__(self, passes: Paged, vertices: int) -> None:
        self._passes, self.pairs = passes, 0
        self._ids = passes.rows.neighbours.itemsize
        self._fixed = vertices * (_OF_VERTEX + _AT_WORK * num_threads()) + passes.longest * PLACES

    @property
    def _kept(self) -> int:
        return self._fixed + self.pairs * _COPIES * (2 * self._ids + _SCORE)

    @property
    def edges(self) -> int:
        """Edges that there is room for: their neighbours are there twice while they are numbered."""
        left = self._passes.rows.limits.memory - self._passes.held - self._kept
        return max(left // (2 * self._ids), 1)

    def require(self, edges: int) -> None:
        """Raise LimitTooSmall unless there is room for so many edges."""
        self._passes.require(
            self._kept + 2 * edges * self._ids,
            f"comparing vertices with those of {edges:,} edges, after {self.pairs:,} pairs,",
        )


def _split(vertices: np.ndarray, degrees: np.ndarray, room: int) -> Iterator[np.ndarray]:
    """Parts of some vertices, with about as many edges as there is room for."""
    if len(vertices):
        for a, b in pairwise(cuts_of(offsets_of(degrees[vertices]), room).tolist()):
            yield vertices[a:b]


def _parts(first: Adjacency, walked: np.ndarray, room: int) -> list[np.ndarray]:
    """Places of some rows, in parts with as many edges of different neighbours as there is room for."""
    places = np.arange(first.num_vertices)
    starts = np.empty(len(places), np.int64)
    number = kernels.jaccard.cut_by_ghosts(
        places, first.offsets, first.neighbours, 0, walked, room, starts
    )
    return np.split(places, starts[1:number])
