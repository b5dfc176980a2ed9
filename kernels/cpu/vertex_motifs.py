"""How many graphs of three and four vertices each vertex is in, by class; see `motif_parts` for what arguments are.

Encoding
--------
corners : of each vertex the triangles that it is in, by the codes of first to second, first to it and second to it, as
    digits to base 3, of the other two vertices
leaf : a vertex with only one edge of a graph, and the vertex at its other end
width : number of classes
sums : of each vertex and class, ``vertex * width + class``
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add
from dask_graphgpu.kernels.cpu.motif_parts import (
    BACK,
    marked,
    of_edge,
    of_vertex,
    of_ways,
    room,
    scan,
)


@inner
def _kind(first, second, third):
    return 9 * (np.int64(first) - 1) + 3 * (np.int64(second) - 1) + np.int64(third) - 1


@jit
def triangles(lo, hi, bounds, rows, corners):
    """Count the corners of triangles of which the last vertex is in some blocks; ``corners[27 * vertex + kind]``."""
    offsets, neighbours, code = rows
    mark = np.zeros(len(offsets) - 1, np.uint8)
    for block in range(lo, hi):
        for u in range(bounds[block], bounds[block + 1]):
            marked(u, rows, mark, False)
            for e in range(offsets[u], offsets[u + 1]):
                v, uv = neighbours[e], code[e]
                if v > u:
                    break
                for a in range(offsets[v], offsets[v + 1]):
                    w, vw = neighbours[a], code[a]
                    if w > v:
                        break
                    uw = mark[w]
                    if uw:
                        atomic_add(corners, 27 * u + _kind(vw, BACK[uv], BACK[uw]), 1)
                        atomic_add(corners, 27 * np.int64(v) + _kind(uw, uv, BACK[vw]), 1)
                        atomic_add(corners, 27 * np.int64(w) + _kind(uv, uw, vw), 1)
            marked(u, rows, mark, True)


@inner
def _add(sums, vertex, width, into):
    for each in range(width):
        if into[each]:
            atomic_add(sums, np.int64(vertex) * width + each, into[each])


@inner
def _take(sums, at, tables, path, tail, number):
    """Take away paths and triangles with a tail of one kind."""
    atomic_add(sums, at + tables[1][_kind(path[0], path[1], path[2])], -number)
    atomic_add(sums, at + tables[2][3 * _kind(tail[0], tail[1], tail[2]) + tail[3] - 1], -number)


@inner
def _take_leaves(u, v, uv, tables, width, between, sums):
    """Take away from v and from u what `leaves` counts with one of them as leaf and as a further vertex, too."""
    vu = BACK[uv]
    for kind in range(9):
        if between[kind]:
            uw, vw = kind // 3 + 1, kind % 3 + 1
            wu, wv = BACK[uw], BACK[vw]
            _take(
                sums, np.int64(v) * width, tables, (uv, uw, wv), (vw, vu, wu, uv), between[kind]
            )  # fmt: skip
            _take(sums, u * width, tables, (vu, vw, wu), (uw, uv, wv, vu), between[kind])


@inner
def _of_third(u, v, uv, rows, degree, mark, tables, width, between, sums):
    """Add to the common neighbours of u and v what `of_edge` adds to these."""
    offsets, neighbours, code = rows
    _, _, tailed, _, diamonds = tables
    for a in range(offsets[v], offsets[v + 1]):
        w = neighbours[a]
        if w == u or mark[w] == 0:
            continue
        uw, vw = np.int64(mark[w]), np.int64(code[a])
        kind = 3 * (uw - 1) + vw - 1
        own = 9 * (uv - 1) + kind
        at = np.int64(w) * width
        for r in range(3):
            ends = degree[w, r] - (BACK[uw] == r + 1) - (BACK[vw] == r + 1)
            if ends:
                atomic_add(sums, at + tailed[3 * own + r], ends)
        for other in range(9):
            number = between[other] - (other == kind)
            if number:
                atomic_add(sums, at + diamonds[9 * own + other], number)


@inner
def _beside(u, v, uv, rows, cycles, width, ways, sums):
    """Add to v the cycles that a way over it makes with another one."""
    offsets, neighbours, code = rows
    at = np.int64(v) * width
    for a in range(offsets[v], offsets[v + 1]):
        w = neighbours[a]
        if w >= u:
            break
        kind = 3 * (uv - 1) + BACK[np.int64(code[a])] - 1
        for other in range(9):
            number = np.int64(ways[w, other]) - (other == kind)
            if number:
                atomic_add(sums, at + cycles[9 * kind + other], number)


@jit
def count(lo, hi, bounds, rows, degree, tables, width, sums):
    """Add to `sums` all but cliques and what a vertex is a leaf of, from the last vertices in some blocks on.

    Of leaves those are taken away that `leaves` counts twice.
    """
    offsets, neighbours, code = rows
    n = len(offsets) - 1
    mark, ways, between, tails, touched = room(n)
    into, own = np.zeros(width, np.int64), np.zeros(width, np.int64)
    for block in range(lo, hi):
        for u in range(bounds[block], bounds[block + 1]):
            own[:] = 0
            of_vertex(degree[u], tables, own)
            marked(u, rows, mark, False)
            number = 0
            for e in range(offsets[u], offsets[u + 1]):
                v = neighbours[e]
                if v > u:
                    break
                uv = np.int64(code[e])
                number = scan(u, v, uv, rows, degree, mark, between, tails, ways, touched, number)
                into[:] = 0
                of_edge(uv, (degree[u], degree[v]), tables, between, tails, into)
                own += into
                _add(sums, v, width, into)
                _take_leaves(u, v, uv, tables, width, between, sums)
                _of_third(u, v, uv, rows, degree, mark, tables, width, between, sums)
            for e in range(offsets[u], offsets[u + 1]):
                v = neighbours[e]
                if v > u:
                    break
                _beside(u, v, np.int64(code[e]), rows, tables[3], width, ways, sums)
            for i in range(number):
                into[:] = 0
                of_ways(ways[touched[i]], tables, into)
                own += into
                _add(sums, touched[i], width, into)
                ways[touched[i]] = 0
            _add(sums, u, width, own)
            marked(u, rows, mark, True)


@jit
def onward(lo, hi, rows, degree, found):
    """Count neighbours' neighbours but for the vertex itself, by the codes of both edges: ``found[vertex, kind]``."""
    offsets, neighbours, code = rows
    for b in range(lo, hi):
        for e in range(offsets[b], offsets[b + 1]):
            c, bc = neighbours[e], np.int64(code[e])
            for y in range(3):
                found[b, 3 * (bc - 1) + y] += degree[c, y] - (y + 1 == BACK[bc])


