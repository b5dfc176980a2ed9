"""Results that have one row an edge."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values


def edge_columns() -> dict[str, ColumnType]:
    """The two ends of an edge, under the edge frame's own names."""
    return {"edge source": ColumnType("vertex"), "edge destination": ColumnType("vertex")}


def edge_table(run: Run, source: np.ndarray, destination: np.ndarray, columns: Table) -> Table:
    """Edges between dense ids in the order of the user's ids; on ranks each gives some of them.

    Of an undirected graph both directions may be given; those from the smaller id are kept.
    """
    rank = run.ids.rank if run.ranks is None else None
    first, second = (source, destination) if rank is None else (rank[source], rank[destination])
    kept = np.arange(len(first)) if run.view.directed else np.flatnonzero(first <= second)
    kept = kept[np.lexsort((second[kept], first[kept]))]
    run.order(first[kept], run.num_vertices, second[kept])
    table = {"edge source": Values(source[kept]), "edge destination": Values(destination[kept])}
    return table | {name: Values(column.data[kept]) for name, column in columns.items()}
