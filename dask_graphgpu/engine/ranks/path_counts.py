"""Number of shortest paths from a source on many ranks: by levels, with borders' counts in between."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.engine.cpu.bfs import LARGE_LEVEL
from dask_graphgpu.engine.path_failures import check_counts
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks, num_threads

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def path_counts(
    view: RankView, source: int, level: np.ndarray, *, dtype: str, report: Report
) -> np.ndarray:
    """Number of paths of fewest edges from `source` to every vertex; collective.

    Returns
    -------
    ndarray of `dtype`, shape (num_local,)
        Of own vertices: 1 at the source, 0 where not reached.

    Raises
    ------
    IntegerOverflow
        A count does not fit int64. Every rank raises it.

    Notes
    -----
    Own vertices are put in order of their levels. Each then adds up its in-neighbours of the level
    before; small levels as on one rank, one after another in one call. An exchange comes after a
    level that has ghosts on some rank, and none after others: before they start, all ranks know
    which these are. One read of each edge into a reached own vertex.
    """
    from dask_graphgpu.kernels.cpu import path_counts as kernels

    start = time.perf_counter()
    owned, rows = view.num_owned, view.into
    level = level.copy()
    deepest = np.array([level[:owned].max(initial=-1)], np.int64)
    _, every = view.border.refresh([level], scalars=deepest)
    depth = int(every.max())
    offsets = rows.offsets.view(np.uint64)
    order, starts = _by_level(level[:owned], depth, rows.neighbours.dtype)
    edges = np.empty(len(order) + 1, np.int64)
    kernels.running_degrees(0, len(order), order, rows.offsets, edges)
    count = np.zeros(view.num_vertices, dtype)
    count[view.places(np.array([source]))[0]] = 1  # where it is a ghost as well
    border = _BorderByLevel(view, level, depth)
    overflows = False
    for first, last, large in _runs(edges[starts], border.crossed):
        lo, hi = int(starts[first]), int(starts[last + 1])
        if lo < hi:
            bounds = lo + edge_blocks(edges[lo : hi + 1]) if large else np.array([lo, hi])
            signs = for_blocks(kernels.pull, bounds, order, offsets, rows.neighbours, level, count)
            overflows = overflows or min(signs) < 0
        if border.crossed[last]:
            overflows = border.tell(last, count, overflows)
            check_counts(failed=bool(overflows))
        read = int(edges[hi] - edges[lo])
        size = hi - lo
        report.advance(
            "pull", supersteps=last - first + 1, frontier=size, edges=read,
            bytes=read * (rows.neighbours.itemsize + level.itemsize) + size * (16 + count.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip
        start = time.perf_counter()
    if count.dtype.kind == "i":
        check_counts(failed=view.ranks.max(overflows) > 0)
    return count


class _BorderByLevel:
    """Own vertices with ghosts elsewhere, and ghosts here, in order of their levels.

    Owner and holder have the vertices of a border in the same order and know the same levels of
    them, so what travels of a level is counts: no places among the vertices, and no look at others.

    Parameters
    ----------
    view : RankView
    level : int32, shape (num_local,)
        Right for ghosts too.
    depth : int
        Of the last level; the same on all ranks.

    Attributes
    ----------
    crossed : bool, shape (depth + 1,)
        The levels whose counts have to travel, the same on all ranks; not the last, whose counts
        nobody reads.
    """

    def __init__(self, view: RankView, level: np.ndarray, depth: int) -> None:
        sends = view.border.sends
        ids = sends[0].dtype
        self._ranks = view.ranks
        vertices = np.concatenate(sends)
        # Of a level they come by rank, as they do of all levels.
        self._places, self._sends = _by_level(level[vertices], depth, ids)
        self._vertices = vertices[self._places]
        self._bounds = np.cumsum([0, *map(len, sends)]).astype(ids)
        places, self._takes = _by_level(level[view.num_owned :], depth, ids)
        self._ghosts = places + ids.type(view.num_owned)
        here = np.packbits(np.diff(self._takes) > 0)
        anywhere = np.bitwise_or.reduce(view.ranks.all_gather(here))
        self.crossed = np.unpackbits(anywhere, count=depth + 1).view(np.bool_)
        self.crossed[-1:] = False

    def tell(self, depth: int, count: np.ndarray, overflows: bool) -> bool:
        """Bring the counts of a level to ghosts; whether any rank ``overflows``. One exchange."""
        lo, hi = self._sends[depth : depth + 2]
        values = count[self._vertices[lo:hi]]
        cuts = np.searchsorted(self._places[lo:hi], self._bounds).tolist()
        send = [values[a:b] if a < b else None for a, b in itertools.pairwise(cuts)]
        received, every = self._ranks.step(send, np.array([overflows], np.int64))
        lo, hi = self._takes[depth : depth + 2]
        count[self._ghosts[lo:hi]] = np.concatenate(received).view(count.dtype)
        return bool(every.any())


def _by_level(level: np.ndarray, depth: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the reached in order of their levels, and where each level starts and the last ends."""
    from dask_graphgpu.kernels.cpu import path_counts as kernels

    starts = np.zeros(depth + 2, np.int64)
    order = np.empty(int((level >= 0).sum()), dtype)
    kernels.by_level(level, starts, order)
    return order, starts


def _runs(edges: np.ndarray, crossed: np.ndarray) -> list[tuple[int, int, bool]]:
    """Cut the levels from 1 on into runs: first and last level, and whether it is a large one.

    A run ends after a level that is crossed, and before and after a large one.

    Parameters
    ----------
    edges : int64, shape (levels + 1,)
        Of all levels before each.
    crossed : bool, shape (levels,)
    """
    large = (np.diff(edges) > LARGE_LEVEL * threads.LITTLE_WORK) & (num_threads() > 1)
    ends = crossed | large
    ends[:-1] |= large[1:]
    ends[-1:] = True
    last = np.flatnonzero(ends[1:]) + 1
    first = np.r_[1, last + 1][:-1]
    return list(zip(first.tolist(), last.tolist(), large[last].tolist(), strict=True))
