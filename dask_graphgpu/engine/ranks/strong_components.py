"""Strongly connected components on many ranks: trim, forward and backward, colour, and the rest on one rank.

References
----------
.. [1] Fleischer, Hendrickson, Pinar. On identifying strongly connected components in parallel. IPDPS Workshops 2000.
.. [2] McLendon, Hendrickson, Plimpton, Rauchwerger. Finding strongly connected components in distributed graphs.
   J. Parallel and Distributed Computing 2005.
.. [3] Orzan. On distributed verification and verified distribution. PhD thesis, Vrije Universiteit 2004.
.. [4] Slota, Rajamanickam, Madduri. BFS and coloring-based parallel algorithms for strongly connected components and
   related problems. IPDPS 2014.
"""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.bfs import bfs
from dask_graphgpu.engine.cpu.programs import run
from dask_graphgpu.engine.cpu.strong_components import arrays_of
from dask_graphgpu.engine.cpu.strong_components import strong_components as on_one
from dask_graphgpu.engine.known import SMALLEST
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.ranks.components import components
from dask_graphgpu.engine.ranks.ghost_frontier import News
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition import csr, rowwise
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Exchanges of a trimming in one direction: a path whose vertices alternate between ranks would take one for each.
MOST_EXCHANGES = 1024

# Edges that are few enough for one rank: as many as ranks have in the mean, and so many at least.
MEAN_SHARES, FEW_EDGES = 1, 1 << 16


def strong_components(view: RankView, report: Report) -> np.ndarray:
    """Strongly connected component of every vertex. Collective.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        The smallest number in the component; right for own vertices.

    Notes
    -----
    The order is that of [4]_. Vertices that nothing leads to, or that lead nowhere, are taken away one after another
    [2]_, on each rank until nothing more goes there; of the vertex with the most edges, the component is whom it
    reaches and is reached by [1]_, by two breadth-first searches. Once the edges that are left are no more than a
    rank's share of the graph, one rank searches them depth-first. Until then they are coloured [3]_ by the smallest
    number that leads to a vertex, then within a colour by the smallest that it leads to: where both are the same they
    are its component, and no other component has vertices of different colours.
    """
    if not view.directed:
        return components(view, report)
    left = _Left(view, report)
    left.trim()
    left.both_ways()
    while not left.is_small():
        left.colour()
    left.on_one_rank()
    return left.label


