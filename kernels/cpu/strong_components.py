"""Strongly connected components: trimming, searches both ways from a pivot, colouring, depth-first search.

Encoding
--------
done : uint8, 1 for vertices whose component is known; the others are the graph that is left.
label : for vertices that are done, some member of their component, the same for all its members. A
    vertex that was trimmed is its own.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_load, atomic_max

_ONE = np.uint64(1)


@jit
def has_loop(offsets, neighbours, v):
    """Whether `v` is in its own row, which is ascending."""
    low, high = offsets[v], offsets[v + _ONE]
    stop = high
    while low < high:
        middle = (low + high) >> _ONE
        if neighbours[middle] < v:
            low = middle + _ONE
        else:
            high = middle
    return low < stop and neighbours[low] == v


@jit
def trim(offsets, neighbours, degree, done, queue):
    """Take away vertices without an edge towards them, then those that have none any more. One thread.

    Self-loops are looked for where they matter: at vertices that one edge is left to.

    Parameters
    ----------
    offsets, neighbours : rows of the edges that lead away
    degree : number of edges towards each vertex; counted down

    Returns
    -------
    tuple
        Vertices taken away, edges read.
    """
    tail = 0
    for v in range(np.uint64(done.size)):
        left = degree[v]
        if left < 2 and done[v] == 0 and (left == 0 or has_loop(offsets, neighbours, v)):
            done[v] = 1
            queue[tail] = v
            tail += 1
    head = 0
    read = 0
    while head < tail:
        u = queue[head]
        head += 1
        start, stop = offsets[u], offsets[u + _ONE]
        read += stop - start
        for e in range(start, stop):
            v = neighbours[e]
            left = degree[v] - 1
            degree[v] = left
            if left < 2 and done[v] == 0 and (left == 0 or has_loop(offsets, neighbours, v)):
                done[v] = 1
                queue[tail] = v
                tail += 1
    return tail, read


@jit
def trim_more(
    queue, tail, fallen, far_offsets, far, offsets, neighbours, owned, degree, done
):  # fmt: skip
    """On one of many ranks: take away own vertices that no edge is left to, one after another. One thread.

    Parameters
    ----------
    queue, tail : own vertices that are taken away already, whose edges still count
    fallen : ghosts that have been taken away elsewhere
    far_offsets, far : rows of ghosts, the own vertices that they lead to
    offsets, neighbours : rows of own vertices
    degree : of own vertices, number of edges towards them without self-loops; counted down

    Returns
    -------
    tuple
        Vertices in the queue, edges read.
    """
    read = 0
    for i in range(fallen.size):
        u = fallen[i]
        start, stop = far_offsets[u], far_offsets[u + _ONE]
        read += stop - start
        for e in range(start, stop):
            v = far[e]
            degree[v] -= 1
            if degree[v] == 0 and done[v] == 0:
                done[v] = 1
                queue[tail] = v
                tail += 1
    head = 0
    while head < tail:
        u = queue[head]
        head += 1
        start, stop = offsets[u], offsets[u + _ONE]
        read += stop - start
        for e in range(start, stop):
            v = neighbours[e]
            if v < owned and v != u:
                degree[v] -= 1
                if degree[v] == 0 and done[v] == 0:
                    done[v] = 1
                    queue[tail] = v
                    tail += 1
    return tail, read


@jit
def pivot(lo, hi, done, forward, backward):
    """The vertex of a block that is left and has the most edges either way, and the product of both numbers.

    -1 where none is left.
    """
    best = -1
    most = -1
    for v in range(lo, hi):
        if done[v] == 0:
            product = forward[v] * backward[v]
            if product > most:
                most = product
                best = v
    return best, most


@jit
def reach(lo, hi, source, sides, done, found, queues):
    """Mark whom `source` reaches along the rows of a side, for each of a block of sides; returns the edges read."""
    read = 0
    for side in range(lo, hi):
        offsets, neighbours = sides[side]
        mark, queue = found[side], queues[side]
        mark[source] = 1
        queue[0] = source
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            start, stop = offsets[u], offsets[u + _ONE]
            read += stop - start
            for e in range(start, stop):
                v = neighbours[e]
                if mark[v] == 0 and done[v] == 0:
                    mark[v] = 1
                    queue[tail] = v
                    tail += 1
    return read


@jit
def settle_both(lo, hi, source, found, done, label):
    """Give those that were found both ways to the component of `source`; returns how many they are."""
    count = 0
    for v in range(lo, hi):
        if found[0][v] and found[1][v]:
            done[v] = 1
            label[v] = source
            count += 1
    return count


@jit
def colour(lo, hi, left, offsets, neighbours, done, colours):
    """One sweep over a block of the vertices `left`: each gives its colour to out-neighbours of a smaller one.

    Returns
    -------
    tuple
        Neighbours that were changed, edges read.
    """
    changed = 0
    read = 0
    for i in range(lo, hi):
        u = left[i]
        mine = atomic_load(colours, u)
        start, stop = offsets[u], offsets[u + _ONE]
        read += stop - start
        for e in range(start, stop):
            v = neighbours[e]
            if done[v] == 0 and atomic_load(colours, v) < mine:
                changed += atomic_max(colours, v, mine) < mine
    return changed, read


@jit
def settle_colours(lo, hi, left, offsets, neighbours, colours, done, label):
    """From each vertex that kept its own colour go back through its colour: that is its component.

    Components of a block touch no vertex of another colour, so threads never meet. `offsets` and
    `neighbours` are rows of in-edges; a vertex that is done has the colour of a component before.

    Returns
    -------
    tuple
        Vertices that are done now, edges read.
    """
    count = 0
    read = 0
    queue = np.empty(64, label.dtype)
    for i in range(lo, hi):
        root = left[i]
        if colours[root] != root:
            continue
        done[root] = 1
        label[root] = root
        queue[0] = root
        head, tail = 0, 1
        while head < tail:
            u = queue[head]
            head += 1
            start, stop = offsets[u], offsets[u + _ONE]
            read += stop - start
            for e in range(start, stop):
                v = neighbours[e]
                if colours[v] == root and done[v] == 0:
                    done[v] = 1
                    label[v] = root
                    if tail == queue.size:
                        longer = np.empty(2 * tail, queue.dtype)
                        longer[:tail] = queue
                        queue = longer
                    queue[tail] = v
                    tail += 1
        count += tail
    return count, read


@jit
def depth_first(offsets, neighbours, done, label, index, place, path, open_):
    """Components of what is left by one depth-first search, on one thread.

    Parameters
    ----------
    index : zeros; number of each vertex in the order of discovery, then the least that it leads back to
    place : for each vertex on the path, the next edge of its row
    path, open_ : stacks, of the vertices that the search is in, and of those whose component is open

    Returns
    -------
    int
        Edges read.
    """
    clock = 0
    read = 0
    opened = 0
    for start in range(np.uint64(done.size)):
        if done[start]:
            continue
        depth = 1
        path[0] = start
        clock += 1
        index[start] = -clock  # negative: nothing earlier is reached, so it is a root
        place[start] = offsets[start]
        while depth:
            v = path[depth - 1]
            e = place[v]
            stop = offsets[v + _ONE]
            deeper = False
            while e < stop:
                w = neighbours[e]
                e += _ONE
                if done[w]:
                    continue
                if index[w] == 0:
                    place[v] = e
                    clock += 1
                    index[w] = -clock
                    place[w] = offsets[w]
                    path[depth] = w
                    depth += 1
                    deeper = True
                    break
                if abs(index[w]) < abs(index[v]):
                    index[v] = abs(index[w])
            if deeper:
                continue
            depth -= 1
            read += stop - offsets[v]
            if index[v] > 0:
                open_[opened] = v
                opened += 1
            else:
                done[v] = 1
                label[v] = v
                while opened and abs(index[open_[opened - 1]]) >= -index[v]:
                    opened -= 1
                    w = open_[opened]
                    done[w] = 1
                    label[w] = v
            if depth:
                u = path[depth - 1]
                if not done[v] and abs(index[v]) < abs(index[u]):
                    index[u] = abs(index[v])
    return read
