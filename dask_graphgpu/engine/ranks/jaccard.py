"""Jaccard coefficients of pairs of vertices on many ranks: rows of remote vertices come by parts and go again."""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.jaccard import common_neighbours, note
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.csr import offsets_of
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.partition.ranks.ghost_rows import FEW_EDGES, asked_edges, sent
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report

# Pairs of a rank that all ranks look at together.
PAIRS = 1 << 18


def jaccard_of_pairs(
    view: RankView, first: np.ndarray, second: np.ndarray, report: Report
) -> np.ndarray:
    """Part of the neighbours of either of two vertices that are those of both: float64. Collective.

    Notes
    -----
    In rounds of 2**18 pairs a rank. All ranks see the pairs of a round, and the owner of the first
    vertex answers. It asks for each second vertex once, and gets no more neighbours at once than its
    own rows have, of which it keeps those that are here: only they can be neighbours of the first.
    """
    values = np.empty(len(first))
    for i in range(int(view.ranks.max(-(-len(first) // PAIRS)))):
        part = slice(i * PAIRS, (i + 1) * PAIRS)
        values[part] = _answered(view, first[part], second[part], report)
    return values


def _answered(view: RankView, first: np.ndarray, second: np.ndarray, report: Report) -> np.ndarray:
    """Coefficients of this rank's pairs of a round. Collective."""
    ranks = view.ranks
    pairs = np.stack([first, second], axis=1).astype(np.int64)
    every = ranks.all_gather(pairs)
    starts = offsets_of(np.array([len(each) for each in every]))
    given = np.concatenate(every)
    places, here = view.places(given[:, 0])
    own = places < view.num_owned
    mine = np.flatnonzero(here)[own]
    found = _Intersecting(view, places[own], given[mine, 1], report).run()
    cuts = np.searchsorted(mine, starts[1:-1])
    index = [each - start for each, start in zip(np.split(mine, cuts), starts[:-1], strict=True)]
    values = np.empty(len(first))
    values[sent(view, index)] = sent(view, np.split(found, cuts))
    return values


class _Intersecting:
    """Pairs of an own vertex, by its local id, and any other one, by its number."""

    def __init__(
        self, view: RankView, first: np.ndarray, second: np.ndarray, report: Report
    ) -> None:
        self.view, self.report, self.first = view, report, first
        self.rows = view.symmetric
        stop = self.rows.offsets[view.num_owned]
        self.offsets = self.rows.offsets[: view.num_owned + 1]
        self.neighbours = self.rows.neighbours[:stop]
        self.counts = np.zeros(len(first), np.int64)
        places, here = view.places(second)
        own = places < view.num_owned
        # The second vertices: own ones by their local ids, others by their places in `wanted`.
        self.near = np.flatnonzero(here)[own]
        self.near_second = places[own]
        far = np.ones(len(second), np.bool_)
        far[self.near] = False
        self.far = np.flatnonzero(far)
        self.wanted, self.far_second = np.unique(second[self.far], return_inverse=True)

    def run(self) -> np.ndarray:
        """The coefficient of each pair. Collective."""
        view, ranks, degrees = self.view, self.view.ranks, self.rows.degrees
        self._count(self.near, self.near_second, self.offsets, self.neighbours)
        # The own vertices whose rows each other rank wants, and which of its `wanted` these are.
        asked: list[np.ndarray] = []
        places_asked: list[np.ndarray] = []
        for numbers in ranks.all_gather(self.wanted):
            places, here = view.places(numbers)
            own = places < view.num_owned
            asked.append(np.flatnonzero(here)[own])
            places_asked.append(places[own])
        answered = ranks.all_to_all(asked)
        lengths = np.zeros(len(self.wanted), np.int64)
        lengths[np.concatenate(answered)] = sent(view, [degrees[each] for each in places_asked])
        room = max(len(self.neighbours), FEW_EDGES)
        part = np.maximum(np.cumsum(lengths) - 1, 0) // room
        parts_asked = ranks.all_to_all([part[each] for each in answered])
        for i in range(int(ranks.max(int(part[-1]) + 1 if len(part) else 0))):
            edges = [
                rowwise.edges_of(self.rows, places[parts == i])
                for places, parts in zip(places_asked, parts_asked, strict=True)
            ]
            numbers = sent(view, [view.numbers.take(self.rows.neighbours[each]) for each in edges])
            self._count_far(
                np.concatenate([each[part[each] == i] for each in answered]), lengths, numbers
            )
        either = degrees[self.first]
        either[self.near] += degrees[self.near_second]
        either[self.far] += lengths[self.far_second]
        either -= self.counts
        values = np.zeros(len(either))
        some = either > 0
        values[some] = self.counts[some] / either[some]
        return values

    def _count_far(self, arrived: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
        """Count for the pairs whose second vertices, places in `wanted`, have come, one row after the other."""
        own = self.view.num_owned
        places, here = self.view.places(numbers)
        row = np.repeat(np.arange(len(arrived)), lengths[arrived])[here]
        order = np.lexsort((places, row))
        offsets = offsets_of(np.bincount(row, minlength=len(arrived)))
        row_of = np.full(len(self.wanted), -1)
        row_of[arrived] = own + np.arange(len(arrived))
        chosen = np.flatnonzero(row_of[self.far_second] >= 0)
        self._count(
            self.far[chosen],
            row_of[self.far_second[chosen]],
            np.concatenate([self.offsets, self.offsets[-1] + offsets[1:]]),
            np.concatenate([self.neighbours, places[order].astype(self.neighbours.dtype)]),
        )

    def _count(
        self, pairs: np.ndarray, second: np.ndarray, offsets: np.ndarray, neighbours: np.ndarray
    ) -> None:
        start = time.perf_counter()
        first, lengths = self.first[pairs], np.diff(offsets)
        self.counts[pairs] = common_neighbours(
            offsets, neighbours, self.view.num_vertices, first, second
        )
        steps = int(lengths[first].sum() + lengths[second].sum())
        note(self.report, steps, len(pairs), neighbours.itemsize, start)


def jaccard_two_hop(view: RankView, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `jaccard_of_pairs`, of all pairs of vertices with a neighbour in common. Collective.

    Returns
    -------
    first, second : arrays of the dtype of numbers
        Numbers, the smaller one first; ordered by both. Each rank has the pairs of which it owns the first.
    values : float64

    Notes
    -----
    Own vertices are taken in parts, for which the rows of remote neighbours come together: no more
    of them than the rank has of its own, but for vertices that need more by themselves. A row comes
    once for each part that needs it. Every rank has the degree of all vertices of the graph, and 8 bytes for
    each of them and block at work.
    """
    rows, own, numbers = view.symmetric, view.num_owned, view.numbers
    degree = view.at_ghosts(rows.degrees.copy())
    by_number = degrees_by_number(view, degree)
    order = np.argsort(numbers[:own])
    starts = np.empty(own, np.int64)
    room = max(int(rows.offsets[own]), FEW_EDGES)
    given = rows.offsets, rows.neighbours, own
    parts = int(kernels.jaccard.cut_by_ghosts(order, *given, degree, room, starts))
    cut = np.split(order, starts[1:parts]) if parts else []
    found = [(numbers[:0], numbers[:0], np.empty(0))]
    for i in range(int(view.ranks.max(parts))):
        found.append(_pairs_of(view, cut[i] if i < parts else order[:0], degree, by_number, report))
    first, second, values = zip(*found, strict=True)
    return np.concatenate(first), np.concatenate(second), np.concatenate(values)


def degrees_by_number(view: RankView, degree: np.ndarray) -> np.ndarray:
    """Degrees of all vertices of the graph by number, of those of vertices that are here. Collective."""
    own, numbers = view.num_owned, view.numbers
    by_number = np.empty(view.graph_vertices, np.int64)
    every = view.ranks.all_gather(numbers[:own]), view.ranks.all_gather(degree[:own])
    by_number[np.concatenate(every[0]).astype(np.intp)] = np.concatenate(every[1])
    return by_number


def _pairs_of(
    view: RankView, vertices: np.ndarray, degree: np.ndarray, by_number: np.ndarray, report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs of some own vertices with those of larger numbers. Collective."""
    start = time.perf_counter()
    rows, own, numbers = view.symmetric, view.num_owned, view.numbers
    ghosts = distinct(rows.neighbours[rowwise.edges_of(rows, vertices)]).astype(np.int64)
    ghosts = ghosts[ghosts >= own]
    edges = asked_edges(view, rows, ghosts)
    far = sent(view, [numbers.take(rows.neighbours[each]) for each in edges])
    lengths = np.zeros(view.num_vertices, np.int64)
    lengths[ghosts] = degree[ghosts]
    far_offsets = offsets_of(lengths)
    given = rows.offsets, rows.neighbours, own
    steps, pairs = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
    for_blocks(
        kernels.jaccard.rank_steps, edge_blocks(offsets_of(rows.degrees[vertices])), *given, far_offsets,
        vertices, steps,
    )  # fmt: skip
    work = offsets_of(steps)
    blocks = edge_blocks(work)
    there = *given, numbers, far_offsets, far, vertices
    for_blocks(kernels.jaccard.rank_lengths, blocks, *there, len(by_number), pairs)
    bounds = offsets_of(pairs)
    second, values = np.empty(bounds[-1], numbers.dtype), np.empty(bounds[-1])
    for_blocks(kernels.jaccard.rank_pairs, blocks, *there, by_number, bounds, second, values)
    note(report, 2 * int(work[-1]), len(vertices), 2 * numbers.itemsize + 8, start)
    return np.repeat(numbers[vertices], pairs), second, values
