"""Trusses: parts of a graph in which every edge is in many triangles.

References
----------
.. [1] Cohen, "Trusses: cohesive subgraphs for social network analysis", National Security Agency 2008.
.. [2] Wang, Cheng, "Truss decomposition in massive networks", PVLDB 2012.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class KTruss(Algorithm):
    """Truss number of every edge: the largest k-truss it is in.

    In the k-truss every edge is in at least k - 2 triangles of the k-truss; it is the largest such part of the graph.
    Directions, repeated edges and self-loops mean nothing here. The edges of the k-truss for one k are the rows with
    at least this ``trussness``.

    Returns
    -------
    frame
        The id columns under the edge frame's own names, ``trussness`` (int64, at least 2). One row for any two
        vertices that are joined, the smaller id first, ordered by both.

    Notes
    -----
    Cost: in memory O(E^1.5) at most, some hundred looks at an edge on skewed graphs; 20 bytes for each of its
    directions. On several ranks and beyond memory bounds come down in rounds, each of which looks at the edges near
    those that changed: rows are sent or read several times, and there is to be room for four bytes for each direction,
    and for the result. Weights are not read.
    """

    row = "edge"
    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("trussness",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {**edge_columns(), "trussness": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        first, second, trussness = run.engine.trussness(run.answering, report=run.report)
        run.order(first, second)
        return {
            "edge source": Values(first),
            "edge destination": Values(second),
            "trussness": Values(trussness),
        }
