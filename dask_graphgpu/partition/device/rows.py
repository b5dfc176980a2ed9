"""`Rows` whose arrays are CuPy's."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from dask_graphgpu.partition.device import csr, rowwise
from dask_graphgpu.partition.rows import Rows


class DeviceRows(Rows):
    """The edges of a graph on the device; engines on it read them where they are."""

    on_device: ClassVar[bool] = True
    csr: ClassVar[ModuleType] = csr
    rowwise: ClassVar[ModuleType] = rowwise
