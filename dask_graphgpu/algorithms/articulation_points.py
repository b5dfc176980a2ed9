"""Articulation points: vertices that alone hold parts of the graph together [1]_.

References
----------
.. [1] Tarjan, Vishkin, "An efficient parallel biconnectivity algorithm", SIAM Journal on Computing 1985.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class ArticulationPoints(Algorithm):
    """Vertices that alone hold parts of the graph together.

    Without one, some of the others are no longer connected. They are also called cut vertices. Directions,
    repeated edges and self-loops mean nothing here.

    Returns
    -------
    frame
        ``vertex``, ``biconnected_components`` (int64, at least 2), of how many it is a part. One row for every such
        vertex, in ascending order of the ids.

    Notes
    -----
    Cost: as of ``bridges``. Weights are not read.
    """

    row = "articulation point"
    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("num_blocks",)

    def num_rows(self, num_vertices: int, schema: EdgeSchema) -> int | None:
        return None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "biconnected_components": ColumnType("int64")}

    def run(self, run: Run) -> Table:
        number = run.own(run.engine.num_blocks(run.view, report=run.report))
        several = np.flatnonzero(number > 1)
        run.order(run.vertices[several])
        return {
            "vertex": Values(run.vertices[several]),
            "biconnected_components": Values(number[several]),
        }
