"""What walks and samples are asked for, whichever engine makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class WalkRule:
    """How random walks go; see `algorithms.random_walks`.

    Attributes
    ----------
    length : int
        Steps of a walk.
    weighted : bool
        Whether an edge is taken in proportion to its weight.
    p, q : float
        Return and in-out parameter of node2vec; both 1: a step does not depend on the vertex before.
    restart : float
        Probability of a step back to the start.
    seed : int
    """

    length: int
    weighted: bool
    p: float
    q: float
    restart: float
    seed: int


def trails(walk: Any, before: Any, path: Any, made: Any, *, begins: bool) -> tuple[Any, Any, Any]:
    """The walk, the step and the vertex of each of the first ``made`` steps of paths; on the host or a GPU.

    Parameters
    ----------
    walk, before : shape (walkers,)
        Their numbers, and how many steps they had made before.
    path : shape (walkers, room + 1)
        First where they were then.
    made : shape (walkers,)
    begins : bool
        Whether where they were then is a row, too.
    """
    taken = np.arange(path.shape[1], like=made) <= made[:, None]
    taken[:, 0] = begins
    walker, column = taken.nonzero()
    step = (before[walker] + column).astype(np.int32)
    return walk[walker], step, path[taken]
