"""The most similar vertices of each, by their neighbours in common, of rows in memory."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.jaccard import note
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

Found = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Comparing:
    """What vertices are compared by, whichever of them are at hand.

    Attributes
    ----------
    asked : Similarity
    amounts : what each vertex counts as a neighbour in common
    scale : what sums of them are multiplied by
    degrees : int64, of all vertices of the graph by number
    report : Report
    """

    asked: Similarity
    amounts: np.ndarray
    scale: float
    degrees: np.ndarray
    report: Report

    def best(
        self,
        rows: np.ndarray,
        mine: np.ndarray,
        first: Adjacency,
        at: np.ndarray,
        targets: np.ndarray,
    ) -> Found:
        """The partners of some vertices by number, vertex after vertex.

        Parameters
        ----------
        rows, mine : integer arrays
            Where their rows are in ``first``, and their numbers.
        first : Adjacency
            Neighbours index ``amounts`` and ``at``.
        at, targets : arrays
            The rows of neighbours, of numbers.
        """
        start, asked, kind = time.perf_counter(), self.asked, targets.dtype
        walks, lengths = np.empty((2, len(rows)), np.int64)
        along = rows, first.offsets.view(np.uint64), first.neighbours, at.view(np.uint64)
        blocks = edge_blocks(offsets_of(first.degrees[rows]))
        for_blocks(kernels.similar.steps, blocks, *along, self.amounts, walks)
        blocks = edge_blocks(offsets_of(walks))

        def run(counts_only: bool, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            second, score = np.empty(starts[-1], kind), np.empty(starts[-1])
            for_blocks(
                _best, blocks, self.degrees, self.amounts.dtype, rows, mine, *along[1:], targets, self.amounts,
                asked.kind, self.scale, asked.later, asked.least_common, asked.least_score,
                asked.top_k is not None, counts_only, starts, second, score, lengths,
            )  # fmt: skip
            return second, score

        if asked.top_k is None:
            run(True, np.zeros(len(rows) + 1, np.int64))
            room = lengths.copy()
        else:
            room = np.minimum(walks, asked.top_k)
        starts = offsets_of(room)
        second, score = run(False, starts)
        times = 1 if asked.top_k is not None else 2
        note(self.report, times * int(walks.sum()), len(rows), kind.itemsize + 8, start)
        if len(second) > (size := int(lengths.sum())):
            kept = np.repeat(starts[:-1] - offsets_of(lengths)[:-1], lengths) + np.arange(size)
            second, score = second[kept], score[kept]
        return np.repeat(mine, lengths), second, score


def _best(lo: int, hi: int, degrees: np.ndarray, kind: np.dtype[Any], *given: Any) -> None:
    """The kernel, with cells of this block of vertices alone: a sum and a degree side by side."""
    cells = np.zeros(2 * len(degrees), kind)
    cells[1::2] = degrees
    kernels.similar.best(lo, hi, cells, *given)


def joined(found: list[Found]) -> Found:
    """What was found of some vertices after another, as one."""
    firsts, seconds, scores = zip(*found, strict=True)
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(scores)


def similar(view: View, chosen: np.ndarray, asked: Similarity, report: Report) -> Found:
    """The partners of each chosen vertex; see `contract_similarity.Similarities`.

    Notes
    -----
    Walks of two edges from a vertex are added up in an array over all vertices, and the best are kept in a heap.
    Cost: O(sum of squared degrees) time, twice without ``top_k``; 16 V bytes a block at work.
    """
    rows, rank = view.symmetric, view.user_rank
    degrees = rows.degrees
    report.left_out = asked.left_out(degrees)
    amounts, scale = asked.amounts(degrees, int(degrees.max(initial=0)))
    if rank is None:
        vertices = np.flatnonzero(chosen)
        comparing = Comparing(asked, amounts, scale, degrees, report)
        return comparing.best(vertices, vertices, rows, rows.offsets, rows.neighbours)
    order = np.empty_like(rank)
    order[rank] = np.arange(len(rank))
    vertices = order[chosen[order]]
    comparing = Comparing(asked, amounts, scale, degrees[order], report)
    targets = rank.astype(rows.neighbours.dtype, copy=False)[rows.neighbours]
    first, second, score = comparing.best(vertices, rank[vertices], rows, rows.offsets, targets)
    return order[first], order[second], score
