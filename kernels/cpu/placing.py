"""Kernels that put edges into the rows of their ends one by one, where they come nearly in order.

Neighbours are marked as those of `row_sort` are. Every kernel works on some rows, so that others may be worked on
beside it.
"""

from __future__ import annotations

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.csr import vertex_of


@jit
def in_order(lo, hi, table, rows, neighbours, step):
    """Of every ``step``-th edge, how many come after the edge before: by row and neighbour, or by neighbour and row."""
    found = 0
    for i in range(lo + 1, hi, step):
        u, v = vertex_of(table, rows[i]), vertex_of(table, neighbours[i])
        row, neighbour = vertex_of(table, rows[i - 1]), vertex_of(table, neighbours[i - 1])
        by_row = row < u or (row == u and neighbour <= v)
        found += by_row or neighbour < v or (neighbour == v and row <= u)
    return found


@jit
def place(
    lo, hi, table, rows, neighbours, both, marks, back, first, end, cursor, made, column, carried
):
    """Write edges, and what they carry, into the next free places of those of their rows that are ``first`` to ``end``.

    ``both``, ``marks`` and ``back`` as of `row_sort.deal_edges`; the column may be empty.
    """
    if first == end:
        return
    width = end - first
    # Of the edge before: a row often has many, one after the other.
    row, next_ = first, cursor[first]
    for i in range(lo, hi):
        u = vertex_of(table, rows[i])
        v = vertex_of(table, neighbours[i])
        if u - first < width:  # unsigned: not of rows before either
            if u != row:
                cursor[row] = next_
                row, next_ = u, cursor[u]
            made[next_] = v << marks | back
            if column.size:
                carried[next_] = column[i]
            next_ += 1
        if both and u != v and v - first < width:
            if v == row:
                at = next_
                next_ += 1
            else:
                at = cursor[v]
                cursor[v] = at + 1
            made[at] = u << marks | (marks ^ back)
            if column.size:
                carried[at] = column[i]
    cursor[row] = next_


@jit
def sort_rows(lo, hi, offsets, made, carried, most):
    """Sort rows by neighbours, equal ones in their order, by insertion; False if that takes ``most`` moves or more."""
    moves = 0
    for row in range(lo, hi):
        start = offsets[row]
        for e in range(start + 1, offsets[row + 1]):
            key = made[e]
            if made[e - 1] <= key:
                continue
            at = e
            while at > start and made[at - 1] > key:
                made[at] = made[at - 1]
                at -= 1
            made[at] = key
            if carried.size:
                value = carried[e]
                for k in range(e, at, -1):
                    carried[k] = carried[k - 1]
                carried[at] = value
            moves += e - at
            if moves >= most:
                return False
    return True
