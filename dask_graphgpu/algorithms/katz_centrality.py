"""Katz centrality by iteration.

References
----------
.. [1] Katz, "A new status index derived from sociometric analysis", Psychometrika 1953.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cache

import numpy as np

from dask_graphgpu.algorithms.algorithm import reads_optional_weight
from dask_graphgpu.algorithms.iterated import UNTIL_QUIET, Iterated
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_real
from dask_graphgpu.errors import InvalidArgument, NotConverged
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram


@cache
def program(*, weighted: bool) -> VertexProgram:
    """New values: alpha * sum of w x over edges into a vertex, + beta."""
    return VertexProgram(
        state={"x": Field("float64", initial=0.0)},
        compute=(lambda source_x, weight: source_x * weight)
        if weighted
        else lambda source_x: source_x,
        combine="sum",
        apply=lambda message, alpha, beta: {"x": alpha * message + beta},
        constants={"alpha": 0.1, "beta": 1.0, "tolerance": 1e-6},
        **UNTIL_QUIET,
    )


@dataclass(frozen=True)
class KatzCentrality(Iterated):
    """Katz centrality: walks that end at every vertex.

    A walk of k edges counts ``alpha`` to the power of k.

    Parameters
    ----------
    alpha : float
        Factor of an edge: positive, and below 1 over the largest eigenvalue of the weights.
    beta : float
        What every vertex has of its own; positive.
    normalized : bool
        Scale the result to a sum of squares of 1.
    tolerance : float
        Stop when the value of no vertex, before it is scaled, changed by as much as this.
        0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.

    Returns
    -------
    frame
        ``vertex``, ``katz_centrality`` (float64). One row a vertex in ascending order of ids.

    Raises
    ------
    NotConverged
        ``max_iterations`` came first, as when ``alpha`` is too large; the message gives the last
        change.
    InvalidArgument
        ``alpha`` is so large that values grew beyond all floats, or an argument is out of range.

    Notes
    -----
    x(v) = alpha * sum over edges u -> v of w(u, v) x(u), + beta: edges *into* a vertex count.
    Repeated rows are edges of their own. Cost: O(E) an iteration; about log(tolerance) /
    log(alpha * largest eigenvalue) iterations.
    """

    alpha: float = 0.1
    beta: float = 1.0
    _: KW_ONLY
    normalized: bool = True
    weighted: bool | None = None

    by = "destination"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            check_real(name, value, "a positive number", lambda given: 0 < given < np.inf)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "katz_centrality(weighted=True)")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return {"vertex": ColumnType("vertex"), "katz_centrality": ColumnType("float64")}

    def run(self, run: Run) -> Table:
        view = run.working
        constants = {"alpha": float(self.alpha), "beta": float(self.beta)}
        try:
            x = self.iterate(run, view, program(weighted=view.is_weighted), {}, **constants)
        except NotConverged as error:
            raise NotConverged(
                f"{error}, or, where changes grow, a smaller alpha= than {self.alpha!r}"
            ) from None
        if run.total(~np.isfinite(x)):
            raise InvalidArgument(
                f"alpha={self.alpha!r} is too large for this graph: values grow without end. Give one below "
                "1 / the largest eigenvalue of the weights; all below 1 / the largest weighted degree are"
            )
        if self.normalized and run.num_vertices:
            x = x / run.most(x)  # the squares of these are no longer beyond floats, nor all 0
            x = x / np.sqrt(run.total(x * x))
        return {"vertex": Values(run.vertices), "katz_centrality": run.column(x)}
