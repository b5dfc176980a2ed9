"""Breadth-first search, one direction at a time: push along a queue, pull over bitmaps.

Encoding
--------
level : int32, -1 where not reached.
queue : vertices in the order in which they were reached; one level is a slice of it.
bitmaps : uint64 words, vertex v is bit ``v & 63`` of word ``v >> 6``. `frontier` and `found` hold one level each;
    `done` the vertices that no pull needs to look at again (reached, or without in-edges; past the last vertex any).
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_compare_exchange
from dask_graphgpu.kernels.cpu.bits import lowest_bit

_BUFFER = 1024


@jit
def push(
    offsets, neighbours, level, queue, head, tail, depth, cutoff, targets, missing, limit, branches
):  # fmt: skip
    """Push level after level on one thread, until a level is large or the search ends.

    Parameters
    ----------
    head, tail, depth : the frontier is ``queue[head:tail]``, of level `depth`
    cutoff : last level that may be assigned
    targets, missing : of the targets, ``targets[missing:]`` are not known to be reached
    limit : come back before a level of more edges than this
    branches : write where a neighbour was not reached only, else always; the queue has room for one more then

    Returns
    -------
    tuple
        head, tail, depth, missing as given; the edges read; the edges of the frontier that is left (0: the search is
        over).
    """
    read = 0
    while head < tail:
        while missing < targets.size and level[targets[missing]] >= 0:
            missing += 1
        if depth == cutoff or (targets.size > 0 and missing == targets.size):
            return head, head, depth, missing, read, 0
        ahead = 0
        if (tail - head) > limit // 4096:  # few vertices: not worth a look at their degrees
            for i in range(head, tail):
                u = queue[i]
                ahead += offsets[u + 1] - offsets[u]
            if ahead > limit:
                return head, tail, depth, missing, read, ahead
        depth += 1
        end = tail
        for i in range(head, end):
            u = queue[i]
            start, stop = offsets[u], offsets[u + 1]
            read += stop - start
            if branches:
                for e in range(start, stop):
                    v = neighbours[e]
                    if level[v] < 0:
                        level[v] = depth
                        queue[tail] = v
                        tail += 1
            else:
                for e in range(start, stop):
                    v = neighbours[e]
                    before = level[v]
                    new = before < 0
                    level[v] = depth if new else before
                    queue[tail] = v
                    tail += new
        head = end
    return head, tail, depth, missing, read, 0


@jit
def push_block(lo, hi, offsets, neighbours, level, queue, depth, tail):
    """Push the part ``queue[lo:hi]`` of a level, while other threads push other parts.

    A vertex is claimed by exchanging its level, and claimed vertices are appended a buffer at a time: ``tail[0]`` is
    where the queue ends.
    """
    buffer = np.empty(_BUFFER, queue.dtype)
    filled = 0
    for i in range(lo, hi):
        u = queue[i]
        for e in range(offsets[u], offsets[u + 1]):
            v = neighbours[e]
            if level[v] < 0 and atomic_compare_exchange(level, v, -1, depth) < 0:
                buffer[filled] = v
                filled += 1
                if filled == _BUFFER:
                    start = atomic_add(tail, 0, filled)
                    for k in range(filled):
                        queue[start + k] = buffer[k]
                    filled = 0
    start = atomic_add(tail, 0, filled)
    for k in range(filled):
        queue[start + k] = buffer[k]


@jit
def running_degrees(lo, hi, queue, offsets, first, total):
    """``total[i - first]`` = degrees of ``queue[first:i]``, for one block: the whole level."""
    edges = 0
    for i in range(lo, hi):
        total[i - first] = edges
        u = queue[i]
        edges += offsets[u + 1] - offsets[u]
    total[hi - first] = edges


@jit
def mark(lo, hi, queue, frontier):
    """Set the bits of ``queue[lo:hi]``; `frontier` is zero before. On one thread."""
    for i in range(lo, hi):
        v = np.uint64(queue[i])
        frontier[v >> np.uint64(6)] |= np.uint64(1) << (v & np.uint64(63))


@jit
def pull_block(
    lo, hi, offsets, neighbours, out_offsets, level, depth, frontier, found, done, first_pull
):
    """Each vertex that is not done looks for one in-neighbour in the frontier, and stops at the first.

    A block starts at a multiple of 64, so it alone writes its words of `found` and `done`. The first pull fills `done`.

    Returns
    -------
    tuple
        Vertices found, edges read, out-edges of the found vertices.
    """
    count = 0
    read = 0
    ahead = 0
    for first in range(lo, hi, 64):
        w = first >> 6
        if first_pull:
            todo = np.uint64(0)
            for v in range(first, min(first + 64, hi)):
                todo |= np.uint64(level[v] < 0) << np.uint64(v - first)
        else:
            todo = ~done[w]
        over = ~todo
        bits = np.uint64(0)
        while todo:
            place = lowest_bit(todo)
            bit = np.uint64(1) << place
            todo ^= bit
            v = np.uint64(first) + place
            start, stop = offsets[v], offsets[v + np.uint64(1)]
            if start == stop:
                over |= bit
            read += stop - start
            for e in range(start, stop):
                u = np.uint64(neighbours[e])
                if (frontier[u >> np.uint64(6)] >> (u & np.uint64(63))) & np.uint64(1):
                    level[v] = depth
                    bits |= bit
                    count += 1
                    ahead += out_offsets[v + np.uint64(1)] - out_offsets[v]
                    read -= stop - e - 1
                    break
        done[w] = over | bits
        found[w] = bits
    return count, read, ahead


@jit
def collect(lo, hi, frontier, queue, tail):
    """Append the vertices of the words `lo` to `hi` to the queue. Returns where it ends. On one thread."""
    for w in range(lo, hi):
        bits = frontier[w]
        while bits:
            place = lowest_bit(bits)
            bits ^= np.uint64(1) << place
            queue[tail] = np.uint64(w << 6) + place
            tail += 1
    return tail


@jit
def settle(offsets, neighbours, level, pending, keys, until, last, own, lists, told, far):
    """Push own vertices of several levels, level by level, while other ranks do the same with theirs.

    A level may turn out to be too high, and is lowered then. Ghosts get levels, and are not pushed.

    Parameters
    ----------
    pending, keys : own vertices in the order of their levels, and these. Those that have another
        level by now are passed over.
    until : the first level that is not pushed
    last : last level that may be assigned; -1: none
    own : the vertices before are own
    lists : two lists of `own` vertices
    told : a flag for each vertex, set for the ghosts in `far`
    far : list of the ghosts that have got a level

    Returns
    -------
    tuple
        Which of the lists has the vertices of the first level that was not pushed; how many they are;
        how many of `pending` are done with; length of `far`; edges read.
    """
    side = 0
    count = 0
    done = 0
    found = 0
    read = 0
    depth = keys[0] if keys.size else until
    while depth < until and depth != last:
        while done < keys.size and keys[done] == depth:
            lists[side, count] = pending[done]
            count += 1
            done += 1
        length = 0
        for i in range(count):
            u = lists[side, i]
            if level[u] != depth:
                continue
            start, stop = offsets[u], offsets[u + 1]
            read += stop - start
            for e in range(start, stop):
                v = neighbours[e]
                if level[v] < 0 or level[v] > depth + 1:
                    level[v] = depth + 1
                    if v < own:
                        lists[1 - side, length] = v
                        length += 1
                    elif told[v] == 0:
                        told[v] = 1
                        far[found] = v
                        found += 1
        side = 1 - side
        count = length
        depth += 1
        if count == 0:
            if done == keys.size:
                break
            depth = max(depth, keys[done])
    return side, count, done, found, read
