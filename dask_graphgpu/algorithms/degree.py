"""Degrees."""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


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
        view, rows = run.view, run.rows
        table = {"vertex": Values(run.vertices)}
        if view.directed:
            table["in_degree"] = Values(view.degrees("in").take(rows))
            table["out_degree"] = Values(view.degrees("out").take(rows))
            table["degree"] = Values(table["in_degree"].data + table["out_degree"].data)
        else:
            table["degree"] = Values((view.degrees("out") + view.loops()).take(rows))
        return table
