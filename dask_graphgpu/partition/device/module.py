"""Which package's functions an array is for, and those for columns of cuDF."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np


def module_of(array: Any) -> ModuleType:
    """NumPy or CuPy, whichever the array belongs to."""
    if isinstance(array, np.ndarray):
        return np
    import cupy

    module: ModuleType = cupy
    return module


def of_columns() -> ModuleType:
    """The module `columns`, which imports cuDF."""
    from dask_graphgpu.partition.device import columns

    return columns