class _Left:
    """The vertices whose component is not known yet.

    Attributes
    ----------
    done : bool, shape (num_vertices,)
        Right for ghosts too.
    label : dtype of numbers, shape (num_vertices,)
        Of own vertices that are done.
    rest : RankView
        Edges between vertices that may be of one component, once these have been looked for.
    """

    def __init__(self, view: RankView, report: Report) -> None:
        self.view, self.ranks, self.report = view, view.ranks, report
        self.own = view.num_owned
        self.done = np.zeros(view.num_vertices, np.bool_)
        self.label = view.numbers.copy()
        self.rest = view

    def trim(self) -> None:
        """Take away what nothing leads to, then what leads nowhere; they are components of their own."""
        view = self.view
        loops = view.loops()
        news = News(view)
        self._trim(view.out, view.into, loops, news)
        self._trim(view.into, view.out, loops, news)

    def _trim(self, rows: Adjacency, toward: Adjacency, loops: np.ndarray, news: News) -> None:
        start = time.perf_counter()
        own = self.own
        far = _of_ghosts(toward, own)
        degree = toward.degrees - loops
        queue = np.empty(own, rows.neighbours.dtype)
        begin = np.flatnonzero(~self.done[:own] & (degree[:own] == 0))
        tail = len(begin)
        queue[:tail] = begin
        self.done[begin] = True
        fallen, settled, read, exchanges, going_on = queue[:0], 0, 0, 0, True
        while going_on:
            tail, edges = kernels.strong_components.trim_more(
                queue, tail, fallen, *arrays_of(far), *arrays_of(rows), own, degree,
                self.done.view(np.uint8),
            )  # fmt: skip
            settled, read, exchanges = settled + tail, read + edges, exchanges + 1
            told = queue[:tail][news.shared.take(queue[:tail])]
            fallen, every = news.tell(told, np.array([len(told)], np.int64))
            self.done[fallen.astype(np.intp)] = True
            tail = 0
            going_on = bool(every.any()) and exchanges < MOST_EXCHANGES
        self._note("trim", settled, read, start, exchanges)

    def both_ways(self) -> None:
        """Settle the component of the vertex with the most edges."""
        start = time.perf_counter()
        own, view = self.own, self.view
        edges = view.out.degrees[:own] * view.into.degrees[:own]
        edges[self.done[:own]] = -1
        best = int(edges.argmax()) if own else -1
        mine = (int(edges[best]), int(view.numbers[best])) if own else (-1, -1)
        every = self.ranks.scalars(mine)
        most, source = every[every[:, 0].argmax()].tolist()
        settled = 0
        if most >= 0:
            found = ~self.done[:own]
            for way in (view, view.reversed()):
                level = bfs(way, source, cutoff=None, targets=None, report=self.report)
                found &= level[:own] >= 0
            least = view.numbers[:own][found].min(initial=view.graph_vertices - 1)
            settled = self._settle(found, int(self.ranks.min(int(least))))
            view.at_ghosts(self.done)
        self.rest = view.within(np.zeros(view.num_vertices, np.bool_), ~self.done)
        self._note("forward-backward", settled, 0, start)

    def is_small(self) -> bool:
        """Whether the rest is so for one rank."""
        most = max(MEAN_SHARES * self.view.graph_edges // self.ranks.size, FEW_EDGES)
        return self.rest.graph_edges <= most

    def colour(self) -> None:
        """Settle at least one component of every part that the rest falls into."""
        start, own = time.perf_counter(), self.own
        colour = self._smallest(self.rest)
        inside = self.rest.within(colour, ~self.done)
        leads = self._smallest(inside.reversed())
        same = (leads == colour) & ~self.done
        settled = self._settle(same[:own], colour[:own][same[:own]])
        self.done |= same
        self.rest = inside.within(leads, ~self.done)
        self._note("colour", settled, 0, start)

    def _smallest(self, view: RankView) -> np.ndarray:
        """For every vertex the smallest number of those that lead to it; right for ghosts too."""
        return view.at_ghosts(run(SMALLEST, view, RunOptions(report=self.report))["smallest"])

    def on_one_rank(self) -> None:
        """Settle all that is left: the first rank is told of the edges and tells the labels."""
        if not self.rest.graph_edges:
            return
        start = time.perf_counter()
        numbers, rows, into = self.view.numbers, self.rest.out, self.rest.into
        joined = np.flatnonzero((rows.degrees + into.degrees)[: self.own])
        given = numbers[joined], rows.degrees[joined], csr.at_ends(numbers, rows.neighbours)
        vertices, degrees, ends = (self._to_first(each) for each in given)
        replies = [numbers[:0]] * self.ranks.size
        if self.ranks.rank == 0:
            every = np.concatenate(vertices)
            labels = _labels(every, np.concatenate(degrees), np.concatenate(ends))
            replies = np.split(labels, np.cumsum([len(each) for each in vertices])[:-1])
        self.label[joined] = self.ranks.all_to_all(replies)[0]
        self._note("depth-first", len(joined), rows.num_edges, start)

    def _settle(self, found: np.ndarray, label: int | np.ndarray) -> int:
        """Note the label of own vertices, a bool each; how many they are."""
        self.label[: self.own][found] = label
        self.done[: self.own] |= found
        return int(np.count_nonzero(found))

    def _to_first(self, array: np.ndarray) -> list[np.ndarray]:
        """What all ranks give, on the first."""
        return self.ranks.all_to_all([array, *[array[:0]] * (self.ranks.size - 1)])

    def _note(self, way: str, settled: int, read: int, start: float, exchanges: int = 1) -> None:
        self.report.advance(
            way, supersteps=exchanges, frontier=settled, edges=read,
            bytes=read * (self.label.itemsize + 4) + self.own * (2 + self.label.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip


def _labels(vertices: np.ndarray, degrees: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Labels of vertices, numbers, that have so many of the ``ends`` each, one after the other."""
    table = np.sort(vertices)
    kind = np.dtype(np.uint32 if len(table) < 2**32 else np.uint64)
    places = np.searchsorted(table, vertices).astype(kind)
    source, destination = np.repeat(places, degrees), np.searchsorted(table, ends).astype(kind)
    rows = csr.from_edges(len(table), source, destination)
    label = on_one(View.of(rows, directed=True), Report("rest"))
    found: np.ndarray = table.take(label.take(places))
    return found


def _of_ghosts(toward: Adjacency, own: int) -> Adjacency:
    """Rows of ghosts, of edges given by their own ends."""
    remote = toward.neighbours >= own
    return csr.from_edges(
        toward.num_vertices, toward.neighbours[remote], rowwise.row_ids(toward)[remote]
    )
