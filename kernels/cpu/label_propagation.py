"""Label propagation: a vertex takes the label that most of its neighbours have.

Encoding
--------
labels : numbers below the number of vertices, in whose order the smallest wins a tie.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit


@jit
def most_frequent(lo, hi, offsets, neighbours, more_offsets, more, labels, new):
    """``new[v]`` = the label of most neighbours of v in two adjacencies; its own where there is none.

    An edge counts once for each adjacency that it is in, a self-loop not at all. The second may be
    empty.

    Returns
    -------
    int
        Vertices of the block whose label is another than before.
    """
    counts = np.zeros(labels.size, np.uint32)
    two = more_offsets.size > 0
    changed = 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        best = labels[v]
        most = np.uint32(0)
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            u = np.uint64(neighbours[e])
            if u != v:
                label = labels[u]
                count = counts[label] + np.uint32(1)
                counts[label] = count
                if count > most or (count == most and label < best):
                    most = count
                    best = label
        if two:
            for e in range(more_offsets[v], more_offsets[v + np.uint64(1)]):
                u = np.uint64(more[e])
                if u != v:
                    label = labels[u]
                    count = counts[label] + np.uint32(1)
                    counts[label] = count
                    if count > most or (count == most and label < best):
                        most = count
                        best = label
            for e in range(more_offsets[v], more_offsets[v + np.uint64(1)]):
                counts[labels[np.uint64(more[e])]] = 0
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            counts[labels[np.uint64(neighbours[e])]] = 0
        new[v] = best
        changed += best != labels[v]
    return changed
