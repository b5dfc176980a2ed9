"""Edges and vertices as a graph of NetworkX's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.optional import imported


def made(vertices: pd.DataFrame, edges: pd.DataFrame, schema: EdgeSchema, duplicates: str) -> Any:
    """The graph of all vertices and edges; its kind is by direction and the rule for repeated rows.

    Raises
    ------
    InvalidArgument
        Rows are repeated, and there is neither a rule nor is one weight as good as the other.
    MissingPackage
    """
    nx = imported("networkx", "plot", "to_networkx()")
    ends = [*schema.source, *schema.destination]
    repeated = int(edges.duplicated(ends).sum())
    if repeated and duplicates == "auto" and schema.weight is not None:
        raise InvalidArgument(
            f"{repeated:,} rows repeat edges, with weights, and which of them counts nobody has said: give "
            "duplicates='sum', 'min' or 'max' to the graph of the frame, or 'keep' for a MultiGraph"
        )
    name = ("Multi" if duplicates == "keep" else "") + ("DiGraph" if schema.directed else "Graph")
    graph = getattr(nx, name)()
    graph.add_nodes_from(ids_of(vertices, schema.vertex))
    pairs = zip(ids_of(edges, schema.source), ids_of(edges, schema.destination), strict=True)
    if schema.weight is None:
        graph.add_edges_from(pairs)
    else:
        weights = edges[schema.weight].tolist()
        graph.add_edges_from(
            (*pair, {schema.weight: w}) for pair, w in zip(pairs, weights, strict=True)
        )
    return graph


def ids_of(frame: pd.DataFrame, names: Sequence[str]) -> list[Any]:
    """Ids as Python values, tuples where they are of several columns."""
    columns = [frame[name].tolist() for name in names]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
