"""The order of dense ids within a rank: the user's order, or falling degree."""

from __future__ import annotations

import numpy as np

# Mean squared degree over squared mean degree: 1 on a grid, above 10 on social graphs.
_SKEW = 4.0
# Share of edges whose ends are close in the user's order; 1/16 when that order is random.
_NEAR = 0.25
NEAR_WINDOW = 32  # "close" is at most num_vertices / NEAR_WINDOW apart


def is_skewed(degrees: np.ndarray) -> bool:
    """Whether few vertices hold most edge ends."""
    if not len(degrees):
        return False
    wide = degrees.astype(np.float64)
    return skewed(len(degrees), float(wide.sum()), float((wide * wide).sum()))


def skewed(num_vertices: int, degrees: float, squares: float) -> bool:
    """`is_skewed`, of the sum of the degrees and the sum of their squares; False if all degrees are 0."""
    return degrees > 0 and squares * num_vertices > _SKEW * degrees * degrees


def has_locality(near: int, sampled: int) -> bool:
    """Whether ``near`` of ``sampled`` edges join close vertices often enough to keep the order."""
    return near > _NEAR * sampled


def falling_degree(degrees: np.ndarray, dtype: type) -> np.ndarray:
    """Place of each vertex when sorted by falling degree; equal degrees keep their order."""
    order = np.argsort(-degrees, kind="stable")
    place: np.ndarray = np.empty_like(order, dtype=dtype)
    place[order] = np.arange(len(order), dtype=dtype, like=order)  # NumPy's or CuPy's
    return place
