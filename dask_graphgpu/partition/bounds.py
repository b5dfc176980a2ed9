"""Which values of a column lie between bounds, and in which window each does; of NumPy's and CuPy's arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.device.arrays import blocks, count, module_of

Bound = int | float | None
Edges = Sequence[int | float]
Cut = Callable[[int | float, int | float], Edges]


def within(values: Any, low: Bound, high: Bound) -> Any:
    """Which values are not below ``low``, and below ``high``; None: there is no such bound."""
    keep = _from(values, low)
    if high is not None:
        keep &= values < high if values.dtype.kind == "f" else ~_from(values, high)
    return keep


def window_numbers(values: Any, edges: Edges) -> Any:
    """The window that each value is in: window i has those from ``edges[i]`` on, below ``edges[i + 1]``.

    No value may lie outside all of them.
    """
    xp = module_of(values)
    every = edges[1] - edges[0]
    if values.dtype.kind in "iu" and len(edges) > 2 and _evenly(edges, every):
        # Differences of 64 bits are right whatever the signs.
        low = np.uint64(int(edges[0]) % 2**64)
        return (values.astype(np.int64).view(np.uint64) - low) // np.uint64(every)
    if values.dtype.kind in "iu" and all(isinstance(edge, int) for edge in edges):
        least = np.iinfo(values.dtype).min  # only the first edge may be below
        starts = np.array([max(edge, least) for edge in edges[:-1]], values.dtype)
    else:
        starts = np.asarray(edges[:-1])
    return xp.searchsorted(xp.asarray(starts), values, "right") - 1


def _evenly(edges: Edges, every: int | float) -> bool:
    """Whether windows are as long, in whole numbers of 64 bits all together."""
    if not all(isinstance(edge, int) for edge in edges) or edges[-1] - edges[0] >= 2**64:
        return False
    return all(high - low == every for low, high in pairwise(edges))


def extent(pieces: Iterable[Any]) -> tuple[int | float, int | float] | None:
    """The least and the largest of all values; None: there is none."""
    ends = [(each.min().item(), each.max().item()) for each in pieces if len(each)]
    return (min(least for least, _ in ends), max(most for _, most in ends)) if ends else None


def count_rows(pieces: Iterable[Any], edges: Edges) -> np.ndarray:
    """How many values each window has, int64."""
    found = np.zeros(len(edges) - 1, np.int64)
    for each in pieces:
        for some in blocks(len(each)):
            found += to_host(count(window_numbers(each[some], edges), len(found)))
    return found


def _from(values: Any, least: Bound) -> Any:
    """Which values are not below one."""
    xp = module_of(values)
    if least is not None and values.dtype.kind in "iu":  # floats do not tell all integers apart
        limits = np.iinfo(values.dtype)
        if least > limits.max:
            return xp.zeros(len(values), bool)
        least = None if least <= limits.min else values.dtype.type(math.ceil(least))
    return xp.ones(len(values), bool) if least is None else values >= least
