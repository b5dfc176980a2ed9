"""Degrees, and what the order of vertices is chosen by, on the device: as `partition.order`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.partition.device import building, elements
from dask_graphgpu.partition.device.arrays import module_of
from dask_graphgpu.partition.device.masks import all_true
from dask_graphgpu.partition.order import falling_degree, is_skewed, skewed


class Degrees:
    """Of all vertices; ``ends`` says how often each is a source and a destination."""

    def __init__(self, ends: Any) -> None:
        self._ends, self._xp = ends, module_of(ends)

    @cached_property
    def _order(self) -> tuple[Any, float]:
        return building.order_of_degrees(self._ends)

    @property
    def skewed(self) -> bool:
        """Whether few vertices hold most edge ends."""
        if self._xp is np:
            return is_skewed(self._ends.sum(axis=0))
        total = -int(self._order[0].sum())
        return skewed(self._ends.shape[1], float(total), self._order[1])

    @property
    def balanced(self) -> bool:
        """Whether each vertex is as often a source as a destination."""
        return all_true(self._ends[0] == self._ends[1])

    def falling(self, dtype: Any) -> Any:
        """Place of each vertex when sorted by falling degree; equal degrees keep their order."""
        if self._xp is np:
            return falling_degree(self._ends.sum(axis=0), dtype)
        return elements.places_in(self._xp.argsort(self._order[0], kind="stable"), dtype)


def near_ends(rows: Any, neighbours: Any, table: Any, step: int, window: int) -> int:
    """How many of every ``step``-th edge join vertices whose numbers are at most ``window`` apart."""
    if not isinstance(rows, np.ndarray):
        return building.count_near(rows, neighbours, table, step, window)
    a, b = table[rows[::step]].astype(np.int64), table[neighbours[::step]].astype(np.int64)
    return int((abs(a - b) <= window).sum())
