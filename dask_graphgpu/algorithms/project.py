"""One side of a bipartite graph, joined by what its vertices share on the other side.

References
----------
.. [1] Newman, "Scientific collaboration networks II", Physical Review E 2001.
.. [2] Zhou, Ren, Medo, Zhang, "Bipartite network projection and personal recommendation", Physical Review E 2007.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_choice, check_whole
from dask_graphgpu.engine.similarity import Similarity
from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema

SIDES = ("source", "destination")
METRICS = ("count", "jaccard", "overlap", "cosine", "sorensen")


@dataclass(frozen=True)
class Project(Algorithm):
    """One side of a bipartite graph, joined by shared ones.

    The source column has the vertices of one side, such as customers, and the destination column those of the other,
    such as products. Of one side any two are joined that share neighbours on the other side.

    Repeated edges count once, and weights are not read.

    Parameters
    ----------
    side : {"source", "destination"}
        The side that is kept.
    min_shared : int
        Neighbours that two vertices share, at least.
    metric : {"count", "jaccard", "overlap", "cosine", "sorensen"}
        What an edge weighs: how many neighbours are shared, or a metric of `similar`.
    degree_cutoff : int, optional
        Vertices of the other side with more neighbours are not looked at as shared ones. Then
        ``last_report().attrs["left_out"]`` says how many vertices and ordered pairs that were. Default: none is left
        out.

    Returns
    -------
    frame
        Both vertices under the names that edges have their id columns under, and ``weight``: int64 of "count",
        else float64. Each pair once, the smaller id first; ordered by both.

    Raises
    ------
    InvalidEdges
        A vertex is a source and a destination, or the graph is undirected.

    Notes
    -----
    Cost: O(sum of squared degrees of the other side) time, twice, and memory of the result, which has a row for any two
    neighbours of a vertex at most: ``degree_cutoff`` leaves out those that make most rows.
    """

    side: str
    _: KW_ONLY
    min_shared: int = 1
    metric: str = "count"
    degree_cutoff: int | None = None

    row = "pair"
    rule = "one"

    def __post_init__(self) -> None:
        check_choice("side", self.side, SIDES)
        check_whole("min_shared", self.min_shared, 1)
        check_choice("metric", self.metric, METRICS)
        if self.degree_cutoff is not None:
            check_whole("degree_cutoff", self.degree_cutoff, 1)

    def engine_functions(self) -> tuple[str, ...]:
        return ("similar",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        kind = "int64" if self.metric == "count" else "float64"
        return {**edge_columns(), "weight": ColumnType(kind)}

    def run(self, run: Run) -> Table:
        if not run.view.directed:
            raise InvalidEdges(
                "project takes the source column as one side and the destination column as the other, and this graph "
                "is undirected: leave out directed=False"
            )
        out, into = (run.view.degrees(direction) for direction in ("out", "in"))
        if both := run.total((out > 0) & (into > 0)):
            raise InvalidEdges(
                f"the graph is not bipartite: {both} of its vertices are in the source and in the destination column; "
                "project needs ids of two kinds: drop such rows, or give the ids of one side a prefix of their own"
            )
        asked = Similarity(
            self.metric, later=True, least_common=self.min_shared, degree_cutoff=self.degree_cutoff
        )
        chosen = (out if self.side == "source" else into) > 0
        first, second, weight = run.engine.similar(run.view, chosen, asked, report=run.report)
        run.order(first, second)
        if self.metric == "count":
            weight = weight.astype(np.int64)
        return {
            "edge source": Values(first),
            "edge destination": Values(second),
            "weight": Values(weight),
        }
