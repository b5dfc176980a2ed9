"""Breadth-first search as NetworkX does it: vertices in the order in which it meets them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.networkx_graph import BackendGraph, Neighbours

_EVERY_EDGE = 2**62  # a level of fewer edges is searched without coming back


class Found:
    """What a search has met.

    Attributes
    ----------
    order : uint32 array
        Places of nodes in the order in which they were met.
    level : int32 array, shape (nodes,)
        Edges from the nearest source; -1 where not reached.
    """

    def __init__(self, rows: Neighbours, sources: Sequence[int], limit: int | None = None) -> None:
        count = len(rows.offsets) - 1
        self.rows, self.sources = rows, len(sources)
        self.level = np.full(count, -1, np.int32)
        self.level[sources] = 0
        queue = np.empty(count + 1, rows.neighbours.dtype)
        queue[: len(sources)] = sources
        kernels.bfs.push(
            rows.offsets, rows.neighbours, self.level, queue, 0, len(sources), 0,
            -1 if limit is None else limit, np.empty(0, np.int64), 0, _EVERY_EDGE, True,
        )  # fmt: skip
        self.order = queue[: np.count_nonzero(self.level >= 0)]

    def parents(self) -> np.ndarray:
        """From where each node of ``order`` after the sources was met: of those possible the one met first."""
        met = np.full(len(self.level), len(self.level), np.int64)
        met[self.order] = np.arange(len(self.order))
        tails, heads = self.rows.tails, self.rows.neighbours
        near = (self.level[tails] >= 0) & (self.level[heads] == self.level[tails] + 1)
        first = np.full(len(self.level), len(self.level), np.int64)
        np.minimum.at(first, heads[near], met[tails[near]])
        return np.asarray(self.order[first[self.order[self.sources :]]])

    def layers(self) -> Iterator[np.ndarray]:
        """Nodes level by level."""
        bounds = np.cumsum(np.bincount(self.level[self.order]))
        return iter(np.split(self.order, bounds[:-1]))

    def lengths(self, G: BackendGraph) -> dict[Any, int]:
        """Edges to each node that was met, nearest first."""
        return dict(zip(G.named(self.order), self.level[self.order].tolist(), strict=True))


def whole(cutoff: float | None, G: BackendGraph) -> int | None:
    """A cutoff as a number of edges: none where no path is as long."""
    return None if cutoff is None or cutoff >= len(G) else int(cutoff)
