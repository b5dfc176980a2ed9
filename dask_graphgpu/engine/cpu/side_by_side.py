"""Vertices of Louvain and Leiden that move one by one on a few sides, which threads look after side by side."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine.cpu.community_level import SomeLevel
from dask_graphgpu.engine.cpu.in_step import threads_for
from dask_graphgpu.interrupting import check, stopping
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.csr import at_ends, offsets_of

# How many sides there are. Each has labels and sums of its own, and does what the others do once more.
SIDES = 2

# Entries and rows that a side goes over in a step, about. Threads wait for each other after each, a microsecond.
STEP = 1 << 12

# Entries and rows of those that wait below which the rest is for one thread.
FEW = 1 << 16

# After so many the rest is for one thread as well, and after so many with no less to look at than one before: two sides
# might change places for ever.
ROUNDS, STALLS = 100, 2


def move(
    level: SomeLevel, order: np.ndarray, labels: np.ndarray, fixed: np.ndarray | None, scale: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """Move vertices, first those of an order, until few wait.

    Returns
    -------
    labels : array
    waiting : array
        Vertices that are to be looked at again.
    read : int
        Entries of rows that were.

    Notes
    -----
    Which vertices a side moves in which step depends on nothing but the level and the order. A side sees what others
    have done in steps before, and what itself has in this one; sums are added in the same order, so that labels are the
    same for any number of threads. A round has all vertices that wait.
    """
    n, ids = len(level), level.ids
    lengths = np.diff(level.offsets.view(np.int64))
    held = fixed if fixed is not None else np.empty(0, np.bool_)
    size = np.bincount(labels, minlength=n)
    sums = np.zeros((SIDES, n, 2))
    sums[:, :, 1] = np.bincount(labels, level.degree, n)
    empty, num_empty = np.empty((SIDES, n), ids), np.zeros(SIDES, np.int64)
    for side in range(SIDES):
        unused = np.flatnonzero(size[side::SIDES] == 0)[::-1] * SIDES + side
        empty[side, : len(unused)] = unused
        num_empty[side] = len(unused)
    visited, told = np.zeros(n, np.int32), np.zeros((SIDES, n), np.int32)
    state = (
        np.tile(labels, (SIDES, 1)), sums, np.tile(size.astype(ids), (SIDES, 1)), empty, num_empty, visited, told,
        np.empty((SIDES, int(lengths.max(initial=0))), ids),
    )  # fmt: skip
    logged, threads = np.zeros((2, SIDES), np.int64), threads_for(SIDES)
    listed, read, step, rounds, stopped = order, 0, 1, 0, stopping()
    least, stalls = float("inf"), 0
    while True:
        entries = offsets_of(at_ends(lengths, listed))
        work = int(entries[-1]) + len(listed)
        stalls, least = stalls + (work >= least), min(work, least)
        if work < FEW or rounds == ROUNDS or stalls == STALLS:
            return state[0][0].copy(), listed, read
        check(stopped)
        begins, listed = _in_steps(entries, listed)
        number = len(begins)
        logs = np.empty((2, SIDES, 2, int(np.diff(begins).max())), ids)
        cuts = np.append(begins[:, 0], len(listed))
        for first, last, part in level.along(listed, cuts):
            done = np.zeros(last - first + 1, np.int64)
            claimed = np.zeros(SIDES * len(done), np.int64)
            for_blocks(
                kernels.side_by_side.move_side_by_side, threads, first, last, step, begins, listed, *part.edges,
                level.degree, scale, *state, logs, logged, claimed, done,
            )  # fmt: skip
            step += 1
        read, step, rounds = read + int(entries[-1]), step + number, rounds + 1
        found, blocks = np.empty(n, ids), even_blocks(n)
        counts = for_blocks(kernels.side_by_side.waiting, blocks, visited, told, held, found)
        listed = np.concatenate(
            [found[lo : lo + some] for lo, some in zip(blocks[:-1], counts, strict=True)]
        )


def _in_steps(entries: np.ndarray, listed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is listed, dealt to steps: where those of each side of a step begin, and those.

    Each side has a stretch of them, and a part of it in each step. ``entries`` : of the rows before each.
    """
    work = entries + np.arange(len(entries))
    steps = max(1, int(work[-1]) // (STEP * SIDES))
    targets = np.arange(SIDES * steps + 1) * int(work[-1]) // (SIDES * steps)
    cuts = np.searchsorted(work, targets)
    starts, lengths = (each.reshape(SIDES, steps).T for each in (cuts[:-1], np.diff(cuts)))
    begins = offsets_of(lengths.ravel())
    moved_by = np.repeat(starts.ravel() - begins[:-1], lengths.ravel())
    ends = begins[SIDES::SIDES, None]
    bounds = np.concatenate([begins[:-1].reshape(steps, SIDES), ends], axis=1)
    return bounds, at_ends(listed, np.arange(len(listed)) + moved_by)
