"""The path that predecessors make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.kernels.compile import cuda

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View


def path(view: View, source: int, target: int, predecessor: Any) -> tuple[Any, Any, int]:
    """The vertices on the path, without the source; as `engine.cpu.path`.

    Notes
    -----
    One thread follows it: a read that waits for the one before, for every edge.
    """
    here = DeviceView.of(view)
    found, length = cupy.empty(here.n, here.id_dtype), cupy.zeros(1, np.uint64)
    launch.flat(
        cuda("path", defines=here.defines).kernel("path"), 1,
        (
            cupy.asarray(predecessor), here.id_dtype.type(source), here.id_dtype.type(target),
            found, length,
        ),
        threads=1,
    )  # fmt: skip
    size = int(length[0])
    left = cupy.arange(size, dtype=np.int64)[::-1]
    return here.to_caller(found[:size][::-1]), here.to_caller(left), size
