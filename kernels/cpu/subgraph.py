"""Kernel that gathers the edges of some rows."""

from __future__ import annotations

from dask_graphgpu.kernels.compile import jit


@jit
def gather_edges(lo, hi, first, vertex, start, offsets, least, edges, out):
    """Copy what edges `first` + lo to `first` + hi of a subgraph carry, to lo .. hi of `out`.

    Parameters
    ----------
    vertex : array
        Its rows, in order.
    start : array of one more
        Where each begins among its edges, none of which is empty, and the end.
    offsets : int64
        Of the rows of the whole graph, and `least` its first edge that may be in the subgraph.
    edges, out : arrays of one dtype
        What the edges of the whole graph carry, and room for what those of the subgraph do.
    """
    place, end = first + lo, first + hi
    below, i = 0, vertex.size - 1  # the last row that begins at `place` or before
    while below < i:
        middle = (below + i + 1) // 2
        if start[middle] <= place:
            below = middle
        else:
            i = middle - 1
    while place < end:
        row = vertex[i]
        begin = max(offsets[row], least) - start[i]
        stop = min(end, start[i + 1])
        for k in range(place, stop):
            out[k - first] = edges[begin + k]
        place = stop
        i += 1
