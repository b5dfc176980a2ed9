"""Power iteration of PageRank: sums over in-neighbours, and what becomes of them, in one pass."""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.hits import fetch_rows, sum_neighbours
from dask_graphgpu.kernels.cpu.in_step import claim, finish, wait


@jit
def pass_rows(
    lo, hi, order, offsets, neighbours, weight, degree, personal, damping, lost, rank, share, new_share
):  # fmt: skip
    """New ranks of a block, and what these vertices hand on a unit of weight.

    Sums stand where the latter will: the block is in the cache for both.

    Returns
    -------
    tuple
        Sum of the changes, and of the ranks of vertices without out-edges.
    """
    sum_neighbours(lo, hi, order, offsets, neighbours, weight, share, 1.0, new_share)
    changes, left = 0.0, 0.0
    uniform = 1 / rank.size
    for v in range(np.uint64(lo), np.uint64(hi)):
        jump = personal[v] if personal.size else uniform
        new = (1 - damping) * jump + damping * (new_share[v] + lost * jump)
        changes += abs(new - rank[v])
        rank[v] = new
        if degree[v] > 0:
            new_share[v] = new / degree[v]
        else:
            new_share[v] = 0
            left += new
    return changes, left


@jit
def iterate(
    lo, hi, iterations, tolerance, lost, blocks, order, offsets, neighbours, weight,
    degree, personal, damping, rank, share, other_share, claimed, done, parts,
):  # fmt: skip
    """Some iterations, on all threads that call with the same arrays; each thread gives the same.

    Parameters
    ----------
    lo, hi : which thread it is; not read
    tolerance : ends when the ranks changed by less in sum
    lost : sum of the ranks of vertices without out-edges
    blocks : bounds of blocks of rows
    order : see `sum_neighbours`
    degree : weight of the out-edges of each vertex
    personal : where jumps lead to, of sum 1; empty: anywhere
    rank, share : ranks, and those over `degree`; the latter are in the other array after each iteration
    claimed, done : a step an iteration, see `in_step`
    parts : float64 array, shape (iterations, blocks, 2)

    Returns
    -------
    tuple
        Iterations made, `lost`, the last change, whether that is less than the tolerance.
    """
    number = blocks.size - 1
    change = np.inf
    before, after = share, other_share
    for k in range(iterations):
        i = claim(claimed, k)
        while i < number:
            fetch_rows(blocks[i], blocks[i + 1], order, offsets, neighbours, weight)
            changes, left = pass_rows(
                blocks[i], blocks[i + 1], order, offsets, neighbours, weight, degree, personal, damping,
                lost, rank, before, after,
            )  # fmt: skip
            parts[k, i, 0], parts[k, i, 1] = changes, left
            finish(done, k)
            i = claim(claimed, k)
        wait(done, k, number)
        change, lost = 0.0, 0.0
        for i in range(number):
            change += parts[k, i, 0]
            lost += parts[k, i, 1]
        if change < tolerance:
            return k + 1, lost, change, True
        before, after = after, before
    return iterations, lost, change, False
