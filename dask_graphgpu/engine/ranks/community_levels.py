"""A graph of communities on many ranks: rows dealt to the ranks, and what there is one of for a vertex on all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition import csr, rowwise
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.ranks.view import RankView

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

    @property
    def n(self) -> int:
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
