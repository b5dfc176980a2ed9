"""The k-core as edges: those of the frame whose two ends have a core number of at least k.

References
----------
.. [1] Seidman, "Network structure and minimum degree", Social Networks 1983.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, Run, check_number
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class KCore(Algorithm):
    """The edges of the k-core.

    Parameters
    ----------
    k : int
        Every vertex of the k-core has at least k neighbours in it.

    Returns
    -------
    frame
        The rows of the edge frame that join two vertices of the k-core, under its own names of the
        id columns and the weight, ordered by source and destination. Repeated rows stay (unless
        the graph was given another ``duplicates=``); an undirected graph gives every edge once,
        the smaller id first.

    Notes
    -----
    Cost: as ``core_number``, or of the vertices outside the k-core only (GPU); and one pass over the edges.
    """

    k: int

    rule = "keep"

    def __post_init__(self) -> None:
        whole = isinstance(self.k, (int, np.integer)) and not isinstance(self.k, bool)
        check_number("k", self.k, "a whole number of at least 0", whole and self.k >= 0)

    def engine_functions(self) -> tuple[str, ...]:
        return ("k_core",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        ends = {"edge source": ColumnType("vertex"), "edge destination": ColumnType("vertex")}
        if schema.weight is None:
            return ends
        return {**ends, schema.weight: ColumnType(schema.weight_kind or "int64")}

    def run(self, run: Run) -> Table:
        inside = run.engine.k_core(run.view, self.k, report=run.report)
        out, rank = run.view.out, run.ids.rank
        source = run.view.sources()
        chosen = inside[source] & inside[out.neighbours]
        source, destination = source[chosen], out.neighbours[chosen]
        places = (source, destination) if rank is None else (rank[source], rank[destination])
        order = np.argsort(places[1], kind="stable")
        order = order[np.argsort(places[0][order], kind="stable")]
        if not run.view.directed:
            order = order[(places[0] <= places[1])[order]]
        table = {
            "edge source": Values(source[order]),
            "edge destination": Values(destination[order]),
        }
        if run.schema.weight is not None:
            weight = out.weight if out.weight is not None else np.empty(0)
            table[run.schema.weight] = Values(weight[chosen][order])
        return table
