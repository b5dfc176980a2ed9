"""Near-far order on one of several GPUs: no further than to a priority that all have agreed on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.buckets import WIDEST, StretchPolicy
from dask_graphgpu.engine.device_ranks.arrays import RankArrays
from dask_graphgpu.engine.device_ranks.ghost_updates import arriving
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.near_far import RESIDENT, STEPS, THREADS, NearFar, defines
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.kernels.cuda_build import Kernel
from dask_graphgpu.partition.device import elements
from dask_graphgpu.report import Report

STRETCHES = StretchPolicy(few_edges=1 << 20, few_edges_a_value=4, edges_a_spare_value=16)

# Few edges are also so many for each ghost: what an exchange sends and looks at are all values of the border.
FEW_EDGES_A_GHOST = 2


class RankNearFar(NearFar):
    """`NearFar` that goes on where it has stopped, with the ghosts whose values have come from elsewhere."""

    arrays: RankArrays

    def forgive(self) -> None:
        """Go on where an integer overflows, and leave that message out: see `check`."""
        self._lists["goes_on"] = 1

    def check(self) -> None:
        """Have all vertices send what they have in the end, where an integer has overflowed.

        Raises
        ------
        IntegerOverflow
            A message of theirs does not fit, or the run did not go on.
        """
        arrays = self.arrays
        if not self._lists["goes_on"][0]:
            raise overflow(arrays.program, "compute")
        values, none = arrays.state[arrays.program.first], self._nothing
        elements.fill(self._held["sent"], none)
        arrays.active[:] = values != none
        if arrays.program.has_reached:
            arrays.active |= arrays.reached
        self._lists["goes_on"] = 0
        self.control["failed"], self.control["until"] = 0, self.highest
        self.start(None)
        self.improve()

    def clear(self, report: Report) -> None:
        """Have nothing to send, as before the first run."""
        self.report, self.control = report, self._control_at_start()
        self._sets.fill(0)
        elements.fill(self._held["sent"], self._nothing)

    def fit(self, places: Any) -> bool:
        """Whether so many sources fit the list of far ones."""
        return len(places) <= self._capacity

    def restart(self, report: Report, places: Any, told: Any, told_late: Any) -> None:
        """The same with the state at the start, and these sources to send; by two launches.

        Of a program of one field, which starts with numbers. Step by step, by CuPy, it takes a
        millisecond of Python. ``told``, ``told_late``: what ghosts have.
        """
        self.report, self.control = report, self._control_at_start()
        arrays = self.arrays
        field, kernels = arrays.program.state[arrays.program.first], self._kernels
        start, source = (
            arrays.constant(arrays.program.first, value)
            for value in (field.initial, field.at_source)
        )
        at = cupy.asarray(places, self._far.dtype)
        changed = arrays.active, told, told_late
        given = *self.given, *changed, start
        launch.flat(kernels["restart"], arrays.n, (*given, self._nothing))
        number, starts = np.uint64(at.size), np.uint64(field.at_source is not None)
        launch.flat(
            kernels["restart_at"], at.size, (*self.given, *changed, source, starts, at, number)
        )

    @property
    def _nothing(self) -> Any:
        """What has been sent by who has sent nothing."""
        none = self.arrays.lowered.glue.identity(self.arrays.binding.message)
        return self._held["sent"].dtype.type(none)

    def measured(self, places: Any) -> float:
        """The width of the first bucket by this rank's edges, as of `NearFar.measure`."""
        self.measure(places)
        return float(self.look()["delta"][0])

    def width(self, delta: float) -> Any:
        """The width of a bucket in the type of priorities; at least 1 for integers."""
        return int(min(max(delta, 1.0), 2.0**62)) if self.whole else delta

    def begin(self, places: Any, until: Any, delta: Any, *, placed: bool) -> None:
        """As `start`, with nothing to send where there are no places; the first stretch ends there.

        ``placed``: the places are on the device already, where `restart` has put them.
        """
        control = self.control
        control["until"] = until
        if delta is not None:
            control["delta"] = control["least_delta"] = delta
        if placed and len(places):
            control["far"], control["far_listed"] = len(places), True
            self._choose()
            self._write()
        elif places is None or len(places):
            self.start(places)
        else:
            self._write()

    @cached_property
    def _kernels(self) -> dict[str, Kernel]:
        module = self.arrays.module("near_far_ranks", defines(self._held["sent"].dtype))
        names = "arrived tell next_stretch list_news take_news restart restart_at".split()
        return {name: launch.loaded(module.kernel(name)) for name in names}

    def kernels(self) -> dict[str, Kernel]:
        """Those of near_far_ranks.cu; they and that of a stretch are loaded."""
        launch.resident_blocks(self._kernel, threads=THREADS)
        return self._kernels

    def go_on(self) -> None:
        """Queue a stretch."""
        launch.cooperative(self._kernel, self.given, threads=THREADS, blocks_per_sm=RESIDENT)

    @property
    def words(self) -> Any:
        """The control block on the device."""
        return self._state


