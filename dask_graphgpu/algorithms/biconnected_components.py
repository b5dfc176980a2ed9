"""Biconnected components: parts of the graph that no single vertex holds together [1]_.

References
----------
.. [1] Tarjan, Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on Computing 1985.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class BiconnectedComponents(Algorithm):
    """Biconnected component of every edge.

    Within one, no single vertex holds the rest together. Two edges are in the same component if a cycle that passes no
    vertex twice goes along both. A component of one edge is a bridge. Directions, repeated edges and self-loops mean
    nothing here.

    Returns
    -------
    frame
        The id columns under the edge frame's own names, ``component`` (int64, from 0 on, in the order of the first
        edge of each). One row for any two vertices that are joined, the smaller id first, ordered by both.

    Notes
    -----
    Cost: as of ``bridges``, and a second pass that lists the edges; these take 50 bytes each. Weights are
    not read.
    """

    row = "edge"
    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("biconnected_edges",)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {**edge_columns(), "component": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        first, second, component = run.engine.biconnected_edges(run.answering, report=run.report)
        run.order(first, second)
        return {
            "edge source": Values(first),
            "edge destination": Values(second),
            "component": Values(component),
        }
