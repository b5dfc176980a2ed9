"""Kernel that orders vertices by falling degree."""

from __future__ import annotations

from dask_graphgpu.kernels.compile import jit


@jit
def falling(degrees, starts, place):
    """Place of each vertex by falling degree, equal ones in their order.

    ``starts`` are zeros, two more than the largest degree.
    """
    most = starts.size - 2
    for degree in degrees:
        starts[most - degree + 1] += 1
    for i in range(1, starts.size):
        starts[i] += starts[i - 1]
    for v in range(degrees.size):
        place[v] = starts[most - degrees[v]]
        starts[most - degrees[v]] += 1
