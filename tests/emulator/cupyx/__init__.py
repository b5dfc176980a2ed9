"""What tests use of CuPy's second package."""

from cupy._memory import empty_pinned


def zeros_pinned(shape, dtype=float, order="C"):
    made = empty_pinned(shape, dtype, order)
    made[...] = 0
    return made


def empty_like_pinned(a, dtype=None):
    return empty_pinned(a.shape, a.dtype if dtype is None else dtype)


def scatter_add(array, index, value):
    array.scatter_add(index, value)
