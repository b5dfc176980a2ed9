"""Louvain and Leiden from level to level, whatever moves the vertices of one: the same for all engines.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from dask_graphgpu.partition.device.arrays import count
from dask_graphgpu.partition.device.elements import alike, copied, gathered, scattered
from dask_graphgpu.partition.device.masks import all_true, any_true


@dataclass(frozen=True, eq=False)
class Start:
    """What communities are found from, an entry for each vertex.

    Attributes
    ----------
    labels : array
        Which vertices are together at first.
    fixed : array of bool, optional
        Those that stay in the community of their label.
    """

    labels: Any
    fixed: Any | None = None


class Moves(Protocol):
    """What an engine does on a level, a graph whose vertices are communities of the one before.

    A level has its vertices for a length. Labels are arrays of NumPy's or CuPy's, one a vertex; numbered ones
    are 0, 1, 2 ... .

    Engines that move many at once also keep the `total` of all degrees, and the `modularity` of the last `moved`.
    """

    @property
    def first(self) -> Any:
        """The graph itself."""

    def alone(self, level: Any) -> Any:
        """A label of its own for each vertex."""

    def moved(self, level: Any, labels: Any, fixed: Any | None) -> tuple[Any, int]:
        """Numbered labels after moving vertices from those given, which may be written to; how many there are.

        Those that are ``fixed`` do not move.
        """

    def refined(self, level: Any, labels: Any, count: int) -> tuple[Any, int]:
        """Numbered labels of parts of communities, each connected; how many there are."""

    def apart(self, level: Any, labels: Any) -> tuple[Any, int]:
        """Numbered labels of the connected pieces of communities; how many there are."""

    def aggregated(self, level: Any, labels: Any, count: int) -> Any:
        """A level with a vertex for each of ``count`` labels."""

    def named(self, labels: Any) -> Any:
        """Labels of the graph's vertices that depend on nothing but who is together."""

    def within(self, labels: Any, chosen: Any) -> Self:
        """What does it on the edges within some communities, at twice the resolution; degrees stay those of the graph.

        ``chosen`` : whether those of each label are among them.
        """


def louvain(moves: Moves, start: Start | None = None, finer: list[Any] | None = None) -> Any:
    """Labels of the graph's vertices by moving vertices, then whole communities [1]_.

    ``finer`` : is given the labels of each level before the last one, the finest first.
    """
    level, place = moves.first, None
    labels, fixed = _begin(moves, start)
    while True:
        labels, count = moves.moved(level, labels, fixed)
        if count == len(level):
            return labels if place is None else place
        if finer is not None and place is not None:
            finer.append(place)
        place = labels if place is None else gathered(labels, place)
        level, fixed = moves.aggregated(level, labels, count), _any_of(fixed, labels, count)
        labels = moves.alone(level)


def leiden(
    moves: Moves, iterations: int, start: Start | None = None, finer: list[Any] | None = None
) -> Any:
    """Labels of connected communities [2]_: `named` ones, as of `contract.Engine.leiden`.

    ``finer`` : is given the labels of the parts on each level of the last iteration, the finest first.

    Notes
    -----
    From a start the connected pieces of communities become vertices first, not their refined parts: of the many
    divisions of about the same modularity one near to the start is found, and sooner.
    """
    labels, fixed = _begin(moves, start)
    parts: list[Any] = []
    for k in range(iterations):
        refines = k > 0 or start is None
        before = labels
        labels, parts = _leiden_once(moves, copied(labels), fixed, refines, finer is not None)
        if refines and all_true(alike(labels, before)):
            break
    if finer is not None:
        if parts and all_true(alike(moves.named(parts[-1]), labels)):
            parts.pop()
        finer += parts
    return labels


def finding(iterations: int | None) -> Callable[[Moves], Any]:
    """`leiden` of some iterations, or `louvain`."""
    if iterations is None:
        return louvain
    return lambda moves: leiden(moves, iterations)


def none_joined(moves: Moves) -> Any:
    """Labels where no edge has a weight."""
    return moves.alone(moves.first)


def smaller(moves: Moves, labels: Any, max_size: int, find: Callable[[Moves], Any]) -> list[Any]:
    """`named` labels after each step that divided communities, in the last of which none is larger than ``max_size``.

    ``find`` : what finds communities, of what moves their vertices.

    Notes
    -----
    The resolution is doubled from step to step, and the communities that are still too large are found anew, each
    of its own edges alone. At some resolution all vertices are alone, so there is an end.
    """
    steps: list[Any] = []
    labels = moves.named(labels)
    while True:
        place = labels.astype(np.intp, copy=False)
        large = count(place, len(place)) > max_size
        if not any_true(large):
            return steps
        moves = moves.within(labels, large)
        parts = find(moves)
        member = np.empty_like(place)
        member[place] = np.arange(len(place), like=place)  # of several any
        divided = moves.named(np.where(large[place], parts, parts[member[place]]))
        if not all_true(divided == labels):
            steps.append(divided)
            labels = divided


def without_edges(moves: Moves, start: Start | None) -> Any:
    """What `leiden` finds where no edge has a weight: only vertices that are fixed are together."""
    labels, fixed = _begin(moves, start)
    return moves.named(_kept_together(labels, moves.alone(moves.first), fixed))


def _begin(moves: Moves, start: Start | None) -> tuple[Any, Any | None]:
    """`named` labels to begin with, and which vertices are fixed."""
    if start is None:
        return moves.alone(moves.first), None
    return moves.named(start.labels), start.fixed


def _leiden_once(
    moves: Moves, labels: Any, fixed: Any | None, refines: bool, keeps: bool
) -> tuple[Any, list[Any]]:
    """Labels after one iteration from those given, which may be written to, and those of the parts on its levels.

    ``refines`` : whether vertices of the graph become parts that are refined, or else connected pieces.
    ``keeps`` : whether parts are asked for.
    """
    level, place, kept = moves.first, None, []
    while True:
        labels, count = moves.moved(level, labels, fixed)
        if count == len(level):
            break
        if refines or place is not None:
            parts, number = moves.refined(level, labels, count)
        else:
            parts, number = moves.apart(level, labels)
        if number == len(level):
            labels = _kept_together(labels, moves.apart(level, labels)[0], fixed)
            break
        labels = scattered(labels, parts, number)
        place = parts if place is None else gathered(parts, place)
        if keeps:
            kept.append(place)
        level, fixed = moves.aggregated(level, parts, number), _any_of(fixed, parts, number)
    return moves.named(labels if place is None else gathered(labels, place)), kept


def _any_of(fixed: Any | None, labels: Any, count: int) -> Any | None:
    """Which of ``count`` labels a fixed vertex has."""
    if fixed is None:
        return None
    found = np.zeros(count, bool, like=fixed)
    found[labels[fixed]] = True
    return found


def _kept_together(labels: Any, pieces: Any, fixed: Any | None) -> Any:
    """The pieces of communities, but those of one community as one that have a fixed vertex."""
    if fixed is None:
        return pieces
    held, piece = np.zeros(len(labels), bool, like=fixed), np.empty_like(pieces)
    held[pieces[fixed]] = True
    holds = held[pieces]
    piece[labels[holds]] = pieces[holds]  # of several any
    return np.where(holds, piece[labels], pieces)
