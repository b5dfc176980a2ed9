"""Old groups and new ones paired off."""

from dask_graphgpu.kernels.compile import jit


@jit
def pair_off(old, new, new_of, old_of):
    """Match the pairs of which, in their order, neither side is matched yet, in ``new_of`` and ``old_of``.

    These hold -1 before, and where there is no match.
    """
    for i in range(len(old)):
        a, b = old[i], new[i]
        if new_of[a] < 0 and old_of[b] < 0:
            new_of[a] = b
            old_of[b] = a
