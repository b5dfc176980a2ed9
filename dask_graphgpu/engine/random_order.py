"""Numbers for vertices in an order that has nothing to do with theirs, from which they can be told again."""

from __future__ import annotations

import math
from typing import Any


class Colours:
    """The vertices v in the order of (a v + b) mod n, in which one of them is the highest.

    Parameters
    ----------
    n : int
        Vertices, at most 2**32.
    top : int
        The vertex of colour n - 1.
    turn : int
        Every one is another order.
    """

    def __init__(self, n: int, top: int, turn: int) -> None:
        # Multiples of the golden ratio fall far apart, and so do those of the step.
        step = max(int(n * ((turn + 1) * 0.6180339887498949 % 1)), 1)
        while math.gcd(step, n) > 1:
            step += 1
        self._n, self._step = n, step % n if n > 1 else 0
        self._first = (n - 1 - top * step) % n
        self._back = pow(step, -1, n)

    def of(self, vertices: Any) -> Any:
        """Colours of vertices: uint64 arrays."""
        kind = vertices.dtype.type
        return (vertices * kind(self._step) + kind(self._first)) % kind(self._n)

    def holders(self, colours: Any) -> Any:
        """Vertices of colours: uint64 arrays."""
        kind = colours.dtype.type
        return (
            (colours + kind(self._n - self._first))
            % kind(self._n)
            * kind(self._back)
            % kind(self._n)
        )
