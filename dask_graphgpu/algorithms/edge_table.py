"""Results that have one row an edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run, at
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.partition.csr import all_below, are_ascending, from_edges
from dask_graphgpu.partition.device.building import edge_keys
from dask_graphgpu.partition.device.csr import Pairs
from dask_graphgpu.partition.device.host import to_new_memory


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
        (source, destination) if rank is None else (at(rank, source), at(rank, destination))
    )
    if not run.view.directed:
        kept = np.flatnonzero(first <= second)
        if len(kept) < len(first):
            first, second = at(first, kept), at(second, kept)
            columns = {name: Values(at(column.data, kept)) for name, column in columns.items()}
    return of_places(run, first, second, columns)


def of_places(run: Run, low: Any, high: Any, columns: Table) -> Table:
    """As `edge_table`, of ends that are places in the order of the user's ids; on ranks the numbers of vertices.

    They may have stayed on the GPU, see `Run.staying` and, for rows that are in order, `Run.answering`.
    """
    first, second = low, high
    in_order = are_ascending(low, high) if isinstance(low, np.ndarray) else run.ranks is not None
    if not in_order:
        order = order_of_ends(low, high, run.num_vertices)

        def ordered(values: Any) -> Any:
            found = at(values, order)
            return to_new_memory(found) if run.stays else found

        first, second = at(low, order), at(high, order)
        columns = {
            name: Values(ordered(column.data), fresh=True) for name, column in columns.items()
        }
    run.order(first, second)
    ends = {"edge source": run.vertices_at(first), "edge destination": run.vertices_at(second)}
    return ends | columns


def order_of_ends(first: Any, second: Any, n: int) -> Any:
    """Places of edges in the order of their ends, which are below ``n``; equal ones stay in theirs."""
    if isinstance(first, np.ndarray) and len(first) > n // 8:  # many: into rows, by all threads
        every = all_below(len(first), np.uint32 if len(first) <= 2**32 else np.uint64)
        return from_edges(n, first, second, {"place": every}).columns["place"]
    bits = max(n - 1, 1).bit_length()
    if 2 * bits > 64:
        return np.lexsort((second, first))
    if isinstance(first, np.ndarray):
        keys = (first.astype(np.uint64) << np.uint64(bits)) | second.astype(np.uint64)
    else:
        keys, _ = edge_keys([Pairs(first, second)], bits, 0, marked=False, both=False)
    return np.argsort(keys, kind="stable")
