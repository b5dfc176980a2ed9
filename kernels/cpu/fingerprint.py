"""Hashes that tell graphs and values apart, whatever the order in which they stand in memory."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ODD = np.uint64(0x9E3779B97F4A7C15)


@jit
def mixed(x):
    """The finalizer of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def hash_rows(lo, hi, first, offsets, neighbours, numbers, bits, by_source):
    """Sum of hashes of the edges in rows ``lo`` to ``hi``, from source to destination.

    Row 0 is vertex ``first``. ``numbers`` names the vertices, empty: by themselves; ``bits`` is what
    each edge carries, as unsigned integers, or empty.
    """
    total = np.uint64(0)
    for v in range(lo, hi):
        row = mixed(np.uint64(numbers[first + v] if numbers.size else first + v) + _ODD)
        for e in range(offsets[v], offsets[v + 1]):
            x = neighbours[e]
            neighbour = mixed(np.uint64(numbers[x] if numbers.size else x) + _ODD)
            u, v_ = (row, neighbour) if by_source else (neighbour, row)
            w = np.uint64(bits[e]) * _ODD if bits.size else np.uint64(0)
            total += mixed(u * np.uint64(3) + v_ + w)
    return total


@jit
def hash_values(lo, hi, numbers, bits):
    """Sum of hashes of vertices ``lo`` to ``hi`` with a value each, as unsigned integers."""
    total = np.uint64(0)
    for v in range(lo, hi):
        x = mixed(np.uint64(numbers[v] if numbers.size else v) + _ODD)
        total += mixed(x + np.uint64(bits[v]) * _ODD)
    return total
