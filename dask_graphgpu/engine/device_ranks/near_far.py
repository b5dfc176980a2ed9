"""Near-far order on one of several GPUs: no further than to a priority that all have agreed on."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.engine.buckets import no_limit, raised
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.near_far import NearFar
from dask_graphgpu.functions import INT64_MAX


class RankNearFar(NearFar):
    """`NearFar` that goes on where it has stopped, with the ghosts whose values have come from elsewhere."""

    def forgive(self) -> None:
        """Go on where an integer overflows, and leave that message out: see `check`."""
        self._lists["goes_on"] = 1

    def check(self) -> None:
        """Have all vertices send what they have in the end.

        Raises
        ------
        IntegerOverflow
            A message of theirs does not fit.
        """
        arrays = self.arrays
        values, none = (
            arrays.state[arrays.binding.program.first],
            self._held["sent"].dtype.type(arrays.lowered.glue.identity(arrays.binding.message)),
        )
        self._held["sent"].fill(none)
        arrays.active[:] = values != none
        if arrays.program.has_reached:
            arrays.active |= arrays.reached
        self._lists["goes_on"], self._lists["until"] = 0, self.highest
        self.control["failed"] = 0
        self.start(None)
        self.improve()

    def measured(self, places: Any) -> float:
        """The width of the first bucket by this rank's edges, as of `NearFar.measure`."""
        self.measure(places)
        return float(self.look()["delta"][0])

    def widen(self, delta: float) -> Any:
        """Make buckets of a width, at least 1 for integers; in the type of priorities."""
        control = self.control
        control["delta"] = control["least_delta"] = (
            min(max(delta, 1.0), 2.0**62) if self.whole else delta
        )
        self._write()
        return control["delta"][0].item()

    def stretch(self, until: Any) -> int:
        """Improve values of priorities up to ``until``; return how many edges were read."""
        control = self.control
        if not control["far"][0]:
            return 0
        if control["arrivals"][0]:
            least = self._priority(control["least_arrival"][0])
            near = raised(least, control["delta"][0].item(), self.whole)
            control["limit"] = min(control["limit"][0].item(), near)
        control["arrivals"] = 0
        self._choose()
        self._write()
        self._lists["until"] = until
        before = int(control["all_edges"][0])
        self.improve()
        return int(self.control["all_edges"][0]) - before

    def arrive(self, kernel: Any, told: Any, told_late: Any) -> None:
        """Queue that ghosts which were told something better are to send."""
        launch.flat(kernel, told.size, (*self.given, told, told_late))

    def left(self, far: int) -> tuple[int, int, Any]:
        """Vertices that are to send, those of them that have come, and the least priority of any.

        ``far`` : how many there were before those came.
        """
        control = self.look()
        least = no_limit(self.whole)
        if far:
            least = min(least, self._priority(control["least"][0]))
        if control["arrivals"][0]:
            least = min(least, self._priority(control["least_arrival"][0]))
        return int(control["far"][0]), int(control["arrivals"][0]), least

    def _priority(self, key: Any) -> Any:
        """The priority of an order key, as in near_far.cuh."""
        if self.whole:
            return int(key)
        bits = int(key)
        return np.array(bits if bits >= 0 else bits ^ INT64_MAX, np.int64).view(np.float64).item()
