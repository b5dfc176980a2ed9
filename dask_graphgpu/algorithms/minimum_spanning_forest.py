"""Minimum spanning forest by Boruvka's algorithm: every component takes its lightest edge, in rounds.

References
----------
.. [1] Boruvka, "O jistem problemu minimalnim", Prace Moravske prirodovedecke spolecnosti 1926.
.. [2] Chung, Condon, "Parallel implementation of Boruvka's minimum spanning tree algorithm", IPPS 1996.
"""

from __future__ import annotations

from dataclasses import dataclass

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.edge_table import edge_columns, of_places
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class MinimumSpanningForest(Algorithm):
    """The edges of a minimum spanning tree of each component.

    Returns
    -------
    frame
        The edges of the forest under the edge frame's own names of the id columns, the smaller id
        first, with the weight where there is one; ordered by their ends. A component of k vertices
        has k - 1 of them.

    Notes
    -----
    Directions are ignored; of repeated edges, also of opposite ones, the lightest counts. Of edges
    of the same weight those with smaller ends are taken, so the answer is one and the same. Without
    weights all edges weigh the same. Cost: O(E log V) at most; most edges are looked at two or three
    times. On several ranks one of them gets all edges of the forest in the end.
    Edges beyond a limit of memory are gone over once, and there is to be room for several a vertex.
    """

    row = "edge"
    rule = "min"

    def engine_functions(self) -> tuple[str, ...]:
        return ("spanning_forest",)

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight is not None

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return edge_columns(schema.weight_kind)

    def run(self, run: Run) -> Table:
        view = run.staying if run.ranks is None else run.answering
        low, high, weight = run.engine.spanning_forest(view, report=run.report)
        columns = {} if run.schema.weight is None else {"edge weight": Values(weight)}
        return of_places(run, low, high, columns)
