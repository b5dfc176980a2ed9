"""Communities of high modularity, each connected, by Leiden.

References
----------
.. [1] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
.. [2] Sahu, Kothapalli, Banerjee. Fast Leiden algorithm for community detection in shared memory setting. ICPP 2024.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.louvain import (
    Level,
    aggregated,
    far_slots,
    first_level,
    in_dense_ids,
    modularity_of,
    moved,
    or_null,
    over_edges,
    own_labels,
    renumbered,
    smallest_places,
    totals,
)
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.partition.device.memory import require

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.report import Report


def leiden(
    view: View, resolution: float, seed: int, iterations: int, report: Report
) -> tuple[Any, float]:
    """Communities as `louvain`, of which every one is connected [1]_.

    Parameters and what is returned are those of `louvain`; ``iterations`` times, each from the
    communities of the one before, and fewer when one changes nothing.

    Notes
    -----
    Before communities become vertices, they are refined into parts, which do: the vertices of a class at a time join
    the well-connected part of their community by which they gain most, not one drawn by its gain [2]_. A part whose
    founder may leave in the same step is not joined, so that parts are connected. See kernels/cuda/leiden.cu.
    """
    here = DeviceView.of(view)
    first, salts = first_level(here), np.random.default_rng(seed)
    total = int(first.degree.sum(dtype=np.uint64))
    labels = own_labels(first)
    if not total:
        return here.to_caller(in_dense_ids(here, labels)), 0.0
    for _ in range(iterations):
        before, labels = labels, _once(here, first, labels, total, resolution, salts, report)
        if bool((labels == before).all()):
            break
    modularity = modularity_of(first, labels, total, resolution)
    return here.to_caller(in_dense_ids(here, labels)), modularity


def _once(
    here: DeviceView, first: Level, labels: Any, total: int, resolution: float,
    salts: np.random.Generator, report: Report,
) -> Any:  # fmt: skip
    """Labels after one iteration from ``labels``: the smallest places of their members."""
    level, place = first, cupy.arange(here.n, dtype=here.id_dtype)
    while True:
        labels, _ = moved(level, labels.copy(), total, resolution, salts, report)
        labels, count = renumbered(labels)
        if count == len(level):
            break
        parts = _refined(level, labels, count, resolution / total, salts)
        parts, number = renumbered(parts)
        if number == len(level):  # nothing is joined within communities: they come apart
            labels, _ = renumbered(_connected(level, labels))
            break
        of_parts = cupy.empty(number, labels.dtype)
        of_parts[parts] = labels
        place = parts[place]
        level = aggregated(level, parts, number)
        labels = of_parts.astype(level.neighbours.dtype, copy=False)
    return smallest_places(here, labels[place])


def _refined(
    level: Level, labels: Any, count: int, scale: float, salts: np.random.Generator
) -> Any:
    """Labels of parts of communities, each connected."""
    n, ids, kind = len(level), level.neighbours.dtype, level.degree.dtype
    kernel = level.kernel("refine", "leiden")
    blocks = launch.resident_blocks(kernel)
    slots = far_slots(level, blocks)
    require(
        n * (2 + 3 * ids.itemsize + 3 * kind.itemsize)
        + blocks * slots * (ids.itemsize + kind.itemsize),
        "refining communities",
    )
    parts, cut = own_labels(level), cupy.zeros(n, kind)
    over_edges(level, "cuts", or_null(level.rank), np.uint64(n), labels, cut, source="leiden")
    state = LaunchState([("barrier", np.uint64), ("changed", np.dtype((np.uint64, 3)))], {})
    launch.cooperative(
        kernel,
        (
            *level.edges, level.degree, or_null(level.rank), np.uint64(n), np.float64(scale),
            salts.integers(2**64, dtype=np.uint64), cupy.empty(blocks * slots, ids),
            cupy.empty(blocks * slots, kind), np.uint32(slots), labels,
            totals(level, labels, count), cupy.empty(n, ids), cupy.empty(n, ids), parts,
            totals(level, parts, n), cut, cupy.ones(n, np.uint8), cupy.zeros(n, np.uint8),
            state.memory,
        ),
    )  # fmt: skip
    return parts


def _connected(level: Level, labels: Any) -> Any:
    """Of every vertex the first that it is joined to within its community."""
    roots = cupy.empty(len(level), level.neighbours.dtype)
    state = LaunchState([("barrier", np.uint64), ("changed", np.dtype((np.uint64, 3)))], {})
    launch.cooperative(
        level.kernel("connected", "leiden"),
        (*level.edges, np.uint64(len(level)), labels, roots, state.memory),
    )
    return roots
