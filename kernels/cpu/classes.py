"""Communities found by many ranks: the vertices of one class at a time move, knowing the others as they were before.

The steps are those of ``kernels/cuda/louvain.cu`` and ``leiden.cu``, number for number: weights are whole, so that sums
are the same in any order, and what is decided by them is rounded in one way only.

Encoding
--------
mine : vertices that have a row here; places are those in it. All other arrays over vertices are of the whole graph.
offsets, neighbours, weight : rows of `mine`, without entries of the vertex itself or of weight 0; no weight: 1 each.
toward, places : of every vertex the rows, by their place, that it stands in.
degree : weight of a vertex's edges, those within it twice.
labels, totals : community of each vertex, below their number, and the degree of each community.
scale : the resolution over the sum of all degrees.
"""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.communities import LEAST_GAIN

# Vertices that change at the same time are those of one of so many classes, drawn anew each round.
CLASSES = 16

_MIXERS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@jit
def mixed(x):
    """A number that has to do with another one as little as can be; uint64."""
    x = (x ^ (x >> np.uint64(30))) * _MIXERS[0]
    x = (x ^ (x >> np.uint64(27))) * _MIXERS[1]
    return x ^ (x >> np.uint64(31))


@jit
def _class_of(v, salt):
    return mixed(np.uint64(v) * _SPREAD + salt) % np.uint64(CLASSES)


@jit
def draw(lo, hi, mine, salt, classes):
    """``classes[i]`` = the class of the i-th vertex of `mine`."""
    for i in range(lo, hi):
        classes[i] = _class_of(mine[i], salt)


@jit
def _longest(lo, hi, looking, offsets):
    most = 0
    for i in range(lo, hi):
        place = looking[i]
        most = max(most, offsets[place + 1] - offsets[place])
    return most


@jit
def _table(most):
    """A hash table of so many labels at most: labels, -1 where there is none, and sums; and the slots in use."""
    slots = 2
    while slots < 2 * most:
        slots *= 2
    return np.full(slots, -1, np.int64), np.zeros(slots, np.int64), np.empty(most, np.int64)


@jit
def _add(table, sums, used, num, label, weight):
    """Add to a label; how many slots are in use then."""
    mask = np.uint64(table.size - 1)
    slot = mixed(np.uint64(label)) & mask
    while table[slot] != -1 and table[slot] != label:
        slot = (slot + np.uint64(1)) & mask
    if table[slot] == -1:
        table[slot] = label
        used[num] = slot
        num += 1
    sums[slot] += weight
    return num


@jit
def moves(
    lo,
    hi,
    looking,
    mine,
    offsets,
    neighbours,
    weight,
    degree,
    labels,
    totals,
    scale,
    turn,
    salt,
    goes,
):
    """``goes[i]`` = the community for the vertex at place ``looking[i]``, of class `turn`.

    The one that gains most, of equal ones the smallest label; its own label where all lose and nobody has it. Of
    two vertices that are alone and of this class, the one of the larger label does not go to the other.
    """
    table, sums, used = _table(_longest(lo, hi, looking, offsets))
    weighted = weight.size > 0
    for i in range(lo, hi):
        place = looking[i]
        v = np.uint64(mine[place])
        own = np.int64(labels[v])
        k = degree[v]
        single = totals[own] == k
        stays = 0
        num = 0
        for e in range(offsets[place], offsets[place + 1]):
            u = np.uint64(neighbours[e])
            label = np.int64(labels[u])
            w = weight[e] if weighted else 1
            if label == own:
                stays += w
            elif not (
                single
                and label > own
                and totals[label] == degree[u]
                and _class_of(u, salt) == np.uint64(turn)
            ):
                num = _add(table, sums, used, num, label, w)
        scaled = scale * k
        best = own
        most = stays - scaled * (totals[own] - k) + LEAST_GAIN * k
        for j in range(num):
            slot = used[j]
            label = table[slot]
            gain = sums[slot] - scaled * totals[label]
            table[slot] = -1
            sums[slot] = 0
            if gain > most or (gain == most and best != own and label < best):
                best = label
                most = gain
        goes[i] = np.int64(v) if most < 0 and totals[v] == 0 else best


@jit
def take_moves(moved, mine, toward, places, degree, labels, totals, active):
    """Move vertices, rows of vertex and label; those in the rows of other communities are looked at again."""
    for i in range(moved.shape[0]):
        v, to = np.uint64(moved[i, 0]), np.uint64(moved[i, 1])
        totals[np.uint64(labels[v])] -= degree[v]
        totals[to] += degree[v]
        labels[v] = to
    for i in range(moved.shape[0]):
        v = np.uint64(moved[i, 0])
        for e in range(toward[v], toward[v + np.uint64(1)]):
            place = places[e]
            if labels[np.uint64(mine[place])] != moved[i, 1]:
                active[place] = True


