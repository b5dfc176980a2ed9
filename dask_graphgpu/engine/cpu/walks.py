"""Random walks in memory, over pages on disk, and between ranks.

References
----------
.. [1] Grover, Leskovec. node2vec: scalable feature learning for networks. KDD 2016.
.. [2] Yang, Zhang, Chen, Chen, Chen. KnightKing: a fast distributed graph random walk engine. SOSP 2019.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.rows_by_id import Part, RowsById
from dask_graphgpu.engine.walking import WalkRule, trails
from dask_graphgpu.kernels.cpu import walks as columns
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.ranks.view import AnyView
from dask_graphgpu.report import Report

_ROOM = 16  # steps of a walker in a call, where not all rows are at hand
_STEPS = 16  # that a block of walkers makes is worth a thread

Walks = tuple[np.ndarray, np.ndarray, np.ndarray]


def random_walks(
    view: AnyView, walks: np.ndarray, starts: np.ndarray, rule: WalkRule, report: Report
) -> Walks:
    """Walks from some vertices; see the contract. Collective.

    Notes
    -----
    Of second-order walks an edge is drawn as of others and kept with a probability by the vertex before, else another
    one is drawn [2]_: nothing is kept for pairs of edges. In the memory of one rank a walker goes all the way. Of a
    disk the pages where walkers are are read, and they go on as far as those lead; ranks send each other walkers that
    have come to a vertex of theirs, or need the row of one.
    """
    start = time.perf_counter()
    rows = RowsById(view, view.out, report, weighted=rule.weighted, sums=rule.weighted)
    state = np.full((len(walks), columns.STATE), -1, np.int64)
    state[:, [columns.STEP, columns.TRIES]] = 0
    state[:, columns.WALK] = walks
    state[:, columns.START] = state[:, columns.AT] = starts
    going = _Walkers(rows, rule, rows.dtype)
    rounds = 1
    if rows.whole:
        (part,) = rows.parts(starts)
        found = [going.on(state, part, rule.length, begins=True)]
    else:
        found = [(state[:, 0].copy(), np.zeros(len(walks), np.int32), starts.astype(going.ids))]
        room = min(rule.length, _ROOM)
        while view.ranks.sum(len(state)):
            state = rows.to_owners(_needed(state), state)
            for part in rows.parts(_needed(state)):
                row = rows.rows_of(_needed(state))
                some = np.flatnonzero((row >= part.first) & (row < part.last))
                moved = state[some]
                found.append(going.on(moved, part, room, begins=False))
                state[some] = moved
            state = state[state[:, columns.STEP] < rule.length]
            rounds += 1
    walk, step, vertex = (np.concatenate(each) for each in zip(*found, strict=True))
    if not rows.whole:
        order = np.lexsort((step, walk))
        walk, step, vertex = walk[order], step[order], vertex[order]
    steps = len(walk) - len(walks)
    report.advance(
        "walk", supersteps=rounds, frontier=len(walks), edges=steps,
        bytes=steps * vertex.itemsize, seconds=time.perf_counter() - start,
    )  # fmt: skip
    return walk, step, vertex


class _Walkers:
    """Has walkers go on in rows at hand; ``ids`` : the type of the vertices that they come to."""

    def __init__(self, rows: RowsById, rule: WalkRule, ids: np.dtype[Any]) -> None:
        self._rows, self._rule, self.ids = rows, rule, ids

    def on(self, state: np.ndarray, part: Part, room: int, *, begins: bool) -> Walks:
        """The walk, the step and the vertex of at most ``room`` steps each, and of the starts where it ``begins``."""
        rule, edges = self._rule, part.rows
        path = np.empty((len(state), room + 1), self.ids)
        path[:, 0] = state[:, columns.AT]
        made, before = np.empty(len(state), np.int64), state[:, columns.STEP].copy()
        for_blocks(
            columns.walk, even_blocks(len(state), work=_STEPS), state, path[:, 1:], made,
            self._rows.place, part.first, part.last, edges.offsets, edges.neighbours, part.before,
            rule.length, np.uint64(rule.seed), 1 / rule.p, 1 / rule.q, rule.restart,
        )  # fmt: skip
        return trails(state[:, columns.WALK], before, path, made, begins=begins)


def _needed(state: np.ndarray) -> np.ndarray:
    """The vertex whose row each walker needs next."""
    waits = state[:, columns.NEXT] >= 0
    needed: np.ndarray = np.where(waits, state[:, columns.BEFORE], state[:, columns.AT])
    return needed
