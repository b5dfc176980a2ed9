"""What walks and samples are asked for, and what of them is the same on all engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.partition.device.masks import any_true


@dataclass(frozen=True)
class WalkRule:
    """How random walks go; see `algorithms.random_walks`.

    Attributes
    ----------
    length : int
        Steps of a walk.
    weighted : bool
        Whether an edge is taken in proportion to its weight.
    p, q : float
        Return and in-out parameter of node2vec; both 1: a step does not depend on the vertex before.
    restart : float
        Probability of a step back to the start.
    seed : int
    """

    length: int
    weighted: bool
    p: float
    q: float
    restart: float
    seed: int


@dataclass(frozen=True)
class SampleRule:
    """How neighbours are sampled; see `algorithms.neighbor_sample`.

    Attributes
    ----------
    fanout : tuple of int
        Edges of a vertex, for each hop; -1: all.
    replace : bool
        Whether an edge may be drawn several times.
    seed : int
    time : str, optional
        The edge column by which only edges up to a bound of each batch are drawn.
    """

    fanout: tuple[int, ...]
    replace: bool
    seed: int
    time: str | None = None

    def replaces(self, hop: int) -> bool:
        """Whether an edge may be drawn several times in a hop, where not all are taken."""
        return self.replace and self.fanout[hop] >= 0

    def lengths(self, degrees: Any, hop: int) -> Any:
        """How many edges are drawn of vertices that have so many, int64; on the host or a GPU."""
        most = self.fanout[hop]
        if most < 0:
            return degrees
        return np.where(degrees > 0, most, 0) if self.replace else np.minimum(degrees, most)


def edges_up_to(time: Any, begin: Any, degree: Any, until: Any) -> Any:
    """How many edges of rows, whose times ascend from ``begin`` on, are not above a bound each.

    On the host or a GPU.
    """
    if time.dtype == np.uint64 and until.dtype.kind == "i":  # which NumPy would compare as floats
        degree = np.where(until < 0, 0, degree)
        until = np.maximum(until, 0).astype(np.uint64)
    low, high = begin.copy(), begin + degree
    for _ in range(int(degree.max()).bit_length() if len(degree) else 0):
        middle = (low + high) // 2
        inside = low < high
        early = inside & (time[np.minimum(middle, len(time) - 1)] <= until)
        low = np.where(early, middle + 1, low)
        high = np.where(inside & ~early, middle, high)
    return low - begin


def trails(walk: Any, before: Any, path: Any, made: Any, *, begins: bool) -> tuple[Any, Any, Any]:
    """The walk, the step and the vertex of each of the first ``made`` steps of paths.

    Parameters
    ----------
    walk, before : shape (walkers,)
        Their numbers, and how many steps they had made before.
    path : shape (walkers, room + 1)
        First where they were then.
    made : shape (walkers,)
    begins : bool
        Whether where they were then is a row, too.
    """
    taken = np.arange(path.shape[1], like=made) <= made[:, None]
    taken[:, 0] = begins
    walker, column = taken.nonzero()
    step = (before[walker] + column).astype(np.int32)
    return walk[walker], step, path[taken]


def with_repeats_in_order(row: Any, neighbours: Any, weight: Any) -> Any:
    """Weights of edges, of which those of repeated edges ascend; on the host or a GPU.

    ``row`` : of each edge, ascending as neighbours within a row. Draws are the same then for rows in any order.
    """
    again = (row[1:] == row[:-1]) & (neighbours[1:] == neighbours[:-1])
    if not any_true(again & (weight[1:] < weight[:-1])):
        return weight
    none = np.zeros(1, bool, like=again)
    repeats = np.concatenate([none, again])
    (places,) = (repeats | np.concatenate([again, none])).nonzero()
    order = np.argsort(weight[places], kind="stable")
    group = (~repeats).astype(np.int64).cumsum()[places]
    order = order[np.argsort(group[order], kind="stable")]
    ordered = weight.copy()
    ordered[places] = weight[places][order]
    return ordered
