"""Numba kernels for the CPU: functions over a block that hold no lock.

A module is loaded when it is first asked for: what builds graphs says ``from dask_graphgpu.kernels import
cpu as kernels`` and ``kernels.csr.count``, and is imported before there is a compiler, which takes longer
to load than all the rest.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    module = f"{__name__}.{name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
