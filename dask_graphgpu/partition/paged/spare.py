"""Memory for pages that a pass over a graph's edges leaves to the next one."""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np

# How much longer than asked for memory may be that is used again by who would make it anew as soon.
_LONGER = 1.5


class Piece(NamedTuple):
    """Memory for pages; ``pinned``: made in a way of its own."""

    memory: np.ndarray
    pinned: bool


class Spare:
    """What the last window had for pages, for the next one, where it takes long to make.

    To pin memory takes milliseconds, in which the disk waits. What the next window does not use goes, so that
    never more is held than one of them was allowed.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[Piece] = []

    @property
    def nbytes(self) -> int:
        with self._lock:
            return sum(piece.memory.nbytes for piece in self._pieces)

    def leave(self, pieces: list[Piece]) -> None:
        """Leave memory, or let go of it; what was there before goes."""
        with self._lock:
            self._pieces = [piece for piece in pieces if piece.pinned]

    def take(self) -> list[Piece]:
        """All that there is, to choose from by `fitting`."""
        with self._lock:
            found, self._pieces = self._pieces, []
        return found


def fitting(pieces: list[Piece], size: int, *, pinned: bool) -> Piece | None:
    """Take what has so many bytes from a list, and is pinned if that is asked for; None: there is nothing."""
    longest = math.inf if pinned else _LONGER * size
    for i, piece in enumerate(pieces):
        if size <= len(piece.memory) <= longest and (piece.pinned or not pinned):
            return pieces.pop(i)
    return None
