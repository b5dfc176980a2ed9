"""The GPU engine: CUDA kernels, one GPU.

A function's module is imported when the function is first asked for: only programs need Numba.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = {
    "bfs": "bfs",
    "components": "components",
    "core_numbers": "peeling",
    "path_counts": "path_counts",
    "predecessors": "predecessors",
    "run": "programs",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"the GPU engine has no {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
