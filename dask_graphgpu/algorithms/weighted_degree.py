"""Weighted degrees: sums of the weights of a vertex's edges, also called strength.

References
----------
.. [1] Barrat et al., "The architecture of complex weighted networks", PNAS 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, require_weight
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.device.masks import count_true


@dataclass(frozen=True)
class WeightedDegree(Algorithm):
    """Sum of the weights of the edges at every vertex.

    Returns
    -------
    frame
        ``vertex``; of a directed graph ``weighted_in_degree`` and ``weighted_out_degree``;
        ``weighted_degree``: int64 over integer weights, exact; float64 over float weights, infinite where
        a sum is. Repeated rows add up; a self-loop counts twice in ``weighted_degree``. One row a vertex in
        ascending order of ids.

    Raises
    ------
    InvalidArgument
        The graph has no weights.
    IntegerOverflow
        A sum does not fit int64.

    Notes
    -----
    Cost: O(V + E), a pass over the weights of each direction.
    """

    rule = "keep"

    def engine_functions(self) -> tuple[str, ...]:
        return ()

    def reads_weight(self, schema: EdgeSchema) -> bool:
        require_weight(schema, "weighted_degree", "; for the number of edges use degree")
        return True

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        number = ColumnType(schema.weight_kind or "int64")
        sides = ("in", "out") if schema.directed else ()
        named = {f"weighted_{side}_degree": number for side in sides}
        return {"vertex": ColumnType("vertex"), **named, "weighted_degree": number}

    def run(self, run: Run) -> Table:
        view = run.view
        table = {"vertex": Values(run.vertices)}
        if view.directed:
            sides = [run.column(view.weighted_degrees(side)) for side in ("in", "out")]
            table["weighted_in_degree"], table["weighted_out_degree"] = sides
        else:
            sides = [run.column(x) for x in (view.weighted_degrees("out"), view.loop_weights())]
        table["weighted_degree"] = Values(_added(*(side.data for side in sides)), fresh=True)
        return table


def _added(a: Any, b: Any) -> Any:
    """Their sum, of none below 0. Raises IntegerOverflow where one does not fit."""
    with np.errstate(over="ignore"):  # of floats it is infinite then
        total = a + b
    if total.dtype.kind != "f" and (bad := count_true(total < 0)):
        raise IntegerOverflow(
            f"the summed weights of a vertex's edges do not fit int64 ({bad} times); give the weights "
            "as float64"
        )
    return total
