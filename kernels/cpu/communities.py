"""Levels of Louvain and Leiden: the rows of the graph itself, labels numbered, what is within communities.

Rows are symmetric, with every edge in the rows of both its ends and no order within a row needed. Entries of a vertex
in its own row are passed over: what they weigh is in `loops`.

Encoding
--------
weight : of every entry; empty: 1 each. Entries of weight 0 mean nothing.
loops : twice the weight of the edges within a vertex.
degree : weight of a vertex's row, and its `loops`.
scale : the resolution over the sum of all degrees: two groups of degrees a and b have ``scale * a * b`` expected weight
    between them, and a vertex of degree k gains ``to - scale * k * total`` when it joins a community of degree `total`
    to which it has edges of weight `to`.
community : label of each vertex, below the number of vertices.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit

# A move has to gain more than this part of the vertex's degree, so that rounding cannot move it for ever.
LEAST_GAIN = 1e-10

BLOCK_BITS = (
    14  # of the number of vertices whose weights within communities are added up by one thread
)


@jit
def weigh(lo, hi, offsets, neighbours, weight, times, loops, degree):
    """Fill `loops`, with what is in a vertex's own row counted so many times, and `degree`."""
    weighted = weight.size > 0
    for v in range(lo, hi):
        within = 0.0
        others = 0.0
        for e in range(offsets[v], offsets[v + 1]):
            w = np.float64(weight[e]) if weighted else 1.0
            if neighbours[e] == v:
                within += w
            else:
                others += w
        loops[v] = times * within
        degree[v] = times * within + others


@jit
def join_rows(
    lo, hi, place, rank, of_rows, of_columns, offsets, neighbours, weight
):  # fmt: skip
    """Rows of a block in another order, each with its entries of one or both adjacencies.

    Parameters
    ----------
    place : vertex of each row; empty: the row
    rank : row of each vertex; empty: the vertex
    of_rows, of_columns : offsets, neighbours and weights of adjacencies, the second one's may be empty
    """
    for r in range(lo, hi):
        v = np.uint64(place[r]) if place.size else np.uint64(r)
        k = _copy_row(v, rank, of_rows, offsets[r], neighbours, weight)
        if of_columns[0].size:
            k = _copy_row(v, rank, of_columns, k, neighbours, weight)


@inner
def _copy_row(v, rank, of, k, neighbours, weight):
    old_offsets, old_neighbours, old_weight = of
    for e in range(old_offsets[v], old_offsets[v + np.uint64(1)]):
        u = np.uint64(old_neighbours[e])
        neighbours[k] = rank[u] if rank.size else u
        if weight.size:
            weight[k] = old_weight[e]
        k += 1
    return k


@jit
def sort_rows(lo, hi, offsets, neighbours, weight):
    """Sort the rows of a block by neighbours and weights: Shell's way, with Tokuda's gaps or nearly so."""
    for v in range(lo, hi):
        first, last = offsets[v], offsets[v + 1]
        gap = last - first
        while gap > 1:
            gap = max(4 * gap // 9, 1)
            for i in range(first + gap, last):
                u, w = neighbours[i], weight[i]
                j = i
                while j - gap >= first and (
                    neighbours[j - gap] > u or (neighbours[j - gap] == u and weight[j - gap] > w)
                ):
                    neighbours[j], weight[j] = neighbours[j - gap], weight[j - gap]
                    j -= gap
                neighbours[j], weight[j] = u, w


@jit
def link_within(lo, hi, offsets, neighbours, weight, community, parent):
    """Link the trees of the vertices of some rows with those of neighbours in their community, by edges with a weight.

    The root of a tree is its smallest vertex; ``parent[v]`` is never larger than v. For one thread.
    """
    weighted = weight.size > 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        own = community[v]
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            u = np.uint64(neighbours[e])
            if u > v or community[u] != own or (weighted and weight[e] <= 0):
                continue
            a, b = _root(v, parent), _root(u, parent)
            parent[max(a, b)] = min(a, b)


@inner
def _root(v, parent):
    """The root of a vertex's tree; those on the way to it come to hang higher."""
    up = np.uint64(parent[v])
    while up != v:
        above = np.uint64(parent[up])
        parent[v] = above
        v = up
        up = above
    return v


@jit
def to_roots(parent):
    """``parent[v]`` = the root of each vertex's tree."""
    for v in range(parent.size):
        parent[v] = parent[np.uint64(parent[v])]


@jit
def renumber(labels, numbers):
    """``numbers`` = labels 0, 1, 2 ... in the order in which they come.

    Returns
    -------
    int
        How many there are.
    """
    n = labels.size
    given = np.full(n, -1, np.int64)
    count = 0
    for v in range(n):
        label = np.uint64(labels[v])
        if given[label] < 0:
            given[label] = count
            count += 1
        numbers[v] = given[label]
    return count


@jit
def weight_within(lo, hi, first, last, offsets, neighbours, weight, loops, community, sums):
    """Add to ``sums`` the weight of entries within communities, loops included.

    Of blocks of vertices, each of the same number of them whatever the threads are, those from one to before another
    that lie from `first` to before `last`.
    """
    weighted = weight.size > 0
    for b in range(lo, hi):
        within = sums[b]
        for v in range(max(b << BLOCK_BITS, first), min((b + 1) << BLOCK_BITS, last)):
            within += loops[v]
            for e in range(offsets[v], offsets[v + 1]):
                u = np.uint64(neighbours[e])
                if u != v and community[u] == community[v]:
                    within += np.float64(weight[e]) if weighted else 1.0
        sums[b] = within
