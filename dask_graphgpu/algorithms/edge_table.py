"""Results that have one row an edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values


def edge_columns(weight: str | None = None) -> dict[str, ColumnType]:
    """The two ends of an edge and its weight of dtype ``weight``, if any, under the edge frame's own names."""
    ends = {"edge source": ColumnType("vertex"), "edge destination": ColumnType("vertex")}
    return ends if weight is None else {**ends, "edge weight": ColumnType(weight)}


def edge_table(run: Run, source: Any, destination: Any, columns: Table) -> Table:
    """Edges between dense ids in the order of the user's ids; on ranks each gives some of them.

    Of an undirected graph both directions may be given; those from the smaller id are kept.
    """
    rank = run.ids.rank if run.ranks is None else None
    first, second = (
        (source, destination) if rank is None else (rank.take(source), rank.take(destination))
    )
    if run.view.directed:
        order = order_of_ends(first, second, run.num_vertices)
    else:
        kept = np.flatnonzero(first <= second)
        order = kept[order_of_ends(first[kept], second[kept], run.num_vertices)]
    run.order(first[order], run.num_vertices, second[order])
    table = {"edge source": Values(source[order]), "edge destination": Values(destination[order])}
    return table | {name: Values(column.data[order]) for name, column in columns.items()}


def of_places(run: Run, low: Any, high: Any, columns: Table) -> Table:
    """As `edge_table`, of ends that are places in the order of the user's ids; on ranks the numbers of vertices."""
    dense = run.ids.position if run.ranks is None else None
    source, destination = (low, high) if dense is None else (dense.take(low), dense.take(high))
    return edge_table(run, source, destination, columns)


def order_of_ends(first: Any, second: Any, n: int) -> Any:
    """Places of edges in the order of their ends, which are below ``n``; equal ones stay in theirs."""
    bits = max(n - 1, 1).bit_length()
    if 2 * bits > 64:
        return np.lexsort((second, first))
    key = (first.astype(np.uint64) << np.uint64(bits)) | second.astype(np.uint64)
    return np.argsort(key, kind="stable")
