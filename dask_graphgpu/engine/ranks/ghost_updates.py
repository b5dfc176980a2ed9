"""Values of own vertices that have improved since their ghosts on other ranks were told."""

from __future__ import annotations

import time

import numpy as np

from dask_graphgpu.engine.cpu.improving import Improving
from dask_graphgpu.kernels.cpu import frontier
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks
from dask_graphgpu.partition.ranks.view import RankView


class Changes:
    """What the ghosts of own vertices have been told of the first field, and what they have not.

    A vertex's value is told once it has improved. Where the program says who sends, it is told only if the vertex
    sends, by the value that was told last and the one that it has now.
    """

    def __init__(self, local: Improving, whole: RankView) -> None:
        arrays, program = local.arrays, local.program
        self._arrays, self._border = arrays, whole.border
        self._late = local.late
        self._first = program.first
        self._none = arrays.binding.identity(arrays.binding.dtypes[program.first])
        self._asks = program.active is not None
        self._places = whole.shared
        self._told = arrays.state[program.first].take(self._places)
        self._told_late = self._late.take(self._places) if self._late.size else self._late
        self._flags = np.zeros(arrays.owned, np.uint8)
        self._found, self._had = np.empty_like(self._places), np.empty_like(self._told)

    def find(self) -> np.ndarray:
        """The vertices whose ghosts are to be told now; cost: a pass over the border."""
        began = time.perf_counter()
        try:
            return self._find()
        finally:
            self._border.seconds += time.perf_counter() - began

    def _find(self) -> np.ndarray:
        blocks = even_blocks(len(self._places))
        counts: list[int] = for_blocks(
            frontier.changed, blocks, self._places, self._arrays.state[self._first], self._told,
            self._late, self._told_late, self._flags, self._found, self._had,
        )  # fmt: skip
        parts = [slice(lo, lo + count) for lo, count in zip(blocks.tolist(), counts, strict=False)]
        found = np.concatenate([self._found[part] for part in parts])
        if not self._asks or not len(found):
            return found
        sends = self._sends(found, np.concatenate([self._had[part] for part in parts]))
        self._flags[found.astype(np.intp)] = sends
        asked: np.ndarray = found[sends]
        return asked

    def tell(self, scalars: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tell the ghosts of those that `find` gave; collective, one step.

        Returns
        -------
        ids
            The ghosts here that have got a value.
        scalars : shape (size, k)
            Every rank's.
        """
        state = self._arrays.state[self._first]
        got, every = self._border.refresh([state], self._flags, scalars)
        if self._late.size:
            self._late[got[state.take(got) == self._none].astype(np.intp)] = 1
        return got, every

    def _sends(self, vertices: np.ndarray, had: np.ndarray) -> np.ndarray:
        """Which vertices send, by the values that they had and those that they have now."""
        arrays, out = self._arrays, np.empty(len(vertices), np.bool_)
        blocks = even_blocks(len(vertices))
        arrays.run("awake", blocks, arrays.binding.edges, vertices, had, out)
        return out
