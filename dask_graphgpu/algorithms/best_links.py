"""One-to-one links between two tables: each record keeps the best partner that is left for it.

References
----------
.. [1] Gale, Shapley, "College admissions and the stability of marriage", American Mathematical Monthly 1962.
.. [2] Preis, "Linear time 1/2-approximation algorithm for maximum weighted matching in general graphs", STACS 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from dask_graphgpu.algorithms.algorithm import Algorithm, require_weight
from dask_graphgpu.algorithms.edge_table import edge_columns, edge_table
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


@dataclass(frozen=True)
class BestLinks(Algorithm):
    """One-to-one links, those of the largest weight first.

    The weight of an edge is the score of a link: the larger, the better. The link of the largest score is kept, all
    others of the two records are dropped, and so on with those that are left. Links that are the best ones of both of
    their records are always kept, and no two records would both rather have each other than whom they have.

    The source column has the records of one table and the destination column those of the other: each record of
    either has one partner at most. An id in both columns is two records, one of each table. Of a graph with
    ``directed=False`` all records are of one table, each with one partner at most.

    Returns
    -------
    frame
        The links that are kept, under the edge frame's own names of the id columns, with the weight; ordered by
        their ends. Of an undirected graph the smaller id first.

    Raises
    ------
    InvalidArgument
        There are no weights.

    Notes
    -----
    Of links of the same score the one with the smaller source is taken, then the one with the smaller destination,
    so the answer is one and the same. Of repeated links the largest score counts. This is the stable matching
    (Gale, Shapley) by a score that both sides see alike; its sum of scores is at least half of the largest that
    one-to-one links can have (Preis).

    Cost: a sort of the edges by weight; 40 bytes an edge. On several ranks one of them gets all edges. With edges on
    disk and the CPU engine instead some passes over them, and 50 bytes a vertex.
    """

    row = "edge"
    rule = "max"

    def engine_functions(self) -> tuple[str, ...]:
        return ("edges_among", "best_links")

    def reads_weight(self, schema: EdgeSchema) -> bool:
        require_weight(schema, "best_links", "")
        return True

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        return edge_columns(schema.weight_kind)

    def run(self, run: Run) -> Table:
        everywhere = np.ones_like(run.rows, bool, shape=run.view.num_vertices)
        every = partial(run.engine.edges_among, run.view, everywhere)
        found = run.engine.best_links(run.view, every, report=run.report)
        source, destination, weight = (np.asarray(each, like=run.rows) for each in found)
        return edge_table(run, source, destination, {"edge weight": Values(weight)})
