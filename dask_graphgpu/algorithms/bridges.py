"""Bridges: edges that alone hold parts of the graph together [1]_.

References
----------
.. [1] Tarjan, Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on Computing 1985.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import edge_columns, of_places
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class Bridges(Algorithm):
    """Edges that alone hold parts of the graph together.

    Without one, its ends are no longer connected. Directions, repeated edges and self-loops mean nothing here: two rows
    between the same vertices are one edge.

    Returns
    -------
    frame
        The id columns under the edge frame's own names. One row a bridge, the smaller id first, ordered by both.

    Notes
    -----
    Cost: that of ``minimum_spanning_forest``, and one pass over the edges; 60 bytes a vertex, on several ranks of
    the whole graph on each. Weights are not read.
    """

    row = "edge"
    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("bridges",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return edge_columns()

    def run(self, run: Run) -> Table:
        low, high = run.engine.bridges(run.answering, report=run.report)
        return of_places(run, low, high, {})
