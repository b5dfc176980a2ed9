"""How many graphs of three and four vertices there are of each class; see `motif_parts` for what arguments are.

References
----------
.. [1] Chiba, Nishizeki, "Arboricity and subgraph listing algorithms", SIAM Journal on Computing 1985.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add
from dask_graphgpu.kernels.cpu.motif_parts import marked, of_edge, of_vertex, of_ways, room, scan


@inner
def _later(u, rows):
    """The first place in a row of a neighbour that is later."""
    offsets, neighbours, _ = rows
    return offsets[u] + np.searchsorted(neighbours[offsets[u] : offsets[u + 1]], u)


@jit
def count(lo, hi, bounds, rows, degree, tables, found):
    """Count what has its last vertex, an edge or a pair of which it is the last, in some blocks: ``found[block]``."""
    offsets, neighbours, code = rows
    n = len(offsets) - 1
    mark, ways, between, tails, touched = room(n)
    for block in range(lo, hi):
        into = found[block]
        for u in range(bounds[block], bounds[block + 1]):
            of_vertex(degree[u], tables, into)
            marked(u, rows, mark, False)
            number = 0
            for e in range(offsets[u], offsets[u + 1]):
                v = neighbours[e]
                if v > u:
                    break
                uv = np.int64(code[e])
                number = scan(u, v, uv, rows, degree, mark, between, tails, ways, touched, number)
                of_edge(uv, (degree[u], degree[v]), tables, between, tails, into)
            for i in range(number):
                of_ways(ways[touched[i]], tables, into)
                ways[touched[i]] = 0
            marked(u, rows, mark, True)


@jit
def cliques(lo, hi, bounds, rows, classes, each, width, found):
    """Count the cliques of four vertices of which the first is in some blocks, each once [1]_.

    Parameters
    ----------
    each : count them in ``found[vertex * width + class]`` for each of their vertices; else in ``found[block * width +
        class]``
    """
    offsets, neighbours, code = rows
    n = len(offsets) - 1
    first, second = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    third = np.empty(n, np.uint32)
    for block in range(lo, hi):
        for u in range(bounds[block], bounds[block + 1]):
            begin, end = _later(u, rows), offsets[u + 1]
            for e in range(begin, end):
                first[neighbours[e]] = code[e]
            for e in range(begin, end):
                v = neighbours[e]
                number = 0
                for a in range(_later(v, rows), offsets[v + 1]):
                    if first[neighbours[a]]:
                        second[neighbours[a]] = code[a]
                        third[number] = neighbours[a]
                        number += 1
                for i in range(number - 1):
                    w = third[i]
                    known = (
                        243 * np.int64(code[e])
                        + 81 * np.int64(first[w])
                        + 9 * np.int64(second[w])
                        - 364
                    )
                    for a in range(_later(w, rows), offsets[w + 1]):
                        x = neighbours[a]
                        if not second[x]:
                            continue
                        kind = (
                            known
                            + 27 * np.int64(first[x])
                            + 3 * np.int64(second[x])
                            + np.int64(code[a])
                        )
                        if each:
                            for vertex in (np.int64(u), np.int64(v), np.int64(w), np.int64(x)):
                                atomic_add(found, vertex * width + classes[kind], 1)
                        else:
                            found[block * width + classes[kind]] += 1
                for i in range(number):
                    second[third[i]] = 0
            for e in range(begin, end):
                first[neighbours[e]] = 0


@jit
def induced(lo, hi, order, starts, wholes, times, counts):
    """Of graphs in ``counts[row, class]``, whatever else joins their vertices, leave those that nothing else does.

    Parameters
    ----------
    order, starts, wholes, times : `engine.motif_classes.MotifClasses.parts`
    """
    for row in range(lo, hi):
        for part in order:
            less = 0
            for k in range(starts[part], starts[part + 1]):
                less += times[k] * counts[row, wholes[k]]
            counts[row, part] -= less
