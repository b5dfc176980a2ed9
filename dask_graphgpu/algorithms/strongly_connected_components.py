"""Strongly connected components: by one search, or after mutual edges are contracted or vertices trimmed.

References
----------
.. [1] Fleischer, Hendrickson, Pinar, "On identifying strongly connected components in parallel", IPDPS
   Workshops 2000.
.. [2] Slota, Rajamanickam, Madduri, "BFS and coloring-based parallel algorithms for strongly connected
   components and related problems", IPDPS 2014.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class StronglyConnectedComponents(Algorithm):
    """Strongly connected component of every vertex.

    It holds the vertices that the vertex reaches, and that reach it.

    Returns
    -------
    frame
        ``vertex``, ``component``: the smallest id in the same component, in the order of the
        user's ids. One row a vertex in ascending order of ids. Of an undirected graph these are its
        connected components.

    Notes
    -----
    Cost: O(V + E); on a GPU, on ranks and of a million vertices and more, unless most edges stand in both directions,
    after both directions of every edge are in rows. Edges beyond a limit of memory are read as often as the graph is
    deep, those of them that matter. Weights are not read.
    """

    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("strong_components",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "component": ColumnType("vertex")}

    def run(self, run: Run) -> Table:
        label = run.engine.strong_components(run.staying, report=run.report)
        return {"vertex": Values(run.vertices), "component": run.own_vertices(label)}
