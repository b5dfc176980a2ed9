"""Very sparse random projections: most entries are 0, the others 1 or -1, by hashes alone.

References
----------
.. [1] Achlioptas, "Database-friendly random projections", JCSS 66, 2003.
.. [2] Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run

# Of 65,536 numbers those that are 1, and those that are 1 or -1: a sixth each.
_ONES, _SIGNED = 10_923, 21_846
_EACH = 4  # entries of a hash
_STEP = 0x9E3779B97F4A7C15
# Steps of the finaliser of SplitMix64 (Steele, Lea, Flood 2014), which mix well.
_MIX = ((30, np.uint64(0xBF58476D1CE4E5B9)), (27, np.uint64(0x94D049BB133111EB)), (31, None))


def sparse_projection(run: Run, width: int, seed: int) -> Any:
    """Entries 1 and -1, a sixth of each, and 0, float64 of shape (num_vertices, width).

    An entry depends on the vertex's place in the order of the user's ids, its column and the seed alone.
    """
    place = run.view.user_rank
    if place is None:
        place = np.arange(run.view.num_vertices, dtype=np.uint64, like=run.rows)
    start = _mixed(place.astype(np.uint64) + _word(seed * _STEP + 1))
    found = np.empty_like(start, np.float64, shape=(len(start), width))
    for first in range(0, width, _EACH):
        drawn = _mixed(start + _word((first + 1) * _STEP))
        for column in range(first, min(first + _EACH, width)):
            part = (drawn >> np.uint64(16 * (column - first))) & np.uint64(0xFFFF)
            found[:, column] = (part < _ONES) * 2.0 - (part < _SIGNED)
    return found


def _mixed(x: Any) -> Any:
    for shift, factor in _MIX:
        x = x ^ (x >> np.uint64(shift))
        if factor is not None:
            x = x * factor
    return x


def _word(number: int) -> np.uint64:
    return np.uint64(number % 2**64)
