"""Near-far order on one of several GPUs: no further than to a priority that all have agreed on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.near_far import RESIDENT, STEPS, THREADS, NearFar, defines
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.kernels.cuda_build import Kernel

# Edges that a rank reads in a stretch, in the mean, below which the next one is wider: to read them
# takes no longer than an exchange. Above four times as many it is narrower.
FEW_EDGES = 1 << 20

# Edges read for each ghost that is told something, below which the next stretch is narrower too, but
# for those that are short: where all neighbours are remote most of it is in vain.
FEW_EDGES_A_VALUE = 4

# Buckets in a stretch, at most.
_WIDEST = 1 << 20


class RankNearFar(NearFar):
    """`NearFar` that goes on where it has stopped, with the ghosts whose values have come from elsewhere."""

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
        values, none = (
            arrays.state[arrays.binding.program.first],
            self._held["sent"].dtype.type(arrays.lowered.glue.identity(arrays.binding.message)),
        )
        self._held["sent"].fill(none)
        arrays.active[:] = values != none
        if arrays.program.has_reached:
            arrays.active |= arrays.reached
        self._lists["goes_on"] = 0
        self.control["failed"], self.control["until"] = 0, self.highest
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

    def stretches(self, until: Any, delta: Any) -> Stretches:
        """What goes on from here, all ranks in the same stretches; the first one up to ``until``."""
        self.control["until"] = until
        self._write()
        kernels = {
            name: launch.loaded(self.arrays.module("near_far_ranks", self._macros).kernel(name))
            for name in ("arrived", "tell", "next_stretch")
        }
        launch.resident_blocks(self._kernel, threads=THREADS)  # loads it
        return Stretches(self, kernels, until, delta)

    def go_on(self) -> None:
        """Queue a stretch."""
        launch.cooperative(self._kernel, self.given, threads=THREADS, blocks_per_sm=RESIDENT)

    @property
    def _macros(self) -> dict[str, str]:
        return defines(self._held["sent"].dtype)

    @property
    def words(self) -> Any:
        """The control block on the device."""
        return self._state


class Stretches:
    """What ranks agree on after each stretch, on the device: see near_far_ranks.cu.

    Parameters
    ----------
    lists : RankNearFar
    kernels : dict of str to Kernel
    until, delta
        Where the first stretch ends, and how wide a bucket is.
    """

    def __init__(
        self, lists: RankNearFar, kernels: dict[str, Kernel], until: Any, delta: Any
    ) -> None:
        self._lists, self._kernels = lists, kernels
        kind = "i8" if lists.whole else "f8"
        made = np.zeros(1, [(name, kind if of == "priority" else of) for name, of in _AGREED])
        made["buckets"], made["until"], made["ordered"] = 1, until, lists.ordered
        made["delta"] = 1 if delta is None else delta
        made["lowest"], made["highest"] = lists.lowest, lists.highest
        made["few_edges"], made["few_edges_a_value"] = FEW_EDGES, FEW_EDGES_A_VALUE
        made["widest"], made["steps"] = _WIDEST, STEPS
        self._agreed_dtype, self._agreed = made.dtype, cupy.asarray(made.view(np.uint64))
        self.told = cupy.zeros(_TOLD, np.uint64)

    def arrive(self, told: Any, told_late: Any) -> None:
        """Queue that ghosts which were told something better are to send."""
        given = (*self._lists.given, told, told_late)
        launch.flat(self._kernels["arrived"], told.size, given)

    def tell(self) -> None:
        """Queue that this rank's numbers are put together in ``told``."""
        self._alone("tell", self._lists.given[1], self._agreed, self.told)

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
        return out[1].view(self._agreed_dtype)[0]

    def _alone(self, name: str, *args: Any) -> None:
        """A launch of one thread."""
        self._kernels[name].function(cooperative=False)((1,), (1,), args)


# Members of Told and Agreed; "priority" stands for the type of priorities.
_TOLD = 6
_AGREED = (
    ("over", "u8"), ("exchanges", "u8"), ("buckets", "u8"), ("until", "priority"), ("edges", "u8"),
    ("ordered", "u8"), ("delta", "priority"), ("lowest", "priority"), ("highest", "priority"),
    ("few_edges", "u8"), ("few_edges_a_value", "u8"), ("widest", "u8"), ("steps", "u8"),
)  # fmt: skip
