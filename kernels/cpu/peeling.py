"""Core numbers by peeling: take away vertices of degree k, for k = 0, 1, 2 ...

Encoding
--------
degree : neighbours of a vertex that are not peeled yet; of a peeled vertex, its core number (never lowered again).
alive : the vertices that are not peeled, compacted from time to time.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def peel(offsets, neighbours, degree, alive):
    """Peel everything on one thread.

    Returns
    -------
    tuple
        Values of k for which a vertex was peeled; edges read.
    """
    n = degree.size
    stack = np.empty(n, neighbours.dtype)
    k = 0
    left = n
    rounds = 0
    read = 0
    while left:
        # Compact: what was peeled has a degree of at most k - 1. Then k jumps to the smallest degree left.
        kept = 0
        top = 0
        smallest = n
        for i in range(left):
            v = alive[i]
            d = degree[v]
            if d >= k:
                alive[kept] = v
                kept += 1
                if d < smallest:
                    smallest = d
                    top = 0
                if d == smallest:
                    stack[top] = v
                    top += 1
        left = kept
        if left == 0:
            break
        k = smallest
        rounds += 1
        while top:
            top -= 1
            v = stack[top]
            start, stop = offsets[v], offsets[v + 1]
            read += stop - start
            for e in range(start, stop):
                u = neighbours[e]
                d = degree[u]
                if d > k:
                    degree[u] = d - 1
                    if d - 1 == k:
                        stack[top] = u
                        top += 1
        k += 1
    return rounds, read
