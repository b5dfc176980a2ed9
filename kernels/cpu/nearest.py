"""The nearest of some targets for every vertex: labels that go against the edges, the nearest first.

Encoding
--------
far, who : of each vertex its labels, as many as are wanted: how far it is to a target, and which one of them, by its
    place among them, -1 where there are no more. Nearest first, of equal ones the smaller target; each target once.
offsets, neighbours : rows of the vertices that edges come from, by the vertex that they lead to
weight, each : the length of edge e is ``weight[e * each]``; for hops `each` is 0
heap : of labels by distance; ``entries`` are vertex * targets + target. One that is no label any more is passed over.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.two_sided import drop, put


@inner
def _offer(v, distance, target, far, who):
    """Give a vertex a label, unless it has better ones. Returns whether it has got it."""
    last = far.shape[1] - 1
    i = 0
    while i <= last and who[v, i] >= 0:
        if far[v, i] > distance or (far[v, i] == distance and who[v, i] >= target):
            break
        if who[v, i] == target:
            return False
        i += 1
    if i > last or (who[v, i] == target and far[v, i] == distance):
        return False
    j = i  # the label that goes: one of the same target, the first that is free, or the last
    while j < last and who[v, j] >= 0 and who[v, j] != target:
        j += 1
    for at in range(j, i, -1):
        far[v, at], who[v, at] = far[v, at - 1], who[v, at - 1]
    far[v, i], who[v, i] = distance, target
    return True


@inner
def _reach(length, w, most, exact):
    """A distance and an edge more, and whether that is too much: for what is wanted, and for the type."""
    if exact and w > np.iinfo(np.int64).max - length:
        return length, True, True
    return length + w, length + w > most, False


@jit
def put_all(vertices, targets, far, who, keys, entries, size):
    """Put all labels of some vertices on the heap, which has room for them. Returns its size."""
    for i in range(len(vertices)):
        v = np.int64(vertices[i])
        for at in range(far.shape[1]):
            if who[v, at] < 0:
                break
            put(keys, entries, size, far[v, at], v * targets + who[v, at])
            size += 1
    return size


@jit
def spread(
    offsets, neighbours, weight, each, targets, most, exact, far, who, keys, entries, size, changed
):
    """Take labels off the heap and offer them to the vertices that edges come from, until there are none.

    Parameters
    ----------
    targets : int
        How many there are.
    most : of the type of distances
        Longer ones are not looked for.
    exact : bool
        Whether distances are integers.
    changed : bool array
        Set where a vertex has got a label.

    Returns
    -------
    tuple
        Size of the heap, how many places are missing in it: call again with more; edges read, and whether a distance
        was too large for its type.
    """
    read, overflows = 0, False
    while size > 0:
        key, entry = keys[0], entries[0]
        u, target = entry // targets, entry % targets
        start, stop = np.int64(offsets[u]), np.int64(offsets[u + 1])
        if size + stop - start > len(keys):
            return size, stop - start, read, overflows
        size -= 1
        drop(keys, entries, size)
        there = False
        for at in range(far.shape[1]):
            if who[u, at] == target:
                there = far[u, at] == key
        if not there:
            continue
        read += int(stop - start)
        for e in range(start, stop):
            length, beyond, too_large = _reach(key, far.dtype.type(weight[e * each]), most, exact)
            overflows |= too_large
            v = np.int64(neighbours[e])
            if not beyond and _offer(v, length, target, far, who):
                changed[v] = True
                put(keys, entries, size, length, v * targets + target)
                size += 1
    return size, 0, read, overflows


@jit
def spread_rows(some, offsets, neighbours, weight, each, most, exact, far, who, due):
    """Offer all labels of some vertices to those that edges come from, which are due then.

    Returns
    -------
    tuple
        Edges read, and whether a distance was too large for its type.
    """
    read, overflows = 0, False
    for i in range(len(some)):
        u = np.int64(some[i])
        due[u] = False
        start, stop = np.int64(offsets[u]), np.int64(offsets[u + 1])
        read += int(stop - start)
        for e in range(start, stop):
            v, w = np.int64(neighbours[e]), far.dtype.type(weight[e * each])
            for at in range(far.shape[1]):
                if who[u, at] < 0:
                    break
                length, beyond, too_large = _reach(far[u, at], w, most, exact)
                overflows |= too_large
                if not beyond and _offer(v, length, who[u, at], far, who):
                    due[v] = True
    return read, overflows
