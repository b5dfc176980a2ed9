"""Stars, paths, triangles with a tail, cycles and diamonds of four vertices, whatever else joins these.

Encoding
--------
rows : offsets, neighbours and code of all neighbours of each vertex, ascending; vertices are numbered by their degrees
code : of an edge as its vertex sees it: 1 it leads to the neighbour, 2 it leads back, 3 both; 0 none
degree : of each vertex its neighbours by code, less 1
u, v, w : a vertex, a neighbour of it, a neighbour of that
between : common neighbours w of u and v by the codes of u to w and v to w, less 1, as digits to base 3
tails : the same, added up over the neighbours of w, by their codes
ways : of each w before u, the v between them, before u, by the codes of u to v and w to v
tables : the classes of stars, paths, tailed triangles, cycles and diamonds; see `engine.motif_classes`
into : a number of each class, added to
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner

BACK = (0, 2, 1, 3)  # the code of an edge seen from its other end


@inner
def room(vertices):
    """What is noted of a vertex and its neighbours: mark, ways, between, tails, and who has ways."""
    mark, ways = np.zeros(vertices, np.uint8), np.zeros((vertices, 9), np.uint32)
    between, tails = np.zeros(9, np.int64), np.zeros((9, 3), np.int64)
    return mark, ways, between, tails, np.empty(vertices, np.uint32)


@inner
def marked(u, rows, mark, clear):
    """Mark the neighbours of a vertex with their codes, or take the marks away."""
    offsets, neighbours, code = rows
    for e in range(offsets[u], offsets[u + 1]):
        mark[neighbours[e]] = 0 if clear else code[e]


@inner
def scan(u, v, uv, rows, degree, mark, between, tails, ways, touched, number):
    """Note what is between u and v, and ways over v; how many vertices have ways."""
    offsets, neighbours, code = rows
    between[:] = 0
    tails[:] = 0
    for a in range(offsets[v], offsets[v + 1]):
        w = neighbours[a]
        if w == u:
            continue
        vw = np.int64(code[a])
        if mark[w]:
            kind = 3 * (np.int64(mark[w]) - 1) + vw - 1
            between[kind] += 1
            for r in range(3):
                tails[kind, r] += degree[w, r]
        if w < u:
            kind = 3 * (uv - 1) + BACK[vw] - 1
            if not ways[w].any():
                touched[number] = w
                number += 1
            ways[w, kind] += 1
    return number


@inner
def of_vertex(lengths, tables, into):
    """Add the stars around a vertex that has so many neighbours by code."""
    stars = tables[0]
    for a in range(3):
        first = lengths[a]
        into[stars[13 * a]] += first * (first - 1) * (first - 2) // 6
        for b in range(3):
            if b != a:
                into[stars[12 * a + b]] += first * (first - 1) // 2 * lengths[b]
    into[stars[5]] += lengths[0] * lengths[1] * lengths[2]


@inner
def of_edge(uv, ends, tables, between, tails, into):
    """Add paths that an edge is the middle of, diamonds that it halves, and triangles of which the tail is opposite it.

    Parameters
    ----------
    ends : of u and of v, their neighbours by code
    """
    _, paths, tailed, _, diamonds = tables
    vu = BACK[uv]
    for a in range(3):
        for b in range(3):
            number = (ends[0][a] - (a + 1 == uv)) * (ends[1][b] - (b + 1 == vu))
            into[paths[9 * a + 3 * (uv - 1) + b]] += number - between[3 * a + b]
    for kind in range(9):
        if between[kind] == 0:
            continue
        wu, wv = BACK[kind // 3 + 1], BACK[kind % 3 + 1]
        at = 9 * (uv - 1) + kind
        for r in range(3):
            own = (wu == r + 1) + (wv == r + 1)
            into[tailed[3 * at + r]] += tails[kind, r] - own * between[kind]
        into[diamonds[9 * at + kind]] += between[kind] * (between[kind] - 1) // 2
        for other in range(kind):
            into[diamonds[9 * at + other]] += between[kind] * between[other]


@inner
def of_ways(ways, tables, into):
    """Add the cycles that two ways between two vertices make."""
    cycles = tables[3]
    for kind in range(9):
        number = np.int64(ways[kind])
        if number:
            into[cycles[10 * kind]] += number * (number - 1) // 2
            for other in range(kind):
                into[cycles[9 * kind + other]] += number * ways[other]
