"""Number of shortest paths from a source, over finished breadth-first levels."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.bfs import LARGE_LEVEL
from dask_graphgpu.engine.cpu.edges import passes_over
from dask_graphgpu.engine.path_failures import check_counts
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks, num_threads
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report


def path_counts(
    view: AnyView, source: int, level: np.ndarray, *, dtype: str, report: Report
) -> np.ndarray:
    """Number of paths of fewest edges from `source` to every vertex.

    Returns
    -------
    ndarray of `dtype`, shape (num_vertices,)
        Right for own vertices.

    Raises
    ------
    IntegerOverflow
        On every rank.

    Notes
    -----
    Own vertices are put in order of their levels. Each then adds up its in-neighbours of the level
    before; of a view in memory that has no in-edges, each adds its count to its out-neighbours'.
    Small levels are done one after another in one call on one thread, large ones by all threads, in
    blocks of about equal edges, and of edges on disk the pages with rows of a level are read for it. An exchange
    comes after a level that has ghosts on some rank, and none after others: before they start, all ranks know
    which these are. One read of each edge of the reached vertices.
    """
    start = time.perf_counter()
    pulls = view.paged or view.has_into
    rows, kind = view.into if pulls else view.out, np.dtype(dtype)
    n, owned, ids = rows.num_vertices, view.num_owned, rows.neighbours.dtype
    with passes_over(rows, report) as passes:
        needed = rows.offsets.nbytes + n * (level.itemsize + ids.itemsize + kind.itemsize + 1)
        passes.require(needed, f"the path counts of {n:,} vertices")
        depth, travels, ends = int(level[:owned].max(initial=-1)), None, None
        if view.on_ranks:
            level = level.copy()
            _, every = view.border.refresh([level], scalars=np.array([depth]))
            depth = int(every.max())
            travels = _BorderByLevel(view, level, depth)
            ends = travels.crossed
        elif view.paged:
            ends = np.ones(depth + 1, bool)
        order, starts = _by_level(level[:owned], depth, ids)
        edges = np.empty(len(order) + 1, np.int64)
        kernels.path_counts.running_degrees(0, len(order), order, rows.offsets, edges)
        count = np.zeros(n, kind)
        count[view.places(np.array([source]))[0]] = 1  # where it is a ghost as well
        begin, end = (1, depth + 1) if pulls else (0, depth)  # levels that are worked on
        ends = None if ends is None else ends[begin:end]
        overflows = False
        for first, last in _runs(edges[starts[begin : end + 1]], ends, begin):
            lo, hi, alone = int(starts[first]), int(starts[last + 1]), first == last
            kernel = (
                kernels.path_counts.pull
                if pulls
                else kernels.path_counts.push_block
                if alone
                else kernels.path_counts.push
            )
            for a, b, run in passes.among(order[lo:hi]) if lo < hi else ():
                here = lo + a, lo + b
                bounds = np.array(here)
                if alone:
                    bounds = here[0] + edge_blocks(edges[here[0] : here[1] + 1])
                arrays = run.offsets.view(np.uint64), run.neighbours
                overflows |= min(for_blocks(kernel, bounds, order, *arrays, level, count)) < 0
            if travels is None or travels.crossed[last]:
                if travels is not None:
                    overflows = travels.tell(last, count, overflows)
                check_counts(failed=overflows)
            read, size = int(edges[hi] - edges[lo]), hi - lo
            report.advance(
                "pull" if pulls else "push", supersteps=last - first + 1, frontier=size, edges=read,
                bytes=read * (ids.itemsize + level.itemsize) + size * (16 + kind.itemsize),
                seconds=time.perf_counter() - start,
            )  # fmt: skip
            start = time.perf_counter()
        if kind.kind == "i":
            check_counts(failed=view.ranks.max(overflows) > 0)
    return count


class _BorderByLevel:
    """Own vertices with ghosts elsewhere, and ghosts here, in order of their levels.

    Owner and holder have the vertices of a border in the same order and know the same levels of
    them, so what travels of a level is counts: no places among the vertices, and no look at others.

    Parameters
    ----------
    view : AnyView
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

    def __init__(self, view: AnyView, level: np.ndarray, depth: int) -> None:
        sends = view.border.sends
        ids = sends[0].dtype
        self._ranks = view.ranks
        vertices = np.concatenate(sends)
        # Of a level they come by rank, as they do of all levels.
        self._places, self._sends = _by_level(level.take(vertices), depth, ids)
        self._vertices = vertices.take(self._places)
        self._bounds = np.cumsum([0, *map(len, sends)]).astype(ids)
        places, self._takes = _by_level(level[view.num_owned :], depth, ids)
        self._ghosts = places + ids.type(view.num_owned)
        here = np.packbits(np.diff(self._takes) > 0)
        anywhere = np.bitwise_or.reduce(view.ranks.all_gather(here))
        self.crossed = np.unpackbits(anywhere, count=depth + 1).view(np.bool_)
        self.crossed[-1:] = False

    def tell(self, depth: int, count: np.ndarray, overflows: bool) -> bool:
        """Bring the counts of a level to ghosts. Return whether any rank ``overflows``. One exchange."""
        lo, hi = self._sends[depth : depth + 2]
        values = count.take(self._vertices[lo:hi])
        cuts = np.searchsorted(self._places[lo:hi], self._bounds).tolist()
        send = [values[a:b] if a < b else None for a, b in itertools.pairwise(cuts)]
        received, every = self._ranks.step(send, np.array([overflows], np.int64))
        lo, hi = self._takes[depth : depth + 2]
        count[self._ghosts[lo:hi].astype(np.intp)] = np.concatenate(received).view(count.dtype)
        return bool(every.any())


def _by_level(level: np.ndarray, depth: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the reached in order of their levels, and where each level starts and the last ends."""
    starts = np.zeros(depth + 2, np.int64)
    order = np.empty(int((level >= 0).sum()), dtype)
    kernels.path_counts.by_level(level, starts, order)
    return order, starts


def _runs(edges: np.ndarray, ends: np.ndarray | None, begin: int) -> list[tuple[int, int]]:
    """Cut levels from ``begin`` on into runs: the first level and the last of each.

    A run ends after a level of ``ends``, and before and after a large one.

    Parameters
    ----------
    edges : int64, shape (levels + 1,)
        Of all levels before each.
    ends : bool, shape (levels,), optional
    """
    levels, many = len(edges) - 1, LARGE_LEVEL * threads.LITTLE_WORK
    if levels < 1:
        return []
    # Few edges are no large level: threads are not asked for.
    shared = int(edges[-1] - edges[0]) > many and num_threads() > 1
    if ends is None and not shared:
        return [(begin, begin + levels - 1)]
    ends = np.zeros(levels, bool) if ends is None else ends.copy()
    if shared:
        large = np.diff(edges) > many
        ends |= large
        ends[:-1] |= large[1:]
    ends[-1] = True
    last = (np.flatnonzero(ends) + begin).tolist()
    return list(zip([begin, *(level + 1 for level in last[:-1])], last, strict=True))
