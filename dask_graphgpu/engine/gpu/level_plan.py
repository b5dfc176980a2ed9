"""What each point of a sweep over levels does for each source of a batch (betweenness_levels.cu).

A point is the end of a level: of the deepest one of all sources, in the batch, when the sweep goes
back. Each source has its own levels, and reads the edges between two of them from its own end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Edges of a pull that take as long as one edge of a push, which adds up by atomics.
PUSH_COST = 2.0

UNREACHED = 255  # as the level of a vertex

# Sums and Step of betweenness_levels.cu.
SUMS = np.dtype([(name, np.uint64, UNREACHED + 1) for name in ("vertices", "pulled", "pushed")])
STEP = np.dtype(
    [("finished", "i4"), ("listed", "i4"), ("rows", "u4"), ("pushes", "u4"), ("late", "u8"),
     ("more", "f8")]
)  # fmt: skip


class Passed(NamedTuple):
    """Border values of a source's level: of own vertices to their ghosts, or the other way round."""

    source: int
    level: int
    gathers: bool


class Point(NamedTuple):
    """The end of a level, for all sources.

    Attributes
    ----------
    back : bool
        Whether it is on the way back.
    turns : pair of bool
        Whether there are sources that turn before anything travels, and late ones.
    passed : pair of lists
        What travels before the late ones turn, and after.
    pulls, pushes : int
        Edges that are read then.
    """

    back: bool
    turns: tuple[bool, bool]
    passed: tuple[list[Passed], list[Passed]]
    pulls: int
    pushes: int


class _Adds(NamedTuple):
    """By level and source: how the edges that lead to a level are read; -1 in `listed`: not at all."""

    turned: np.ndarray  # who gathers what ghosts have got
    sends: np.ndarray
    listed: np.ndarray
    rows: np.ndarray
    pushes: np.ndarray
    read: np.ndarray


def planned(
    sizes: Sequence[Sequence[int]], sums: np.ndarray, ends: Sequence[int], *, on_ranks: bool
) -> tuple[np.ndarray, list[Point]]:
    """The steps of all points and sources, and the points.

    Parameters
    ----------
    sizes : sequence of sequences of int
        Vertices of each level of each source, on all ranks.
    sums : array of SUMS, shape (1 or 2, number of sources)
        Away from the sources, and of directed graphs back.
    ends : sequence of int
        Paths that begin in each source, to be added where paths go through both ends; else 0.
    on_ranks : bool
        Whether there are ghosts.

    Returns
    -------
    tuple
        Array of STEP, shape (points, number of sources). And of the points first those away from the
        sources, from level 0 on, then those back to it.
    """
    number, last = len(sizes), max(map(len, sizes)) - 1
    size = np.zeros((last + 1, number), np.int64)
    for i, each in enumerate(sizes):
        size[: len(each), i] = each
    deepest = np.array([len(each) - 1 for each in sizes])
    # Entries of rows: those of own vertices, and of all; then against the direction.
    entries = np.stack([each[name] for each in sums for name in ("pulled", "pushed")]).astype(int)
    away, toward = 0, 2 * (len(sums) - 1)
    to = np.arange(1, last + 1)
    there = _adds(to, to - 1, size, entries, (away, toward), to[:, None] <= deepest, on_ranks)
    to = to[:-1]
    back = _adds(to, to + 1, size, entries, (toward, away), to[:, None] < deepest, on_ranks)

    level = np.arange(last + 1)[:, None]
    steps = np.zeros((2, last + 1, number), STEP)
    steps["finished"] = np.where(level <= deepest, level, -1)
    steps["finished"][0, 0] = -1  # a path to each source there is
    steps["finished"][1, 0, np.array(ends) == 0] = -1
    steps["more"][1] = np.array(ends) > 0
    steps["more"][1, 0] = ends  # of what begins in the source all ends there too
    steps["listed"] = -1
    # Edges to a level are listed at the end of the one before it; who gathers there is late at its own.
    for name in ("listed", "rows", "pushes"):
        steps[name][0, :-1] = getattr(there, name)
        steps[name][1, 2:] = getattr(back, name)
    steps["late"][0, 1:] = there.turned
    steps["late"][1, 1:-1] = back.turned
    points = [
        *_points(steps[0], there, +1, range(last + 1)),
        *_points(steps[1], back, -1, range(last, -1, -1)),
    ]
    return np.concatenate([steps[0], steps[1, ::-1]]), points


def _adds(
    to: np.ndarray,
    of: np.ndarray,
    size: np.ndarray,
    entries: np.ndarray,
    pairs: tuple[int, int],
    valid: np.ndarray,
    on_ranks: bool,
) -> _Adds:
    """Edges to some levels, of others, along a direction, whose pair of rows comes first in ``pairs``."""
    along, against = pairs
    # Of ghosts what they give comes here, or what they get goes away: of the level that is smaller.
    turned = valid & on_ranks & (size[to] < size[of])
    pulled, pushed = np.where(turned, against + 1, along), np.where(turned, against, along + 1)
    source = np.arange(size.shape[1])
    pulls, pushes = entries[pulled, source, to[:, None]], entries[pushed, source, of[:, None]]
    some = valid & (pulls > 0) & (pushes > 0)
    pushing = pulls > PUSH_COST * np.maximum(pushes, 1)
    return _Adds(
        turned,
        valid & ~turned & on_ranks,
        np.where(some, np.where(pushing, of[:, None], to[:, None]), -1),
        np.where(pushing, pushed, pulled),
        pushing,
        np.where(some, np.where(pushing, pushes, pulls), 0),
    )


def _points(steps: np.ndarray, adds: _Adds, way: int, levels: range) -> list[Point]:
    """Of one direction, in its order; ``adds`` begin with those to level 1."""
    busy = (steps["finished"] >= 0) | (steps["listed"] >= 0)
    late: np.ndarray = steps["late"] > 0
    early, then = (busy & ~late).any(1).tolist(), (busy & late).any(1).tolist()
    pulls = np.where(adds.pushes, 0, adds.read).sum(1).tolist()
    pushes = np.where(adds.pushes, adds.read, 0).sum(1).tolist()
    made = []
    for level in levels:
        after = level + way - 1  # among `adds`
        goes_on = 0 <= after < len(pulls)
        passed: tuple[list[Passed], list[Passed]] = ([], [])
        for source in np.flatnonzero(late[level]).tolist():
            passed[0].append(Passed(source, level, gathers=True))
        if goes_on and level > 0:  # all know of the source
            for source in np.flatnonzero(adds.sends[after]).tolist():
                passed[int(late[level, source])].append(Passed(source, level, gathers=False))
        read = (pulls[after], pushes[after]) if goes_on else (0, 0)
        made.append(Point(way < 0, (early[level], then[level]), passed, *read))
    return made
