"""The CPU's side of a run: a thread of its own, and arrays on the host, which are made once they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.arrays import CONTROL
from dask_graphgpu.engine.gpu.run_cache import RunCache
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.hybrid.host import HostSide
from dask_graphgpu.engine.page_dispatch import Pages
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.tiered.disk import is_on_disk
from dask_graphgpu.engine.tiered.supersteps import THREADS
from dask_graphgpu.kernels.cpu.threads import at_most, num_threads
from dask_graphgpu.kernels.device_streams import stream_of

_BAD_COMPUTE = 1  # of program.cuh

# Bytes a second in which host memory is pinned, about.
_PINNING = 4e9


class Pushed(NamedTuple):
    """What the CPU did of a superstep."""

    pages: int
    edges: int
    bad: bool
    measured: bool  # whether its rate was known before


class CpuSide:
    """What the CPU has to take part in a run on the GPU.

    Attributes
    ----------
    helper : ThreadPoolExecutor
        Its thread; what that does is `at_work`.
    on_disk : bool
        Whether edges lie in pages on disk.
    pushed : Pushed or None
        What it did of the last superstep that the GPU was in.
    """

    pushed: Pushed | None = None

    def __init__(self, superstep: Superstep, kept: RunCache, speeds: Speeds, dispatch: str) -> None:
        self.superstep, self.arrays, self.binding = superstep, superstep.arrays, superstep.binding
        self.speeds, self.dispatch, self._kept = speeds, dispatch, kept
        self.on_disk = is_on_disk(self.binding.send)
        self.device = cupy.cuda.Device().id
        self._threads = max(num_threads() - 1, 1)  # one is left, which keeps the GPU at work
        self._stream = stream_of(self)
        self._known = cupy.cuda.Event(disable_timing=True)
        self.helper = ThreadPoolExecutor(1, thread_name_prefix="graphgpu-hybrid")
        self._making: Future[HostSide] | None = None
        self._taken: list[np.ndarray] = []

    # -- its thread ------------------------------------------------------------------------------

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """In its thread: the device, and as many threads as are left."""
        with cupy.cuda.Device(self.device), at_most(self._threads):
            yield

    def note(self) -> None:
        """What is queued on the device by now is what its copies come after."""
        self._known.record(cupy.cuda.get_current_stream())

    def stream(self) -> Any:
        """The stream of its copies from the device, after what was noted."""
        self._stream.wait_event(self._known)
        return self._stream

    # -- its arrays ------------------------------------------------------------------------------

    @cached_property
    def host(self) -> HostSide:
        """Its arrays and kernels; waits until they are made."""
        return self.begun().result()

    def begun(self) -> Future[HostSide]:
        """The same, which is set up in its thread."""
        if self._making is None:
            self.speeds.was_set_up = True
            self._making = self.helper.submit(self._make)
        return self._making

    def _make(self) -> HostSide:
        with self.at_work(), self.stream():
            return HostSide(self.binding, self.superstep.report, self._kept, self.arrays)

    @property
    def setting_up(self) -> float:
        """Seconds in which its arrays are made, about; 0 once they are."""
        if "host" in self.__dict__:
            return 0.0
        return 2e-3 if self.speeds.was_set_up else 5e-3 + self.state_bytes / _PINNING

    @cached_property
    def state_bytes(self) -> int:
        """Bytes of what changes of the vertices, with their flags."""
        arrays = self.arrays
        columns = (arrays.state[name] for name in self.superstep.program.changing)
        return sum(int(each.nbytes) for each in (*columns, arrays.active, arrays.reached))

    def pinned(self, size: int, dtype: Any) -> np.ndarray:
        """An array to which the device copies, until `close`."""
        self._taken.append(self._kept.take(size, dtype))
        made: np.ndarray = self._taken[-1][:size]
        return made

    # -- pages -----------------------------------------------------------------------------------

    def is_worth(self, pages: Pages) -> bool:
        """Whether it is to take pages, and may begin."""
        if self.dispatch in ("gpu", "supersteps"):
            return False
        if self.dispatch == "auto":
            worth, speeds = pages.worth, self.speeds
            speeds.could_save += worth
            if not worth or speeds.spoiled or speeds.could_save < 2 * self.setting_up:
                return False
            if not self.begun().done():
                return False  # the GPU goes on meanwhile
        return True

    def give_messages(self, run: Any, *, bad: bool) -> None:
        """Have the device take the messages that it has now; ``bad``: one did not fit its type."""
        superstep, arrays = self.superstep, self.arrays
        messages, received = self._sent
        self.host.send(messages, received, cupy.cuda.get_current_stream())
        sent = arrays.stored(messages, self.binding.message), received
        into = (*sent, superstep.messages, superstep.received)
        superstep.launch("take_sent", -(-arrays.n // THREADS), run, *into)()
        if bad:
            place = CONTROL.index("bad")
            arrays.control[place : place + 1] |= _BAD_COMPUTE

    @cached_property
    def _sent(self) -> tuple[Any, Any]:
        """Where its messages come to, and whether there is one."""
        received = cupy.empty_like(self.superstep.received)
        return cupy.empty(self.arrays.n, self.host.messages.dtype), received

    @property
    def nbytes(self) -> int:
        """Of device memory."""
        return sum(int(array.nbytes) for array in self.__dict__.get("_sent", ()))

    def close(self) -> None:
        """Wait for its thread, and leave what it pinned to other runs."""
        self.helper.shutdown()
        cupy.cuda.get_current_stream().synchronize()  # copies to what is given back
        if self._making is not None and self._making.exception() is None:
            self._making.result().arrays.close()
        for array in self._taken:
            self._kept.give_back(array)
        self._taken = []
