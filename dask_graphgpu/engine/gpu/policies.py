"""How a run on the GPU advances: what is queued before the host looks at how far the device has come."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

import cupy

if TYPE_CHECKING:
    from dask_graphgpu.engine.gpu.checkpoints import Stretches
    from dask_graphgpu.engine.gpu.synchronous import Synchronous


class Policy(Protocol):
    """A way to advance; the engine's ``control`` says where that has led.

    It has the engine and not the other way around: a circle of the two would hold memory of the device.
    """

    @property
    def engine(self) -> Synchronous:
        """Whose launches are queued."""

    def advance(self, done: int, limit: int | None) -> None:
        """Go on from superstep ``done`` until the device is done, at ``limit`` at the latest."""


class Blind:
    """Queue supersteps in batches; the next batch while the device is at work on the last.

    Parameters
    ----------
    engine : Synchronous
    words : list of pinned arrays
        Where the control comes to; two, as one may still be waited for.

    Attributes
    ----------
    most_ahead : int
        Supersteps that are queued before the host looks, at most.
    """

    most_ahead = 8

    def __init__(self, engine: Synchronous, words: list[Any]) -> None:
        self.engine, self._step, self._words = engine, engine.steps(), words

    def advance(self, done: int, limit: int | None) -> None:
        """As `Policy`; what is queued beyond the end returns at once."""
        engine = self.engine
        looks: deque[tuple[Any, Any]] = deque()
        queued, ahead = done, 1
        while True:
            more = ahead if limit is None else min(ahead, limit - queued)
            for _ in range(more):
                self._step()
            queued, ahead = queued + more, min(2 * ahead, self.most_ahead)
            if more:
                looks.append((cupy.cuda.Event(disable_timing=True), self._words[0]))
                self._words.reverse()
                engine.arrays.control.get(out=looks[-1][1], blocking=False)
                looks[-1][0].record()
                if len(looks) == 1:
                    continue
            event, out = looks.popleft()
            self.wait(event)
            engine.see(out)
            if engine.control["done"]:
                return
            if engine.turns():
                self._step = engine.steps()

    def wait(self, event: Any) -> None:
        """Return when the device has come to an event."""
        event.synchronize()


class OneByOne:
    """Look after each superstep, or launch: the host is asked `stop`, has room made, or brings edges."""

    def __init__(self, engine: Synchronous) -> None:
        self.engine, self._step = engine, engine.steps()

    def advance(self, done: int, limit: int | None) -> None:
        """As `Policy`."""
        self.superstep()
        while not self.is_done():
            self.superstep()

    def superstep(self) -> None:
        """Queue one, and see what came of it."""
        self.engine.make_room()
        self._step()
        self.engine.look()

    def is_done(self) -> bool:
        """Whether it was the last one, also because something did not fit its type."""
        engine = self.engine
        if not engine.stops_on_device and not engine.control["bad"]:
            engine.control["stopped"] |= engine.stops()
        return any(engine.control[word] for word in ("bad", "stopped", "done"))


class InStretches:
    """As another policy does, with a look between two stretches at whether the state is due."""

    def __init__(self, policy: Policy, stretches: Stretches) -> None:
        self.engine, self._policy, self._stretches = policy.engine, policy, stretches

    def advance(self, done: int, limit: int | None) -> None:
        """As `Policy`, by a stretch."""
        until = done + self._stretches.after(done)
        until = until if limit is None else min(until, limit)
        self.engine.go_on(until)
        self._policy.advance(done, until)
        self._stretches.done()