@jit
def within(lo, hi, mine, offsets, neighbours, weight, labels, sums):
    """``sums[i]`` = weight from the i-th vertex of `mine` to others of its community."""
    weighted = weight.size > 0
    for i in range(lo, hi):
        own = labels[np.uint64(mine[i])]
        found = 0
        for e in range(offsets[i], offsets[i + 1]):
            if labels[np.uint64(neighbours[e])] == own:
                found += weight[e] if weighted else 1
        sums[i] = found


@jit
def squares(totals, total):
    """Sum of the squares of what each total is of `total`, in units of 2**-62."""
    found = np.int64(0)
    for i in range(totals.size):
        part = np.float64(totals[i]) / total
        found += int(part * part * 2.0**62)
    return found


@jit
def _is_well(part, total, scale, part_degree, cut):
    size = part_degree[part]
    return np.float64(cut[part]) >= scale * size * (total - size)


@jit
def well_connected(lo, hi, mine, labels, totals, scale, part_degree, cut, alone, well):
    """``well[i]``: the i-th vertex of `mine` is a part of its own, and well connected to its community."""
    for i in range(lo, hi):
        v = np.uint64(mine[i])
        total = totals[np.uint64(labels[v])]
        well[i] = alone[v] and cut[v] > 0 and _is_well(v, total, scale, part_degree, cut)


@jit
def joins(
    lo, hi, looking, mine, offsets, neighbours, weight, degree, labels, totals, scale, turn, salt,
    parts, part_degree, cut, alone, goes,
):  # fmt: skip
    """``goes[i]`` = the part for the vertex at place ``looking[i]``, of class `turn`; -1: none.

    The well-connected part of its community by which it gains most, of equal ones the smallest; not one whose founder
    is alone and may leave as well.
    """
    table, sums, used = _table(_longest(lo, hi, looking, offsets))
    weighted = weight.size > 0
    for i in range(lo, hi):
        place = looking[i]
        v = np.uint64(mine[place])
        total = totals[np.uint64(labels[v])]
        num = 0
        for e in range(offsets[place], offsets[place + 1]):
            u = np.uint64(neighbours[e])
            part = np.int64(parts[u])
            if labels[u] == labels[v] and not (
                alone[part] and _class_of(part, salt) == np.uint64(turn)
            ):
                num = _add(table, sums, used, num, part, weight[e] if weighted else 1)
        scaled = scale * degree[v]
        best = -1
        most = 0.0
        for j in range(num):
            slot = used[j]
            part = table[slot]
            gain = sums[slot] - scaled * part_degree[part]
            table[slot] = -1
            sums[slot] = 0
            if gain < 0 or not _is_well(part, total, scale, part_degree, cut):
                continue
            if best < 0 or gain > most or (gain == most and part < best):
                best = part
                most = gain
        goes[i] = best


@jit
def take_joins(joined, turn, degree, parts, part_degree, alone, last):
    """Join vertices to parts, rows of both; ``last[v]`` = the turn in which v joined one, from 1 on."""
    for i in range(joined.shape[0]):
        v, to = np.uint64(joined[i, 0]), np.uint64(joined[i, 1])
        parts[v] = to
        last[v] = turn + 1
        alone[v] = False
        alone[to] = False
        part_degree[to] += degree[v]
        part_degree[v] = 0


@jit
def cut_changes(
    lo, hi, joining, mine, offsets, neighbours, weight, labels, parts, turn, last, changes
):
    """``changes[i]``: by how much the cut of the part grows that the vertex at place ``joining[i]`` has joined.

    What was between a part and those who joined it is within it now, what is between those who joined it never was
    outside, and the rest of theirs is.
    """
    weighted = weight.size > 0
    for i in range(lo, hi):
        place = joining[i]
        v = np.uint64(mine[place])
        change = 0
        for e in range(offsets[place], offsets[place + 1]):
            u = np.uint64(neighbours[e])
            if labels[u] != labels[v]:
                continue
            w = weight[e] if weighted else 1
            if parts[u] != parts[v]:
                change += w
            elif last[u] != turn + 1:
                change -= w
        changes[i] = change


@jit
def link(first, second, root):
    """Join trees; ``root[v]`` is no larger than v, and at the end the smallest of its tree."""
    for i in range(first.size):
        a, b = np.int64(first[i]), np.int64(second[i])
        while np.int64(root[a]) != a:
            root[a] = root[np.int64(root[a])]
            a = np.int64(root[a])
        while np.int64(root[b]) != b:
            root[b] = root[np.int64(root[b])]
            b = np.int64(root[b])
        if a < b:
            root[b] = a
        else:
            root[a] = b
    for v in range(root.size):
        root[v] = root[np.int64(root[v])]
