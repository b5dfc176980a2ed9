"""A graph without a vertex as a partition with arrays of no length, to be saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dask_graphgpu.io.schema import EdgeSchema, id_type
from dask_graphgpu.partition.as_given import AsGiven
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ids import VertexIds
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.partition import Partition, VertexColumns


def no_vertices(
    schema: EdgeSchema, layout: Layout, edge_columns: Sequence[str], vertex_columns: Sequence[str]
) -> Partition:
    """The partition of a graph whose edges and vertices would have these columns; it has no layers."""
    ids = [pa.array([], id_type(dtype)) for dtype in schema.ids]
    edges = {name: np.empty(0) for name in edge_columns}
    rows = Adjacency(np.zeros(1, np.int64), np.empty(0, np.uint32), edges)
    vertices = {name: np.empty(0) for name in vertex_columns}
    columns = VertexColumns(vertices, dict.fromkeys(vertices, 0))
    layout = replace(layout, layered=False, root=None)
    aside = None if layout.directed else AsGiven()
    return Partition(VertexIds(ids, None), rows, layout, columns, 0, as_given=aside)
