"""Each two vertices that edges join, once, with the directions in which they do.

Encoding
--------
code : of an edge from one vertex to another: 1 it leads there, 2 it leads back, 3 both
"""

from __future__ import annotations

import numpy as np

OUT, IN, BOTH = 1, 2, 3
BACK = (0, IN, OUT, BOTH)  # the code of an edge seen from its other end


def joined_pairs(
    source: np.ndarray, destination: np.ndarray, *, directed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each two vertices that are joined, the smaller one first, and the code of the edges from it.

    Vertices are numbered in 32 bits. Self-loops do not count.
    """
    apart = np.flatnonzero(source != destination)
    source, destination = source[apart].astype(np.uint64), destination[apart].astype(np.uint64)
    bits = np.uint64(32)
    code = np.where(source < destination, OUT, IN) if directed else np.full(len(source), BOTH)
    low, high = np.minimum(source, destination), np.maximum(source, destination)
    keys = (low << bits) | high
    order = np.argsort(keys, kind="stable")
    keys, code = keys[order], code[order].astype(np.uint8)
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    code = np.bitwise_or.reduceat(code, begins) if len(begins) else code
    low, high = keys[begins] >> bits, keys[begins] & np.uint64(2**32 - 1)
    return low.astype(np.int64), high.astype(np.int64), code


def code_degrees(n: int, low: np.ndarray, high: np.ndarray, code: np.ndarray) -> np.ndarray:
    """How many neighbours each vertex has by the codes 1, 2 and 3 of their edges as it sees them; shape (3, n)."""
    found = np.empty((3, n), np.int64)
    for row, (each, back) in zip(found, ((OUT, IN), (IN, OUT), (BOTH, BOTH)), strict=True):
        row[:] = np.bincount(low[code == each], minlength=n)
        row += np.bincount(high[code == back], minlength=n)
    return found


def by_degree(degree: np.ndarray) -> np.ndarray:
    """The place of each vertex in ascending order of degrees."""
    place = np.empty(len(degree), np.int64)
    place[np.argsort(degree, kind="stable")] = np.arange(len(degree))
    return place
