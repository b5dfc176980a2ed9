"""The order of dense ids within a rank: the user's order, or falling degree."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks

# Mean squared degree over squared mean degree: 1 on a grid, above 10 on social graphs.
_SKEW = 4.0
# Share of edges whose ends are close in the user's order; 1/16 when that order is random.
_NEAR = 0.25
_AT_ONCE = 1 << 18  # degrees in wider numbers
_FEW_COUNTS = 4  # degrees a vertex up to the largest, which are counted rather than sorted
NEAR_WINDOW = 32  # "close" is at most num_vertices / NEAR_WINDOW apart


def is_skewed(degrees: np.ndarray) -> bool:
    """Whether few vertices hold most edge ends, of degrees of NumPy's or CuPy's."""
    if not len(degrees):
        return False

    def sums(lo: int, hi: int) -> tuple[float, float]:
        wide = degrees[lo:hi].astype(np.float64)
        return float(wide.sum()), float((wide * wide).sum())

    # The same blocks, and so the same sums, on any number of threads.
    step = _AT_ONCE if isinstance(degrees, np.ndarray) else len(degrees)
    cuts = np.append(np.arange(0, len(degrees), step), len(degrees))
    total, squares = map(sum, zip(*for_blocks(sums, cuts), strict=True))
    return skewed(len(degrees), total, squares)


def skewed(num_vertices: int, degrees: float, squares: float) -> bool:
    """`is_skewed`, of the sum of the degrees and the sum of their squares; False if all degrees are 0."""
    return degrees > 0 and squares * num_vertices > _SKEW * degrees * degrees


def has_locality(near: int, sampled: int) -> bool:
    """Whether ``near`` of ``sampled`` edges join close vertices often enough to keep the order."""
    return near > _NEAR * sampled


def falling_degree(degrees: np.ndarray, dtype: type) -> np.ndarray:
    """Place of each vertex when sorted by falling degree; equal degrees keep their order."""
    if isinstance(degrees, np.ndarray) and len(degrees):
        most = int(degrees.max())
        if most < _FEW_COUNTS * len(degrees):
            counted: np.ndarray = np.empty(len(degrees), dtype)
            kernels.degree_order.falling(degrees, np.zeros(most + 2, np.int64), counted)
            return counted
    order = np.argsort(-degrees, kind="stable")
    place: np.ndarray = np.empty_like(order, dtype=dtype)
    place[order] = np.arange(len(order), dtype=dtype, like=order)  # NumPy's or CuPy's
    return place
