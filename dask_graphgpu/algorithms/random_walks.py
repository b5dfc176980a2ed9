"""Random walks: uniform, by weight, of node2vec, and with restart.

References
----------
.. [1] Perozzi, Al-Rfou, Skiena, "DeepWalk: online learning of social representations", KDD 2014.
.. [2] Grover, Leskovec, "node2vec: scalable feature learning for networks", KDD 2016.
.. [3] Yang et al., "KnightKing: a fast distributed graph random walk engine", SOSP 2019.
.. [4] Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, require_weight
from dask_graphgpu.algorithms.run import Run, at
from dask_graphgpu.algorithms.start_vertices import as_start_vertices, start_vertices
from dask_graphgpu.arguments import check_real, check_whole, refuse
from dask_graphgpu.engine.walking import WalkRule
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema

_MOST_STEPS = 2**31 - 1


@dataclass(frozen=True)
class RandomWalks(Algorithm):
    """Random walks along the edges.

    From its start a walk takes one of the edges that leave the vertex it is at, ``length`` times. Where none does,
    or none of a weight above 0, it ends early. Repeated rows are edges of their own.

    Parameters
    ----------
    start : id, list of ids or frame, optional
        Where walks begin; ids that stand there several times begin as many walks. Of a frame the id columns.
        Default: every vertex, in the order of the ids.
    length : int
        Steps of a walk, which has one vertex more.
    walks_per_vertex : int
        Walks from each start.
    weighted : bool
        Take an edge in proportion to its weight; else all are alike.
    p : float
        Return parameter of node2vec: beside an edge to a neighbour of the vertex before, one back to it counts 1/p.
        From 0.001 to 1000; with p and q 1 the vertex before does not matter.
    q : float
        In-out parameter of node2vec: an edge to any other vertex counts 1/q. As p.
    restart : float
        Probability with which a step leads back to the start instead, from 0 to 1; the vertex before is forgotten.
    seed : int
        Other seeds give other walks.

    Returns
    -------
    frame
        ``walk`` (int64), ``step`` (int32, 0 for the start), and the vertex under the name(s) of ids. One row for
        each vertex of a walk, ordered by walk and step. The walks from the i-th start, from 0 on, have the numbers
        from ``i * walks_per_vertex`` on.

    Raises
    ------
    InvalidArgument
        ``weighted`` and there are no weights.
    UnknownVertex
        A start is not a vertex.

    Notes
    -----
    A walk depends on its number, its start, the seed and the edges; not on the engine, on ranks, or on the order of
    rows: neighbours are numbered in the order of their ids, and random numbers are hashes of the seed, the walk and
    the step.

    Cost: 16 bytes a row of the result and 4 to 8 a step beside it. A step is O(1), weighted O(log degree) with 8
    bytes an edge for sums of weights. With p or q a step takes as many draws as the largest of 1, 1/p and 1/q is times
    their mean over the edges, and about half of these look into the row of the vertex before. Where vertices are not
    in the order of their ids (``order="degree"``), the edges are copied and sorted once a call. On several ranks
    walkers go from rank to rank, and each rank has 12 bytes for every vertex of the graph; on disk the pages that
    walkers need are read in each round, of which there are as many as a walk changes pages backwards.
    """

    start: Any = None
    _: KW_ONLY
    length: int
    walks_per_vertex: int = 1
    weighted: bool = False
    p: float = 1.0
    q: float = 1.0
    restart: float = 0.0
    seed: int = 0

    row = "step"
    rule = "keep"

    def __post_init__(self) -> None:
        as_start_vertices(self, "start")
        check_whole("length", self.length, 0)
        if self.length > _MOST_STEPS:
            refuse("length", self.length, f"are steps up to {_MOST_STEPS:,}")
        check_whole("walks_per_vertex", self.walks_per_vertex, 1)
        for name in ("p", "q"):
            allowed = "a number from 0.001 to 1000"
            check_real(name, getattr(self, name), allowed, lambda value: 1e-3 <= value <= 1e3)
        check_real("restart", self.restart, "a probability, 0 to 1", lambda value: 0 <= value <= 1)
        check_whole("seed", self.seed, 0)

    def engine_functions(self) -> tuple[str, ...]:
        return ("random_walks",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        if self.weighted:
            require_weight(schema, "random_walks with weighted=True", "")
        return self.weighted

    def frame_columns(self, name: str) -> int:
        return 0

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {
            "walk": ColumnType("int64"),
            "step": ColumnType("int32"),
            "vertex": ColumnType("vertex"),
        }

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None

    def run(self, run: Run) -> Table:
        starts, places, _ = start_vertices(run, "start", self.start)
        each = self.walks_per_vertex
        walks = (places[:, None] * each + np.arange(each, like=places)).ravel()
        rule = WalkRule(
            int(self.length), self.weighted, float(self.p), float(self.q), float(self.restart),
            int(self.seed),
        )  # fmt: skip
        walk, step, vertex = run.engine.random_walks(
            run.answering, walks, np.repeat(starts, each), rule, run.report
        )
        run.order(walk, step)
        dense = run.ids.position if run.ranks is None else None
        return {
            "walk": Values(walk),
            "step": Values(step),
            "vertex": Values(vertex if dense is None else at(dense, vertex)),
        }
