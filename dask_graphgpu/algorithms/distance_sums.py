"""Distances from many sources added up, a vertex or a source at a time.

Sums are float64 arrays of shape (vertices, 5): how many others are reached, and of their distances the sum, the sum
of squares, of inverses, and of squares of inverses. A distance of 0 has no inverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.traversal import each_hops, each_length
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.partition.device.elements import converted, row_sums

NUMBER = 5

_AT_ONCE = 1 << 22  # distances that are looked at in one go: temporary arrays have as many


def sums_from(run: Run, sources: Any, direction: str, *, weighted: bool) -> Any:
    """Sums over sources for each vertex, of paths to it ("in") or from it ("out"); right for own vertices."""
    view = run.view if direction == "in" else run.view.reversed()
    if not weighted:
        sums = run.engine.hop_sums(view, sources, report=run.report)
        if sums is not None:
            return sums
    sums = np.zeros_like(run.rows, np.float64, shape=(run.view.num_vertices, NUMBER))
    for distance, reached in _groups(run, view, sources, weighted=weighted):
        sums += _summed(distance, reached, 0)
    own, _ = run.rows_of(sources)
    sums[own, 0] -= 1  # a source is no other than itself
    return sums


def sums_of_targets(run: Run, targets: Any, direction: str, *, weighted: bool) -> Any:
    """Sums over all vertices for each of some targets, of paths to it or from it; on all ranks the same."""
    view = run.view.reversed() if direction == "in" else run.view
    own = slice(run.view.num_owned)
    parts = [
        _summed(distance[:, own], reached[:, own], 1)
        for distance, reached in _groups(run, view, targets, weighted=weighted)
    ]
    sums = np.concatenate(parts)
    if run.ranks is not None:
        sums = np.sum(run.ranks.all_gather(np.asarray(sums)), axis=0)
    sums[:, 0] -= 1
    return sums


def _groups(run: Run, view: Any, sources: Any, *, weighted: bool) -> Iterator[tuple[Any, Any]]:
    """Distances and whether there are any, of one group of sources after another, a row a source."""
    each = each_length if weighted else each_hops
    return each(run, to_host(sources), None, None, view=view)


def _summed(distance: Any, reached: Any, axis: int) -> Any:
    """Sums along an axis, in parts of some rows so that temporary arrays stay small."""
    rows, columns = distance.shape
    step = max(_AT_ONCE // max(columns, 1), 1)
    parts = [
        _moments(distance[first : first + step], reached[first : first + step], axis)
        for first in range(0, rows, step)
    ]
    return np.concatenate(parts) if axis else sum(parts[1:], parts[0])


def _moments(distance: Any, reached: Any, axis: int) -> Any:
    d = np.where(reached, distance, 0).astype(np.float64)
    with np.errstate(over="ignore"):  # squares and inverses of extreme weights are infinite
        inverse = np.where(d == 0, 0.0, 1 / np.where(d == 0, 1.0, d))
        found = (reached, d, d * d, inverse, inverse * inverse)
    if axis:
        return np.stack([row_sums(converted(part, np.float64)) for part in found], axis=1)
    return np.stack([part.sum(axis=0, dtype=np.float64) for part in found], axis=1)
