"""Betweenness on many ranks by Brandes' accumulation, of several sources at once.

References
----------
.. [1] Brandes. A faster algorithm for betweenness centrality. J. Mathematical Sociology 25 (2001).
.. [2] Hoang, Pontecorvi, Dathathri, Gill, You, Pingali, Ramachandran. A round-efficient distributed betweenness
   centrality algorithm. PPoPP 2019.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.betweenness import lengths_of
from dask_graphgpu.engine.cpu.multi_bfs import multi_bfs
from dask_graphgpu.engine.cpu.programs import run
from dask_graphgpu.engine.edge_ends import beside_ends
from dask_graphgpu.engine.known import DISTANCES
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.path_failures import check
from dask_graphgpu.errors import IntegerOverflow
from dask_graphgpu.exchange.border import Border
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.betweenness import LONG_PATHS, MANY_PATHS
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report

# Sources at once: with more of them work takes longer, with fewer there are more exchanges. Bytes that their items may
# take, and those of one.
AT_ONCE, MOST_BYTES, ITEM_BYTES = 16, 1 << 28, 45


def betweenness(
    view: RankView,
    sources: np.ndarray,
    *,
    weighted: bool,
    endpoints: bool,
    edges: bool,
    report: Report,
) -> np.ndarray:
    """Sums of the sources' dependencies, as the CPU engine's `betweenness`. Collective.

    Sources are numbers.

    Returns
    -------
    array of float64
        Shape (num_vertices,), right for own vertices; or for edges (num_edges,) in the order of ``view.out``.

    Notes
    -----
    After the searches a path count is final once those of all vertices before it are, and a dependency once those of
    all vertices after it are [1]_. Each rank goes on with what is final until nothing more becomes so, then its border
    is told: no more exchanges than levels, fewer where paths stay on a rank. Some sources are at work at once, so that
    all of them share an exchange, as [2]_ has it.
    """
    ranks = view.ranks
    room = MOST_BYTES // (ITEM_BYTES * max(int(ranks.max(view.num_vertices)), 1))
    width = max(min(AT_ONCE, room), 1)
    sums = np.zeros(view.out.num_edges if edges else view.num_vertices)
    for first in range(0, len(sources), width):
        start = time.perf_counter()
        some = sources[first : first + width]
        items = _Items(view, some, weighted, report)
        items.count_paths()
        items.hand_back()
        if edges:
            items.add_along(sums)
        else:
            items.add_through(sums, endpoints)
        report.advance(
            "accumulate", supersteps=items.exchanges, frontier=len(some), edges=items.read,
            bytes=items.read * (view.out.neighbours.itemsize + 4), seconds=time.perf_counter() - start,
        )  # fmt: skip
    return sums


def edge_betweenness(
    view: RankView, sources: np.ndarray, *, weighted: bool, report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges and the sums of the sources' dependencies on them: as `betweenness` with ``edges``."""
    how = {"weighted": weighted, "endpoints": False, "edges": True}
    return beside_ends(view, betweenness(view, sources, **how, report=report))


