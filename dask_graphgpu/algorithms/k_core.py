"""The k-core as edges: those of the frame whose two ends have a core number of at least k.

References
----------
.. [1] Seidman, "Network structure and minimum degree", Social Networks 1983.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import edge_columns
from dask_graphgpu.algorithms.induced import edge_table
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.io.results import ColumnType, Table
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class KCore(Algorithm):
    """The edges of the k-core, for one k.

    Parameters
    ----------
    k : int
        Every vertex of the k-core has at least k neighbours in it.

    Returns
    -------
    frame
        The rows of the edge frame that join two vertices of the k-core, under its own names of the
        id columns and the weight, ordered by source and destination. Repeated rows stay, ordered by
        weight (unless the graph was given another ``duplicates=``); an undirected graph gives every
        edge once, the smaller id first. Weights may be any numbers; nulls among
        floats come back as NaN.

    Notes
    -----
    Cost: in memory O(V), the edges of vertices outside the k-core, and two passes over the others; on several
    ranks and beyond memory as ``core_number``, up to level k.
    """

    k: int

    row = "edge"
    rule = "keep"
    returns_weight = True

    def __post_init__(self) -> None:
        check_whole("k", self.k, 0)

    def engine_functions(self) -> tuple[str, ...]:
        return ("k_core", "edges_among")

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return edge_columns(schema.weight_kind)

    def run(self, run: Run) -> Table:
        inside = run.engine.k_core(run.working, self.k, report=run.report)
        return edge_table(run, run.engine.edges_among(run.answering, inside))
