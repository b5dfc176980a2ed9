"""Louvain and Leiden from level to level, whatever moves the vertices of one: the same for all engines.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. J. Stat. Mech. 2008.
.. [2] Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Sci. Rep. 2019.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from dask_graphgpu.partition.device.masks import all_true


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

    def moved(self, level: Any, labels: Any) -> tuple[Any, int]:
        """Numbered labels after moving vertices from those given, which may be written to; how many there are."""

    def refined(self, level: Any, labels: Any, count: int) -> tuple[Any, int]:
        """Numbered labels of parts of communities, each connected; how many there are."""

    def apart(self, level: Any, labels: Any, parts: Any) -> Any:
        """What communities come apart to where refining has joined nothing."""

    def aggregated(self, level: Any, labels: Any, count: int) -> Any:
        """A level with a vertex for each of ``count`` labels."""

    def named(self, labels: Any) -> Any:
        """Labels of the graph's vertices that depend on nothing but who is together."""


def louvain(moves: Moves) -> Any:
    """Labels of the graph's vertices by moving vertices, then whole communities [1]_."""
    level, place = moves.first, None
    while True:
        labels, count = moves.moved(level, moves.alone(level))
        if count == len(level):
            return labels if place is None else place
        place = labels if place is None else labels.take(place)
        level = moves.aggregated(level, labels, count)


def leiden(moves: Moves, iterations: int) -> Any:
    """Labels of connected communities [2]_: `named` ones, as of `contract.Engine.leiden`."""
    labels = moves.alone(moves.first)
    for _ in range(iterations):
        before, labels = labels, _leiden_once(moves, labels.copy())
        if all_true(labels == before):
            break
    return labels


def _leiden_once(moves: Moves, labels: Any) -> Any:
    """Labels after one iteration from those given, which may be written to."""
    level, place = moves.first, None
    while True:
        labels, count = moves.moved(level, labels)
        if count == len(level):
            break
        parts, number = moves.refined(level, labels, count)
        if number == len(level):
            labels = moves.apart(level, labels, parts)
            break
        of_parts = labels[:number].copy()
        of_parts[parts.astype(np.intp, copy=False)] = labels
        labels = of_parts
        place = parts if place is None else parts.take(place)
        level = moves.aggregated(level, parts, number)
    return moves.named(labels if place is None else labels.take(place))
