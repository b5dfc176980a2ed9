"""A partition of host memory, or mapped from files, moves to the GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.device.arrays import offset_type
from dask_graphgpu.partition.device.build import DevicePartition
from dask_graphgpu.partition.device.host import to_device
from dask_graphgpu.partition.device.ids import DeviceIds
from dask_graphgpu.partition.device.memory import told
from dask_graphgpu.partition.device.module import of_columns
from dask_graphgpu.partition.partition import Partition


@told("bringing a graph to the GPU")
def moved(partition: Partition) -> DevicePartition:
    """The same in the memory of the GPU; what methods make of the rows as given is made there again.

    Each array is read once and passes pinned memory. Raises OutOfDeviceMemory.
    """
    partition.use_vertices()
    ids, given, vertices = partition.ids, partition.use_given(), partition.vertex_columns
    position, rank = (
        None if each is None else to_device(each) for each in (ids.position, ids.rank)
    )
    offsets = given.offsets.astype(offset_type(given.num_edges))
    rows = Adjacency(to_device(offsets), to_device(given.neighbours), _moved(given.columns))
    columns = replace(
        vertices,
        columns=_moved(vertices.columns),
        known=_moved(vertices.known),
        listed=None if vertices.listed is None else to_device(vertices.listed),
    )
    made = DevicePartition(
        DeviceIds([_column(each) for each in ids.columns], position, rank),
        rows,
        partition.layout,
        columns,
        partition.num_rows,
        fault=partition.fault,
    )
    made.took = dict(partition.took)
    return made


def _moved(columns: Mapping[str, np.ndarray]) -> dict[str, Any]:
    return {name: to_device(column) for name, column in columns.items()}


def _column(ids: pa.Array) -> Any:
    """An id column: an array of integers, or a cuDF series of strings."""
    if pa.types.is_integer(ids.type):
        return to_device(ids.to_numpy(zero_copy_only=True))
    return of_columns().series_of_text(ids)
