"""Random walks, each by one thread; a walker stops where a row that it needs is not at hand, and goes on later.

Encoding
--------
state : int64, shape (walkers, 7), in columns the walk's number, steps made, tries of the next step, where the walk
    began, the vertex before (-1: none), the vertex it is at, and the vertex that it may go to next (-1: none is drawn).
path : shape (walkers, room), the vertices that it comes to in this call; ``made`` gets how many.
place : row of each vertex; empty: its number. Rows ``first`` to ``last`` are at hand.
neighbours : numbers of vertices, ascending within a row.
before : float64, sums of weights within a row up to and with each edge; empty: all edges are alike.

Random numbers are hashes of a counter (SplitMix64's finisher) under a key of the seed and the walk, so they do not
depend on who draws them. ``kernels/cuda/walks.cu`` does the same.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit

STATE = 7
WALK, STEP, TRIES, START, BEFORE, AT, NEXT = range(STATE)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_ONE, _TWO, _SHIFT = np.uint64(1), np.uint64(2), np.uint64(32)
_11, _27, _30, _31 = (np.uint64(bits) for bits in (11, 27, 30, 31))
_RESTART, _EDGE, _ACCEPT = np.uint64(0), np.uint64(1), np.uint64(2)  # what is drawn for


@jit(inline="always")
def mixed(x):
    """The finisher of SplitMix64."""
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@jit(inline="always")
def key_of(seed, number):
    """The key of a stream of random numbers; ``seed`` : uint64."""
    return mixed(seed + mixed((np.uint64(number) + _ONE) * _GOLDEN))


@jit(inline="always")
def drawn(key, counter):
    """Uniform in [0, 1), of 53 bits; ``counter`` : uint64."""
    bits = mixed(key + mixed((counter + _ONE) * _GOLDEN))
    return np.float64(bits >> _11) * (1.0 / 9007199254740992.0)


@jit(inline="always")
def _counter(step, tries, purpose):
    return (np.uint64(step) << _SHIFT) | (np.uint64(tries) << _TWO) | purpose


@jit(inline="always")
def _row(place, v):
    return place[v] if place.size else v


@jit(inline="always")
def above(sums, lo, hi, value):
    """The first place from `lo` on of ascending `sums` that is above a value, else `hi`."""
    while lo < hi:
        middle = (lo + hi) >> 1
        if sums[middle] > value:
            hi = middle
        else:
            lo = middle + 1
    return lo


@jit(inline="always")
def edge_of(uniform, lo, hi, before):
    """The edge of a row ``lo`` to ``hi`` that a random number stands for; -1: there is none to go along."""
    if lo == hi:
        return -1
    if not before.size:
        return min(lo + np.int64(uniform * np.float64(hi - lo)), hi - 1)
    total = before[hi - 1]
    if not total > 0.0:
        return -1
    edge = above(before, lo, hi, uniform * total)
    while edge == hi or (edge > lo and before[edge] == before[edge - 1]):  # rounded up
        edge -= 1
    return edge


@jit(inline="always")
def _has(neighbours, lo, hi, v):
    while lo < hi:
        middle = (lo + hi) >> 1
        if np.int64(neighbours[middle]) < v:
            lo = middle + 1
        else:
            hi = middle
    return lo


@jit
def add_up(lo, hi, offsets, weight, before):
    """Sum up the weights within each row, one after the other."""
    for row in range(lo, hi):
        total = 0.0
        for e in range(offsets[row], offsets[row + 1]):
            total += np.float64(weight[e])
            before[e] = total


@jit
def walk(
    lo, hi, state, path, made, place, first, last, offsets, neighbours, before, length, seed, p, q,
    restart,
):  # fmt: skip
    """Go on with some walkers as far as rows are at hand, or the room of their paths; see the module.

    ``offsets`` begin with the row ``first``. ``p``, ``q`` : 1 / p and 1 / q of node2vec, both 1: steps do not depend
    on the vertex before. A walker that has ended has made ``length`` steps.
    """
    turns = p != 1.0 or q != 1.0
    most = max(p, 1.0, q)
    least_else, most_else = min(1.0, q), max(1.0, q)
    for i in range(lo, hi):
        step, tries = state[i, STEP], state[i, TRIES]
        old, at, then = state[i, BEFORE], state[i, AT], state[i, NEXT]
        key, count = key_of(seed, state[i, WALK]), 0
        while step < length and count < path.shape[1]:
            accepted, back = True, False
            if then < 0:
                row = _row(place, at)
                if row < first or row >= last:
                    break
                if (
                    restart > 0.0
                    and tries == 0
                    and drawn(key, _counter(step, 0, _RESTART)) < restart
                ):
                    then, back = state[i, START], True
                else:
                    begin, end = offsets[row - first], offsets[row - first + 1]
                    edge = edge_of(drawn(key, _counter(step, tries, _EDGE)), begin, end, before)
                    if edge < 0:
                        step = length
                        break
                    then = np.int64(neighbours[edge])
                    if turns and old >= 0 and neighbours[begin] != neighbours[end - 1]:
                        limit = most * drawn(key, _counter(step, tries, _ACCEPT))
                        if then == old:
                            accepted = limit < p
                        elif limit >= most_else:
                            accepted = False
                        elif limit >= least_else:
                            continue  # by the row of the vertex before
            else:
                row = _row(place, old)
                if row < first or row >= last:
                    break
                begin, end = offsets[row - first], offsets[row - first + 1]
                found = _has(neighbours, begin, end, then)
                near = found < end and np.int64(neighbours[found]) == then
                limit = most * drawn(key, _counter(step, tries, _ACCEPT))
                accepted = limit < (1.0 if near else q)
            if accepted:
                old, at = (-1 if back else at), then
                step += 1
                tries = 0
                path[i, count] = at
                count += 1
            else:
                tries += 1
            then = -1
        state[i, STEP], state[i, TRIES] = step, tries
        state[i, BEFORE], state[i, AT], state[i, NEXT] = old, at, then
        made[i] = count
