"""Searches for many values among those that ascend."""

from __future__ import annotations

import numpy as np

_FEW = 1 << 11  # values that are not worth sorting
_SMALL = 1 << 18  # a table that caches hold: any order does


def first_places(ascending: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The first place that is not below each value; as ``np.searchsorted``.

    Many are looked for in ascending order, each near the one before: a table of millions is read once then.
    """
    if len(values) < _FEW or len(ascending) < _SMALL:
        return np.searchsorted(ascending, values)
    order = np.argsort(values)
    places = np.empty(len(values), np.intp)
    places[order] = np.searchsorted(ascending, values.take(order))
    return places
