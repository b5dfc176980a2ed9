"""Random numbers that belong to vertices, so that they are the same on whichever rank they are drawn."""

from __future__ import annotations

import numpy as np


def draw(numbers: np.ndarray, seed: int) -> np.ndarray:
    """A float of [0, 1) for each number: splitmix64 of it and the seed."""
    x = numbers.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15 + 1) % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    drawn: np.ndarray = (x >> np.uint64(11)) * 2.0**-53
    return drawn
