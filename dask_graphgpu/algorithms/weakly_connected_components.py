"""Weakly connected components by Afforest: link a sample of edges, then only what is outside the giant.

References
----------
.. [1] Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
   sampling", IPDPS 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class WeaklyConnectedComponents(Algorithm):
    """Component of every vertex; edges lead both ways.

    Returns
    -------
    frame
        ``vertex``, ``component``: the smallest id in the same component, in the order of the
        user's ids. One row a vertex in ascending order of ids.

    Notes
    -----
    Cost: O(E) in the worst case; a few looks a vertex where one component holds most of an
    undirected graph. Weights are not read.
    """

    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("components",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "component": ColumnType("vertex")}

    def run(self, run: Run) -> Table:
        label = run.engine.components(run.staying, report=run.report)
        return {"vertex": Values(run.vertices), "component": Values(run.own(label))}
