"""Predecessors of a finished path search on many ranks: the same tree as on one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.kernels.cpu.threads import edge_blocks, even_blocks, for_blocks

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import RankView
    from dask_graphgpu.report import Report


def predecessors(
    view: RankView,
    source: int,
    distance: np.ndarray,
    reached: np.ndarray,
    *,
    hops: bool,
    report: Report,
) -> np.ndarray:
    """Predecessor of every vertex on a shortest path from `source`. Collective.

    The rule is that of the CPU engine's `predecessors`, which names the parameters; ``source`` is a
    number, and ``distance`` and ``reached`` are right for own vertices.

    Returns
    -------
    array of the dtype of numbers, shape (num_vertices,)
        Numbers, right for own vertices; a vertex's own where it has none.

    Notes
    -----
    One exchange, and one read of the own vertices' in-edges. Vertices on plateaus, which only
    edges that add nothing lead to, take an exchange for each level of these edges, and reads of
    their in-edges until they have one.
    """
    from dask_graphgpu.kernels.cpu import predecessors as kernels

    start = time.perf_counter()
    rows, own = view.into, view.num_owned
    distance, reached = distance.copy(), reached.copy()
    view.border.refresh([distance, reached])
    degree = view.degrees("both")
    weight = np.empty(0, np.int64) if hops or rows.weight is None else rows.weight
    predecessor = np.arange(view.num_vertices, dtype=rows.neighbours.dtype)
    offsets = rows.offsets[: own + 1]
    in_order = for_blocks(kernels.in_order, even_blocks(view.num_vertices), degree, view.numbers)
    counts: list[tuple[int, int]] = for_blocks(
        kernels.pull, edge_blocks(offsets), offsets, rows.neighbours, weight, distance, reached,
        degree, view.numbers, all(in_order), predecessor,
    )  # fmt: skip
    edge_bytes = predecessor.itemsize + distance.itemsize + (weight.itemsize if len(weight) else 0)

    def note(supersteps: int, frontier: int, read: int, start: float) -> None:
        report.advance(
            "predecessor", supersteps=supersteps, frontier=frontier, edges=read,
            bytes=read * edge_bytes + own * (8 + degree.itemsize + predecessor.itemsize),
            seconds=time.perf_counter() - start,
        )  # fmt: skip

    note(1, own, sum(read for _, read in counts), start)
    settled = reached & (predecessor != np.arange(len(predecessor)))
    settled[view.places(np.array([source]))[0]] = True
    waiting = np.flatnonzero(reached[:own] & ~settled[:own])
    changed, news = None, len(waiting)
    while True:
        # Ends when nobody waits; that somebody waits in vain cannot be, and would end it too.
        scalars = np.array([len(waiting), news])
        if not view.border.refresh([settled], changed, scalars)[1].any(axis=0).all():
            break
        start = time.perf_counter()
        read = sum(for_blocks(
            kernels.pull_plateau, even_blocks(len(waiting)), waiting, offsets, rows.neighbours,
            weight, distance, reached, settled, degree, view.numbers, predecessor,
        ))  # fmt: skip
        found = predecessor[waiting] != waiting
        changed = np.zeros(own, bool)
        changed[waiting[found]] = True
        settled[waiting[found]] = True
        news = int(np.count_nonzero(found))
        note(1, len(waiting), read, start)
        waiting = waiting[~found]
    numbers: np.ndarray = view.numbers[predecessor]
    return numbers


def path(
    view: RankView, source: int, target: int, predecessor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """As the CPU engine's `path`: local ids of the own vertices on it, in any order. Collective.

    Ids and predecessors are numbers. An exchange each time that the path comes from another rank.
    """
    ranks, border, own = view.ranks, view.border, view.num_owned
    before = view.places(predecessor[:own])[0]  # of a path all that come before are here
    found: list[int] = []
    left: list[int] = []
    length, row = 0, -1
    here = view.places(np.array([target]))[0]
    if len(here) and here[0] < own:
        row = int(here[0])
    while True:
        # Who has the vertex that comes next, and its place among those that are ghosts here.
        owner, place, steps = -1, -1, 0
        while 0 <= row < own and view.numbers[row] != source:
            found.append(row)
            left.append(length + steps)
            steps += 1
            row = int(before[row])
        if row >= own:
            owner = int(np.searchsorted(border.ghosts, row, side="right")) - 1
            place = row - int(border.ghosts[owner])
        every = ranks.scalars([owner, place, steps])
        length += int(every[:, 2].sum())
        teller = int(every[:, 0].argmax())
        owner, place = every[teller, :2].tolist()
        if owner < 0:
            return np.array(found, np.int64), np.array(left, np.int64), length
        row = int(border.sends[teller][place]) if owner == ranks.rank else -1
