"""Sums over neighbours, for hubs and authorities."""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.atomics import atomic_load, atomic_store
from dask_graphgpu.kernels.cpu.in_step import claim, finish, wait
from dask_graphgpu.kernels.cpu.prefetch import prefetch_between

_ONE = np.uint64(1)

LONG = 8  # neighbours of rows, in the mean, from which reading them is most of the work
FETCHED = 1 << 14  # edges at most: of one long row no more than the cache has room for


@jit
def sum_neighbours(lo, hi, order, offsets, neighbours, weight, values, scale, sums):
    """``sums[v]`` = the values of the neighbours of v, times their weights unless `weight` is empty, times `scale`.

    Parameters
    ----------
    order : array of unsigned integers, shape (num_vertices,) or empty
        Where there is one, rows are gone over as it says, those of a block at its places; see `row_order`.

    Returns
    -------
    float
        The sums of the block added up.
    """
    total = 0.0
    weighted, ordered = weight.size > 0, order.size > 0
    e = offsets[np.uint64(lo)]
    for i in range(np.uint64(lo), np.uint64(hi)):
        v = np.uint64(i)
        if ordered:
            v = np.uint64(order[i])
            e = offsets[v]
        end = offsets[v + _ONE]
        even, odd = 0.0, 0.0  # two, so that an addition need not wait for the one before it
        if weighted:
            while e + _ONE < end:
                even += weight[e] * values[neighbours[e]]
                odd += weight[e + _ONE] * values[neighbours[e + _ONE]]
                e += np.uint64(2)
            if e < end:
                even += weight[e] * values[neighbours[e]]
        else:
            while e + _ONE < end:
                even += values[neighbours[e]]
                odd += values[neighbours[e + _ONE]]
                e += np.uint64(2)
            if e < end:
                even += values[neighbours[e]]
        e = end
        added = (even + odd) * scale
        sums[v] = added
        total += added
    return total


@jit
def fetch_rows(lo, hi, order, offsets, neighbours, weight):
    """Have the processor fetch the edges of a block, where it would wait for them.

    That is where they are read out of order, or are most of what is read; else this takes longer than it saves.
    """
    start, stop = offsets[np.uint64(lo)], offsets[np.uint64(hi)]
    if order.size > 0 or stop - start > np.uint64(LONG * (hi - lo)):
        stop = min(stop, start + np.uint64(FETCHED))
        prefetch_between(neighbours, start, stop)
        prefetch_between(weight, start, min(stop, np.uint64(weight.size)))


@jit
def differences(lo, hi, before, of_before, after, of_after):
    """Sum of the differences of two vectors, each multiplied by a number."""
    total = 0.0
    for v in range(np.uint64(lo), np.uint64(hi)):
        total += abs(after[v] * of_after - before[v] * of_before)
    return total


@jit
def add_up(parts):
    """Their sum, in order."""
    total = 0.0
    for i in range(parts.size):
        total += parts[i]
    return total


@jit
def inverse(total):
    """What scores of a sum are scaled by: nothing where weights of both signs cancel to 0."""
    return 1 / total if total != 0 else 1.0


@jit
def pass_over(
    step, blocks, order, offsets, neighbours, weight, values, scale, sums, claimed, done, parts
):  # fmt: skip
    """`sum_neighbours` of all blocks, by whoever calls. Returns the sum of what they give."""
    number = blocks.size - 1
    i = claim(claimed, step)
    while i < number:
        fetch_rows(blocks[i], blocks[i + 1], order, offsets, neighbours, weight)
        parts[step, i] = sum_neighbours(
            blocks[i], blocks[i + 1], order, offsets, neighbours, weight, values, scale, sums
        )
        finish(done, step)
        i = claim(claimed, step)
    wait(done, step, number)
    return add_up(parts[step, :number])


@jit
def iterate(
    lo, hi, iterations, tolerance, of_hubs,
    into_blocks, into_order, into_offsets, into_neighbours, into_weight,
    out_blocks, out_order, out_offsets, out_neighbours, out_weight,
    hub, other_hub, authority, claimed, done, parts, verdict,
):  # fmt: skip
    """Some iterations, on all threads that call with the same arrays; each thread gives the same.

    Parameters
    ----------
    lo, hi : which thread it is; not read
    tolerance : ends when the hub scores changed by less in sum, unless it is 0
    of_hubs : what the scores in `hub` are to be multiplied by
    into_blocks, out_blocks : bounds of blocks of rows
    into_order, out_order : see `sum_neighbours`
    hub, other_hub, authority : scores; hub scores are in the other array after each iteration
    claimed, done : three steps an iteration, see `in_step`
    parts : float64 array, shape (steps, blocks)
    verdict : int8 array, shape (iterations,)
        Of an iteration whose hub scores have the sum 0: 1 if all are 0, 2 if not; 0: not known yet.

    Returns
    -------
    tuple
        Iterations made, what hub and authority scores are to be multiplied by, the last change (infinity without a
        tolerance), whether it is over.
    """
    before, after = hub, other_hub
    of_authorities, change = 1.0, np.inf
    for k in range(iterations):
        of_before = of_hubs
        total = pass_over(
            3 * k, into_blocks, into_order, into_offsets, into_neighbours, into_weight,
            before, of_before, authority, claimed, done, parts,
        )  # fmt: skip
        of_authorities = inverse(total)
        total = pass_over(
            3 * k + 1, out_blocks, out_order, out_offsets, out_neighbours, out_weight,
            authority, of_authorities, after, claimed, done, parts,
        )  # fmt: skip
        of_hubs = inverse(total)
        if tolerance > 0:
            step, number = 3 * k + 2, out_blocks.size - 1
            i = claim(claimed, step)
            while i < number:
                parts[step, i] = differences(
                    out_blocks[i], out_blocks[i + 1], before, of_before, after, of_hubs
                )
                finish(done, step)
                i = claim(claimed, step)
            wait(done, step, number)
            change = add_up(parts[step, :number])
        over = change < tolerance
        if total == 0:
            # Who comes late may find the scores of a later iteration there, and takes the word of who was here.
            if atomic_load(verdict, k) == 0:
                atomic_store(verdict, k, 2 if after.any() else 1)
            over |= atomic_load(verdict, k) == 1
        if over:
            return k + 1, of_hubs, of_authorities, change, True
        before, after = after, before
    return iterations, of_hubs, of_authorities, change, False
