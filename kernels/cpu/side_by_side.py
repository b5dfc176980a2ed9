"""Moving vertices between communities on several sides at the same time; encoding as in `communities`.

In a step each side moves some vertices one by one. It sees its own moves at once, those of the others after the step:
sides share nothing but logs of moves, and do in their own labels and degrees what the logs of the step before say.

Encoding
--------
labels, sums, size : of each side, the label of each vertex; what is added up for a community, at first 0, and its
    degree; the members of a community.
empty, num_empty : of each side, stack of communities that it may fill when they have no members. They are each on the
    stack of one side only; some have got members by other ways since.
visited : step in which each vertex was looked at last.
told : of each side, step in which it has last had a neighbour leave for another community than the vertex's; -1: it has
    looked at the vertex since.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.communities import LEAST_GAIN
from dask_graphgpu.kernels.cpu.in_step import claim, finish, wait

_ONE = np.uint64(1)


@inner
def _change(v, k, to, side, sides, labels, sums, size, empty, num_empty):
    """Have a vertex of degree k move; gives how many communities are on the side's stack then."""
    own = np.uint64(labels[v])
    labels[v] = to
    sums[own, 1] -= k
    sums[to, 1] += k
    size[to] += 1
    size[own] -= 1
    if size[own] == 0:
        sums[own, 1] = 0
        if own % sides == side and num_empty < empty.size:
            empty[num_empty] = own
            num_empty += 1
    return num_empty


@inner
def _best(v, offsets, neighbours, weight, k, scale, labels, sums, touched):
    """The community where a vertex of degree k gains most, of equal ones the smallest label; -1: an empty one."""
    weighted = weight.size > 0
    own = np.uint64(labels[v])
    num = np.uint64(0)
    to_own = 0.0
    for e in range(offsets[v], offsets[v + _ONE]):
        u = np.uint64(neighbours[e])
        w = np.float64(weight[e]) if weighted else 1.0
        if u != v and w > 0:
            c = np.uint64(labels[u])
            if c == own:
                to_own += w
            else:
                before = sums[c, 0]
                touched[num] = c
                num += np.uint64(before == 0)
                sums[c, 0] = before + w
    best, most = own, to_own - scale * k * (sums[own, 1] - k) + LEAST_GAIN * k
    for i in range(num):
        c = np.uint64(touched[i])
        gain = sums[c, 0] - scale * k * sums[c, 1]
        sums[c, 0] = 0
        if gain > most or (gain == most and c < best):
            best, most = c, gain
    return np.int64(-1) if most < 0 else np.int64(best)


@inner
def _move(
    some, step, side, sides, offsets, neighbours, weight, degree, scale, labels, sums, size, empty, num_empty,
    visited, told, touched, log,
):  # fmt: skip
    """Move vertices of a side one by one; how many communities are on its stack then, and moves in its log."""
    moved = 0
    for i in range(some.size):
        v = np.uint64(some[i])
        visited[v] = step
        told[v] = -1
        k = degree[v]
        best = _best(v, offsets, neighbours, weight, k, scale, labels, sums, touched)
        while best < 0 and num_empty:
            num_empty -= 1
            if size[np.uint64(empty[num_empty])] == 0:
                best = np.int64(empty[num_empty])
        if best < 0 or best == np.int64(labels[v]):
            continue
        to = np.uint64(best)
        num_empty = _change(v, k, to, side, sides, labels, sums, size, empty, num_empty)
        log[0, moved], log[1, moved] = v, to
        moved += 1
        for e in range(offsets[v], offsets[v + _ONE]):
            u = np.uint64(neighbours[e])
            if np.uint64(labels[u]) != to:
                told[u] = step
    return num_empty, moved


@jit
def move_side_by_side(
    lo, hi, first, last, before, begins, listed, offsets, neighbours, weight, degree, scale, labels, sums, size,
    empty, num_empty, visited, told, touched, logs, logged, claimed, done,
):  # fmt: skip
    """Move vertices in some steps, on all threads that call with the same arrays.

    Parameters
    ----------
    lo, hi : which thread it is: that of the side which it looks after first
    first, last : the steps; side s of step b moves ``listed[begins[b, s]:begins[b, s + 1]]``, one by one
    before : steps before these
    touched : of each side, as long as the longest row
    logs, logged : of even and of odd steps and of each side, vertices and where they went, and how many these are
    claimed, done : of each step and of one more: for each side, and one number; see `in_step`
    """
    sides = np.uint64(labels.shape[0])
    for b in range(first, last + 1):
        step = before + b
        odd = step & 1
        for j in range(sides):
            s = (np.uint64(lo) + np.uint64(j)) % sides
            if claim(claimed, (b - first) * np.int64(sides) + np.int64(s)):
                continue
            own = labels[s], sums[s], size[s], empty[s]
            stacked = num_empty[s]
            for other in range(sides):
                for i in range(logged[1 - odd, other] if other != s else 0):
                    v = np.uint64(logs[1 - odd, other, 0, i])
                    to = np.uint64(logs[1 - odd, other, 1, i])
                    stacked = _change(v, degree[v], to, s, sides, *own, stacked)
            moved = 0
            if b < last:  # else it only sees the last moves of the others
                stacked, moved = _move(
                    listed[begins[b, s] : begins[b, s + _ONE]], step, s, sides, offsets, neighbours, weight,
                    degree, scale, *own, stacked, visited, told[s], touched[s], logs[odd, s],
                )  # fmt: skip
            num_empty[s], logged[odd, s] = stacked, moved
            finish(done, b - first)
        wait(done, b - first, np.int64(sides))


@jit
def waiting(lo, hi, visited, told, fixed, found):
    """Those of a block whose neighbours have moved since they were looked at, from its first place on; how many."""
    num = lo
    for v in range(lo, hi):
        for s in range(told.shape[0]):
            if told[s, v] >= visited[v] and not (fixed.size and fixed[v]):
                found[num] = v
                num += 1
                break
    return num - lo
