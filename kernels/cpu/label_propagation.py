"""Label propagation: a vertex takes the label that most of its neighbours have.

Encoding
--------
labels : numbers below the number of vertices, in whose order the smallest wins a tie.
rows : the neighbours of v are at the places ``starts[v]`` to ``ends[v]`` of `neighbours`, where each counts `times`
    times, and ``more_starts[v]`` to ``more_ends[v]`` of `more`, where each counts once. Either may be empty.
counts : a counter for each label that is never reset. When a row begins, no counter is above `base`; the first
    neighbour with a label sets its counter to `base` plus its `times`, others add theirs.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

_ONE = np.uint64(1)
_NOBODY = np.uint64(2**64 - 1)


@jit
def merge_rows(
    lo, hi, offsets, neighbours, into_offsets, into, labels, new, starts, ends, more_starts, merged
):
    """Bring the two rows of each vertex together, and make the first step, in which all labels differ.

    Parameters
    ----------
    offsets, neighbours, into_offsets, into : ascending rows without repeats, of out- and in-edges
    labels : distinct
    new : written, the label of the most neighbours: the smallest of those with an edge each way, or of all
    starts, ends, more_starts : written, where in `merged` are the neighbours with an edge each way, and where those
        with one edge begin, which end where the next vertex starts
    merged : written; with room for both rows of every vertex, of which a neighbour in both leaves a place

    Returns
    -------
    int
        Vertices of the block whose label is another than before.
    """
    changed = 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        a, a_end = np.uint64(offsets[v]), np.uint64(offsets[v + _ONE])
        b, b_end = np.uint64(into_offsets[v]), np.uint64(into_offsets[v + _ONE])
        up, down = a + b, a_end + b_end
        starts[v] = up
        of_twice = of_once = _NOBODY
        while a < a_end or b < b_end:
            x = np.uint64(neighbours[a]) if a < a_end else _NOBODY
            y = np.uint64(into[b]) if b < b_end else _NOBODY
            u = min(x, y)
            a += np.uint64(x <= y)
            b += np.uint64(y <= x)
            label = np.uint64(labels[u]) if u != v else _NOBODY
            if x == y:
                merged[up] = u
                up += _ONE
                of_twice = min(of_twice, label)
            else:
                down -= _ONE
                merged[down] = u
                of_once = min(of_once, label)
        ends[v], more_starts[v] = up, down
        best = of_twice if of_twice != _NOBODY else of_once
        if best == _NOBODY:
            best = np.uint64(labels[v])
        new[v] = best
        changed += best != labels[v]
    return changed


@jit
def least_of_neighbours(lo, hi, offsets, neighbours, labels, new):
    """The first step, in which all labels differ, of one row a vertex: what `merge_rows` finds."""
    changed = 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        best = _NOBODY
        for e in range(offsets[v], offsets[v + _ONE]):
            u = np.uint64(neighbours[e])
            best = min(best, np.uint64(labels[u]) if u != v else _NOBODY)
        if best == _NOBODY:
            best = np.uint64(labels[v])
        new[v] = best
        changed += best != labels[v]
    return changed


@jit(inline="always")
def _of_two(start, stop, neighbours, labels):
    """Whether two of three neighbours, the first, the last and one in between, have the same label, and which."""
    first = labels[np.uint64(neighbours[start])]
    middle = labels[np.uint64(neighbours[(start + stop) >> _ONE])]
    last = labels[np.uint64(neighbours[stop - _ONE])]
    return (first == middle) | (first == last) | (
        middle == last
    ), first if first == middle else last


@jit(inline="always")
def _have(v, start, stop, neighbours, labels, label):
    """How many neighbours in a row have a label."""
    number = np.uint64(0)
    for e in range(start, stop):
        u = np.uint64(neighbours[e])
        number += np.uint64((u != v) & (labels[u] == label))
    return number


@jit(inline="always")
def _count(v, start, stop, neighbours, times, labels, counts, base, best, most):
    """Count the labels of a row; the best of them and of what came before."""
    for e in range(start, stop):
        u = np.uint64(neighbours[e])
        if u != v:
            label = labels[u]
            count = max(counts[label], base) + times
            counts[label] = count
            # Without branches: which it will be is anybody's guess.
            better = (count > most) | ((count == most) & (label < best))
            best = label if better else best
            most = max(most, count)
    return best, most


@jit
def most_frequent(
    lo, hi, starts, ends, neighbours, times, more_starts, more_ends, more, labels, new, counts, base,
    stale, mark, many,
):  # fmt: skip
    """``new[v]`` = the label of most neighbours of v; its own where there is none. Self-loops do not count.

    Parameters
    ----------
    starts, ends, neighbours, times, more_starts, more_ends, more : rows, as above; their places uint64
    new : written; before, the label of v before its present one
    stale : uint8 array, shape (num_vertices,) or (0,)
        Whether a neighbour has another label than two steps ago; else the vertex takes its own of then, which `new`
        has. Set back for the block. Empty: all are stale.
    mark : uint8 array, shape (num_vertices,) or (0,)
        Gets a 1 for the neighbours of vertices whose new label is not that of two steps ago, unless it is empty.
    many : uint64, or None
        From how many votes on it is tried whether most are for one label, which takes a third of what it takes to count
        all. None: never, which compiles faster.

    Returns
    -------
    tuple
        Vertices whose label is another than before, and than two steps ago; `base` for the next block.
    """
    two = more_starts.size > 0
    changed = 0
    differ = 0
    begin = end = np.uint64(0)
    for v in range(np.uint64(lo), np.uint64(hi)):
        if stale.size:
            if not stale[v]:
                changed += new[v] != labels[v]
                continue
            stale[v] = 0
        start, stop = starts[v], ends[v]
        best, most = np.uint64(labels[v]), base
        if two:
            begin, end = more_starts[v], more_ends[v]
        votes = (stop - start) * times + end - begin
        found = False
        alone = begin == end and start < stop and stop - start <= 2
        if alone and neighbours[start] != v and neighbours[stop - _ONE] != v:
            # Of one label, or two, there is nothing to count: on roads that is most vertices.
            best = np.uint64(min(labels[neighbours[start]], labels[neighbours[stop - _ONE]]))
            found = True
        elif many is not None:
            if votes >= many:
                if stop - start >= end - begin:
                    found, label = _of_two(start, stop, neighbours, labels)
                else:
                    found, label = _of_two(begin, end, more, labels)
                if found:
                    have = _have(v, start, stop, neighbours, labels, label) * times
                    have += _have(v, begin, end, more, labels, label)
                    found = have + have > votes
                    best = np.uint64(label) if found else best
        if not found:
            best, most = _count(v, start, stop, neighbours, times, labels, counts, base, best, most)
            best, most = _count(v, begin, end, more, _ONE, labels, counts, base, best, most)
        base += votes
        other = best != new[v]
        new[v] = best
        changed += best != labels[v]
        differ += other
        if other and mark.size:
            for e in range(start, stop):
                mark[np.uint64(neighbours[e])] = 1
            for e in range(begin, end):
                mark[np.uint64(more[e])] = 1
    return changed, differ, base
