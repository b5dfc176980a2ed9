"""Parts of communities that are well connected, as Leiden's refinement has them; encoding as in `communities`.

Every vertex is a part at first. One that is still alone, and well connected to its community, joins a part of it that
is so too, by chance. As in `moving`, all threads decide for the vertices of a batch from how parts were before it, then
one thread goes over who would join, and those wait whose part, or who themselves, are no longer as they were.

Encoding
--------
totals : degree of each community.
refined : label of each vertex's part, one of its members, which stays in it.
part_degree, cut : degree of a part, by its label, and weight of its edges to the rest of its community.
joined : batch in which a vertex has joined a part, from 1 on; 0: it has not, and its part has its label.
followed : whether another vertex has joined the part of this one.
"""

import math

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.batches import STEPS
from dask_graphgpu.kernels.cpu.fingerprint import mixed
from dask_graphgpu.kernels.cpu.in_step import claim, finish, wait
from dask_graphgpu.kernels.cpu.prefetch import prefetch
from dask_graphgpu.kernels.cpu.tallies import AHEAD, add, new_table, shift_for

_ONE = np.uint64(1)


@jit
def begin(lo, hi, offsets, neighbours, weight, community, refined, cut, joined, followed):
    """Every vertex of a block is a part."""
    weighted = weight.size > 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        refined[v] = v
        joined[v] = 0
        followed[v] = False
        own = community[v]
        out = 0.0
        for e in range(offsets[v], offsets[v + _ONE]):
            if e + AHEAD < np.uint64(neighbours.size):
                prefetch(community, np.uint64(neighbours[e + AHEAD]))
            u = np.uint64(neighbours[e])
            if u != v and community[u] == own:
                out += np.float64(weight[e]) if weighted else 1.0
        cut[v] = out


@inner
def _well(scale, own_cut, degree, total):
    """Whether something of a degree is well connected to the rest of its community."""
    return own_cut >= scale * degree * (total - degree)


@inner
def _chosen(
    v, offsets, neighbours, weight, degree, scale, salt, randomness, community, totals, refined,
    part_degree, cut, table,
):  # fmt: skip
    """The part that a vertex would join, and its weight to it; itself: none."""
    keys, sums, touched = table
    none = keys.dtype.type(-1)
    weighted = weight.size > 0
    own = community[v]
    total = totals[np.uint64(own)]
    k = degree[v]
    start, stop = offsets[v], offsets[v + _ONE]
    shift = shift_for(min(stop - start, np.uint64(refined.size)))
    num = 0
    for e in range(start, stop):
        if e + AHEAD < np.uint64(neighbours.size):
            prefetch(refined, np.uint64(neighbours[e + AHEAD]))
        u = np.uint64(neighbours[e])
        w = np.float64(weight[e]) if weighted else 1.0
        if u != v and w > 0 and community[u] == own:
            num = add(keys, sums, touched, num, shift, np.uint64(refined[u]), w)
    # Gumbel's way to draw by exponentials: the most of what is in them, each with a random number of its own added.
    chosen, to, most = v, 0.0, -np.inf
    for j in range(num):
        slot = np.uint64(touched[j])
        part = np.uint64(keys[slot])
        keys[slot] = none
        gain = sums[slot] - scale * k * part_degree[part]
        if gain >= 0 and _well(scale, cut[part], part_degree[part], total):
            drawn = (mixed(mixed(v ^ salt) ^ part) >> np.uint64(11)) + 0.5
            likely = gain / (k * randomness) - math.log(-math.log(drawn * 2.0**-53))
            if likely > most or (likely == most and part < chosen):
                chosen, to, most = part, sums[slot], likely
    return chosen, to


@inner
def _decide(
    lo, hi, listed, offsets, neighbours, weight, degree, scale, salt, randomness, community, totals, refined,
    part_degree, cut, joined, followed, waiting, table, plans,
):  # fmt: skip
    """Plans of those of a block that would join a part, from its first place on; how many these are."""
    joiners, parts, to = plans
    num = lo
    for i in range(lo, hi):
        v = np.uint64(listed[i])
        waiting[v] = False
        if joined[v] or followed[v] or cut[v] <= 0:
            continue
        if not _well(scale, cut[v], degree[v], totals[np.uint64(community[v])]):
            continue
        part, weight_to = _chosen(
            v, offsets, neighbours, weight, degree, scale, salt, randomness, community, totals, refined,
            part_degree, cut, table,
        )  # fmt: skip
        if part != v:
            joiners[num], parts[num], to[num] = v, part, weight_to
            num += 1
    return num - lo


