"""Trusses: the largest k for which each edge is in a k-truss, in which every edge is in k - 2 triangles.

References
----------
.. [1] Wang, Cheng. Truss decomposition in massive networks. PVLDB 5 (2012).
.. [2] Kabir, Madduri. Shared-memory graph truss decomposition. HiPC 2017.
.. [3] Sariyuce, Seshadhri, Pinar. Local algorithms for hierarchical dense subgraph discovery. PVLDB 12 (2018).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import InMemory, Paged, passes_over
from dask_graphgpu.engine.cpu.induced import chosen_of, in_order
from dask_graphgpu.engine.cpu.triangles import oriented, work_of
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks
from dask_graphgpu.partition import rowwise
from dask_graphgpu.partition.csr import Adjacency, offsets_of
from dask_graphgpu.partition.paged.rowwise import cuts_of
from dask_graphgpu.partition.ranks.ghost_rows import rows_of_ghosts, split_by_room
from dask_graphgpu.partition.ranks.view import AnyView, RankView
from dask_graphgpu.report import Report

# Steps that an edge that is taken away is about.
_STEPS = 64


def trussness(view: AnyView, report: Report) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every edge of the simple undirected graph, and the largest k of the k-trusses that it is in.

    Notes
    -----
    In the memory of one rank triangles are counted, and edges that are in the fewest are taken away until none is left
    [1]_, those of a round by all threads [2]_: for every edge a look at the shorter row of its ends, O(E^1.5), and 20
    bytes for each of its directions. Elsewhere each edge has a bound, first by the degrees of its ends, which comes
    down to what the bounds in its triangles allow, until none changes [3]_. In a round the rows of both ends of an edge
    have to meet if bounds there changed in the one before: every run of pages is read beside every other, and ranks
    send each other rows, no more at once than they have of their own.
    """
    start = time.perf_counter()
    rows = view.symmetric
    if view.paged or view.on_ranks:
        bound = _Bounds(view, report).lowered(start)
    else:
        bound = _peeled(rows, report, start)
    rank, everybody = view.user_rank, np.ones(view.num_vertices, np.bool_)
    none = np.empty(0, rows.neighbours.dtype)
    found = [(none, none, bound[:0])]
    with passes_over(rows, report) as passes:
        for lo, hi, here in passes.over():
            own = np.arange(lo, min(hi, view.num_owned))
            with_bounds = Adjacency(here.offsets, here.neighbours, {"weight": bound})
            found.append(chosen_of(with_bounds, own, everybody, rank, once=True))
    first, second, support = (np.concatenate(parts) for parts in zip(*found, strict=True))
    first, second, support = in_order((first, second, support), rank)
    return view.named(first), view.named(second), support.astype(np.int64) + 2


def _peeled(rows: Adjacency, report: Report, start: float) -> np.ndarray:
    """The support of each edge in the trusses that it is in last, at both of its arcs."""
    n, ids = rows.num_vertices, rows.neighbours.dtype
    up, _ = oriented(rows, rows.degrees.astype(ids))
    support = np.zeros(up.num_edges, np.int32)
    up_rows = up.offsets.view(np.uint64), up.neighbours
    for_blocks(kernels.trusses.supports, edge_blocks(work_of(up, up)), *up_rows, support)
    blocks = edge_blocks(rows.offsets)
    offsets = rows.offsets.view(np.uint64)
    number = np.empty(rows.num_edges, _numbers(up.num_edges))
    all_rows = offsets, rows.neighbours, *up_rows, number
    for_blocks(kernels.trusses.number_arcs, blocks, *all_rows)

    state = np.zeros(up.num_edges, np.uint8)
    neighbours, stops = rows.neighbours.copy(), offsets[1:].copy()
    shrunk = offsets, stops, neighbours, number, state
    found, size = np.empty(up.num_edges, number.dtype), np.zeros(1, np.int64)
    ends = rowwise.row_ids(up), up.neighbours
    left, arcs, rounds, read = np.arange(up.num_edges, dtype=number.dtype), rows.num_edges, 0, 0
    while len(left):
        supports = support.take(left)
        level = int(supports.min())
        now = left[supports == level]
        while len(now):
            state[now.astype(np.intp)] = kernels.trusses.NOW
            size[0] = 0
            each = even_blocks(len(now), work=_STEPS)
            given = now, np.int32(level), *ends, *shrunk, support, found, size
            read += int(sum(for_blocks(kernels.trusses.peel, each, *given)))
            state[now.astype(np.intp)] = kernels.trusses.GONE
            now = found[: size[0]].copy()
            rounds += 1
        left = left[state.take(left) == kernels.trusses.LEFT]
        if 4 * len(left) < arcs:  # half of the rows is gone
            arcs = int(sum(for_blocks(kernels.trusses.keep_left, blocks, *shrunk)))
            blocks = edge_blocks(offsets_of((stops - offsets[:-1]).view(np.int64)))
    # Once more: what was taken away is overwritten.
    for_blocks(kernels.trusses.number_arcs, edge_blocks(rows.offsets), *all_rows)
    report.advance(
        "peel", supersteps=rounds, frontier=n, edges=read,
        bytes=read * (ids.itemsize + number.itemsize), seconds=time.perf_counter() - start,
    )  # fmt: skip
    return support.take(number)


