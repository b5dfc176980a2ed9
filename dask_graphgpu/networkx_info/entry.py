"""The backend as NetworkX loads it: what decides on calls at once, the functions themselves at the first call.

Importing these takes a second or more, with Dask and pandas. A script of small graphs, which are left to NetworkX,
is spared it.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from _dask_graphgpu_networkx.functions import FUNCTIONS
from _dask_graphgpu_networkx.rules import BACKEND, can_run, should_run

__all__ = ["can_run", "should_run"]

_OTHERS = ("convert_from_nx", "convert_to_nx", "on_start_tests")


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS or name in _OTHERS:
        return functools.partial(_call, name)
    raise AttributeError(f"the backend has no function {name!r}")


def _call(name: str, /, *args: Any, **kwargs: Any) -> Any:
    return getattr(importlib.import_module(BACKEND), name)(*args, **kwargs)
