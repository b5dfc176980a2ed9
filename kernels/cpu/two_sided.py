"""One shortest path, searched for from both ends at once, and the predecessors of its vertices.

Encoding
--------
label : a vertex that has been met has one; labels are numbers from 1 in the order of meeting, and index what
    follows; ``label_of`` has the label of each vertex, 0 being none. So who is met together stands together.
side : 0 is the search from the source along out-edges, 1 the one from the target along in-edges.
distance : of a label, from each side; the largest number of its type where that has not met it.
weight, each : the length of edge e is ``weight[e * each]``; for hops `each` is 0.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.prefetch import prefetch

# What loops call has no branch in which only some of its arrays are used: Numba would count references to the others,
# atomically, at every call. So `advance` goes over many vertices, too.
TURN = 256  # edges of one side after which the other may have its turn


@jit
def put(keys, labels, size, key, label):
    """Put a label on a heap of `size`."""
    at = size
    while at > 0:
        above = (at - 1) >> 2
        if key >= keys[above]:
            break
        keys[at], labels[at] = keys[above], labels[above]
        at = above
    keys[at], labels[at] = key, label


@jit
def drop(keys, labels, size):
    """Take the first off a heap, which has `size` then."""
    key, label = keys[size], labels[size]
    at = 0
    while 4 * at + 1 < size:
        least = 4 * at + 1
        if least + 4 <= size:  # without branches: which of four is least, no processor guesses
            one = least + (keys[least + 1] < keys[least])
            other = least + 2 + (keys[least + 3] < keys[least + 2])
            least = other if keys[other] < keys[one] else one
        else:
            for below in range(least + 1, size):
                if keys[below] < keys[least]:
                    least = below
        if key <= keys[least]:
            break
        keys[at], labels[at] = keys[least], labels[least]
        at = least
    keys[at], labels[at] = key, label


@jit
def advance(
    side, farthest, least, bound, slack, offsets, neighbours, weight, each,
    used, label_of, vertex, distance, size, keys, labels,
):  # fmt: skip
    """Settle the nearest vertices of a side, and offer their neighbours a distance by way of them.

    What cannot be on a path of at most `bound` is left out: the rest of a path is `least`, how far the other side has
    come, unless that has settled the vertex. It ends after some edges, when what is next and `farthest` are more than
    `bound`, or when room is missing.

    Returns
    -------
    tuple
        Labels used, size of the heap, the bound, edges read, whether some were left out, places that are missing.
    """
    read = 0
    left_out = False
    missing = 0
    while size > 0 and read < TURN and not keys[0] > bound - farthest:
        key, i = keys[0], labels[0]
        start, stop = offsets[vertex[i]], offsets[vertex[i] + 1]
        if max(used, size) + stop - start > vertex.size:
            missing = stop - start
            break
        size -= 1
        drop(keys, labels, size)
        if size > 0:  # whose turn is next, and whose it may be then
            after = offsets[vertex[labels[0]]]
            prefetch(neighbours, np.uint64(after))
            prefetch(weight, np.uint64(after * each))
            for below in range(1, min(size, 5)):
                prefetch(offsets, np.uint64(vertex[labels[below]]))
        if key > distance[i, side] or key > bound - min(distance[i, 1 - side], least):
            stop = start  # met again, and settled then; or too far
        read += stop - start
        for e in range(start, stop):
            w = distance.dtype.type(weight[e * each])
            if w > bound - key:
                left_out = True
                continue
            v = neighbours[e]
            j = np.int64(label_of[v])
            other = distance[j, 1 - side]
            rest = other if other < least else least
            if key > bound - rest or w > bound - rest - key:
                left_out = True
                continue
            there = key + w
            if distance[j, side] <= there:
                continue
            if j == 0:
                j = used
                used += 1
                label_of[v] = j
                vertex[j] = v
                distance[j, 1 - side] = distance[0, 0]
            distance[j, side] = there
            put(keys, labels, size, there, j)
            size += 1
            if there <= bound - other:
                bound = min(bound, (there + other) * slack)
    return used, size, bound, read, left_out, missing


@jit
def between(bound, distance, size, keys, labels):
    """Keep of the heap of the source what can be on a path of at most `bound`. Returns its size."""
    kept = 0
    for k in range(size):
        key, i = keys[k], labels[k]
        if key <= bound - distance[i, 1]:
            put(keys, labels, kept, key, i)
            kept += 1
    return kept


@jit
def search(
    unbounded, slack, each, offsets, neighbours, weight, into_offsets, into_neighbours, into_weight,
    label_of, vertex, distance, keys, labels, into_keys, into_labels, bounds, progress,
):  # fmt: skip
    """Distances from the source of all that a shortest path to the target can lead over.

    Dijkstra's search from both ends, at each step from the end with the smaller heap. Once the nearest of both are
    further apart than the best path, who is on a shortest path has its distance to the target if not that from the
    source; so the search from the source goes on through these alone. Distances are sums from the source on, in that
    order, as those of a search from there.

    Parameters
    ----------
    unbounded : number of the type of the distances, less than the largest
    slack : number of that type
        1, or more where sums are rounded: those of a path from its two ends differ.
    keys, labels, into_keys, into_labels
        Heaps of the sides.
    bounds : array of that type, of one entry
        No path that is longer than this counts; lowered.
    progress : int64 array
        Labels used, sizes of the heaps, whether both sides go on, edges read, whether edges were left out though no
        path was known: their sums do not fit.

    Returns
    -------
    int
        Places that are missing among labels or in a heap; call again with more. 0: done.
    """
    used, size, into_size = progress[0], progress[1], progress[2]
    meeting, read, too_long = progress[3], progress[4], progress[5]
    bound = bounds[0]
    missing = 0
    while size > 0 and missing == 0:
        if meeting and (into_size == 0 or keys[0] > bound - into_keys[0]):
            meeting = 0
            size = between(bound, distance, size, keys, labels)
            continue
        known = bound < unbounded
        if meeting and into_size < size:
            used, into_size, bound, edges, left_out, missing = advance(
                1, keys[0], keys[0], bound, slack, into_offsets, into_neighbours, into_weight, each,
                used, label_of, vertex, distance, into_size, into_keys, into_labels,
            )  # fmt: skip
        else:
            farthest, least = slack - slack, bound
            if meeting:
                farthest = least = into_keys[0]
            used, size, bound, edges, left_out, missing = advance(
                0, farthest, least, bound, slack, offsets, neighbours, weight, each,
                used, label_of, vertex, distance, size, keys, labels,
            )  # fmt: skip
            if edges == 0 and missing == 0 and not meeting:
                break
        read += edges
        if left_out and not known:
            too_long = 1
    bounds[0] = bound
    progress[0], progress[1], progress[2] = used, size, into_size
    progress[3], progress[4], progress[5] = meeting, read, too_long
    return missing


@jit
def best_before(
    i, across, turn, good, offsets, into_offsets, neighbours, weight, each, directed, rank,
    label_of, vertex, distance,
):  # fmt: skip
    """The edge by which a label was best reached from strictly nearer, or across its plateau; -1 if by none."""
    here = distance[i, 0]
    best, best_degree = -1, 0
    for e in range(into_offsets[vertex[i]], into_offsets[vertex[i] + 1]):
        w = distance.dtype.type(weight[e * each])
        if w > here:
            continue  # without looking it up
        u = np.int64(neighbours[e])
        j = np.int64(label_of[neighbours[e]])
        if distance[j, 0] + w != here:
            continue
        if across:
            if distance[j, 0] != here or turn[j] != turn[i] + 1 or not good[j]:
                continue
        elif not distance[j, 0] < here:
            continue
        degree = offsets[u + 1] - offsets[u]
        if directed:
            degree += into_offsets[u + 1] - into_offsets[u]
        if best >= 0:
            other = np.int64(neighbours[best])
            first = u < other if rank.size == 0 else rank[u] < rank[other]
            if degree < best_degree or (degree == best_degree and not first):
                continue
        best, best_degree = e, degree
    return best


@jit
def cross_plateau(
    start, used, turn, good, offsets, into_offsets, neighbours, weight, each, directed, rank,
    label_of, vertex, distance,
):  # fmt: skip
    """Number vertices at the distance of `start` by the edges that add nothing from them to it.

    Their turns count from 1, that of `start`, to that of the nearest that are reached from strictly nearer, or are the
    source. Those among them, and whoever is on a way from these to `start` in as few steps, are good.
    """
    here = distance[start, 0]
    queue = np.empty(used, np.int64)
    queue[0] = start
    turn[start] = 1
    head, tail, found = 0, 1, False
    while not found and head < tail:
        end = tail
        for q in range(head, end):
            i = queue[q]
            good[i] = i == 1 or best_before(
                i, False, turn, good, offsets, into_offsets, neighbours, weight, each, directed, rank,
                label_of, vertex, distance,
            ) >= 0  # fmt: skip
            found = found or good[i]
            for e in range(into_offsets[vertex[i]], into_offsets[vertex[i] + 1]):
                j = np.int64(label_of[neighbours[e]])
                if (
                    turn[j] == 0
                    and distance[j, 0] == here
                    and here + distance.dtype.type(weight[e * each]) == here
                ):
                    turn[j] = turn[i] + 1
                    queue[tail] = j
                    tail += 1
        if found:
            break
        head = end
    for q in range(head - 1, -1, -1):
        i = queue[q]
        good[i] = best_before(
            i, True, turn, good, offsets, into_offsets, neighbours, weight, each, directed, rank,
            label_of, vertex, distance,
        ) >= 0  # fmt: skip


@jit
def walk(
    used,
    offsets,
    into_offsets,
    neighbours,
    weight,
    each,
    directed,
    rank,
    label_of,
    vertex,
    distance,
):
    """The path that `search` has found, from its target back.

    Every vertex gets the predecessor that the kernels of predecessors give it.

    Returns
    -------
    tuple of arrays
        Of each edge its place among the in-edges, the vertex that it leads to, and that one's distance.
    """
    turn, good = np.zeros(used, np.int64), np.zeros(used, np.bool_)
    edges, ends = np.empty(used, np.int64), np.empty(used, np.int64)
    distances = np.empty(used, distance.dtype)
    number = 0
    i = np.int64(2)
    while i != 1:
        e = best_before(
            i, False, turn, good, offsets, into_offsets, neighbours, weight, each, directed, rank,
            label_of, vertex, distance,
        )  # fmt: skip
        if e < 0:
            if turn[i] == 0:
                cross_plateau(
                    i, used, turn, good, offsets, into_offsets, neighbours, weight, each, directed, rank,
                    label_of, vertex, distance,
                )  # fmt: skip
            e = best_before(
                i, True, turn, good, offsets, into_offsets, neighbours, weight, each, directed, rank,
                label_of, vertex, distance,
            )  # fmt: skip
        edges[number], ends[number], distances[number] = e, vertex[i], distance[i, 0]
        number += 1
        i = np.int64(label_of[neighbours[e]])
    return edges[:number], ends[:number], distances[:number]
