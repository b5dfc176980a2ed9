"""Edges among some of the vertices, in the order of the user's ids."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.options import configured_direction
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.kernels.cpu.threads import edge_blocks, for_blocks
from dask_graphgpu.partition.csr import Adjacency, at_ends, offsets_of
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# How often a chosen edge of disk is there at once: as it was found, joined to others, and being brought into an order.
_COPIES = 3

# Sources, destinations and weights (None: there are none).
Edges = tuple[np.ndarray, np.ndarray, Any]


def edges_among(view: AnyView, inside: np.ndarray) -> Edges:
    """Edges with both ends in a set of vertices; on ranks each rank's own.

    Parameters
    ----------
    inside : array of bool
        Right for ghosts too.

    Raises
    ------
    LimitTooSmall
        Of edges on disk: there are more than memory may hold.

    Notes
    -----
    Two passes over the edges of the vertices inside, on disk one over the pages that have some; a sort of those found,
    where the user's order is another than that of the rows.
    """
    rank, once = view.user_rank, not view.directed
    if view.paged:
        chosen = _of_disk(view, inside)
    else:
        some = np.flatnonzero(inside[: view.num_vertices])
        chosen = chosen_of(view.out, some, inside, rank, once=once)
    source, destination, weight = in_order(chosen, rank)
    return view.named(source), view.named(destination), weight


def _of_disk(view: AnyView, inside: np.ndarray) -> Edges:
    """As `edges_among`, in the order of the rows."""
    rows, rank = rows_on_disk(view.out), view.user_rank
    with Paged(rows, Report("edges_among")) as passes:
        more = 2 * inside.nbytes
        edge = 2 * rows.neighbours.itemsize + (0 if rows.weight is None else rows.weight.itemsize)
        edge = _COPIES * edge + (0 if rank is None else 16)
        passes.require(more, f"the edges among {view.num_vertices:,} vertices")
        room = (rows.limits.memory - passes.held - more) // edge
        chosen = Chosen(passes, inside, rank, once=not view.directed, most=room)
        if not chosen.fit:
            passes.require(
                more + edge * chosen.number, f"a result of {chosen.number:,} edges or more"
            )
    return chosen.joined()


def chosen_of(
    out: Adjacency, some: np.ndarray, inside: np.ndarray, rank: np.ndarray | None, *, once: bool
) -> Edges:
    """As `edges_among`, of the rows ``some``, ascending, and in their order.

    ``once`` : only edges whose source comes first, or is the destination.
    """
    bounds = edge_blocks(offsets_of(out.offsets[some + 1] - out.offsets[some]))
    order = out.neighbours[:0] if rank is None else rank
    rows = out.offsets.view(np.uint64), out.neighbours
    given = bounds, some, *rows, inside, order, once
    counts, first = np.empty(len(bounds) - 1, np.int64), np.empty(len(some), np.uint64)
    blocks = np.arange(len(bounds))
    for_blocks(kernels.induced.count_chosen, blocks, *given, counts, first)
    starts = offsets_of(counts)
    source, destination = (np.empty(starts[-1], out.neighbours.dtype) for _ in range(2))
    edge = np.empty(0 if out.weight is None else starts[-1], np.int64)
    for_blocks(
        kernels.induced.list_chosen, blocks, *given, starts, first, source, destination, edge
    )
    return source, destination, None if out.weight is None else out.weight[edge]


def in_order(chosen: Edges, rank: np.ndarray | None) -> Edges:
    """Edges in the order of the ranks of their ends; None: as they are."""
    source, destination, weight = chosen
    if rank is None:
        return chosen
    order = _order(at_ends(rank, source), at_ends(rank, destination))
    return source[order], destination[order], None if weight is None else weight[order]


def _order(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """What sorts by both; equal ones stay in their order."""
    most = max((int(part.max(initial=0)) for part in (first, second)), default=0)
    bits = most.bit_length()
    if 2 * bits > 64:
        return np.lexsort((second, first))
    key = (first.astype(np.uint64) << np.uint64(bits)) | second.astype(np.uint64)
    return np.argsort(key, kind="stable")


class Chosen:
    """What `chosen_of` gives of all rows, unless it is more than ``most`` edges.

    Attributes
    ----------
    fit : bool
    number : int
        Of edges, those that came before there were too many.
    """

    def __init__(
        self, passes: Paged, inside: np.ndarray, rank: np.ndarray | None, *, once: bool, most: int
    ) -> None:
        self._parts: list[Edges] = []
        self._empty = passes.rows
        self.number = 0
        for lo, hi, rows in passes.over(passes.holding(inside)):
            some = np.flatnonzero(inside[lo:hi]) + lo
            part = chosen_of(rows, some, inside, rank, once=once)
            self.number += len(part[0])
            if self.number > most:
                self._parts.clear()
                break
            self._parts.append(part)
        self.fit = self.number <= most

    def joined(self) -> Edges:
        """All that was chosen."""
        ids, weight = self._empty.neighbours.dtype, self._empty.weight
        sources, destinations, weights = ([part[i] for part in self._parts] for i in range(3))
        self._parts.clear()
        none = np.empty(0, ids)
        return (
            np.concatenate([none, *sources]),
            np.concatenate([none, *destinations]),
            None if weight is None else np.concatenate([np.empty(0, weight.dtype), *weights]),
        )


# Edges beyond which other threads had work too, in units of little work.
_MOST = 2


def small_ego(
    view: View, center: int, radius: int, report: Report
) -> tuple[np.ndarray, np.ndarray, Any] | None:
    """Edges of which both ends are near a vertex, as `edges_among` after `bfs`.

    Notes
    -----
    A bit for each vertex, and two reads of each edge of those near: in a graph of roads that is less than filling
    the levels of all vertices.
    """
    if view.levels is not None or configured_direction() == "pull":
        return None
    rows, n, began = view.out, view.num_vertices, time.perf_counter()
    found, queue = np.zeros(-(-n // 64), np.uint64), np.empty(n, rows.neighbours.dtype)
    queue[0] = center
    edges = rows.offsets.view(np.uint64), rows.neighbours, found
    depth, read, size = kernels.ego.search(*edges, queue, radius, _MOST * threads.LITTLE_WORK)
    if size < 0:
        return None
    rank = view.user_rank
    order = queue[:0] if rank is None else rank
    source, destination = np.empty((2, size), queue.dtype)
    edge = np.empty(0 if rows.weight is None else size, np.int64)
    number = kernels.ego.list_edges(*edges, order, not view.directed, source, destination, edge)
    report.advance(
        "push", supersteps=depth, frontier=1, edges=read, bytes=(read + size) * queue.itemsize + n // 8,
        seconds=time.perf_counter() - began,
    )  # fmt: skip
    weight = None if rows.weight is None else rows.weight[edge[:number]]
    return in_order((source[:number], destination[:number], weight), rank)
