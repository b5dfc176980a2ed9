"""How a run on the GPU advances: what is queued before the host looks at how far the device has come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Any

import cupy

from dask_graphgpu.engine.gpu.checkpoints import CheckpointStretches

if TYPE_CHECKING:
    from dask_graphgpu.engine.gpu.carriers import Carrier


class Policy(ABC):
    """A way to advance; the superstep's ``control`` says where that has led.

    It has the superstep and its carrier and not the other way around: a circle would hold memory of the device.
    """

    def __init__(self, carrier: Carrier) -> None:
        self.carrier, self.superstep, self._step = carrier, carrier.superstep, carrier.steps()

    @abstractmethod
    def advance(self, done: int, limit: int | None) -> None:
        """Go on from superstep ``done`` until the device is done, at ``limit`` at the latest."""


class Blind(Policy):
    """Queue supersteps in batches; the next batch while the device is at work on the last.

    Attributes
    ----------
    most_ahead : int
        Supersteps that are queued before the host looks, at most.
    """

    most_ahead = 8

    def advance(self, done: int, limit: int | None) -> None:
        """As `Policy`; what is queued beyond the end returns at once."""
        superstep, words = self.superstep, self.superstep.words
        looks: deque[tuple[Any, Any]] = deque()
        queued, ahead = done, 1
        while True:
            more = ahead if limit is None else min(ahead, limit - queued)
            for _ in range(more):
                self._step()
            queued, ahead = queued + more, min(2 * ahead, self.most_ahead)
            if more:
                looks.append((cupy.cuda.Event(disable_timing=True), words[0]))
                words.reverse()
                superstep.arrays.control.get(out=looks[-1][1], blocking=False)
                looks[-1][0].record()
                if len(looks) == 1:
                    continue
            event, out = looks.popleft()
            self.wait(event)
            superstep.see(out)
            if superstep.control["done"]:
                return
            if superstep.turns():
                self._step = self.carrier.steps()

    def wait(self, event: Any) -> None:
        """Return when the device has come to an event."""
        event.synchronize()


class OneByOne(Policy):
    """Look after each superstep, or launch: the host is asked `stop`, has room made, or brings edges."""

    def advance(self, done: int, limit: int | None) -> None:
        self.one()
        while not self.is_done():
            self.one()

    def one(self) -> None:
        """Queue a superstep, and see what came of it."""
        self.superstep.make_room()
        self._step()
        self.superstep.look()

    def is_done(self) -> bool:
        """Whether it was the last one, also because something did not fit its type."""
        superstep = self.superstep
        if not superstep.stops_on_device and not superstep.control["bad"]:
            superstep.control["stopped"] |= superstep.stops()
        return any(superstep.control[word] for word in ("bad", "stopped", "done"))


class InStretches(Policy):
    """As another policy does, with a look between two stretches at whether the state is due."""

    def __init__(self, policy: Policy, stretches: CheckpointStretches) -> None:
        self.superstep, self._policy, self._stretches = policy.superstep, policy, stretches

    def advance(self, done: int, limit: int | None) -> None:
        """As `Policy`, by a stretch."""
        until = done + self._stretches.after(done)
        until = until if limit is None else min(until, limit)
        self.superstep.go_on(until)
        self._policy.advance(done, until)
        self._stretches.done()