@inner
def _commit(
    number, starts, found, degree, scale, community, totals, refined, part_degree, cut, joined,
    followed, waiting, plans,
):  # fmt: skip
    """Do the plans that are as good as they were, in their order, as batch `number`; the others wait.

    These are then the first of the plans; gives how many.
    """
    joiners, parts, to = plans
    num = 0
    for i in range(starts.size):
        for j in range(starts[i], starts[i] + found[i]):
            v, part = np.uint64(joiners[j]), np.uint64(parts[j])
            k = degree[v]
            if (
                followed[v]
                or joined[part]
                or to[j] < scale * k * part_degree[part]
                or not _well(scale, cut[part], part_degree[part], totals[np.uint64(community[v])])
            ):
                waiting[v] = not followed[v]
                continue
            refined[v] = part
            joined[v] = number
            followed[part] = True
            part_degree[part] += k
            cut[part] += cut[v] - 2 * to[j]
            joiners[num] = v
            num += 1
    return num


@inner
def _between(lo, hi, number, joiners, offsets, neighbours, weight, refined, joined, within):
    """``within[i]`` = weight from a joiner to those that joined the same part before it in this batch."""
    weighted = weight.size > 0
    for i in range(lo, hi):
        v = np.uint64(joiners[i])
        part = refined[v]
        added = 0.0
        for e in range(offsets[v], offsets[v + _ONE]):
            u = np.uint64(neighbours[e])
            if joined[u] == number and u < v and refined[u] == part:
                added += np.float64(weight[e]) if weighted else 1.0
        within[i] = added


@jit
def refine_in_batches(
    lo, hi, first, last, begins, block, listed, offsets, neighbours, weight, degree, scale, salt, randomness,
    community, totals, refined, part_degree, cut, joined, followed, waiting, room, plans, earlier, starts,
    found, number, claimed, done,
):  # fmt: skip
    """Join the vertices of some batches to parts, on all threads that call with the same arrays.

    The more the gain, as a part of a vertex's degree, the more likely it is to join a part, by the
    exponential of gain over `randomness`.

    Parameters
    ----------
    lo, hi : which thread it is; not read
    first, last : the batches, batch b is ``listed[begins[b]:begins[b + 1]]`` in the order of vertices
    earlier : batches of rounds before
    block : vertices that a thread takes at a time
    salt : what chance is drawn with
    plans : of a batch: who would join a part, which, and its weight to it
    starts, found : of each block, where its plans begin, and how many there are
    number : of each batch, how many have joined
    claimed, done : `STEPS` a batch, see `in_step`
    """
    table = new_table(room, neighbours)
    for b in range(first, last):
        batch = listed[begins[b] : begins[b + 1]]
        n, step, now = batch.size, STEPS * b, earlier + b + 1
        blocks = (n + block - 1) // block
        i = claim(claimed, step)
        while i < blocks:
            starts[i] = i * block
            found[i] = _decide(
                i * block, min((i + 1) * block, n), batch, offsets, neighbours, weight, degree, scale,
                salt, randomness, community, totals, refined, part_degree, cut, joined, followed, waiting, table,
                plans,
            )  # fmt: skip
            finish(done, step)
            i = claim(claimed, step)
        wait(done, step, blocks)
        if claim(claimed, step + 1) == 0:
            number[b] = _commit(
                now, starts[:blocks], found, degree, scale, community, totals, refined, part_degree, cut,
                joined, followed, waiting, plans,
            )  # fmt: skip
            finish(done, step + 1)
        wait(done, step + 1, 1)
        n = number[b]
        joiners, _, within = plans
        blocks = (n + block - 1) // block
        i = claim(claimed, step + 2)
        while i < blocks:
            _between(
                i * block, min((i + 1) * block, n), now, joiners, offsets, neighbours, weight, refined,
                joined, within,
            )  # fmt: skip
            finish(done, step + 2)
            i = claim(claimed, step + 2)
        wait(done, step + 2, blocks)
        if claim(claimed, step + 3) == 0:
            for j in range(n):
                cut[np.uint64(refined[np.uint64(joiners[j])])] -= 2 * within[j]
            finish(done, step + 3)
        wait(done, step + 3, 1)
