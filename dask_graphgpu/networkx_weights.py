"""Attributes of the edges of a NetworkX graph as weights, and the types that sums of them have in NetworkX."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np

LIMIT = 2**53  # of weights: from here on a float next to an integer may round it

# Types of weights: NetworkX works with those of others, and its results are of them.
_TYPES = {int, float, np.int64, np.float64}


class Weights:
    """An attribute of the edges as numbers.

    Attributes
    ----------
    values : sequence
        As they were given.
    reason : str
        Why methods cannot take them; empty: they can.
    numbers : int64 or float64 array
    plain : bool
        All are Python's int and float, so that sums of them are.
    are_floats : bool array, or None
        Which are floats, where there are both; None: all are or none is.
    has_zero : bool
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values
        self.numbers, self.are_floats = np.empty(0), None
        self.reason = "only for numbers from 0 as weights"
        types = set(map(type, values))
        if not types <= _TYPES:
            return
        floats = {t for t in types if issubclass(t, float)}
        try:
            self.numbers = np.array(values, np.float64 if floats else np.int64)
        except OverflowError:
            return
        if not ((self.numbers >= 0) & (self.numbers < LIMIT)).all():  # NaN is neither
            return
        self.reason = ""
        self.plain = types <= {int, float}
        self.has_zero = bool((self.numbers == 0).any())
        if floats and types - floats:
            self.are_floats = np.array([isinstance(value, float) for value in values])


def sums_are_floats(
    ends: tuple[np.ndarray, np.ndarray],
    weights: Weights,
    directed: bool,
    source: int,
    distance: np.ndarray,
) -> np.ndarray:
    """Which distances NetworkX has as floats, where some weights are integers and some floats.

    A distance is a float where the path to it has a float. Of several shortest paths NetworkX keeps the
    one whose last vertex but one it looks at first: by distance, then by when it was met.

    Parameters
    ----------
    ends : two int64 arrays
        Both ends of each edge.
    distance : float64 array
        Of each vertex from ``source``; NaN where it is not reached.

    Returns
    -------
    bool array
    """
    assert weights.are_floats is not None
    ways = [ends] if directed else [ends, ends[::-1]]
    u, v = (np.concatenate(side) for side in zip(*ways, strict=True))
    number, is_float = (np.tile(x, len(ways)) for x in (weights.numbers, weights.are_floats))
    shortest = np.flatnonzero(distance[u] + number == distance[v])
    shortest = shortest[np.argsort(u[shortest], kind="stable")]
    bounds = np.searchsorted(u[shortest], np.arange(len(distance) + 1)).tolist()
    towards, floating = v[shortest].tolist(), is_float[shortest].tolist()
    lengths = distance.tolist()
    found = np.zeros(len(distance), bool)
    met, waiting = {source: False}, [(0.0, 0, source)]
    while waiting:
        *_, near = heapq.heappop(waiting)
        found[near] = met[near]
        for e in range(bounds[near], bounds[near + 1]):
            far = towards[e]
            if far not in met:
                met[far] = met[near] or floating[e]
                heapq.heappush(waiting, (lengths[far], len(met), far))
    return found
