"""Label propagation: a vertex takes the label that most of its neighbours have.

Encoding
--------
labels : numbers below the number of vertices, in whose order the smallest wins a tie.
counts : of each label, the edges of all rows before (`base`) and how many of this row have it so far;
    what is not above `base` is of a row before, and counts as none. So nothing is ever set back.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)


@jit(inline="always")
def _count(v, start, stop, neighbours, labels, counts, base, best, most):
    """Count the labels of a row; the best of them and of what came before."""
    for e in range(start, stop):
        u = np.uint64(neighbours[e])
        if u != v:
            label = labels[u]
            count = max(counts[label], base) + _ONE
            counts[label] = count
            # Without branches: which it will be is anybody's guess.
            better = (count > most) | ((count == most) & (label < best))
            best = label if better else best
            most = max(most, count)
    return best, most


@jit
def most_frequent(lo, hi, offsets, neighbours, more_offsets, more, labels, new, counts, base):
    """``new[v]`` = the label of most neighbours of v in two adjacencies; its own where there is none.

    An edge counts once for each adjacency that it is in, a self-loop not at all. The second may be
    empty.

    Returns
    -------
    tuple
        Vertices of the block whose label is another than before; `base` for the next block.
    """
    none = np.empty(0, np.uint8)
    changed, _, base = most_frequent_of_stale(
        lo, hi, offsets, neighbours, more_offsets, more, labels, new, counts, base, none, none
    )
    return changed, base


@jit
def most_frequent_of_stale(
    lo, hi, offsets, neighbours, more_offsets, more, labels, new, counts, base, stale, mark
):
    """As `most_frequent`, where ``new[v]`` is the label of v before its present one.

    Parameters
    ----------
    stale : uint8 array, shape (num_vertices,) or (0,)
        Whether a neighbour has another label than two steps ago; else the vertex takes its own of then, which `new`
        has. Set back for the block. Empty: all are stale.
    mark : uint8 array, shape (num_vertices,) or (0,)
        Gets a 1 for the neighbours of vertices whose new label is not that of two steps ago, unless it is empty.

    Returns
    -------
    tuple
        Vertices whose label is another than before, and than two steps ago; `base` for the next block.
    """
    two = more_offsets.size > 0
    changed = 0
    differ = 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        if stale.size:
            if not stale[v]:
                changed += new[v] != labels[v]
                continue
            stale[v] = 0
        start, stop = offsets[v], offsets[v + _ONE]
        best, most = _count(v, start, stop, neighbours, labels, counts, base, labels[v], base)
        edges = stop - start
        if two:
            begin, end = more_offsets[v], more_offsets[v + _ONE]
            best, most = _count(v, begin, end, more, labels, counts, base, best, most)
            edges += end - begin
        base += np.uint64(edges)
        other = best != new[v]
        new[v] = best
        changed += best != labels[v]
        differ += other
        if other and mark.size:
            for e in range(start, stop):
                mark[np.uint64(neighbours[e])] = 1
            if two:
                for e in range(begin, end):
                    mark[np.uint64(more[e])] = 1
    return changed, differ, base