class PriorityStretches:
    """What ranks agree on after each stretch, on the device: see near_far_ranks.cu.

    Parameters
    ----------
    lists : RankNearFar
    delta
        How wide a bucket is; None where nothing is ordered.
    ghosts : int
        Of the rank that has most.
    """

    def __init__(self, lists: RankNearFar, delta: Any, ghosts: int) -> None:
        self._lists, self.kernels = lists, lists.kernels()
        kind = "i8" if lists.whole else "f8"
        made = np.zeros(1, [(name, kind if of == "priority" else of) for name, of in _AGREED])
        made["buckets"], made["ordered"] = 1, lists.ordered
        made["until"] = lists.lowest if lists.ordered else lists.highest
        made["delta"] = 1 if delta is None else delta
        made["lowest"], made["highest"] = lists.lowest, lists.highest
        made["few_edges"] = max(STRETCHES.few_edges, FEW_EDGES_A_GHOST * ghosts)
        made["few_edges_a_value"] = STRETCHES.few_edges_a_value
        made["edges_a_spare_value"] = STRETCHES.edges_a_spare_value
        made["widest"], made["steps"] = WIDEST, STEPS
        self._at_start, self.delta = made, delta
        self._agreed = cupy.empty(len(_AGREED), np.uint64)
        self.told = cupy.zeros(_TOLD, np.uint64)

    def begin(self, places: Any, *, placed: bool) -> None:
        """Get the first stretch ready: it finds the least priority that there is."""
        self._agreed.set(self._at_start.view(np.uint64))
        self._lists.begin(places, self._at_start["until"][0], self.delta, placed=placed)

    def arrive(self, told: Any, told_late: Any) -> None:
        """Queue that ghosts which were told something better are to send."""
        # A warp has the 32 vertices of a word.
        given = (*self._lists.given, told, told_late)
        arriving(self.kernels["arrived"], told.size + 32, given)

    def tell(self, *news: Any) -> None:
        """Queue that this rank's numbers are put together in ``told``; ``news``: `News.told`."""
        self._alone("tell", self._lists.given[1], self._agreed, self.told, *news)

    def choose(self, every: Any) -> None:
        """Queue that the next stretch is got ready, by what all ranks have told."""
        self._alone(
            "next_stretch", self._lists.given[1], every, np.uint64(len(every)), self._agreed
        )

    def look(self, out: Sequence[np.ndarray]) -> None:
        """Queue that the control block and what was agreed on are copied to the host."""
        for words, each in zip((self._lists.words, self._agreed), out, strict=True):
            words.get(out=each, blocking=False)

    def room(self) -> list[np.ndarray]:
        """What `look` writes to."""
        return [cupyx.empty_pinned(a.size, np.uint64) for a in (self._lists.words, self._agreed)]

    def seen(self, out: Sequence[np.ndarray]) -> Any:
        """What was agreed on, and the control block for the lists."""
        self._lists.control = out[0].view(self._lists.control.dtype).copy()
        return out[1].view(self._at_start.dtype)[0]

    def _alone(self, name: str, *args: Any) -> None:
        """A launch of one thread."""
        self.kernels[name].function(cooperative=False)((1,), (1,), args)


# Members of Told and Agreed; "priority" stands for the type of priorities.
_TOLD = 7
_AGREED = (
    ("over", "u8"), ("exchanges", "u8"), ("buckets", "u8"), ("until", "priority"), ("edges", "u8"),
    ("news", "u8"),
    ("ordered", "u8"), ("delta", "priority"), ("lowest", "priority"), ("highest", "priority"),
    ("few_edges", "u8"), ("few_edges_a_value", "u8"), ("edges_a_spare_value", "u8"),
    ("widest", "u8"), ("steps", "u8"),
)  # fmt: skip
