"""Communities of high modularity, by one thread: moving vertices one by one, refining, a vertex for each community.

Names as in ``communities.py``; offsets are int64.
"""

import math

import numpy as np

from dask_graphgpu.kernels.compile import jit

# A move has to gain more than this part of the vertex's degree, so that rounding cannot move it for ever.
LEAST_GAIN = 1e-10


@jit
def move(
    offsets, neighbours, weight, degree, scale, community, totals, size, empty, queue, queued, to,
    touched, at, most_read,
):  # fmt: skip
    """Move vertices to the neighbouring, or an empty, community that gains most, until none gains.

    A vertex is looked at again when a neighbour has left for another community than its own. Of
    equal gains the smallest label wins. It ends when enough has been read as well, to be called again.

    Parameters
    ----------
    community, totals, size : labels, and the degree and the members of each community; changed
    empty : stack of the communities without members
    queue, queued : ring of vertices to look at, at first all, and whether each is in it
    to, touched : of the length of these, `to` with zeros
    at : where the ring begins, how many are in it, and how many communities are on the stack; changed
    most_read : entries of rows

    Returns
    -------
    int
        Entries of rows that were read.
    """
    n = queue.size
    weighted = weight.size > 0
    head, left, num_empty = at
    read = 0
    while left and read < most_read:
        v = np.uint64(queue[head])
        head = head + 1 if head + 1 < n else 0
        left -= 1
        queued[v] = False
        own = np.uint64(community[v])
        start, stop = offsets[v], offsets[v + np.uint64(1)]
        read += stop - start
        num = np.uint64(0)
        to_own = 0.0
        for e in range(start, stop):
            u = np.uint64(neighbours[e])
            w = np.float64(weight[e]) if weighted else 1.0
            if u != v and w > 0:
                c = np.uint64(community[u])
                if c == own:
                    to_own += w
                else:
                    before = to[c]
                    touched[num] = c
                    num += np.uint64(before == 0)
                    to[c] = before + w
        k = degree[v]
        totals[own] -= k
        best = own
        most = to_own - scale * k * totals[own] + LEAST_GAIN * k
        for i in range(num):
            c = np.uint64(touched[i])
            gain = to[c] - scale * k * totals[c]
            to[c] = 0
            if gain > most or (gain == most and c < best):
                best = c
                most = gain
        if most < 0 and num_empty:
            num_empty -= 1
            best = np.uint64(empty[num_empty])
        totals[best] += k
        if best == own:
            continue
        community[v] = best
        size[best] += 1
        size[own] -= 1
        if size[own] == 0:
            totals[own] = 0
            empty[num_empty] = own
            num_empty += 1
        for e in range(start, stop):
            u = np.uint64(neighbours[e])
            if not queued[u] and np.uint64(community[u]) != best and u != v:
                queued[u] = True
                tail = head + left
                queue[tail - n if tail >= n else tail] = u
                left += 1
    at[0], at[1], at[2] = head, left, num_empty
    return read


@jit
def cuts(lo, hi, offsets, neighbours, weight, community, cut):
    """``cut[v]`` = weight from each vertex of a block to the rest of its community."""
    weighted = weight.size > 0
    for v in range(np.uint64(lo), np.uint64(hi)):
        own = community[v]
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            u = np.uint64(neighbours[e])
            if u != v and community[u] == own:
                cut[v] += np.float64(weight[e]) if weighted else 1.0


@jit
def refine(
    lo, hi, begins, order, chance, offsets, neighbours, weight, degree, scale, randomness, community, totals, to,
    longest, alone, refined, part_degree, cut,
):  # fmt: skip
    """Join vertices within their communities to parts that are well connected: ``refined`` are the labels of the parts.

    Every vertex is a part at first. One that is still alone, and well connected to its community,
    joins a part of it that is so too, by chance: the more the gain, as a part of its degree, the more
    likely, by the exponential of gain over `randomness`. ``chance[i]``, of 0 to 1, decides for ``order[i]``.

    Parameters
    ----------
    begins : of a block of groups; group g are the vertices ``order[begins[g]:begins[g + 1]]``, and no community has
        vertices in two of them, so that groups have nothing to do with one another
    to : of the length of the vertices, zeros
    longest : entries of a row
    alone, part_degree, cut : whether each vertex is a part of its own; degree of a part, by its label, and weight of
        its edges to the rest of its community; changed
    """
    touched = np.empty(longest, community.dtype)
    weighted = weight.size > 0
    for i in range(begins[lo], begins[hi]):
        v = np.uint64(order[i])
        own = community[v]
        total = totals[np.uint64(own)]
        k = degree[v]
        if not alone[v] or cut[v] <= 0 or cut[v] < scale * k * (total - k):
            continue
        num = np.uint64(0)
        for e in range(offsets[v], offsets[v + np.uint64(1)]):
            u = np.uint64(neighbours[e])
            w = np.float64(weight[e]) if weighted else 1.0
            if u != v and w > 0 and community[u] == own:
                part = np.uint64(refined[u])
                before = to[part]
                touched[num] = part
                num += np.uint64(before == 0)
                to[part] = before + w
        kept = 0
        most = 0.0
        for j in range(num):
            part = np.uint64(touched[j])
            gain = to[part] - scale * k * part_degree[part]
            well = cut[part] >= scale * part_degree[part] * (total - part_degree[part])
            if well and gain >= 0:
                touched[j] = touched[kept]
                touched[kept] = part
                kept += 1
                most = max(most, gain)
        sum_of_all = 0.0
        for j in range(kept):
            part = np.uint64(touched[j])
            gain = to[part] - scale * k * part_degree[part]
            sum_of_all += math.exp((gain - most) / (k * randomness))
        left = chance[i] * sum_of_all
        for j in range(kept):
            part = np.uint64(touched[j])
            gain = to[part] - scale * k * part_degree[part]
            left -= math.exp((gain - most) / (k * randomness))
            if left <= 0 or j == kept - 1:
                refined[v] = part
                part_degree[part] += k
                cut[part] += cut[v] - 2 * to[part]
                alone[v] = False
                alone[part] = False
                break
        for j in range(num):
            to[np.uint64(touched[j])] = 0
