"""The path to a vertex that predecessors make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dask_graphgpu.partition.ranks.view import AnyView


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
    if view.on_ranks:
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
    view: AnyView, source: int, target: int, predecessor: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """As `path`; ids and predecessors are numbers."""
    ranks, border, own = view.ranks, view.border, view.num_owned
    before = view.places(predecessor[:own])[0]  # of a path all that come before are here
    found: list[int] = []
    left: list[int] = []
    length, row = 0, -1
    # -1 where the source is not here.
    start = int(view.places(np.array([source]))[0].max(initial=-1))
    here = view.places(np.array([target]))[0]
    if len(here) and here[0] < own:
        row = int(here[0])
    while True:
        # Who has the vertex that comes next, and its place among those that are ghosts here.
        owner, place, steps = -1, -1, 0
        while 0 <= row < own and row != start:
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
