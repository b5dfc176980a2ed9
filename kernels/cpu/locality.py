"""Kernel that judges how close the ends of edges stand in an order."""

from __future__ import annotations

from dask_graphgpu.kernels.compile import jit


@jit
def near(lo, hi, table, source, destination, gap):
    """How many of the edges ``lo..hi`` join vertices whose places are at most ``gap`` apart."""
    k = 0
    for i in range(lo, hi):
        a = table[source[i]]
        b = table[destination[i]]
        if (a - b if a > b else b - a) <= gap:
            k += 1
    return k
