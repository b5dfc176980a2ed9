"""Components of the edges of at least some weight, for several weights, from one maximum spanning forest.

What is on the host, on all engines.

References
----------
.. [1] Gower, Ross. Minimum spanning trees and single linkage cluster analysis. Applied Statistics 18 (1969).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.weight_order import turned
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.chunk import to_host
from dask_graphgpu.report import Report

Forest = tuple[Any, Any, Any]


@dataclass(frozen=True, eq=False)
class Level:
    """Components at one weight: arrays over the (own) vertices in ascending order of the user's ids.

    Attributes
    ----------
    component : place of the smallest member in the order of the user's ids
    weakest : the least weight that the component is held together by; None unless sizes are limited
    joined : whether there is another vertex in the component; None as ``weakest``
    """

    component: np.ndarray
    weakest: np.ndarray | None = None
    joined: np.ndarray | None = None


def components_at(
    view: Any,
    forest: Forest,
    thresholds: Sequence[float | None],
    max_size: int | None,
    report: Report,
) -> list[Level]:
    """Components at each of some weights.

    Notes
    -----
    The components of the edges of at least some weight are those of the forest's edges of at least that weight [1]_.
    So edges of the forest are gone over once, from the largest weight down, and components copied at each threshold.
    O(V) a threshold, and a sort of the forest where sizes are limited; on several ranks the first one does it.
    """
    start, n = time.perf_counter(), view.graph_vertices
    found: list[Level] = []
    if view.ranks.rank == 0:
        low, high, weight = (to_host(each) for each in forest)
        order = _falling(thresholds)
        made = (
            _levels(n, low, high, weight, [thresholds[i] for i in order])
            if max_size is None
            else _small(n, low, high, weight, [thresholds[i] for i in order], max_size)
        )
        with np.errstate(over="ignore"):  # thresholds beyond what the type of weights holds
            by_place = dict(zip(order, made, strict=True))
        found = [by_place[i] for i in range(len(thresholds))]
    report.advance(
        "merge", supersteps=len(thresholds), frontier=n, edges=len(forest[0]),
        bytes=n * 8 * len(thresholds), seconds=time.perf_counter() - start,
    )  # fmt: skip
    if not view.on_ranks:
        return found
    ids, kind = view.id_dtype, np.dtype(forest[2].dtype)
    empty = Level(np.empty(0, ids))
    if max_size is not None:
        empty = Level(np.empty(0, ids), np.empty(0, kind), np.empty(0, bool))
    own = view.ranks.all_gather(np.sort(view.numbers[: view.num_owned]))
    return [_shared(view.ranks, own, each) for each in found or [empty] * len(thresholds)]


def _shared(ranks: Any, own: Sequence[np.ndarray], level: Level) -> Level:
    """What each rank gets of the first one's: the values of its own vertices."""

    def share(values: np.ndarray | None) -> np.ndarray | None:
        if values is None:
            return None
        sent = [values.take(each) if len(values) else values for each in own]
        mine: np.ndarray = ranks.all_to_all(sent)[0]
        return mine

    component = share(level.component)
    assert component is not None
    return Level(component, share(level.weakest), share(level.joined))


def _falling(thresholds: Sequence[float | None]) -> list[int]:
    """Places of thresholds from the largest one down; None, below which there is nothing, is the last."""
    given = [-np.inf if each is None else each for each in thresholds]
    return sorted(range(len(given)), key=given.__getitem__, reverse=True)


def _levels(
    n: int,
    low: np.ndarray,
    high: np.ndarray,
    weight: np.ndarray,
    thresholds: Sequence[float | None],
) -> Iterator[Level]:
    """Of falling thresholds."""
    above: np.ndarray = np.zeros(len(weight), np.uint32 if len(thresholds) > 255 else np.uint8)
    for threshold in thresholds:  # how many of them an edge is below
        above += (weight < threshold).view(np.uint8)
    order = np.argsort(above, kind="stable")
    counts = np.cumsum(np.bincount(above, minlength=len(thresholds)))
    low, high = low[order], high[order]
    parent, done = np.arange(n, dtype=low.dtype), 0
    for end in counts[: len(thresholds)].tolist():
        new = low[done:end], high[done:end]
        for_blocks(kernels.components.link_pairs, even_blocks(end - done), *new, parent)
        for_blocks(kernels.components.compress, even_blocks(n), parent)
        done = end
        yield Level(parent.copy())


def _small(
    n: int,
    low: np.ndarray,
    high: np.ndarray,
    weight: np.ndarray,
    thresholds: Sequence[float | None],
    most: int,
) -> Iterator[Level]:
    """The same of components of at most so many vertices."""
    order = np.argsort(turned(weight), kind="stable")
    low, high, weight = low[order], high[order], weight[order]
    whole, cluster = np.arange(n, dtype=low.dtype), np.arange(n, dtype=low.dtype)
    size, weakest, joined = np.ones(n, np.int64), np.zeros(n, weight.dtype), np.zeros(n, bool)
    done = 0
    for threshold in thresholds:
        end = len(weight) if threshold is None else int(np.count_nonzero(weight >= threshold))
        kernels.score_levels.unite_small(
            done, end, low, high, weight, most, whole, size, cluster, weakest, joined
        )
        for_blocks(kernels.components.compress, even_blocks(n), cluster)
        done = end
        yield Level(cluster.copy(), weakest.take(cluster), joined.take(cluster))
