"""Communities of high modularity on many ranks: the vertices of a class move at once, and all ranks are told.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Ghosh, Halappanavar, Tumeo, Kalyanaraman, Lu, Chavarria-Miranda, Khan, Gebremedhin. Distributed Louvain
   algorithm for graph community detection. IPDPS 2018.
.. [3] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
.. [4] Pan, Wang, Wu, Yang, Owens. Multi-GPU graph analytics. IPDPS 2017.
"""

from __future__ import annotations

import math
import time
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dask_graphgpu.engine import communities
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition import csr, rowwise
from dask_graphgpu.partition.csr import Adjacency, at_ends, offsets_of
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report

# Bits of the sum of all degrees, in units of which weights that are not whole numbers are counted.
TOTAL_BITS = 61


@dataclass(frozen=True, eq=False)
class Level:
    """A graph whose vertices are communities of the one before; arrays as in ``kernels/cpu/classes.py``.

    Attributes
    ----------
    mine : dtype of numbers
        The vertices whose rows this rank has.
    every : dtype of numbers, shape (n,)
        `mine` of all ranks, one after the other.
    rows : Adjacency
        A row for each of `mine`; neighbours are vertices, not places.
    toward : Adjacency
        A row for each vertex: the places of those of `mine` that have it as a neighbour.
    loops : int64
        Twice the weight of the edges within each of `mine`.
    degree : int64, shape (n,)
    """

    ranks: Ranks
    mine: np.ndarray
    every: np.ndarray
    rows: Adjacency
    toward: Adjacency
    loops: np.ndarray
    degree: np.ndarray

    @classmethod
    def first(cls, view: RankView) -> Level:
        """The graph itself. Collective."""
        own, both = view.num_owned, view.undirected().out
        weight = whole_weights(view, both.weight)
        stop = int(both.offsets[own])
        source = rowwise.row_ids(both)[:stop]
        loop = source == both.neighbours[:stop]
        given = np.ones(stop, np.int64) if weight is None else weight[:stop]
        # A loop is once in the rows of an undirected graph, and was put twice into those of a directed one.
        loops = np.zeros(own, np.int64)
        rowwise.add_at(loops, source[loop], given[loop] * (1 if view.directed else 2))
        kept = ~loop & (given > 0)
        offsets = offsets_of(kept)[both.offsets[: own + 1]]
        neighbours = csr.at_ends(view.numbers, both.neighbours[:stop][kept])
        columns = {} if weight is None else {"weight": given[kept]}
        rows = Adjacency(offsets, neighbours, columns)
        mine = view.numbers[:own]
        every = np.concatenate(view.ranks.all_gather(mine))
        degree = _everywhere(view.ranks, every, _row_sums(rows) + loops)
        return cls._of(view.ranks, mine, every, rows, loops, degree)

    @classmethod
    def _of(
        cls,
        ranks: Ranks,
        mine: np.ndarray,
        every: np.ndarray,
        rows: Adjacency,
        loops: np.ndarray,
        degree: np.ndarray,
    ) -> Level:
        places = np.repeat(np.arange(len(mine), dtype=mine.dtype), rows.degrees)
        toward = csr.from_edges(len(degree), rows.neighbours, places)
        return cls(ranks, mine, every, rows, toward, loops, degree)

    def __len__(self) -> int:
        """Vertices, of all ranks."""
        return len(self.degree)

    @property
    def weighted(self) -> bool:
        return self.rows.weight is not None

    @property
    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As kernels take them."""
        weight = self.rows.weight
        return (
            self.rows.offsets,
            self.rows.neighbours,
            np.empty(0, np.int64) if weight is None else weight,
        )

    def totals(self, labels: np.ndarray, count: int) -> np.ndarray:
        """The degree of each of ``count`` labels."""
        totals = np.zeros(count, np.int64)
        rowwise.add_at(totals, labels, self.degree)
        return totals

    def within(self, labels: np.ndarray) -> np.ndarray:
        """Weight from each of `mine` to others of its label."""
        sums = np.empty(len(self.mine), np.int64)
        blocks = edge_blocks(self.rows.offsets)
        for_blocks(kernels.classes.within, blocks, self.mine, *self.edges, labels, sums)
        return sums

    def everywhere(self, values: np.ndarray) -> np.ndarray:
        """Values of `mine` of all ranks, by vertex. Collective."""
        return _everywhere(self.ranks, self.every, values)

    def told(self, vertices: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Vertices and labels that all ranks give, rows of both. Collective."""
        given = np.stack([vertices, labels.astype(vertices.dtype)], axis=1)
        return np.concatenate(self.ranks.all_gather(given))

    def within_communities(self, labels: np.ndarray, chosen: np.ndarray) -> Level:
        """The edges within communities whose label is among the ``chosen``; loops and degrees stay."""
        source = np.repeat(labels.take(self.mine), self.rows.degrees)
        kept = at_ends(chosen, source) & (source == at_ends(labels, self.rows.neighbours))
        columns = {name: column[kept] for name, column in self.rows.columns.items()}
        offsets = offsets_of(kept)[self.rows.offsets]
        rows = Adjacency(offsets, self.rows.neighbours[kept], columns)
        return Level._of(self.ranks, self.mine, self.every, rows, self.loops, self.degree)

    def aggregated(self, labels: np.ndarray, count: int) -> Level:
        """A vertex for each of ``count`` labels, which are dealt to the ranks in ranges. Collective."""
        size, ids = self.ranks.size, self.mine.dtype
        source = np.repeat(labels.take(self.mine), self.rows.degrees)
        destination, weight = csr.at_ends(labels, self.rows.neighbours), self.rows.weight
        crosses = source != destination
        weight = np.ones(len(source), np.int64) if weight is None else weight
        edges = _united(count, source[crosses], destination[crosses], weight[crosses])
        bounds = np.arange(size + 1) * count // size
        cuts = edges.offsets[bounds[1:-1]]
        source, destination, weight = (
            np.concatenate(self.ranks.all_to_all(np.split(each, cuts)))
            for each in (rowwise.row_ids(edges), edges.neighbours, edges.columns["weight"])
        )
        low, high = bounds[self.ranks.rank : self.ranks.rank + 2].tolist()
        edges = _united(count, source, destination, weight)
        rows = Adjacency(edges.offsets[low : high + 1], edges.neighbours, edges.columns)
        degree = self.totals(labels, count)
        return Level._of(
            self.ranks, np.arange(low, high, dtype=ids), np.arange(count, dtype=ids), rows,
            degree[low:high] - _row_sums(rows), degree,
        )  # fmt: skip


