"""Core numbers after edges have come and gone: only vertices whose number may change are looked at.

Encoding
--------
slot : of each vertex whose row has changed its place in what follows; -1: the row is as it was.
lost_at, lost : of each slot where the entries of its row begin that are gone, and their places in ``neighbours``,
    which ascend.
added_at, added : of each slot where its new neighbours begin, and these.
core : at first the numbers before the change.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit

EXCEEDED, INCONSISTENT = (
    -1,
    -2,
)  # more edges than are to be read; a number is larger than its neighbours allow


@inner
def read_row(v, offsets, neighbours, slot, lost_at, lost, added_at, added, row):
    """The neighbours of a vertex as they are now, in ``row``, which holds the longest; gives their number."""
    place = slot[v]
    begin, end = (offsets[v], offsets[v + 1]) if v < offsets.size - 1 else (0, 0)
    if place < 0:
        for e in range(begin, end):
            row[e - begin] = neighbours[e]
        return end - begin
    number = 0
    for i in range(lost_at[place], lost_at[place + 1]):
        for e in range(begin, lost[i]):
            row[number] = neighbours[e]
            number += 1
        begin = lost[i] + 1
    for e in range(begin, end):
        row[number] = neighbours[e]
        number += 1
    for i in range(added_at[place], added_at[place + 1]):
        row[number] = added[i]
        number += 1
    return number


@jit
def fall(due, most, offsets, neighbours, slot, lost_at, lost, added_at, added, row, core):
    """Bring numbers down that are core numbers or above, where only those of vertices that are ``due`` may be wrong.

    Returns
    -------
    int
        Edges read, or EXCEEDED if these are more than ``most``.
    """
    waits = np.zeros(core.size, np.bool_)
    stack = np.empty(core.size, np.int64)
    counts = np.zeros(64, np.int64)
    top = 0
    for v in due:
        if not waits[v]:
            waits[v] = True
            stack[top] = v
            top += 1
    read = 0
    while top:
        top -= 1
        v = stack[top]
        waits[v] = False
        old = k = core[v]
        if k >= counts.size:
            counts = np.zeros(2 * k, np.int64)
        counts[: k + 1] = 0
        number = read_row(v, offsets, neighbours, slot, lost_at, lost, added_at, added, row)
        read += number
        for i in range(number):
            counts[min(core[row[i]], k)] += 1
        allow = counts[k]
        while allow < k:
            k -= 1
            allow += counts[k]
        if k == old:
            continue
        core[v] = k
        for i in range(number):
            u = row[i]
            if k < core[u] and core[u] <= old and not waits[u]:
                waits[u] = True
                stack[top] = u
                top += 1
        if read > most:
            return EXCEEDED
    return read


@jit
def rise(seeds, levels, most, offsets, neighbours, slot, lost_at, lost, added_at, added, row, core):
    """Bring numbers up that were core numbers before edges came, to those with them.

    ``seeds`` : the ends of these edges at which the number is the lower one, or both, in ascending order of their
    number, which ``levels`` has.

    Level by level: of those in the k-core and no higher core that may be in the next one, those are searched that are
    seeds, or have just come to it, and along edges from these, the near ones first. Who has no more than k neighbours
    in the k-core is out, and so is who has no more left by that; what only these led to is not searched any more.

    Returns
    -------
    int
        Edges read, EXCEEDED if these are more than ``most``, or INCONSISTENT.
    """
    n = core.size
    mark = np.full(n, -1, np.int64)  # 2 k: met at level k; 2 k + 1: it stays there
    # Of those met: neighbours that are in the next core or may be; before it is looked at, less who led to it.
    support = np.empty(n, np.int64)
    queue, out, looked = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    number_looked = 0  # at the last level
    # Neighbours of the same number of those that were looked at, at one level.
    beside = np.empty(most + row.size, neighbours.dtype)
    begins, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    next_seed = 0
    read = 0
    k = -1
    while True:
        # Who rose to this level goes on from here.
        waiting = 0
        for i in range(number_looked):
            v = looked[i]
            if mark[v] == 2 * k:
                queue[waiting] = v
                waiting += 1
        k += 1
        if not waiting:
            if next_seed == seeds.size:
                return read
            k = levels[next_seed]
        while next_seed < seeds.size and levels[next_seed] == k:
            queue[waiting] = seeds[next_seed]
            next_seed += 1
            waiting += 1
        for i in range(waiting):
            mark[queue[i]] = 2 * k
            support[queue[i]] = -1
        first = 0
        number_looked = 0
        kept = 0
        while waiting:
            v = queue[first]
            first = first + 1 if first + 1 < n else 0
            waiting -= 1
            if support[v] == 0:
                mark[v] = -1
                continue
            number = read_row(v, offsets, neighbours, slot, lost_at, lost, added_at, added, row)
            read += number
            if read > most:
                return EXCEEDED
            at_least = 0
            begins[v] = end = kept
            for i in range(number):
                u = row[i]
                its = core[u]
                at_least += its >= k
                beside[end] = u  # without branches: what is read fits
                end += its == k
            if at_least < k:
                return INCONSISTENT
            ends[v] = kept = end
            staying = 0
            for i in range(begins[v], end):
                staying += mark[beside[i]] == 2 * k + 1
            support[v] = at_least - staying
            looked[number_looked] = v
            number_looked += 1
            if support[v] > k:
                for i in range(begins[v], end):
                    u = beside[i]
                    if mark[u] < 2 * k:
                        mark[u] = 2 * k
                        support[u] = -1
                        last = first + waiting
                        queue[last if last < n else last - n] = u
                        waiting += 1
                    elif mark[u] == 2 * k and support[u] <= 0:
                        support[u] -= 1
                continue
            mark[v] = 2 * k + 1
            left = 1
            out[0] = v
            while left:
                left -= 1
                w = out[left]
                for i in range(begins[w], ends[w]):
                    u = beside[i]
                    if mark[u] != 2 * k:
                        continue
                    if support[u] > 0:
                        support[u] -= 1
                        if support[u] <= k:
                            mark[u] = 2 * k + 1
                            out[left] = u
                            left += 1
                    elif w != v:
                        support[u] += 1
        for i in range(number_looked):
            if mark[looked[i]] == 2 * k:
                core[looked[i]] = k + 1
