"""The most similar vertices of each, by the neighbours that they have in common.

References
----------
.. [1] Liben-Nowell, Kleinberg, "The link-prediction problem for social networks", JASIST 2007.
.. [2] Adamic, Adar, "Friends and neighbors on the Web", Social Networks 2003.
.. [3] Zhou, Lu, Zhang, "Predicting missing links via local information", European Physical Journal B 2009.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, as_plain_ids
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.vertex_values import FrameColumns, mark_rows
from dask_graphgpu.arguments import check_choice, check_real, check_whole, refuse
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.io.frames import is_frame
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema

METRICS = ("jaccard", "overlap", "cosine", "sorensen", "adamic_adar", "resource_allocation")


@dataclass(frozen=True)
class Similar(Algorithm):
    """The most similar vertices of each, by neighbours.

    For each vertex those that share most of their neighbours with it, the best first.

    Directions, repeated edges, self-loops and weights mean nothing here.

    Parameters
    ----------
    metric : {"jaccard", "overlap", "cosine", "sorensen", "adamic_adar", "resource_allocation"}
        What is made of the neighbours in common. With c of them, and a and b neighbours of the two vertices: Jaccard
        c / (a + b - c), overlap c / min(a, b), cosine c / sqrt(a b), Sorensen 2 c / (a + b). Adamic-Adar adds up
        1 / log(d) over the neighbours in common, of d neighbours each, and resource allocation 1 / d.
    top_k : int
        Rows of a vertex, at most.
    min_score : float, optional
        Only partners of at least this score. Default: all that have a neighbour in common.
    between : frame or list of ids, optional
        The vertices that rows are made for, which stand in the first id column; their partners may be any vertex. A
        frame has their id column and no other. Default: all.
    degree_cutoff : int, optional
        Vertices of more neighbours are not looked at as neighbours in common: they say little, and cost most. Scores
        are then lower, since a and b count all neighbours. ``last_report().attrs["left_out"]`` says how many
        vertices and pairs that were. Default: none is left out.

    Returns
    -------
    frame
        Both vertices under the names that edges have their id columns under, ``score`` (float64, above 0). Ordered by
        the first vertex, then by falling score; of equal scores the smaller id comes first and is kept. A vertex
        without partners has no row.

    Raises
    ------
    InvalidArgument
        An argument is none of these.
    UnknownVertex
        An id of ``between`` is not a vertex.

    Notes
    -----
    Sums of Adamic-Adar and resource allocation are of terms that are rounded to a power of 2 (to 2**-40 where no vertex
    has more than 2**20 neighbours), so that ties are the same everywhere.

    Cost: O(sum of squared degrees) time, of which ``degree_cutoff`` leaves out the largest. Memory: ``top_k`` rows a
    vertex and those of a batch of walks, 12 to 24 bytes a vertex and block at work. On several ranks the rows of remote
    neighbours are sent, no more at once than a rank has of its own, but for vertices that need more by themselves. On
    disk rows of neighbours are read for as many vertices as there is room for.
    """

    metric: str = "jaccard"
    _: KW_ONLY
    top_k: int = 10
    min_score: float | None = None
    between: Any = None
    degree_cutoff: int | None = None

    row = "pair"
    rule = "one"

    def __post_init__(self) -> None:
        check_choice("metric", self.metric, METRICS)
        check_whole("top_k", self.top_k, 1)
        if self.min_score is not None:
            check_real("min_score", self.min_score, "a number of at least 0", lambda x: x >= 0)
        if self.degree_cutoff is not None:
            check_whole("degree_cutoff", self.degree_cutoff, 1)
        frame = isinstance(self.between, FrameColumns) or is_frame(self.between)
        if self.between is not None and not frame:
            as_plain_ids(self, "between")
            if not isinstance(self.between, list):
                refuse("between", self.between, "are a list of vertex ids and a frame of them")

    def engine_functions(self) -> tuple[str, ...]:
        return ("similar",)

    def frame_columns(self, name: str) -> int:
        return 0

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {**edge_columns(), "score": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        chosen = np.ones_like(run.rows, bool, shape=run.view.num_vertices)
        if self.between is not None:
            chosen[:] = False
            mark_rows(run, "between", self.between, chosen)
        asked = Similarity(
            self.metric,
            top_k=min(self.top_k, max(run.num_vertices, 1)),
            least_score=0.0 if self.min_score is None else float(self.min_score),
            degree_cutoff=self.degree_cutoff,
        )
        first, second, score = run.engine.similar(run.view, chosen, asked, report=run.report)
        run.order(first, np.arange(len(first)))
        return {
            "edge source": Values(first),
            "edge destination": Values(second),
            "score": Values(score),
        }
