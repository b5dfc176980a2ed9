"""In which order values stand, as kernels ask for it: `np.argsort` takes seconds to compile for each type."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.kernels.compile import inner

_SHORT = 20  # places that are put in order one by one


@inner
def is_after(more, less):
    """Whether a value stands behind another; NaN stands behind all numbers."""
    return more > less or (more != more and less == less)


@inner
def stable_order(values):
    """Places of values from the least on, int64, by merge sort; of equal ones the first comes first."""
    size = values.size
    width = size
    while width > _SHORT:
        width = (width + 1) // 2
    order = np.empty(size, np.int64)
    start = 0
    for i in range(size):
        if i == start + width:
            start = i
        j = i
        while j > start and is_after(values[order[j - 1]], values[i]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    spare = np.empty(size if width < size else 0, np.int64)
    while width < size:
        left = middle = right = end = 0
        for k in range(size):
            if k == end:  # the next two
                left, middle, end = k, min(k + width, size), min(k + 2 * width, size)
                right = middle
            if left < middle and (
                right == end or not is_after(values[order[left]], values[order[right]])
            ):
                spare[k] = order[left]
                left += 1
            else:
                spare[k] = order[right]
                right += 1
        order, spare = spare, order
        width *= 2
    return order
