"""What goes on before a method runs, reading and building; who follows runs is told of the steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias
from uuid import uuid4

_EVERY = 0.05  # seconds between two things that one stage says, but for its end


@dataclass(frozen=True)
class StageSteps:
    """So many more steps of a stage are done.

    Attributes
    ----------
    key : str
        Of what: tasks that read for one graph say the same.
    stage : str
        "reading" or "building".
    detail : str
        What goes on now.
    steps : int
        Since the stage said something last.
    of : int or None
        Steps of the whole stage, under this key; None: nobody knows.
    """

    key: str
    stage: str
    detail: str
    steps: int
    of: int | None


Follower: TypeAlias = "Callable[[StageSteps], None]"

# Told of stages in this process that are not followed from elsewhere.
followers: list[Follower] = []

_elsewhere: list[Callable[[], Follower | None]] = []


def elsewhere(follower: Callable[[], Follower | None]) -> None:
    """Have a function asked, in the thread that begins a stage, who follows it from another process, if anybody."""
    _elsewhere.append(follower)


class Stage:
    """A stage that begins now. Its steps may be told by several threads.

    Parameters
    ----------
    name : str
        "reading" or "building".
    of : int or None
        How many steps it has; None: nobody knows.
    key : str, optional
        Of stages that are parts of one. Default: this one alone.
    told : bool
        Whether anybody is told; of a stage on several ranks one is.
    """

    def __init__(
        self, name: str, of: int | None = None, *, key: str | None = None, told: bool = True
    ) -> None:
        self._name, self._of, self._key = name, of, key or uuid4().hex
        self._followers = _who() if told else []
        self._lock = threading.Lock()
        self._steps = self._done = 0
        self._next = 0.0

    def say(self, detail: str) -> None:
        """Tell what goes on now."""
        self._tell(detail, 0, at_once=True)

    def step(self, detail: str = "", number: int = 1) -> None:
        """Some steps are done; ``detail`` is what comes next."""
        self._tell(detail, number, at_once=bool(detail))

    def _tell(self, detail: str, number: int, *, at_once: bool) -> None:
        if not self._followers:
            return
        with self._lock:
            self._steps += number
            self._done += number
            now = time.monotonic()
            if now < self._next and not at_once and self._done != self._of:
                return
            self._next = now + _EVERY
            told, self._steps = StageSteps(self._key, self._name, detail, self._steps, self._of), 0
        for follower in self._followers:
            follower(told)


def _who() -> list[Follower]:
    """Who follows what this thread does: one process, not this one and another."""
    found = [follower for ask in _elsewhere if (follower := ask()) is not None]
    return found or list(followers)
