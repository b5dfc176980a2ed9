"""Triangles at every vertex.

References
----------
.. [1] Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs",
   Theoretical Computer Science 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class TriangleCount(Algorithm):
    """Number of triangles that every vertex is in.

    A triangle is three vertices that are all neighbours. Directions, repeated edges and self-loops
    mean nothing here.

    Returns
    -------
    frame
        ``vertex``, ``triangles`` (int64). One row a vertex in ascending order of ids. Their sum is
        three times the number of triangles in the graph.

    Notes
    -----
    Cost: O(E^1.5) in the worst case, for every edge as many looks as its ends have neighbours of
    higher degree; O(V + E) memory. On disk every edge is written once more, and all of them are read as often as they
    are longer than what memory is left. Weights are not read.
    """

    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("triangles",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "triangles": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        triangles = run.engine.triangles(run.staying, report=run.report)
        return {"vertex": Values(run.vertices), "triangles": run.column(triangles)}
