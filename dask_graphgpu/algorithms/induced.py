"""Results that are the edges among some of the vertices (an induced subgraph)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema


def edge_columns(schema: EdgeSchema) -> dict[str, ColumnType]:
    """Columns of such a result: those of the edges, under their own names, and the weight."""
    ends = {"edge source": ColumnType("vertex"), "edge destination": ColumnType("vertex")}
    if schema.weight is None:
        return ends
    return {**ends, schema.weight: ColumnType(schema.weight_kind or "int64")}


def edges_among(run: Run, inside: Any) -> Table:
    """The edges of which both ends are ``inside``, a bool a vertex, right for copies too on ranks.

    Ordered by source and destination; of an undirected graph every edge once, the smaller id first.
    """
    out = run.view.out
    rank = run.ids.rank if run.ranks is None else run.view.numbers
    source = run.view.sources()
    chosen = inside[source] & inside[out.neighbours]
    source, destination = source[chosen], out.neighbours[chosen]
    weight = None if out.weight is None else out.weight[chosen]
    first, second = (source, destination) if rank is None else (rank[source], rank[destination])
    if not run.view.directed:
        once = first <= second
        first, second = first[once], second[once]
        weight = None if weight is None else weight[once]
    if rank is None:  # as the rows are
        source, destination = first, second
    else:
        first, second, weight = _ordered(first, second, weight, run.num_vertices)
        dense = run.ids.position if run.ranks is None else None
        source = first if dense is None else dense[first]
        destination = second if dense is None else dense[second]
        run.order(first, run.num_vertices, second)
    table = {"edge source": Values(source), "edge destination": Values(destination)}
    if run.schema.weight is not None:
        table[run.schema.weight] = Values(np.empty(0) if weight is None else weight)
    return table


def _ordered(first: Any, second: Any, weight: Any, n: int) -> tuple[Any, Any, Any]:
    """Edges by both ends, which are below ``n``, as one key; equal ones stay in their order."""
    bits = max(n - 1, 1).bit_length()
    if 2 * bits > 64:
        order = np.lexsort((second, first))
        return first[order], second[order], None if weight is None else weight[order]
    key = (first.astype(np.uint64) << np.uint64(bits)) | second
    if weight is None:
        key.sort()
    else:
        order = np.argsort(key, kind="stable")
        key, weight = key[order], weight[order]
    first = (key >> np.uint64(bits)).astype(first.dtype)
    return first, (key & np.uint64((1 << bits) - 1)).astype(second.dtype), weight
