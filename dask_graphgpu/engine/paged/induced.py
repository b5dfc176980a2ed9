"""Edges among some of the vertices, of rows on disk: one pass over the pages that have rows of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.engine.cpu.edges import Paged, rows_on_disk
from dask_graphgpu.engine.cpu.induced import chosen_of, in_order
from dask_graphgpu.report import Report

if TYPE_CHECKING:
    from dask_graphgpu.partition.view import View

# How often a chosen edge is there at once: as it was found, joined to others, and being brought into an order.
_COPIES = 3


def edges_among(view: View, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
    """Edges with both ends in a set of vertices, as `engine.cpu.edges_among`.

    Raises
    ------
    LimitTooSmall
        There are more of them than memory may hold.
    SpillError
    """
    rows, rank = rows_on_disk(view.out), view.user_rank
    passes = Paged(rows, Report("edges_among"))
    held = passes.nbytes + rows.offsets.nbytes + rows.counts.nbytes + 2 * inside.nbytes
    edge = 2 * rows.neighbours.itemsize + (0 if rows.weight is None else rows.weight.itemsize)
    edge = _COPIES * edge + (0 if rank is None else 16)
    rows.limits.require(held, f"the edges among {view.num_vertices:,} vertices")
    try:
        room = (rows.limits.memory - held) // edge
        chosen = Chosen(passes, inside, rank, once=not view.directed, most=room)
    finally:
        passes.release()
    if not chosen.fit:
        rows.limits.require(
            held + edge * chosen.number, f"a result of {chosen.number:,} edges or more"
        )
    return in_order(chosen.joined(), rank)


class Chosen:
    """What `chosen_of` gives of all rows, unless it is more than ``most`` edges.

    Attributes
    ----------
    fit : bool
    number : int
        Of edges, those that came before there were too many.
    """

    def __init__(
        self,
        passes: Paged,
        inside: np.ndarray,
        rank: np.ndarray | None,
        *,
        once: bool,
        most: int,
    ) -> None:
        self._parts: list[tuple[np.ndarray, np.ndarray, Any]] = []
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

    def joined(self) -> tuple[np.ndarray, np.ndarray, Any]:
        """Sources, destinations and weights (None: there are none)."""
        ids, weight = self._empty.neighbours.dtype, self._empty.weight
        sources, destinations, weights = ([part[i] for part in self._parts] for i in range(3))
        self._parts.clear()
        none = np.empty(0, ids)
        return (
            np.concatenate([none, *sources]),
            np.concatenate([none, *destinations]),
            None if weight is None else np.concatenate([np.empty(0, weight.dtype), *weights]),
        )
