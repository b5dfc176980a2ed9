"""Topological order: every edge leads to a later vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable
from dask_graphgpu.algorithms.dag import check_directed, levels
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class TopologicalOrder(Resumable):
    """Level and position of a vertex, after all that lead to it.

    Of a directed graph without cycles.

    Returns
    -------
    frame
        ``vertex``; ``level`` (int64), how many edges the longest path to it has, 0 where no edge comes in;
        ``position`` (int64) from 0 on, by level and then by id: the order is the same everywhere. One row a
        vertex in ascending order of ids; ``.sort_values("position")`` gives the order itself.

    Raises
    ------
    InvalidEdges
        The graph has a cycle; the message names its vertices.
    InvalidArgument
        The graph is undirected.

    Notes
    -----
    Kahn's method, a level a superstep (Kahn, Communications of the ACM 1962). Repeated edges mean nothing, and
    a self-loop is a cycle. Cost: O(V + E), and as many supersteps as there are levels, which are exchanges
    on ranks.
    """

    rule = "one"

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        check_directed("topological_order", schema)
        number = ColumnType("int64")
        return {"vertex": ColumnType("vertex"), "level": number, "position": number}

    def run(self, run: Run) -> Table:
        level = run.own(levels(run))
        if run.ranks is None:
            position = np.empty_like(level)
            order = np.argsort(level, kind="stable")
            position[order] = np.arange(len(order), dtype=np.int64, like=order)
        else:
            level = np.asarray(level)
            position = _positions(run.ranks, run.vertices, level, run.num_vertices)
        return {
            "vertex": Values(run.vertices),
            "level": Values(level),
            "position": Values(position),
        }


def _positions(ranks: Ranks, numbers: Any, level: np.ndarray, n: int) -> np.ndarray:
    """Place of each own vertex, these ascending, by level and then by number. Collective.

    Rank r counts the vertices of each level among the numbers of the r-th part, and tells where they are.
    """
    bounds = np.arange(ranks.size + 1) * n // ranks.size
    cuts = np.searchsorted(numbers, bounds[1:-1])
    numbers = np.asarray(numbers).astype(np.int64)
    asked = ranks.all_to_all(np.split(numbers, cuts))
    low = bounds[ranks.rank]
    levels = np.empty(bounds[ranks.rank + 1] - low, np.int64)
    for at, theirs in zip(asked, ranks.all_to_all(np.split(level, cuts)), strict=True):
        levels[at - low] = theirs
    many = int(ranks.max(int(levels.max(initial=-1)))) + 1
    counts = np.stack(ranks.all_gather(np.bincount(levels, minlength=many)))
    total = counts.sum(axis=0)
    before = np.cumsum(total) - total + counts[: ranks.rank].sum(axis=0)
    order = np.argsort(levels, kind="stable")
    mine = counts[ranks.rank]
    position = np.empty(len(levels), np.int64)
    position[order] = np.arange(len(order)) + (before - (np.cumsum(mine) - mine))[levels[order]]
    return np.concatenate(ranks.all_to_all([position[at - low] for at in asked]))
