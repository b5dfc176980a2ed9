"""Priorities of vertices that are in a random order and all different: a hash of their places, which loses nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run

BITS = 57  # of a priority: those above are free for what counts more

_HALF = np.uint64(29)
_MASK = np.uint64((1 << BITS) - 1)
# Odd factors of the finaliser of MurmurHash3 (Appleby 2011), which mix well.
_FACTORS = (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53))


def random_priorities(run: Run, seed: int) -> Any:
    """A number of `BITS` bits for each vertex, int64: by its place in the order of the user's ids alone.

    The steps can each be turned back, so that no two vertices have the same.
    """
    place = run.view.user_rank
    if place is None:
        place = np.arange(run.view.num_vertices, dtype=np.uint64, like=run.rows)
    x = (place.astype(np.uint64) + np.uint64(seed * 0x9E3779B97F4A7C15 & (1 << BITS) - 1)) & _MASK
    for factor in _FACTORS:
        x ^= x >> _HALF
        x = (x * factor) & _MASK
    x ^= x >> _HALF
    return x.astype(np.int64)