class _Items:
    """Vertices that are here, once for each of some sources; see the kernels for the arrays."""

    def __init__(self, view: RankView, sources: np.ndarray, weighted: bool, report: Report) -> None:
        self.view, self.ranks, self.width = view, view.ranks, len(sources)
        self.weighted, self.read, self.exchanges = weighted, 0, 0
        self.border = _border_of_items(view, self.width)
        if weighted:
            each = [_lengths_from(view, int(source), report) for source in sources]
        else:
            each = list(_hops_from(view, sources, report))
        self.distance = np.stack(each, axis=1).ravel()
        self.border.refresh([self.distance])
        if weighted:
            self._check_lengths()
        self.owned = view.num_owned * self.width
        own = self.distance[: self.owned]
        self.starts = np.array([self._item(source, s) for s, source in enumerate(sources.tolist())])
        self.starts = self.starts[self.starts >= 0]
        self.reached = own >= 0
        size = len(self.distance)
        self.paths, self.total, self.share = np.zeros(size), np.zeros(size), np.zeros(size)
        self.ready = np.empty(int(self.reached.sum()), np.int64)

    def count_paths(self) -> None:
        """Number of shortest paths to every item."""
        pending = self._pending(self.view.into, back=False)
        self.paths[self.starts] = 1.0
        nothing = np.empty(0)
        self._hand_on("out", self.starts, pending, nothing, self.paths)
        many = np.isinf(self.paths[: self.owned]).any()
        if self.ranks.max(bool(many)):
            check(MANY_PATHS, None)

    def hand_back(self) -> None:
        """What every path to an item hands back, and in ``total`` the sum of what came to it."""
        pending = self._pending(self.view.out, back=True)
        self.total[:] = 0
        last = np.flatnonzero(self.reached & (pending == 0))
        self.share[last] = 1.0 / self.paths[last]
        self._hand_on("in", last, pending, self.paths, self.share)

    def add_through(self, sums: np.ndarray, endpoints: bool) -> None:
        """Add the dependencies on own vertices."""
        owned, width = self.owned, self.width
        through = self.paths[:owned] * self.total[:owned] + endpoints * self.reached
        through[self.starts] = 0
        sums[: self.view.num_owned] += through.reshape(-1, width).sum(axis=1)
        if endpoints:
            reached = self.reached.reshape(-1, width).sum(axis=0)
            every = np.sum(self.ranks.all_gather(reached[None]), axis=0).ravel()
            np.add.at(sums, self.starts // width, every[self.starts % width] - 1)

    def add_along(self, sums: np.ndarray) -> None:
        """Add the dependencies on edges of own vertices."""
        rows = self.view.out
        for_blocks(
            kernels.dependencies.along_edges, edge_blocks(rows.offsets), self.width, not self.view.directed,
            rows.offsets, rows.neighbours, self._lengths(rows), self.distance, self.paths,
            self.share, sums,
        )  # fmt: skip

    def _hand_on(
        self,
        direction: str,
        start: np.ndarray,
        pending: np.ndarray,
        paths: np.ndarray,
        value: np.ndarray,
    ) -> None:
        """Hand values on from own items that are final, until all are. Collective."""
        # For every vertex, ghosts too, the own vertices that it leads to, or that lead to it.
        rows = self.view.toward(direction).out
        tail, fallen = len(start), start[:0]
        self.ready[:tail] = start
        while True:
            tail, read = kernels.dependencies.hand_on(
                self.ready, tail, fallen, self.width, direction == "in", self.view.num_owned,
                rows.offsets, rows.neighbours, self._lengths(rows), self.distance, paths, pending,
                self.total, value,
            )  # fmt: skip
            changed = np.zeros(self.owned, np.bool_)
            changed[self.ready[:tail]] = True
            got, every = self.border.refresh([value], changed, np.array([tail], np.int64))
            self.read, self.exchanges = self.read + int(read), self.exchanges + 1
            fallen, tail = got.astype(np.int64), 0
            if not every.any():
                return

    def _pending(self, rows: Adjacency, *, back: bool) -> np.ndarray:
        offsets = rows.offsets[: self.view.num_owned + 1]
        pending = np.zeros(self.owned, np.int32)
        for_blocks(
            kernels.dependencies.count_pending, edge_blocks(offsets), self.width, back, offsets,
            rows.neighbours, self._lengths(rows), self.distance, pending,
        )  # fmt: skip
        return pending

    def _lengths(self, rows: Adjacency) -> np.ndarray:
        return lengths_of(rows) if self.weighted else np.empty(0, self.distance.dtype)

    def _check_lengths(self) -> None:
        """Raise InvalidEdges or IntegerOverflow, on all ranks, unless distances grow along all edges."""
        rows, kind = self.view.out, self.distance.dtype
        lengths = lengths_of(rows)
        far = np.iinfo(kind).max if kind.kind == "i" else np.inf
        offsets = rows.offsets[: self.view.num_owned + 1]
        bad = any(for_blocks(
            kernels.dependencies.too_long, edge_blocks(offsets), self.width, offsets, rows.neighbours, lengths,
            self.distance, far,
        ))  # fmt: skip
        zero = bool((lengths == 0).any())
        every = self.ranks.scalars([bad, zero])
        if every[:, 0].any():
            check(LONG_PATHS, np.array([0 if every[:, 1].any() else 1], kind))

    def _item(self, source: int, s: int) -> int:
        """The item of a source that is an own vertex, else -1."""
        here = self.view.places(np.array([source]))[0]
        return int(here[0]) * self.width + s if len(here) and here[0] < self.view.num_owned else -1


def _border_of_items(view: RankView, width: int) -> Border:
    border = view.border
    largest = view.num_vertices * width
    kind = border.sends[0].dtype if largest < 2**32 else np.dtype(np.uint64)
    nth = np.arange(width, dtype=kind)
    sends = [(each.astype(kind)[:, None] * kind.type(width) + nth).ravel() for each in border.sends]
    return Border(view.ranks, view.num_owned * width, border.ghosts * width, sends)


def _hops_from(view: RankView, sources: np.ndarray, report: Report) -> np.ndarray:
    level = multi_bfs(view, sources, cutoff=None, targets=None, report=report)
    level[level < 0] = np.iinfo(level.dtype).min
    return level


def _lengths_from(view: RankView, source: int, report: Report) -> np.ndarray:
    try:
        state = run(DISTANCES, view, RunOptions(report=report, sources=source))
    except IntegerOverflow as error:  # of the program, which the user has not written
        raise IntegerOverflow("a distance does not fit int64; give float weights") from error
    assert state.reached is not None
    kind: Any = np.float64 if state["distance"].dtype.kind == "f" else np.int64
    distance: np.ndarray = state["distance"].astype(kind)
    distance[~state.reached] = np.nan if kind is np.float64 else np.iinfo(np.int64).min
    return distance
