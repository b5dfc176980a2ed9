"""The distinct ones of many numbers, ascending."""

from __future__ import annotations

import numpy as np

_SPARSE = 4  # times the numbers that a table of all vertices may have places


def distinct(values: np.ndarray) -> np.ndarray:
    """Numbers once each, ascending, of an array with one axis on the host or on a GPU.

    By sorting them: `numpy.unique` without further results hashes integers since NumPy 2.3, which takes twenty times as
    long where millions are distinct.
    """
    ordered = np.sort(values)
    return np.concatenate([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])


def distinct_vertices(numbers: np.ndarray, vertices: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of vertices once each, ascending, and the place of each one among them.

    By a table of all vertices, or where that would be much larger than the numbers, by sorting them.
    """
    if vertices > _SPARSE * len(numbers):
        return np.unique(numbers, return_inverse=True)
    here = np.zeros(vertices, bool)
    here[numbers.astype(np.intp, copy=False)] = True
    places = np.cumsum(here, dtype=numbers.dtype)
    places -= numbers.dtype.type(1)
    return np.flatnonzero(here).astype(numbers.dtype), places.take(numbers)
