"""A saved graph goes from its files to the memory of the GPU."""

from __future__ import annotations

from dask_graphgpu.io.objects.object_folder import ObjectFolder
from dask_graphgpu.partition.device.build import DevicePartition
from dask_graphgpu.partition.device.memory import use_pool
from dask_graphgpu.partition.device.moved import moved
from dask_graphgpu.partition.empty import EmptyPartition
from dask_graphgpu.store.saved import open_partition


def open_on_device(path: str | ObjectFolder, fingerprint: str) -> DevicePartition | EmptyPartition:
    """Map the partition of a saved graph and bring it to the GPU, updates put in.

    Raises
    ------
    InvalidSavedGraph, OutOfDeviceMemory
        The first as `open_partition`.
    """
    found = open_partition(path, fingerprint)
    if isinstance(found, EmptyPartition):
        return found
    use_pool()
    return moved(found)
