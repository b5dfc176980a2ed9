"""Searches for many values among those that ascend, or have an order in which they do."""

from __future__ import annotations

import numpy as np

_FEW = 1 << 11  # values that are not worth sorting
_SMALL = 1 << 18  # a table that caches hold: any order does


def first_places(
    table: np.ndarray, values: np.ndarray, order: np.ndarray | None = None
) -> np.ndarray:
    """The first place that is not below each value; as ``np.searchsorted`` with ``order`` as its sorter.

    Many are looked for in ascending order, each near the one before: a table of millions is read once then.
    """
    if len(values) < _FEW or len(table) < _SMALL:
        return np.searchsorted(table, values, sorter=order)
    one_by_one = np.argsort(values)
    places = np.empty(len(values), np.intp)
    places[one_by_one] = np.searchsorted(table, values.take(one_by_one), sorter=order)
    return places
