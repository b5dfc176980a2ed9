"""``frame.graph`` on Dask and pandas frames."""

from __future__ import annotations

import weakref
from typing import Any

import pandas as pd
from dask.base import is_dask_collection
from dask.dataframe.dask_expr import new_collection  # type: ignore[attr-defined]
from dask.dataframe.extensions import register_dataframe_accessor

from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.graph import Graph

_PASSED_ON = {*ALGORITHMS, "persist", "save", "explain"}


class GraphAccessor:
    """Graph methods of a frame whose rows are edges.

    Called, it takes the columns and options of `Graph`; used directly, it takes the defaults:
    ``edges.graph.bfs(0)`` is ``edges.graph().bfs(0)``.
    """

    def __init__(self, frame: Any) -> None:
        # A frame caches its accessor: holding the frame here would be a cycle, which keeps
        # persisted partitions alive until the garbage collector runs. Its expression is held, and
        # the frame looked at while it lives, as frame["weight"] = 1 gives it another expression.
        self._lazy = is_dask_collection(frame)
        self._held = frame.expr if self._lazy else frame
        self._frame = weakref.ref(frame)

    def __call__(self, **options: Any) -> Graph:
        if not self._lazy:
            return Graph(self._held, **options)
        frame = self._frame()
        return Graph(new_collection(self._held if frame is None else frame.expr), **options)

    def __getattr__(self, name: str) -> Any:
        if name in _PASSED_ON:
            return getattr(self(), name)
        raise AttributeError(f"no graph method {name!r}; there are {', '.join(sorted(_PASSED_ON))}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_PASSED_ON]


GraphAccessor.__call__.__doc__ = Graph.__doc__


def register() -> None:
    """Put ``.graph`` on Dask frames (Dask-cuDF's derive from them) and on pandas frames."""
    register_dataframe_accessor("graph")(GraphAccessor)
    pd.api.extensions.register_dataframe_accessor("graph")(GraphAccessor)
