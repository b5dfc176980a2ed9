"""Hubs and authorities (HITS) by power iteration.

a(v) is in proportion to the sum of h(u) w(u, v) over u -> v, and h(u) to that of w(u, v) a(v): the
principal singular vectors of the weight matrix.

References
----------
.. [1] Kleinberg, "Authoritative sources in a hyperlinked environment", J. ACM 1999.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import (
    Algorithm,
    check_iterations,
    reads_optional_weight,
    refuse_extreme_weights,
)
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class HITS(Algorithm):
    """Hub and authority score of every vertex (HITS).

    A hub points to authorities, and an authority is pointed to by hubs.

    Parameters
    ----------
    tolerance : float
        Stop when the hub scores changed by less than this in sum. 0: exactly ``max_iterations``.
    max_iterations : int
        Iterations at most.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.

    Returns
    -------
    frame
        ``vertex``, ``hub``, ``authority`` (float64). One row a vertex in ascending order of ids;
        each column sums to 1, or is 0 where there are no edges. In an undirected graph both are the
        same.

    Raises
    ------
    NotConverged
        ``max_iterations`` came first; the message gives the last change.
    InvalidEdges
        Weights are so large or small that sums of them would be infinite, or parts of these 0.

    Notes
    -----
    Repeated rows count as often as they occur (weights add up). It starts from equal scores: where
    the largest singular value is not the only one of its size, as in a graph of equal parts, the
    answer is that next to them. Cost: two passes over the edges an iteration; iterations in
    proportion to log(tolerance), fewer the further the second singular value is from the first.
    """

    tolerance: float = 1e-8
    max_iterations: int = 100
    weighted: bool | None = None

    rule = "sum"

    def __post_init__(self) -> None:
        check_iterations(self.tolerance, self.max_iterations)

    def engine_functions(self) -> tuple[str, ...]:
        return ("hits",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return reads_optional_weight(schema, self.weighted, "hits(weighted=True)")

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        score = ColumnType("float64")
        return {"vertex": ColumnType("vertex"), "hub": score, "authority": score}

    def run(self, run: Run) -> Table:
        refuse_extreme_weights(run, "products")
        run.report.limit = int(self.max_iterations) if self.tolerance == 0 else None
        hub, authority = run.engine.hits(
            run.staying, float(self.tolerance), int(self.max_iterations), report=run.report
        )
        return {
            "vertex": Values(run.vertices),
            "hub": run.column(hub),
            "authority": run.column(authority),
        }
