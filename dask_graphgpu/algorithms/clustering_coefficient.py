"""Local clustering coefficients, as LDBC Graphalytics defines them (LCC).

References
----------
.. [1] Watts, Strogatz, "Collective dynamics of 'small-world' networks", Nature 1998.
.. [2] Iosup et al., "The LDBC Graphalytics benchmark", arXiv 2011.15028.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class ClusteringCoefficient(Algorithm):
    """Share of the pairs of a vertex's neighbours that are joined.

    A vertex with d neighbours, those of in- and out-edges together, has d (d - 1) ordered pairs of
    them: the coefficient is the part of these that are edges. In an undirected graph an edge is two
    such pairs, which gives 2 T / (d (d - 1)) over T triangles (Watts, Strogatz); a directed graph
    counts each direction by itself, as LDBC's LCC. Repeated edges and self-loops mean nothing.

    Returns
    -------
    frame
        ``vertex``, ``clustering_coefficient`` (float64, 0 to 1; 0 with fewer than two neighbours).
        One row a vertex in ascending order of ids.

    Notes
    -----
    Cost: as ``triangle_count``; of a directed graph the in-edges are made as well. Weights are not
    read.
    """

    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ("neighbour_arcs", "simple_degrees")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        value = ColumnType("float64")
        return {"vertex": ColumnType("vertex"), "clustering_coefficient": value}

    def run(self, run: Run) -> Table:
        arcs = run.engine.neighbour_arcs(run.working, report=run.report)
        degree = run.engine.simple_degrees(run.working).astype(np.float64)
        coefficient = arcs / np.maximum(degree * (degree - 1), 1)
        return {
            "vertex": Values(run.vertices),
            "clustering_coefficient": run.column(coefficient),
        }
