"""Best ways on from a vertex of a path, past the vertices before it: the spur searches of Yen's method.

Encoding
--------
label : a way to a vertex, of some hops where these are limited; labels index what follows, 0 is that of the spur.
    ``first[v]`` is the last label made of a vertex, and ``next_label`` the one made before it; -1: none.
length, hops, before : of a label, from where the whole path begins, from the spur, and the label that it comes from
rest, rest_hops : of a vertex, the least that is left to the target: of length, and of hops where these are limited
total : of a label, its length and the rest
heap, place : labels by total, then by hops; where each label is in it, -1: not
shut : vertices that a way must not go through; ``barred`` those that it must not go to first
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit

# Hops where they are not limited.
ANY = -1


@inner
def _sooner(total, hops, a, b):
    """Whether a label comes before another in the heap."""
    return total[a] < total[b] or (total[a] == total[b] and hops[a] < hops[b])


@inner
def _rise(heap, place, total, hops, at, label):
    while at > 0:
        above = (at - 1) >> 1
        other = heap[above]
        if not _sooner(total, hops, label, other):
            break
        heap[at] = other
        place[other] = at
        at = above
    heap[at] = label
    place[label] = at


@inner
def _pop(heap, place, total, hops, size):
    """Take the first off a heap, which has `size` then."""
    label = heap[size]
    place[heap[0]] = -1
    if size == 0:
        return
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _sooner(total, hops, heap[below + 1], heap[below]):
            below += 1
        other = heap[below]
        if not _sooner(total, hops, other, label):
            break
        heap[at] = other
        place[other] = at
        at = below
    heap[at] = label
    place[label] = at


@inner
def _smaller(a, b, vertex, before):
    """Whether the way of a label has the smaller vertex where it leaves that of another, of as many hops."""
    found = False
    while a != b and a >= 0 and b >= 0:
        if vertex[a] != vertex[b]:
            found = vertex[a] < vertex[b]
        a, b = before[a], before[b]
    return found


@jit
def search(
    offsets, neighbours, weight, rest, rest_hops, most_hops, shut, barred, spur, target, begin, bound, slack,
    first, next_label, vertex, length, total, hops, before, place, heap, way,
):  # fmt: skip
    """Find the best way from a spur to the target, by length, then by hops, then by its vertices in turn.

    Dijkstra's search with the rest added to each length, so that it goes where a short path may be (A*).

    Parameters
    ----------
    most_hops : int
        Of the way; `ANY`: any number.
    begin : of the type of lengths
        Length of the path up to the spur.
    bound : of the type of lengths
        Longer paths are not looked for.
    slack : float
        0: lengths are exact, so that a label that is taken off the heap is final. Else what they may differ by, as a
        part: the search goes on so far beyond a path that is found.
    first : int64 array, shape (vertices,)
        -1 everywhere, as it is left.
    way : int64 array, shape (vertices,)
        Gets the vertices after the spur.

    Returns
    -------
    tuple
        Hops of the way: 0 where there is none, -1 where labels are too few, of which there are to be more; and
        whether a length was too large for its type.
    """
    room, most = len(vertex), np.iinfo(np.int64).max
    exact = slack == 0
    limited = most_hops != ANY
    used, size = 1, 1
    vertex[0], length[0], hops[0], before[0], next_label[0] = spur, begin, 0, -1, -1
    total[0] = begin + rest[spur]
    first[spur] = 0
    heap[0], place[0] = 0, 0
    overflows = False
    while size > 0:
        label = heap[0]
        if total[label] > bound:
            break
        size -= 1
        _pop(heap, place, total, hops, size)
        u = vertex[label]
        if u == target:
            if exact:
                break
            bound = min(bound, length.dtype.type(length[label] * (1 + slack)))
            continue
        step = hops[label] + 1
        for e in range(offsets[u], offsets[u + 1]):
            v = np.int64(neighbours[e])
            if (
                shut[v]
                or (label == 0 and barred[v])
                or (limited and step + rest_hops[v] > most_hops)
            ):
                continue
            w = weight[e]
            if exact and (w > most - length[label] or rest[v] > most - length[label] - w):
                overflows = True
                continue
            there = length[label] + w
            if there + rest[v] > bound:
                continue
            found, worse = first[v], False
            while limited and found >= 0 and hops[found] != step:
                if hops[found] < step and length[found] <= there:
                    worse = True
                found = next_label[found]
            if worse:
                continue
            if found < 0:
                if used == room:
                    break
                found = used
                used += 1
                vertex[found], next_label[found], place[found] = v, first[v], -1
                first[v] = found
            elif there > length[found] or (
                there == length[found]
                and (
                    step > hops[found]
                    or (step == hops[found] and not _smaller(label, before[found], vertex, before))
                )
            ):
                continue
            length[found], hops[found], before[found] = there, step, label
            total[found] = there + rest[v]
            at = place[found]
            if at < 0:
                at = size
                size += 1
            _rise(heap, place, total, hops, at, found)
        else:
            continue
        size = -1
    number = -1 if size < 0 else _way(target, first, next_label, vertex, length, hops, before, way)
    for label in range(used):
        first[vertex[label]] = -1
    return number, overflows


@inner
def _way(target, first, next_label, vertex, length, hops, before, way):
    """Write the best way to the target, and give its hops; 0: there is none."""
    best = found = first[target]
    while found >= 0:
        if length[found] < length[best] or (
            length[found] == length[best] and hops[found] < hops[best]
        ):
            best = found
        found = next_label[found]
    if best < 0:
        return 0
    number, label = 0, best
    while before[label] >= 0:
        number += 1
        label = before[label]
    label = best
    for i in range(number - 1, -1, -1):
        way[i] = vertex[label]
        label = before[label]
    return number


@jit
def measure(offsets, neighbours, weight, path, start, length):
    """Write lengths of a path up to each of its vertices, from that at ``start`` on, where it is known."""
    for i in range(start, len(path) - 1):
        low, high = np.int64(offsets[path[i]]), np.int64(offsets[path[i] + 1])
        while high - low > 1:
            middle = (low + high) >> 1
            if neighbours[middle] <= path[i + 1]:
                low = middle
            else:
                high = middle
        length[i + 1] = length[i] + weight[low]


@jit
def least(
    offsets, neighbours, weight, rest, rest_hops, most_hops, exact, shut, barred, path, length, start, bound,
    found, known,
):  # fmt: skip
    """For each vertex of a path, how long one is at least that leaves it there, for one that is not after it.

    Parameters
    ----------
    exact : bool
        Whether lengths are integers.
    path, length : of its vertices
    start : int
        From the vertex at this place on; ``barred`` holds for this one.
    shut : bool array, shape (vertices,)
        False everywhere, as it is left.
    found, known : arrays, shape (vertices of the path - 1,)
        The least lengths, and whether there may be such a path of at most ``bound``.
    """
    most = np.iinfo(np.int64).max
    for i in range(len(path) - 1):
        u = path[i]
        shut[u] = True
        if i < start:
            continue
        for e in range(offsets[u], offsets[u + 1]):
            v, w = np.int64(neighbours[e]), weight[e]
            if shut[v] or v == path[i + 1] or (i == start and barred[v]):
                continue
            if most_hops != ANY and i + 1 + rest_hops[v] > most_hops:
                continue
            if exact and (w > most - length[i] or rest[v] > most - length[i] - w):
                continue
            total = length[i] + w + rest[v]
            if total <= bound and (not known[i] or total < found[i]):
                found[i], known[i] = total, True
    for i in range(len(path) - 1):
        shut[path[i]] = False
