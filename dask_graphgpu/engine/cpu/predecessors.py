"""Predecessors of a finished path search, by a rule that does not depend on how the search went."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from dask_graphgpu.engine.cpu.edges import InMemory, Paged, passes_over
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.ranks.view import AnyView, RankView
from dask_graphgpu.report import Report


def predecessors(
    view: AnyView,
    source: int,
    distance: np.ndarray,
    reached: np.ndarray,
    *,
    hops: bool,
    report: Report,
) -> np.ndarray:
    """Predecessor of every vertex on a shortest path from `source`.

    Parameters
    ----------
    distance, reached
        Right for own vertices.

    Returns
    -------
    ndarray
        Right for own vertices.

    Notes
    -----
    Of the neighbours u with ``distance[u] + weight == distance[v]`` and ``distance[u] < distance[v]`` the one of
    highest degree (both directions counted), then the smallest in the order of the user's ids. A vertex without such a
    neighbour lies on a plateau: weights of zero, or so small that the sum absorbs them, lead to it. It gets the
    neighbour that reaches it first, breadth-first within the plateau, with the same preference. So the predecessors are
    a tree whatever the weights, and the same tree for any number of threads and ranks and any dense order.

    In memory at most one read of each edge, two with plateaus; early exit when rows are in the order of preference. On
    disk and on ranks a level of a plateau takes an exchange and a read of the in-edges of those who still wait.
    """
    start = time.perf_counter()
    n, own, several = view.num_vertices, view.num_owned, view.on_ranks
    if several:
        distance, reached = distance.copy(), reached.copy()
        view.border.refresh([distance, reached])
    pulls = view.paged or view.has_into
    rows = view.into if pulls else view.out
    weighted = rows.weight is not None and not hops
    degree = view.degrees("both") if view.paged or several else _degrees(view)
    ids = rows.neighbours.dtype
    rank = np.empty(0, ids) if view.user_rank is None else view.user_rank
    predecessor = np.arange(n, dtype=ids)
    edge_bytes = predecessor.itemsize + distance.itemsize
    edge_bytes += rows.columns["weight"].dtype.itemsize if weighted else 0

    def note(supersteps: int, frontier: int, edges: int, start: float) -> None:
        report.advance(
            "predecessor", supersteps=supersteps, frontier=frontier, edges=edges,
            bytes=edges * edge_bytes + own * (8 + degree.itemsize + predecessor.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip

    with passes_over(rows, report, columns=("weight",) if weighted else ()) as passes:
        passes.require(
            degree.nbytes + 2 * predecessor.nbytes + distance.nbytes + 2 * n + rank.nbytes,
            f"predecessors of {n:,} vertices",
        )
        search = _Search(passes, own, weighted, (distance, reached), (degree, rank), predecessor)
        without, read = search.pull() if pulls else search.push()
        note(1, own, read, start)
        if several or view.paged:
            _cross_plateaus(view, search, source, reached, note)
        elif without > 1:  # one is the source
            start = time.perf_counter()
            out = view.out
            weight = out.weight if weighted else np.empty(0, np.int64)
            rounds, read = kernels.predecessors.cross_plateaus(
                source, out.offsets, out.neighbours, weight, distance, reached, degree, rank,
                predecessor,
            )  # fmt: skip
            note(rounds, without - 1, read, start)
    return view.named(predecessor)


def _cross_plateaus(
    view: AnyView,
    search: _Search,
    source: int,
    reached: np.ndarray,
    note: Callable[[int, int, int, float], None],
) -> None:
    """Give who has no strictly nearer neighbour a predecessor, level by level of the plateaus."""
    own, predecessor, border = view.num_owned, search.predecessor, view.border
    settled = reached & (predecessor != np.arange(len(predecessor)))
    settled[view.places(np.array([source]))[0]] = True
    waiting = np.flatnonzero(reached[:own] & ~settled[:own])
    changed, news = None, len(waiting)
    while True:
        # Ends when nobody waits; that somebody waits in vain cannot be, and would end it too.
        scalars = np.array([len(waiting), news])
        if not border.refresh([settled], changed, scalars)[1].any(axis=0).all():
            break
        start = time.perf_counter()
        read = search.pull_plateau(waiting, settled)
        came = predecessor[waiting] != waiting
        note(1, len(waiting), read, start)
        news = int(np.count_nonzero(came))
        settled[waiting[came]] = True
        changed = np.zeros(own, bool)
        changed[waiting[came]] = True
        waiting = waiting[~came]


class _Search:
    """Kernels over the edges of a finished search; what they give is edges read."""

    def __init__(
        self,
        passes: InMemory | Paged,
        own: int,
        weighted: bool,
        found: tuple[np.ndarray, np.ndarray],
        preference: tuple[np.ndarray, np.ndarray],
        predecessor: np.ndarray,
    ) -> None:
        self._passes, self._own, self._weighted = passes, own, weighted
        self._found, self._preference, self.predecessor = found, preference, predecessor
        self._offsets = passes.rows.offsets

    def _edges(self, rows: Adjacency) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        weight = rows.weight if self._weighted else None
        return self._offsets, rows.neighbours, np.empty(0, np.int64) if weight is None else weight

    def pull(self) -> tuple[int, int]:
        """From in-neighbours that are strictly nearer; who found none, the source among them, and edges read."""
        blocks = even_blocks(len(self.predecessor))
        first_is_best = all(for_blocks(kernels.predecessors.in_order, blocks, *self._preference))
        cuts, own = self._passes.cuts, self._own

        def work(i: int, rows: Adjacency) -> list[tuple[int, int]]:
            lo, hi = min(int(cuts[i]), own), min(int(cuts[i + 1]), own)  # ghosts have no rows
            return for_blocks(
                kernels.predecessors.pull, edge_blocks(self._offsets[lo : hi + 1]) + lo, *self._edges(rows),
                *self._found, *self._preference, first_is_best, self.predecessor,
            )  # fmt: skip

        made = [counts for each in self._passes.each(work) for counts in each]
        return sum(without for without, _ in made), sum(read for _, read in made)

    def push(self) -> tuple[int, int]:
        """The same over the out-edges, of a view in memory."""
        read = sum(for_blocks(
            kernels.predecessors.push, edge_blocks(self._offsets), *self._edges(self._passes.rows),
            *self._found, *self._preference, self.predecessor,
        ))  # fmt: skip
        blocks = even_blocks(len(self.predecessor))
        return sum(
            for_blocks(kernels.predecessors.count_without, blocks, self._found[1], self.predecessor)
        ), read

    def pull_plateau(self, waiting: np.ndarray, settled: np.ndarray) -> int:
        """From in-neighbours at the same distance that are settled."""

        def work(lo: int, hi: int, rows: Adjacency) -> int:
            return sum(for_blocks(
                kernels.predecessors.pull_plateau, even_blocks(hi - lo) + lo, waiting, *self._edges(rows),
                *self._found, settled, *self._preference, self.predecessor,
            ))  # fmt: skip

        return sum(self._passes.each_of(waiting, work))


def _degrees(view: AnyView) -> np.ndarray:
    """Edges at each vertex: of a directed view, in both directions."""
    if not view.directed:
        return view.out.degrees
    degree: np.ndarray = view.out.degrees.copy()
    if view.has_into:
        degree += view.into.degrees
    else:
        neighbours = view.out.neighbours
        for_blocks(
            kernels.predecessors.in_degrees, even_blocks(len(neighbours)), neighbours, degree
        )
    return degree


def path(
    view: AnyView, source: int, target: int, predecessor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """The vertices on the path that predecessors make, without the source.

    Returns
    -------
    vertices, left, length
        Of several ranks: local ids of the own vertices on it, in any order; the length is of the whole path.

    Notes
    -----
    Collective: an exchange each time that the path comes from another rank.
    """
    if isinstance(view, RankView):
        return _over_ranks(view, source, target, predecessor)
    return _along(source, target, predecessor)


def _along(source: int, target: int, predecessor: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    found = []
    while target != source:
        found.append(target)
        target = int(predecessor[target])
    left = np.arange(len(found))
    return np.array(found[::-1], predecessor.dtype), left[::-1], len(found)


def _over_ranks(
    view: RankView, source: int, target: int, predecessor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """As `path`; ids and predecessors are numbers."""
    found: list[int] = []
    left: list[int] = []
    length, row, start = 0, view.own_place(target), view.own_place(source)
    while True:
        number, steps = -1, 0  # of the vertex that comes next and is another rank's
        while row >= 0 and row != start:
            found.append(row)
            left.append(length + steps)
            steps += 1
            number = int(predecessor[row])
            row = view.own_place(number)
        every = view.ranks.scalars([number if row < 0 else -1, steps])
        length += int(every[:, 1].sum())
        number = int(every[:, 0].max())
        if number < 0:
            return np.array(found, np.int64), np.array(left, np.int64), length
        row = view.own_place(number)
