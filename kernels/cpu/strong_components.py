"""Strongly connected components: trimming, searches both ways from a pivot, colouring, depth-first search.

Encoding
--------
done : uint8, 1 for vertices whose component is known; the others are the graph that is left.
label : for vertices that are done, the first member of their component in the order of the user's ids.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_load, atomic_max, atomic_store

_ONE = np.uint64(1)


@jit
def has_edge(offsets, neighbours, v, w):
    """Whether `w` is in the row of `v`, which is ascending."""
    low, high = offsets[v], offsets[v + _ONE]
    stop = high
    while low < high:
        middle = (low + high) >> _ONE
        if neighbours[middle] < w:
            low = middle + _ONE
        else:
            high = middle
    return low < stop and neighbours[low] == w


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
        if left < 2 and done[v] == 0 and (left == 0 or has_edge(offsets, neighbours, v, v)):
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
            if left < 2 and done[v] == 0 and (left == 0 or has_edge(offsets, neighbours, v, v)):
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


@jit(inline="always")
def _before(rank, v, w):
    """Whether v comes before w in the order of the user's ids; `rank` is empty where ids are in it."""
    if rank.size:
        return rank[v] < rank[w]
    return v < w


@jit
def found_both(lo, hi, found, rank):
    """How many of a block were found both ways, and the first of them in the order of the user's ids."""
    count = 0
    first = lo
    for v in range(lo, hi):
        if found[0][v] and found[1][v]:
            if count == 0 or _before(rank, v, first):
                first = v
            count += 1
    return count, first


@jit
def settle_both(lo, hi, first, found, done, label):
    """Give those that were found both ways to the component whose first member is `first`."""
    for v in range(lo, hi):
        if found[0][v] and found[1][v]:
            done[v] = 1
            label[v] = first


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
def reach_within(lo, hi, some, offsets, neighbours, colours, done, reached):
    """Mark those who are left, have the colour of a vertex of a block of `some`, and lead to it.

    `offsets` and `neighbours` are rows of in-edges, `reached` uint8.

    Returns
    -------
    tuple
        Neighbours that were marked, edges read.
    """
    changed = 0
    read = 0
    for i in range(lo, hi):
        u = some[i]
        start, stop = offsets[u], offsets[u + _ONE]
        read += stop - start
        for e in range(start, stop):
            v = neighbours[e]
            if done[v] == 0 and colours[v] == colours[u] and atomic_load(reached, v) == 0:
                atomic_store(reached, v, 1)
                changed += 1
    return changed, read


@jit
def settle_colours(lo, hi, left, offsets, neighbours, colours, done, rank, label):
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
                    if tail == queue.size:
                        longer = np.empty(2 * tail, queue.dtype)
                        for k in range(tail):
                            longer[k] = queue[k]
                        queue = longer
                    queue[tail] = v
                    tail += 1
        first = queue[0]
        for i in range(1, tail):
            if _before(rank, queue[i], first):
                first = queue[i]
        for i in range(tail):
            label[queue[i]] = first
        count += tail
    return count, read


@jit
def depth_first(offsets, neighbours, rank, index, known, label, path, place, lows, open_):
    """Components of what is left by one depth-first search, on one thread.

    A look at a neighbour is one read of `index`. What belongs to a vertex that the search is in lies on stacks, whose
    tops stay in the cache.

    Parameters
    ----------
    rank : place of each vertex in the order of the user's ids; empty: the vertex
    index : 0 for vertices that are left, then the number of each in the order of discovery, and `known` once its
        component is
    known : more than the number of vertices
    path, place, lows : stacks of the vertices that the search has gone on from, of the next edge of each, and of the
        least number that it leads back to
    open_ : stack of the vertices whose component is open, in the order of discovery

    Returns
    -------
    int
        Edges read.
    """
    clock = np.uint64(0)
    read = 0
    opened = 0
    for start in range(np.uint64(index.size)):
        if index[start]:
            continue
        depth = 0
        v = np.uint64(start)
        begins = True
        while True:
            if begins:
                clock += _ONE
                low = clock
                index[v] = clock
                open_[opened] = v
                opened += 1
                e, stop = offsets[v], offsets[v + _ONE]
                read += stop - e
                begins = False
            while e < stop:
                w = np.uint64(neighbours[e])
                e += _ONE
                number = np.uint64(index[w])
                if number == 0:
                    begins = True
                    break
                low = min(low, number)
            if begins:
                path[depth], place[depth], lows[depth] = v, e, low
                depth += 1
                v = w
                continue
            if (
                low == index[v]
            ):  # it leads back to nothing earlier: those open since are its component
                first = v
                end = opened
                opened -= 1
                while open_[opened] != v:
                    if _before(rank, open_[opened], first):
                        first = np.uint64(open_[opened])
                    opened -= 1
                for i in range(opened, end):
                    label[open_[i]] = first
                    index[open_[i]] = known
                low = np.uint64(known)
            if depth == 0:
                break
            depth -= 1
            v, e = np.uint64(path[depth]), place[depth]
            low = min(low, np.uint64(lows[depth]))
            stop = offsets[v + _ONE]
    return read
