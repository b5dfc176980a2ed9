"""Keeping a run in the middle of a superstep: a pass over all pages may take long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.merge_path import Parts
from dask_graphgpu.engine.keeping import Keeper

# Columns of what is kept, beside the state before the superstep: what the rows have got so far, whether
# there is a message, and whether all of the row is behind. Who does not know them begins the superstep anew.
_MESSAGE, _RECEIVED, _BEHIND = "gathered", "gathered received", "gathered all"


class Halfway:
    """What of a superstep is behind: rows that have the messages of all their edges.

    Parameters
    ----------
    keeper : Keeper or None
        None: nothing is kept.
    """

    def __init__(self, keeper: Keeper | None) -> None:
        self._keeper = keeper
        self._lock = threading.Lock()
        self._given: Mapping[str, np.ndarray] = {}
        self._groups = np.empty(0, bool)
        self._bad = False

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Have rows behind in the first superstep that were kept so."""
        names = (_MESSAGE, _RECEIVED, _BEHIND)
        self._given = {name: columns[name] for name in names if name in columns}

    def begin(self, groups: int) -> None:
        """None of so many groups of parts is behind."""
        self._groups, self._bad = np.zeros(groups, bool), False

    def needed(self, parts: Parts, groups: np.ndarray) -> np.ndarray:
        """Which groups have a row that is not behind, bool."""
        if not self._given:
            return np.ones(len(groups) - 1, bool)
        upto = np.append(0, np.cumsum(self._given[_BEHIND] == 0, dtype=np.int64))
        rows = parts.rows.astype(np.int64)
        needed: np.ndarray = upto[rows[groups[1:]] + 1] > upto[rows[groups[:-1]]]
        return needed

    def passed(self, group: int, *, bad: bool, write: Callable[[], None]) -> None:
        """A group is behind: ``write`` what is, where that is due; called from several threads."""
        if self._keeper is None:
            return
        with self._lock:
            self._groups[group] = True
            self._bad |= bad  # then the run is about to fail
            if not self._bad and self._keeper.late():
                write()

    def columns(
        self,
        parts: Parts,
        groups: np.ndarray,
        messages: np.ndarray,
        received: np.ndarray,
        fold: Callable[[np.ndarray, np.ndarray], bool],
    ) -> dict[str, np.ndarray] | None:
        """What to keep of messages and of who has one; None: a message does not fit its type.

        ``fold(messages, received)`` puts together what groups have of rows that are cut.
        """
        messages, received = messages.copy(), received.copy()
        if fold(messages, received):
            return None
        self._restore(messages, received)
        rows, left = parts.rows.astype(np.int64), np.flatnonzero(~self._groups)
        ends = np.zeros(len(messages) + 1, np.int64)
        np.add.at(ends, rows[groups[left]], 1)
        np.add.at(ends, rows[groups[left + 1]] + 1, -1)
        behind = np.cumsum(ends[:-1]) == 0
        if self._given:
            behind |= self._given[_BEHIND].astype(bool)
        found = {_MESSAGE: messages, _BEHIND: behind.view(np.uint8)}
        return found | ({_RECEIVED: received} if len(received) else {})

    def end(self, messages: np.ndarray, received: np.ndarray) -> None:
        """All rows have been gone over, but for those that were behind before, which get what was kept."""
        self._restore(messages, received)
        self._given = {}

    def _restore(self, messages: np.ndarray, received: np.ndarray) -> None:
        given: Mapping[str, Any] = self._given
        if given:
            behind = given[_BEHIND].astype(bool)
            np.copyto(messages, given[_MESSAGE].view(messages.dtype), where=behind)
            if len(received):
                np.copyto(received, given[_RECEIVED], where=behind)
