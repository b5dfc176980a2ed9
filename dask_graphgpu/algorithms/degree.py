"""Degrees."""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.partition.device.elements import added


@dataclass(frozen=True)
class Degree(Algorithm):
    """Number of edges at every vertex.

    Returns
    -------
    frame
        ``vertex``; of a directed graph ``in_degree`` and ``out_degree``; ``degree``, all int64. A
        repeated edge counts once unless the graph was given ``duplicates="keep"``; a self-loop
        counts twice in ``degree``. One row a vertex in ascending order of ids.

    Notes
    -----
    Cost: O(V + E), one pass over the rows of neighbours.
    """

    rule = "one"

    def engine_functions(self) -> tuple[str, ...]:
        return ()

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        names = ("in_degree", "out_degree", "degree") if schema.directed else ("degree",)
        return {"vertex": ColumnType("vertex"), **{name: ColumnType("int64") for name in names}}

    def run(self, run: Run) -> Table:
        view, table = run.view, {"vertex": Values(run.vertices)}
        if view.directed:
            into, out = (run.column(view.degrees(direction)) for direction in ("in", "out"))
            table |= {"in_degree": into, "out_degree": out}
        else:
            out, into = run.column(view.degrees("out")), run.column(view.loops())
        return {**table, "degree": Values(added(into.data, out.data), fresh=True)}