def _numbers(edges: int) -> np.dtype[Any]:
    """The type of numbers of edges."""
    return np.dtype(np.uint32 if edges < 2**32 else np.uint64)


def _long_runs(passes: InMemory | Paged, more: int) -> np.ndarray | None:
    """Bounds of runs that others pass by; as long as there is room for beside these ``passes`` and ``more`` bytes."""
    if not isinstance(passes, Paged):
        return None
    limits, rows = passes.rows.limits, passes.rows
    room = limits.memory - passes.held - more - limits.window_bytes(1)
    # A run of which the last pages are needed while the next one comes.
    return cuts_of(rows.offsets, max(room // (2 * rows.neighbours.itemsize), rows.page_edges))


class _Bounds:
    """What the support of an edge is at most, at each of its arcs of own rows."""

    def __init__(self, view: AnyView, report: Report) -> None:
        self.view, self.report = view, report
        rows, own = view.symmetric, view.num_owned
        self.rows = rows
        self.bound = np.empty(int(rows.offsets[own]), np.int32)
        # By vertex: whether an own arc came down in the round before, and does in this one.
        self.due, self.fell = (np.ones(view.num_vertices, np.uint8) for _ in range(2))
        self.degree = view.at_ghosts(rows.degrees.astype(np.int64))

    def lowered(self, start: float) -> np.ndarray:
        """The bounds when none comes down any more. Collective."""
        view, own = self.view, self.view.num_owned
        rounds, read = 0, 0
        kept = self.bound.nbytes + 16 * view.num_vertices
        far = passes_over(self.rows, self.report)
        near = passes_over(self.rows, self.report, _long_runs(far, kept))
        with near, far:
            if isinstance(far, Paged):
                near.require(far.nbytes + kept, f"bounds of {self.rows.num_edges:,} edges")
            for lo, hi, rows in near.over():
                self._along(kernels.trusses.bound_by_degree, lo, hi, rows, self.degree, self.bound)
            while view.ranks.max(int(self.due[:own].any())):
                self.fell[:] = 0
                for lo, hi, rows in near.over():
                    for first, last, other, bound in self._far(lo, hi, far):
                        offsets, neighbours = other.offsets.view(np.uint64), other.neighbours
                        read += sum(self._along(
                            kernels.trusses.lower, lo, hi, rows, self.bound, self.due, first, last,
                            offsets, neighbours, bound, self.fell,
                        ))  # fmt: skip
                self.due, self.fell = view.at_ghosts(self.fell), self.due
                rounds += 1
        self.report.advance(
            "lower", supersteps=rounds, frontier=own, edges=int(read),
            bytes=int(read) * (self.rows.neighbours.itemsize + 4), seconds=time.perf_counter() - start,
        )  # fmt: skip
        return self.bound

    def _along(
        self, kernel: Callable[..., Any], lo: int, hi: int, rows: Adjacency, *given: Any
    ) -> list[Any]:
        """What a kernel gives for blocks of own rows from one to before another."""
        hi = min(hi, self.view.num_owned)
        blocks = edge_blocks(rows.offsets[lo : hi + 1]) + lo
        return for_blocks(kernel, blocks, rows.offsets.view(np.uint64), rows.neighbours, *given)

    def _far(
        self, lo: int, hi: int, far: InMemory | Paged
    ) -> Iterator[tuple[int, int, Adjacency, np.ndarray]]:
        """Rows, and bounds of their arcs, of vertices from one to before another to which rows at hand lead."""
        if isinstance(far, Paged):
            wanted = None if self.due[lo:hi].any() else far.holding(self.due.view(np.bool_))
            for first, last, rows in far.over(wanted):
                yield first, last, rows, self.bound
            return
        view, own = self.view, self.view.num_owned
        yield 0, own, self.rows, self.bound
        if not isinstance(view, RankView):
            return
        own_rows = Adjacency(self.rows.offsets[: own + 1], self.rows.neighbours)
        looked_at = self.due.astype(np.bool_)
        arcs = np.repeat(looked_at[:own], own_rows.degrees)
        looked_at[own_rows.neighbours[: len(arcs)][arcs].astype(np.intp)] = True
        ghosts = np.flatnonzero(looked_at[own:]) + own
        parts = split_by_room(ghosts, self.degree, len(arcs))
        for i in range(int(view.ranks.max(len(parts)))):
            part = parts[i] if i < len(parts) else ghosts[:0]
            other, (bound,) = rows_of_ghosts(view, own_rows, self.degree, part, (self.bound,))
            if len(part):
                order = np.lexsort((other.neighbours, rowwise.row_ids(other)))
                ordered = Adjacency(other.offsets, other.neighbours[order])
                yield int(part[0]), int(part[-1]) + 1, ordered, bound[order]
