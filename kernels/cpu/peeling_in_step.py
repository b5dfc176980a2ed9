"""Peeling on all threads, which are woken once and go from step to step.

A level k takes a scan of the vertices that are left, rounds over lists of vertices to peel, and looks at the hubs.
Who does the last block of a step plans the next one; those that wait, or come late, read the plan.

Most edges that are taken away are of few vertices. Threads that subtracted them in one place would wait for each other
at every edge, so each counts by itself what hubs have lost, and who looks at a hub adds that up.

Encoding
--------
degree : neighbours of a vertex that are not peeled yet; of a peeled vertex, its core number; of a hub ``-1 - slot``.
lost : what hubs have lost since somebody looked at them, a row a thread.
left : neighbours of a hub that were not peeled then; -1 of a peeled hub.
alive : vertices that are not peeled; a scan brings those that are left from one of the two rows to the other.
listed : vertices to peel, each once. A round goes over those that were listed since the step before it began.
plans : `FIELDS` int64 a step, one line of the cache.
shared : int64, of the places that are named below.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import (
    atomic_add,
    atomic_load,
    atomic_min,
    atomic_store,
    fence,
    nap,
)
from dask_graphgpu.kernels.cpu.in_step import LOOKS

# Of a step: what to do at which k, with the items from BEGIN to END in blocks of SIZE; blocks taken and done; the least
# degree above k that was met.
FIELDS = 8
KIND, K, BEGIN, END, SIZE, CLAIMED, DONE, LEAST = range(FIELDS)
SCAN, ROUND, LOOK, OVER = range(4)

# The step at hand; vertices listed; listed before the last planned round; kept by a scan; scans; the k above which no
# vertex was peeled when the last scan began; the last level with a vertex to peel; how many there were; the least left
# of a hub.
SHARED = 9
STEP, LISTED, ROUNDED, KEPT, SCANS, FLOOR, LEVEL, LEVELS, LEAST_HUB = range(SHARED)

SCANNED, LOOKED = 1 << 11, 1 << 10  # items of a block
_MOST, _FEW = 64, 4  # items of a block of a round at most, and such blocks a thread
_HELD = 1 << 11  # vertices that a thread holds before it lists them
_FURTHER = 1 << 13  # edges up to which a thread goes on along the vertices that it holds

NONE = 2**62
_ONE = np.uint64(1)


@jit
def plan(plans, step, kind, k, begin, end, size):
    """Say what to do in a step."""
    at = step * FIELDS
    plans[at + KIND], plans[at + K] = kind, k
    plans[at + BEGIN], plans[at + END], plans[at + SIZE] = begin, end, size
    plans[at + CLAIMED], plans[at + DONE], plans[at + LEAST] = 0, 0, NONE


@jit
def plan_scan(plans, step, k, floor, shared):
    """Look for vertices of degree `k` among those that are left; they have at least `floor`."""
    plan(plans, step, SCAN, k, 0, shared[KEPT], SCANNED)
    shared[FLOOR], shared[KEPT] = floor, 0
    shared[SCANS] += 1


@jit
def plan_next(plans, step, last, threads, hubs, shared):
    """Say what to do after a step that is done, at levels up to `last`. No step is empty."""
    at = step * FIELDS
    kind, k = plans[at + KIND], plans[at + K]
    if kind == LOOK:
        shared[LEAST_HUB] = plans[at + LEAST]
    begin, end = shared[ROUNDED], shared[LISTED]
    step += 1
    if begin < end:
        shared[LEVELS] += shared[LEVEL] != k
        shared[LEVEL], shared[ROUNDED] = k, end
        size = min(max((end - begin) // (_FEW * threads), 1), _MOST)
        plan(plans, step, ROUND, k, begin, end, size)
        return
    if shared[LEAST_HUB] < NONE and (kind == ROUND or (kind == SCAN and shared[LEAST_HUB] <= k)):
        plan(plans, step, LOOK, k, 0, hubs, LOOKED)
        return
    found = min(plans[at + LEAST], shared[LEAST_HUB]) if kind == SCAN else k + 1
    if not shared[KEPT]:
        found = shared[LEAST_HUB]
    if found > min(last, NONE - 1):
        plan(plans, step, OVER, found, 0, 0, 1)
    elif shared[KEPT]:
        plan_scan(plans, step, found, k + 1, shared)
    else:
        plan(plans, step, LOOK, found, 0, hubs, LOOKED)


@jit
def append(found, number, places, place, listed):
    """Put what was found behind what is there, whose number is ``places[place]``."""
    if number:
        at = atomic_add(places, place, number)
        for i in range(number):
            listed[at + i] = found[i]


@jit
def scan(lo, hi, k, least_at, degree, alive, listed, held, plans, shared):
    """List vertices of degree `k`, and keep those of more, for a block."""
    floor = shared[FLOOR]
    before, after = alive[shared[SCANS] & 1], alive[(shared[SCANS] & 1) ^ 1]
    kept = np.empty(hi - lo, listed.dtype)
    stay = some = 0
    least = np.int64(NONE)
    for i in range(lo, hi):
        v = before[i]
        d = np.int64(degree[np.uint64(v)])
        kept[stay] = v
        held[some] = v  # without branches: a block holds no more than `held`
        stay += d > k
        some += (d >= floor) & (d <= k)
        if d > k:
            least = min(least, d)
    append(held, some, shared, LISTED, listed)
    append(kept, stay, shared, KEPT, after)
    atomic_min(plans, least_at, least)


@jit
def peel_round(lo, hi, k, offsets, neighbours, degree, listed, held, mine, shared):
    """Peel a block of `listed`, and of what falls to `k` by that as much as is not much more work; gives edges read."""
    top = 0
    i = lo
    read = np.int64(0)
    while i < hi or top:
        if i < hi:
            v = np.uint64(listed[i])
            i += 1
        elif read < _FURTHER:
            top -= 1
            v = np.uint64(held[top])
        else:
            break
        start, stop = offsets[v], offsets[v + _ONE]
        read += np.int64(stop - start)
        for e in range(start, stop):
            u = np.uint64(neighbours[e])
            d = np.int64(atomic_load(degree, u))
            if d > k:
                old = np.int64(atomic_add(degree, u, -1))
                if old == k + 1:
                    if top == _HELD:
                        append(held, top, shared, LISTED, listed)
                        top = 0
                    held[top] = u
                    top += 1
                elif old <= k:  # another thread was faster
                    atomic_add(degree, u, 1)
            elif d < 0:
                mine[-1 - d] += 1
    append(held, top, shared, LISTED, listed)
    return read


@jit
def look(lo, hi, k, least_at, degree, hubs, left, lost, listed, held, plans, shared):
    """Take from a block of hubs what they have lost, and list those that fall to `k`."""
    for row in range(lost.shape[0]):
        for slot in range(lo, hi):
            left[slot] -= lost[row, slot]
            lost[row, slot] = 0
    some = 0
    least = np.int64(NONE)
    for slot in range(lo, hi):
        own = np.int64(left[slot])
        if own > k:
            least = min(least, own)
        elif degree[np.uint64(hubs[slot])] < 0:
            degree[np.uint64(hubs[slot])] = k
            held[some] = hubs[slot]
            some += 1
    append(held, some, shared, LISTED, listed)
    atomic_min(plans, least_at, least)


@jit
def peel_in_step(
    lo, hi, last, offsets, neighbours, degree, alive, listed, hubs, left, lost, plans, shared
):
    """Peel up to the level `last`, on all threads that call with the same arrays, one row of `lost` each.

    It ends when all is done, or at the last line of `plans`, which is the step to go on with.

    Returns
    -------
    int
        Edges that this thread has read.
    """
    read = np.int64(0)
    steps = plans.size // FIELDS - 1
    held = np.empty(_HELD, listed.dtype)
    mine = lost[lo]
    step = atomic_load(shared, STEP)
    while step < steps and plans[step * FIELDS + KIND] != OVER:
        fence()
        at = step * FIELDS
        kind, k = plans[at + KIND], plans[at + K]
        begin, end, size = plans[at + BEGIN], plans[at + END], plans[at + SIZE]
        blocks = (end - begin + size - 1) // size
        i = atomic_add(plans, at + CLAIMED, 1)
        while i < blocks:
            first = begin + i * size
            past = min(first + size, end)
            if kind == SCAN:
                scan(first, past, k, at + LEAST, degree, alive, listed, held, plans, shared)
            elif kind == ROUND:
                read += peel_round(
                    first, past, k, offsets, neighbours, degree, listed, held, mine, shared
                )
            else:
                look(
                    first, past, k, at + LEAST, degree, hubs, left, lost, listed, held, plans, shared
                )  # fmt: skip
            fence()
            if atomic_add(plans, at + DONE, 1) == blocks - 1:
                fence()
                plan_next(plans, step, last, lost.shape[0], hubs.size, shared)
                fence()
                atomic_store(shared, STEP, step + 1)
            i = atomic_add(plans, at + CLAIMED, 1)
        looks = 0
        while atomic_load(shared, STEP) == step:
            looks += 1
            if looks > LOOKS:
                nap()
        step = atomic_load(shared, STEP)
        fence()
    return read


@jit
def count_widths(lo, hi, offsets, degree):
    """Degrees of a block, and how many of them are numbers of 0, 1 ... 63 bits."""
    widths = np.zeros(64, np.int64)
    for v in range(np.uint64(lo), np.uint64(hi)):
        own = np.int64(offsets[v + _ONE] - offsets[v])
        degree[v] = own
        width = 0
        while own:
            own >>= 1
            width += 1
        widths[width] += 1
    return widths
