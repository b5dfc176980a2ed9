"""Eigenvector centrality by power iteration.

References
----------
.. [1] Bonacich, "Power and centrality: a family of measures", Am. J. Sociology 1987.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cache

import numpy as np

from dask_graphgpu.algorithms.algorithm import reads_optional_weight, refuse_extreme_weights
from dask_graphgpu.algorithms.iterated import Iterated
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram


@cache
def program(*, weighted: bool) -> VertexProgram:
    """Values of A + I, over the sum of those before, so that the sum goes to 1 + the eigenvalue."""
    return VertexProgram(
        state={"x": Field("float64", initial=lambda num_vertices: 1.0 / num_vertices)},
        compute=(lambda source_x, weight: source_x * weight)
        if weighted
        else lambda source_x: source_x,
        combine="sum",
        apply=lambda x, message, total: {"x": (x + message) / total},
        constants={"tolerance": 1e-6},
        aggregates={
            "total": Sum(lambda x: x),
            "change": Sum(lambda x, new_x: abs(new_x - x)),
        },
        stop=lambda change, total, tolerance: change < tolerance * total,
    )


@dataclass(frozen=True)
class EigenvectorCentrality(Iterated):
    """Eigenvector centrality: central neighbours count more.

    Parameters
    ----------
    tolerance : float
        Stop when values changed in sum by less than this part of their sum. 0: exactly
        ``max_iterations``.
    max_iterations : int
        Iterations at most.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.

    Returns
    -------
    frame
        ``vertex``, ``eigenvector_centrality`` (float64), with a sum of squares of 1. One row a
        vertex in ascending order of ids.

    Raises
    ------
    NotConverged
        ``max_iterations`` came first; the message gives the last change.
    InvalidEdges
        Weights are so large or small that sums of them would be infinite, or parts of these 0.

    Notes
    -----
    x(v) is in proportion to the sum over edges u -> v of w(u, v) x(u): edges *into* a vertex
    count. Iterated is A + I, which has the same eigenvectors and converges on bipartite graphs
    too. It starts from equal values: where several vectors have the largest eigenvalue, as in a
    graph of equal parts, the answer is the one next to them. Directed graphs without cycles have
    no such vector, and iterations do not settle soon. Repeated rows are edges of their own. Cost:
    O(E) an iteration; fewer iterations the further the second eigenvalue is from the first.
    """

    _: KW_ONLY
    weighted: bool | None = None

    by = "destination"

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "eigenvector_centrality(weighted=True)")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "eigenvector_centrality": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "products")
        x = self.iterate(run, run.view, program(weighted=run.view.is_weighted), {})
        x = x / np.sqrt(run.total(x * x))
        return {"vertex": Values(run.vertices), "eigenvector_centrality": run.column(x)}
