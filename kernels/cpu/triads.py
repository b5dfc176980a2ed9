"""Triangles by the directions of their edges, each found once: along edges to vertices that are later in an order.

Encoding
--------
code : of an edge to a later vertex: 1 it leads there, 2 it leads back, 3 both
"""

from dask_graphgpu.kernels.compile import jit


@jit
def count(lo, hi, bounds, offsets, neighbours, code, found):
    """Count the triangles from the vertices of some blocks, ``found[block, kind]``.

    The kind is the three codes less 1 as digits of base 3: from the first vertex to the second, from it to the third,
    and from the second to the third. Rows ascend.
    """
    for block in range(lo, hi):
        for u in range(bounds[block], bounds[block + 1]):
            stop = offsets[u + 1]
            for e in range(offsets[u], stop):
                v = neighbours[e]
                a, b, end = e + 1, offsets[v], offsets[v + 1]
                while a < stop and b < end:
                    x, y = neighbours[a], neighbours[b]
                    if x == y:
                        kind = 9 * (code[e] - 1) + 3 * (code[a] - 1) + code[b] - 1
                        found[block, kind] += 1
                    a += x <= y
                    b += y <= x
