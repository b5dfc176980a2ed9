"""Connections that nobody uses, for whoever needs one next: to connect GPUs takes long."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple
from uuid import uuid4

from dask_graphgpu.exchange.ranks import Ranks

NAME_BYTES = 16


class Party(NamedTuple):
    """Who is connected: a GPU, as one of so many ranks."""

    device: int
    size: int
    rank: int


def new_name() -> bytes:
    """What all ranks call a new connection."""
    return uuid4().bytes


class Idle:
    """Connections of this process, of which each party keeps ``most``.

    One has ``abort()``, which ends it and waits for nobody. It may be given up while the other ranks
    keep theirs, so whoever takes one asks them. `give` ends none: who gives may be what collects
    garbage, in the middle of a call for another connection.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[tuple[Party, bytes], Any] = {}
        self._left: list[Any] = []  # to be ended
        # A link that is collected gives its connection up, which may be while this is held.
        self._lock = threading.RLock()
        self._over = False

    def take(self, party: Party, ranks: Ranks) -> tuple[bytes, Any] | None:
        """A connection that all ranks have kept, with its name; None where there is none. Collective."""
        self.tidy()
        with self._lock:
            mine = [name for of, name in list(self._kept) if of == party]
        names = [_cut(every) for every in ranks.all_gather_bytes(b"".join(mine))]
        name = next((name for name in names[0] if all(name in each for each in names)), None)
        if name is None:
            return None
        with self._lock:
            made = self._kept.pop((party, name), None)
        # Somebody else may have taken it since, or it has been ended for others.
        there = bool(ranks.min(int(made is not None)))
        if not there and made is not None:
            made.abort()
        return (name, made) if there else None

    def give(self, party: Party, name: bytes, connection: Any) -> None:
        """Keep one; of too many the one that has been here longest is ended by the next `tidy`."""
        with self._lock:
            self._kept[party, name] = connection
            same = [key for key in list(self._kept) if key[0] == party]
            self._left += [self._kept.pop(key) for key in same[: max(len(same) - self._most, 0)]]
            over = self._over
        if over:
            self.drop()

    def tidy(self) -> None:
        """End those that were too many; `take` does."""
        with self._lock:
            ended, self._left = self._left, []
        for each in ended:
            each.abort()

    def end(self) -> None:
        """End all, and what is given from here on: the process ends."""
        self._over = True
        self.drop()

    def drop(self) -> bool:
        """End all. Return whether there were any."""
        with self._lock:
            self._left += [self._kept.pop(key) for key in list(self._kept)]
            there = bool(self._left)
        self.tidy()
        return there


def _cut(names: bytes) -> list[bytes]:
    return [names[at : at + NAME_BYTES] for at in range(0, len(names), NAME_BYTES)]
