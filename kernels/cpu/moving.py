"""Moving vertices between communities: many at a time in batches, or one by one; encoding as in `communities`.

In a batch all threads decide where each vertex gains most from how communities were before it. Then one thread goes
over those that would move, in their order, and has a move done if it still gains; last, all threads have the neighbours
of who has moved wait.

Encoding
--------
community, totals, size : label of each vertex, and the degree and the members of each community; changed.
empty : stack of the communities without members; ``at[0]`` of them.
waiting : whether each vertex is to be looked at.
room : slots of a table for the longest row, see `tallies`.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.batches import STEPS
from dask_graphgpu.kernels.cpu.communities import LEAST_GAIN
from dask_graphgpu.kernels.cpu.in_step import claim, finish, wait
from dask_graphgpu.kernels.cpu.prefetch import prefetch
from dask_graphgpu.kernels.cpu.tallies import AHEAD, add, new_table, shift_for

_ONE = np.uint64(1)


@inner
def _best(
    v, offsets, neighbours, weight, degree, scale, community, going, together, totals, keys, sums, touched
):  # fmt: skip
    """The community where a vertex gains most, of equal ones the smallest label, or -1: an empty one.

    Also given is how much more weight the vertex has to it than to its own.
    """
    none = keys.dtype.type(-1)
    weighted = weight.size > 0
    own = np.uint64(community[v])
    start, stop = offsets[v], offsets[v + _ONE]
    shift = shift_for(min(stop - start, np.uint64(totals.size)))
    num = 0
    for e in range(start, stop):
        if e + AHEAD < np.uint64(neighbours.size):
            prefetch(community, np.uint64(neighbours[e + AHEAD]))
        u = np.uint64(neighbours[e])
        w = np.float64(weight[e]) if weighted else 1.0
        if u != v and w > 0:
            c = np.uint64(going[u]) if (u ^ v) >> together == 0 else np.uint64(community[u])
            num = add(keys, sums, touched, num, shift, c, w)
    k = degree[v]
    best, most, to_best, to_own = own, -np.inf, 0.0, 0.0
    for j in range(num):
        slot = np.uint64(touched[j])
        c = np.uint64(keys[slot])
        keys[slot] = none
        to = sums[slot]
        if c == own:
            to_own = to
        else:
            gain = to - scale * k * totals[c]
            if gain > most or (gain == most and c < best):
                best, most, to_best = c, gain, to
    stay = to_own - scale * k * (totals[own] - k) + LEAST_GAIN * k
    if most < 0 and stay < 0:
        return np.int64(-1), -to_own
    if most <= stay:
        return np.int64(own), 0.0
    return np.int64(best), to_best - to_own


@inner
def _change(v, k, own, to, community, totals, size, empty, num_empty):
    """Have a vertex of degree k move; gives how many empty communities there are then."""
    community[v] = to
    totals[own] -= k
    totals[to] += k
    size[to] += 1
    size[own] -= 1
    if size[own] == 0:
        totals[own] = 0
        empty[num_empty] = own
        num_empty += 1
    return num_empty


@inner
def _cut(batch, at, together):
    """The first place from `at` on where vertices are not cut that are looked at together."""
    while (
        0 < at < batch.size and (np.uint64(batch[at]) ^ np.uint64(batch[at - 1])) >> together == 0
    ):
        at += 1
    return min(at, batch.size)


@inner
def _decide(
    lo, hi, listed, offsets, neighbours, weight, degree, scale, community, going, together, totals, size,
    waiting, keys, sums, touched, movers, targets, more, single,
):  # fmt: skip
    """Plans of those of a block that would move, from its first place on; how many these are."""
    num = lo
    for i in range(lo, hi):
        v = np.uint64(listed[i])
        waiting[v] = False
        own = np.int64(community[v])
        target, difference = _best(
            v,
            offsets,
            neighbours,
            weight,
            degree,
            scale,
            community,
            going,
            together,
            totals,
            keys,
            sums,
            touched,
        )
        if target != own:
            movers[num], targets[num], more[num] = v, target, difference
            single[num] = size[own] == 1
            if target >= 0:
                going[v] = target
            num += 1
    return num - lo


@inner
def _commit(
    starts, found, degree, scale, community, going, totals, size, empty, at, waiting, plans, moved
):  # fmt: skip
    """Do the plans that still gain, in their order; the others wait. Gives how many have `moved`.

    Of two single vertices that would join each other the first does, and nobody joins who has left.
    """
    movers, targets, more, single = plans
    num, num_empty = 0, at[0]
    for i in range(starts.size):
        for j in range(starts[i], starts[i] + found[i]):
            v = np.uint64(movers[j])
            own = np.uint64(community[v])
            k = degree[v]
            alone = targets[j] < 0
            to, there = own, 0.0
            if alone and num_empty:
                to = np.uint64(empty[num_empty - 1])
            if not alone:
                to = np.uint64(targets[j])
                there = totals[to]
            gain = more[j] - scale * k * (there - (totals[own] - k))
            if (
                to == own
                or gain <= LEAST_GAIN * k
                or alone == (size[to] > 0)
                or (single[j] and size[own] > 1)
            ):
                waiting[v] = True
                going[v] = own
                continue
            going[v] = to
            num_empty = _change(v, k, own, to, community, totals, size, empty, num_empty - alone)
            moved[num] = v
            num += 1
    at[0] = num_empty
    return num


@inner
def _tell(lo, hi, moved, offsets, neighbours, community, waiting):
    """Have the neighbours in other communities wait, of a block of those that have moved."""
    for i in range(lo, hi):
        v = np.uint64(moved[i])
        own = community[v]
        for e in range(offsets[v], offsets[v + _ONE]):
            u = np.uint64(neighbours[e])
            if community[u] != own and not waiting[u]:
                waiting[u] = True


@jit
def move_in_batches(
    lo, hi, first, last, begins, block, listed, offsets, neighbours, weight, degree, scale, community, going,
    totals, size, empty, at, waiting, room, together, plans, moved, starts, found, number, claimed, done,
):  # fmt: skip
    """Look at the vertices of some batches, on all threads that call with the same arrays.

    Parameters
    ----------
    lo, hi : which thread it is; not read
    first, last : the batches, batch b is ``listed[begins[b]:begins[b + 1]]``
    block : vertices that a thread takes at a time
    plans : of a batch: who would move, where to, how much more weight it has there, whether it was single
    moved, found : who has moved in a batch; of each block, how many would
    number : of each batch, how many have moved
    claimed, done : `STEPS` a batch, see `in_step`
    """
    keys, sums, touched = new_table(room, neighbours)
    movers, targets, more, single = plans
    for b in range(first, last):
        batch = listed[begins[b] : begins[b + 1]]
        n, step = batch.size, STEPS * b
        blocks = (n + block - 1) // block
        i = claim(claimed, step)
        while i < blocks:
            starts[i] = _cut(batch, i * block, together)
            found[i] = _decide(
                starts[i], _cut(batch, (i + 1) * block, together), batch, offsets, neighbours, weight,
                degree, scale, community, going, together, totals, size, waiting, keys, sums, touched,
                movers, targets, more, single,
            )  # fmt: skip
            finish(done, step)
            i = claim(claimed, step)
        wait(done, step, blocks)
        if claim(claimed, step + 1) == 0:
            number[b] = _commit(
                starts[:blocks], found, degree, scale, community, going, totals, size, empty, at, waiting,
                plans, moved,
            )  # fmt: skip
            finish(done, step + 1)
        wait(done, step + 1, 1)
        n = number[b]
        blocks = (n + block - 1) // block
        i = claim(claimed, step + 2)
        while i < blocks:
            _tell(
                i * block, min((i + 1) * block, n), moved, offsets, neighbours, community, waiting
            )
            finish(done, step + 2)
            i = claim(claimed, step + 2)
        wait(done, step + 2, blocks)


@inner
def _copy(some, num, room):
    """The first so many in an array with room for more."""
    made = np.empty(room, some.dtype)
    for i in range(num):
        made[i] = some[i]
    return made


@inner
def _sort(some):
    """Sort an array: Shell's way."""
    gap = some.size
    while gap > 1:
        gap = max(4 * gap // 9, 1)
        for i in range(gap, some.size):
            v, j = some[i], i
            while j >= gap and some[j - gap] > v:
                some[j] = some[j - gap]
                j -= gap
            some[j] = v


@jit
def move_one_by_one(
    listed, offsets, neighbours, weight, degree, scale, community, going, totals, size, empty, at, waiting, room,
    most_read,
):  # fmt: skip
    """Move vertices, first those listed, then those whose neighbours have moved, in ascending order, until none gains.

    It ends when enough has been read as well; who still waits says `waiting`.

    Returns
    -------
    int
        Entries of rows that were read.
    """
    keys, sums, touched = new_table(room, neighbours)
    now, after = listed, _copy(listed, 0, listed.size)
    read, num_empty = np.uint64(0), at[0]
    while now.size and read < np.uint64(most_read):
        num = 0
        for i in range(now.size):
            v = np.uint64(now[i])
            waiting[v] = False
            own = np.uint64(community[v])
            start, stop = offsets[v], offsets[v + _ONE]
            read += stop - start
            target, _ = _best(
                v, offsets, neighbours, weight, degree, scale, community, community, np.uint64(0), totals,
                keys, sums, touched,
            )  # fmt: skip
            alone = target < 0
            if target == np.int64(own) or (alone and num_empty == 0):
                continue
            to = np.uint64(empty[num_empty - 1]) if alone else np.uint64(target)
            num_empty = _change(
                v, degree[v], own, to, community, totals, size, empty, num_empty - alone
            )
            going[v] = to
            for e in range(start, stop):
                u = np.uint64(neighbours[e])
                if not waiting[u] and np.uint64(community[u]) != to:
                    waiting[u] = True
                    if num == after.size:
                        after = _copy(after, num, 2 * num)
                    after[num] = u
                    num += 1
        now = _copy(after, num, num)
        _sort(now)
    at[0] = num_empty
    return read