def whole_weights(view: RankView, weight: np.ndarray | None) -> np.ndarray | None:
    """Weights as whole numbers, the sum of all degrees below 2**62; None without any. Collective."""
    most = view.max_weight
    if weight is None:
        return None
    most, entries = most or 0, 2 * view.graph_edges
    if isinstance(most, int) and most * entries < 2 ** (TOTAL_BITS + 1):
        return weight.astype(np.int64)
    bits = math.frexp(most)[1] + entries.bit_length()
    return np.rint(np.ldexp(weight.astype(np.float64), TOTAL_BITS - bits)).astype(np.int64)


def _everywhere(ranks: Ranks, every: np.ndarray, values: np.ndarray) -> np.ndarray:
    found = np.empty(len(every), values.dtype)
    found[every.astype(np.intp)] = np.concatenate(ranks.all_gather(values))
    return found


def _row_sums(rows: Adjacency) -> np.ndarray:
    """Exact, where `rowwise.sum_rows` of floats would not be."""
    weight = rows.weight
    return rows.degrees if weight is None else np.diff(offsets_of(weight)[rows.offsets])


def _united(
    count: int, source: np.ndarray, destination: np.ndarray, weight: np.ndarray
) -> Adjacency:
    """Rows of edges between ``count`` vertices, each once, with the sum of its weights."""
    rows = csr.from_edges(count, source, destination, {"weight": weight})
    return rowwise.merge_repeats(rows, "sum")


# A level ends when a round over all classes gains less modularity.
LEAST_ROUND = 1e-4