@jit
def leaves(lo, hi, some, rows, degree, steps, corners, tables, found):
    """Add the stars, paths and triangles with a tail that vertices are leaves of: ``found[i]`` of vertex ``some[i]``.

    Further vertices may be the leaf itself where that closes a triangle; steps : those of `onward`.
    """
    offsets, neighbours, code = rows
    stars, paths, tailed, _, _ = tables
    for i in range(lo, hi):
        v = some[i]
        into = found[i]
        for e in range(offsets[v], offsets[v + 1]):
            b, vb = neighbours[e], np.int64(code[e])
            bv = BACK[vb]
            for x in range(3):
                first = degree[b, x] - (x + 1 == bv)
                into[stars[9 * (bv - 1) + 4 * x]] += first * (first - 1) // 2
                for y in range(x):
                    other = degree[b, y] - (y + 1 == bv)
                    into[stars[9 * (bv - 1) + 3 * x + y]] += first * other
                into[paths[9 * (bv - 1) + 3 * (bv - 1) + x]] -= degree[v, x] - (x + 1 == vb)
            for kind in range(9):
                into[paths[9 * (bv - 1) + kind]] += steps[b, kind]
            for kind in range(27):
                into[tailed[3 * kind + bv - 1]] += corners[27 * np.int64(b) + kind]


@jit
def of_three(lo, hi, some, rows, degree, corners, wedges, triangles, found):
    """Add what vertices are in of three vertices: ``found[i]`` of vertex ``some[i]``."""
    offsets, neighbours, code = rows
    for i in range(lo, hi):
        v = some[i]
        into = found[i]
        for x in range(3):
            into[wedges[4 * x]] += degree[v, x] * (degree[v, x] - 1) // 2
            for y in range(x):
                into[wedges[3 * x + y]] += degree[v, x] * degree[v, y]
        for e in range(offsets[v], offsets[v + 1]):
            b, bv = neighbours[e], BACK[np.int64(code[e])]
            for x in range(3):
                into[wedges[3 * (bv - 1) + x]] += degree[b, x] - (x + 1 == bv)
        for kind in range(27):
            into[triangles[kind]] += corners[27 * np.int64(v) + kind]
