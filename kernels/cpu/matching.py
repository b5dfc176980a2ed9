"""Matchings: edges of which no two share an end."""

from dask_graphgpu.kernels.compile import jit


@jit
def take_in_turn(order, source, destination, left, right, chosen):
    """Choose edges in turn, unless an end has one already; one thread.

    ``left`` and ``right`` tell which sources and destinations have one: one array where both are the same vertices.
    """
    for i in range(len(order)):
        edge = order[i]
        u, v = source[edge], destination[edge]
        if not left[u] and not right[v]:
            left[u] = right[v] = True
            chosen[edge] = True