def louvain(
    view: RankView,
    resolution: float,
    seed: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[np.ndarray, float]:
    """Communities by moving vertices, then whole communities [1]_. Collective.

    Returns
    -------
    community : array of the dtype of numbers, shape (num_vertices,)
        Number of the community's smallest member; right for ghosts too.
    modularity : float
        At this resolution, the same on all ranks; 0 without edges.

    Notes
    -----
    The vertices of one of 16 classes, drawn by a hash of seed, round and number, move at the same time [2]_, then every
    rank tells all others where its own have gone: one exchange. These are the steps of the GPU engine, with the same
    whole weights: the answer depends on the edges, the resolution and the seed, neither on the number of ranks nor on
    who owns what. It is that of one GPU, not that of the CPU engine on one rank, which moves vertices one by one. Edges
    lie on the ranks of their ends; each rank has label and degree of all vertices of the graph [4]_, 40 bytes of each,
    and its own edges twice. A level's communities are dealt to the ranks in ranges, with their edges.
    """
    moves = _Moves(view, resolution, seed, report)
    start = _everywhere_from(moves.first, start)
    labels = moves.alone(moves.first) if start is None else start.labels
    if moves.total:
        labels = communities.louvain(moves, start, finer)
    if finer is not None:
        finer[:] = [moves.named(each).take(view.numbers) for each in finer]
    return moves.named(labels).take(view.numbers), moves.modularity


def leiden(
    view: RankView,
    resolution: float,
    seed: int,
    iterations: int,
    report: Report,
    start: Start | None = None,
    finer: list[Any] | None = None,
) -> tuple[np.ndarray, float]:
    """Communities as `louvain`, of which every one is connected [3]_. Collective.

    Notes
    -----
    As the GPU engine does it: before communities become vertices, they are refined into parts, which do; the vertices
    of a class at a time join the well-connected part of their community by which they gain most. Two exchanges a class;
    70 bytes on each rank for every vertex of the graph.
    """
    moves = _Moves(view, resolution, seed, report)
    start = _everywhere_from(moves.first, start)
    if not moves.total:
        return communities.without_edges(moves, start).take(view.numbers), 0.0
    labels = communities.leiden(moves, iterations, start, finer)
    if finer is not None:
        finer[:] = [moves.named(each).take(view.numbers) for each in finer]
    totals = moves.first.totals(labels, len(moves.first))
    return labels.take(view.numbers), moves.modularity_of(moves.first, labels, totals)


def smaller_communities(
    view: RankView,
    labels: np.ndarray,
    max_size: int,
    resolution: float,
    seed: int,
    iterations: int | None,
    report: Report,
) -> tuple[list[np.ndarray], float]:
    """Communities within those that are too large, at higher resolutions; see `communities.smaller`. Collective."""
    moves = _Moves(view, resolution, seed, report)
    first = moves.first
    every = first.everywhere(labels.astype(first.mine.dtype))
    find = communities.finding(iterations) if moves.total else communities.none_joined
    steps = communities.smaller(moves, every, max_size, find)
    found = [each.take(view.numbers) for each in steps]
    if not moves.total:
        return found, 0.0
    last = steps[-1] if steps else moves.named(every)
    return found, moves.modularity_of(first, last, first.totals(last, len(first)))


def _everywhere_from(level: Level, start: Start | None) -> Start | None:
    """A start of all vertices of the graph, of what each rank has of its own. Collective."""
    if start is None:
        return None
    fixed = None if start.fixed is None else level.everywhere(start.fixed)
    return Start(level.everywhere(start.labels.astype(level.mine.dtype)), fixed)


class _Moves:
    """As of `engine.communities.Moves`: the vertices of a class move at once. All functions are collective."""

    def __init__(self, view: RankView, resolution: float, seed: int, report: Report) -> None:
        self.first, self._salts = Level.first(view), np.random.default_rng(seed)
        self.total = int(self.first.degree.sum())
        self._resolution, self._report, self.modularity = resolution, report, 0.0

    def alone(self, level: Level) -> np.ndarray:
        return np.arange(len(level), dtype=level.mine.dtype)

    def moved(
        self, level: Level, labels: np.ndarray, fixed: np.ndarray | None
    ) -> tuple[np.ndarray, int]:
        begun, read, rounds = time.perf_counter(), 0, 0
        mine, rows, degree = level.mine, level.rows, level.degree
        scale, salt = self._resolution / self.total, int(self._salt())
        totals = level.totals(labels, len(level))
        active = degree.take(mine) > 0
        free = np.ones(len(mine), np.bool_) if fixed is None else ~fixed.take(mine)
        classes = np.empty(len(mine), np.uint8)
        best, reached = labels.copy(), self.modularity_of(level, labels, totals)
        while True:
            turns = np.uint64(kernels.classes.mixed(np.uint64((salt + rounds) % 2**64)))
            for_blocks(kernels.classes.draw, even_blocks(len(mine)), mine, turns, classes)
            moved = 0
            for turn in range(kernels.classes.CLASSES):
                looking = np.flatnonzero(active & free & (classes == turn))
                active[looking] = False
                lengths = rows.degrees[looking]
                goes = np.empty(len(looking), np.int64)
                for_blocks(
                    kernels.classes.moves, edge_blocks(offsets_of(lengths)), looking, mine, *level.edges,
                    degree, labels, totals, scale, turn, turns, goes,
                )  # fmt: skip
                read += int(lengths.sum())
                left = goes != labels.take(mine[looking])
                told = level.told(mine[looking[left]], goes[left])
                kernels.classes.take_moves(
                    told, mine, level.toward.offsets, level.toward.neighbours, degree, labels, totals,
                    active,
                )  # fmt: skip
                moved += len(told)
            rounds += 1
            now = self.modularity_of(level, labels, totals)
            goes_on = moved > 0 and now > reached + LEAST_ROUND
            if now > reached:
                best, reached = labels.copy(), now
            if not goes_on:
                break
        self._report.advance(
            "move", supersteps=rounds, frontier=len(mine), edges=read,
            bytes=read * (8 * level.weighted + 2 * labels.itemsize) + rounds * len(level) * 16,
            seconds=time.perf_counter() - begun,
        )  # fmt: skip
        self.modularity = reached
        return _renumbered(best)

    def modularity_of(self, level: Level, labels: np.ndarray, totals: np.ndarray) -> float:
        """Of some labels, of these degrees."""
        inside = level.loops.sum() + level.within(labels).sum()
        part = level.ranks.sum(int(inside)) / self.total
        squares = int(kernels.classes.squares(totals, float(self.total)))
        return part - self._resolution * (squares * 2.0**-62)

    def _salt(self) -> np.uint64:
        return np.uint64(self._salts.integers(2**64, dtype=np.uint64))

    def refined(self, level: Level, labels: np.ndarray, count: int) -> tuple[np.ndarray, int]:
        mine, degree, salt = level.mine, level.degree, self._salt()
        totals, scale = level.totals(labels, count), self._resolution / self.total
        parts, part_degree = self.alone(level), degree.copy()
        cut = level.everywhere(level.within(labels))
        alone, last = np.ones(len(level), np.bool_), np.zeros(len(level), np.uint8)
        classes, well = np.empty(len(mine), np.uint8), np.empty(len(mine), np.bool_)
        even = even_blocks(len(mine))
        for_blocks(kernels.classes.draw, even, mine, salt, classes)
        for turn in range(kernels.classes.CLASSES):
            for_blocks(
                kernels.classes.well_connected, even, mine, labels, totals, scale, part_degree, cut,
                alone, well,
            )  # fmt: skip
            looking = np.flatnonzero(well & (classes == turn))
            blocks = edge_blocks(offsets_of(level.rows.degrees[looking]))
            goes = np.empty(len(looking), np.int64)
            for_blocks(
                kernels.classes.joins, blocks, looking, mine, *level.edges, degree, labels, totals,
                scale, turn, salt, parts, part_degree, cut, alone, goes,
            )  # fmt: skip
            joining, goes = looking[goes >= 0], goes[goes >= 0]
            told = level.told(mine[joining], goes)
            kernels.classes.take_joins(told, turn, degree, parts, part_degree, alone, last)
            changes = np.empty(len(joining), np.int64)
            for_blocks(
                kernels.classes.cut_changes, edge_blocks(offsets_of(level.rows.degrees[joining])), joining,
                mine, *level.edges, labels, parts, turn, last, changes,
            )  # fmt: skip
            every = np.concatenate(level.ranks.all_gather(changes))
            rowwise.add_at(cut, told[:, 1], every)
        return _renumbered(parts)

    def apart(self, level: Level, labels: np.ndarray) -> tuple[np.ndarray, int]:
        sources = np.repeat(level.mine, level.rows.degrees)
        inside = at_ends(labels, sources) == at_ends(labels, level.rows.neighbours)
        root = np.arange(len(level), dtype=labels.dtype)
        kernels.classes.link(sources[inside], level.rows.neighbours[inside], root)
        joined = np.flatnonzero(root != np.arange(len(level)))
        given = np.stack([joined, root[joined].astype(np.int64)], axis=1)
        for pairs in level.ranks.all_gather(given):
            kernels.classes.link(pairs[:, 0], pairs[:, 1], root)
        return _renumbered(root)

    def aggregated(self, level: Level, labels: np.ndarray, count: int) -> Level:
        return level.aggregated(labels, count)

    def named(self, labels: np.ndarray) -> np.ndarray:
        """The smallest vertex of each one's community."""
        first = np.empty_like(labels)
        first[labels[::-1].astype(np.intp)] = np.arange(len(labels), dtype=labels.dtype)[::-1]
        found: np.ndarray = first.take(labels)
        return found

    def within(self, labels: np.ndarray, chosen: np.ndarray) -> Self:
        narrowed = copy(self)
        narrowed.first = self.first.within_communities(labels, chosen)
        narrowed._resolution = 2 * self._resolution
        return narrowed


def _renumbered(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """The same labels as 0, 1, 2 ... in their order, and how many there are."""
    there = np.zeros(len(labels), np.bool_)
    there[labels.astype(np.intp)] = True
    numbers = np.cumsum(there) - 1
    return numbers.take(labels).astype(labels.dtype), int(np.count_nonzero(there))
