"""Supersteps that the GPU and the CPU share.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.arrays import CONTROL
from dask_graphgpu.engine.gpu.superstep import DIRECTIONS
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.hybrid.disk_host import DiskHostSide
from dask_graphgpu.engine.hybrid.dispatch import Pages, Sides
from dask_graphgpu.engine.hybrid.host import HostSide
from dask_graphgpu.engine.hybrid.speeds import Speeds, alpha, streams, streams_of_disk
from dask_graphgpu.engine.hybrid.transfer import SharedTransfer
from dask_graphgpu.engine.keeping import PENDING, Keeping
from dask_graphgpu.engine.loop import run_superstep
from dask_graphgpu.engine.state import State
from dask_graphgpu.engine.tiered import link
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.disk import is_on_disk
from dask_graphgpu.engine.tiered.supersteps import THREADS, TieredSynchronous
from dask_graphgpu.engine.tiered.transfer import Go
from dask_graphgpu.kernels.cpu.threads import at_most, num_threads
from dask_graphgpu.kernels.device_streams import stream_of
from dask_graphgpu.report import Report

_BAD_COMPUTE = 1  # of program.cuh

# Words of the control that are of lists which no superstep of the CPU leaves.
_LISTS = (
    "next_active", "next_edges", "read", "log_size", "rows", "chunks", "listed", "overflow",
    "batched", "batch",
)  # fmt: skip


# Bytes a second in which host memory is pinned, about.
_PINNING = 4e9


class Pushed(NamedTuple):
    """What the CPU did of a superstep."""

    pages: int
    edges: int
    bad: bool
    measured: bool  # whether its rate was known before


class HybridSupersteps(TieredSynchronous):
    """A run in supersteps, of which the CPU takes pages of edges, or the whole.

    The state is on the device. For a page the CPU gets the flags and what is sent of the page's own
    rows, a stretch of each array, over the direction of the link that streamed edges leave free. It
    combines messages in an array of its own, which goes to the device once a superstep; there they
    are combined with the others, and all vertices take them. The other way around, state on the
    host and messages of the GPU's pages brought there, each superstep would move the messages and
    what every vertex sends, and wait for the CPU to look at all vertices.

    Where the CPU runs whole supersteps the state is on the host, and moves once, before the first
    and after the last of these.
    """

    arrays: TieredArrays
    transfer: SharedTransfer
    shares = True  # whether pages may be the CPU's

    def __init__(
        self,
        arrays: TieredArrays,
        report: Report,
        transfer: SharedTransfer,
        speeds: Speeds,
        dispatch: str,
    ) -> None:
        super().__init__(arrays, report, transfer)
        self.speeds, self.dispatch = speeds, dispatch
        self._sides = Sides()
        self._device = cupy.cuda.Device().id
        self._threads = max(num_threads() - 1, 1)  # of the helper: this one keeps the GPU at work
        self._stream = stream_of(self)
        self._known = cupy.cuda.Event(disable_timing=True)
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="graphgpu-hybrid")
        self._working: Future[Pushed] | None = None
        self._making: Future[HostSide] | None = None
        self._folds, self._has_pending, self._waited_before = True, False, 0.0
        self._streamed = (-1, -1), 0.0  # edges and vertices that are active, and as of `_streams`
        self._done = {
            side: dict.fromkeys(("supersteps", "alone", "pages", "edges"), 0)
            for side in ("gpu", "cpu")
        }
        transfer.lend = self._lend

    def run(self, limit: int | None, exact: bool, kept: Keeping | None = None) -> State:
        """As of `Synchronous`."""
        try:
            return super().run(limit, exact, kept)
        finally:
            self._helper.shutdown()
            cupy.cuda.get_current_stream().synchronize()  # copies to what is given back
            if self._making is not None and self._making.exception() is None:
                self._making.result().arrays.close()

    def _take_pending(self, columns: Mapping[str, np.ndarray]) -> None:
        super()._take_pending(columns)
        self._has_pending = PENDING in columns

    def _begin(self, limit: int | None, before: int = 0) -> dict[str, int]:
        self._control, self._before = super()._begin(limit, before), before
        return self._control

    def _go_on(self, control: dict[str, int], until: int) -> None:
        super()._go_on(control, until)
        self._control = control | {"limit": until}
        if control["completed"]:
            self._control |= {"superstep": control["completed"] + 1, "done": 0}
            if not self._folds:
                self._first()

    @property
    def _completed(self) -> int:
        """Supersteps that are, also before this run."""
        return self._control["completed"] or self._before

    # -- the loop --------------------------------------------------------------------------------

    def _queue(self, step: Callable[[], None], limit: int | None) -> dict[str, int]:
        return self._take_turns(step, lambda control: 0)

    def _asked(self, step: Callable[[], None], control: dict[str, int]) -> dict[str, int]:
        return self._take_turns(step, self._stop_says)

    def _take_turns(
        self, step: Callable[[], None], stop_says: Callable[[dict[str, int]], int]
    ) -> dict[str, int]:
        """Superstep by superstep; ``stop_says``: 1 where the host ends the run after one."""
        while True:
            if self._is_alone():
                self._run_alone()
            control = self._control
            if control["done"] or control["stopped"]:
                return control
            timed, began = self._is_timed, time.perf_counter()
            step()
            self._folds, self._has_pending = True, False
            self._control = self._looked()
            self._note_together(control, time.perf_counter() - began if timed else None)
            if self._control["bad"]:
                return self._control
            self._control["stopped"] |= stop_says(self._control)
            if self._control["stopped"] or self._control["done"]:
                return self._control

    @property
    def _is_timed(self) -> bool:
        """Whether the time of the next superstep says something of others."""
        return True

    def _waited(self) -> float:
        """Seconds of the superstep in which pages were waited for."""
        before, self._waited_before = self._waited_before, self.transfer.waited
        return self._waited_before - before

    def _note_together(self, before: dict[str, int], seconds: float | None) -> None:
        """Count a superstep that the GPU was in; ``seconds`` is None where they say nothing."""
        pushed, edges = self._pushed, before["active_edges"]
        waited = self._waited()
        gpu, cpu = self._done["gpu"], self._done["cpu"]
        mine = edges if pushed is None else max(edges - pushed.edges, 0)
        if mine or pushed is None:
            gpu["supersteps"] += 1
            gpu["alone"] += pushed is None
            gpu["edges"] += mine
        if pushed is not None:
            cpu["supersteps"] += 1
            cpu["alone"] += not mine
            cpu["pages"] += pushed.pages
            cpu["edges"] += pushed.edges
            if pushed.measured and seconds is not None:
                self.speeds.step_of_both(seconds, self._streams(before))
        elif (
            before["completed"] and seconds is not None
        ):  # before the first there was code to be loaded
            self.speeds.step_of_gpu(seconds, self._streams(before), waited)

    # -- whole supersteps of the CPU -------------------------------------------------------------

    def _is_alone(self) -> bool:
        """Whether the CPU is to run the next superstep."""
        control, speeds = self._control, self.speeds
        if self._has_pending:
            return False  # messages that were kept are on the device
        if self.dispatch != "auto":
            return self.dispatch == "supersteps" and control["completed"] % 2 == 1
        gpu = speeds.gpu_beside + self._streams(control) / speeds.gpu
        if self._on_disk and not self.binding.has_gather:
            return False  # rows are not turned over on disk for this
        if self._sides.stays_on_device(speeds.cpu_beside, gpu):
            return False  # this is between any two supersteps, however short
        share = control["active_edges"] / max(self.num_edges, 1)
        pull = self.num_edges / speeds.pull
        cpu = alpha(share, speeds.random, pull, gpu, speeds.cpu_beside) * gpu
        return self._sides.alone(cpu, gpu, self._moving)

    def _streams(self, control: dict[str, int]) -> float:
        """Streamed edges that take as long as what a superstep has to get over the link."""
        active = control["active_edges"], control["num_active"]
        if self._streamed[0] != active:  # it is asked for before and after a superstep
            rest, share, edge, arrays = self._beyond
            edges, rows = (each * share for each in active)
            if self._on_disk:
                size = streams_of_disk(rows, rest, self.transfer.tier.cut.segment)
            else:
                rates = link.rates(self._device)
                size = streams(edges, rows, rest, edge, arrays, rates, self.speeds.gpu)
            self._streamed = active, size
        return self._streamed[1]

    @cached_property
    def _beyond(self) -> tuple[int, float, int, int]:
        """Edges that are not on the device, their share, bytes of one, and arrays that it is spread over."""
        tier = self.transfer.tier
        rest = tier.num_edges - tier.cut.resident
        return rest, rest / max(tier.num_edges, 1), tier.bytes_of_edge, len(tier.arrays)

    @property
    def _moving(self) -> float:
        """Seconds in which the state moves to the other side, which may have to be made first."""
        return self._state / link.rates(self._device).copies + self._setting_up

    @property
    def _setting_up(self) -> float:
        """Seconds in which the CPU's arrays are made, about; 0 once they are."""
        if "_host" in self.__dict__:
            return 0.0
        return 2e-3 if self.speeds.was_set_up else 5e-3 + self._state / _PINNING

    @cached_property
    def _state(self) -> int:
        """Bytes of what changes of the vertices, with their flags."""
        arrays = self.arrays
        columns = (arrays.state[name] for name in self.program.changing)
        return sum(int(each.nbytes) for each in (*columns, arrays.active, arrays.reached))

    def _run_alone(self) -> None:
        """Supersteps of the CPU, until the GPU is to join or the run is over."""
        self._known.record(cupy.cuda.get_current_stream())
        host, control = self._host, self._control
        self.transfer.rest()
        self._flush(control)
        superstep, limit = self._completed, control["limit"]
        known = self.arrays.last_aggregates() if superstep else {}
        host.take_over(self.arrays, control, known, self._after())
        stopped = over = False
        while True:
            superstep += 1
            active, began = host.active_edges, time.perf_counter()
            stopped = run_superstep(self.binding, host, host.arrays.aggregates, superstep)
            last = self.report.advances[-1]
            share = active / max(self.num_edges, 1)
            took = time.perf_counter() - began
            self.speeds.step_of_cpu(took, last.direction, share, self.num_edges)
            done = self._done["cpu"]
            done["supersteps"] += 1
            done["alone"] += 1
            done["edges"] += last.edges
            control |= {
                "completed": superstep, "num_active": host.num_active,
                "active_edges": host.active_edges,
            }  # fmt: skip
            over = stopped or not host.num_active or superstep == limit
            if over or not self._is_alone():
                break
        control |= dict.fromkeys(_LISTS, 0) | {
            "superstep": superstep + (not over), "done": int(over), "stopped": int(stopped),
            "direction": DIRECTIONS.index("push"),
        }  # fmt: skip
        arrays = self.arrays
        host.hand_over(arrays, cupy.cuda.get_current_stream())
        host.end_stretch()
        arrays.control[:] = cupy.asarray(np.array([control[name] for name in CONTROL], np.int64))
        arrays.set_aggregates(host.arrays.aggregates)
        self._control, self._folds = control, False
        if not over:
            self._first()

    def _next(self, run: Any) -> list[Callable[[], None]]:
        steps = super()._next(run)

        def fold() -> None:
            if self._folds:  # else `_first` has taken them, after a superstep of the CPU
                for launched in steps:
                    launched()

        return [fold]

    # -- pages of the CPU ------------------------------------------------------------------------

    def _bring(self, run: Any, push: Go) -> None:
        self._pushed: Pushed | None = None
        self._known.record(cupy.cuda.get_current_stream())
        super()._bring(run, push)
        working, self._working = self._working, None
        if working is not None:
            self._take(run, working.result())

    def _lend(self, pages: Pages) -> bool:
        """Have the CPU begin to take pages, where it is worth it."""
        if not self._is_worth(pages):
            return False
        self._working = self._helper.submit(self._push_pages, self._host, pages)
        return True

    def _is_worth(self, pages: Pages) -> bool:
        """Whether the CPU is to take pages, and may begin."""
        if not self.shares or self.dispatch in ("gpu", "supersteps"):
            return False
        if self.dispatch == "auto":
            worth, speeds = pages.worth, self.speeds
            speeds.could_save += worth
            if not worth or speeds.spoiled or speeds.could_save < 2 * self._setting_up:
                return False
            if not self._begun().done():
                return False  # the GPU goes on meanwhile
        return True

    def _push_pages(self, host: HostSide, pages: Pages) -> Pushed:
        """In a thread of its own: the CPU's pages."""
        number, edges, bad, measured = 0, 0, False, self.speeds.measured
        with cupy.cuda.Device(self._device), self._stream, at_most(self._threads):
            stream, arrays = self._after(), self.arrays
            emitted = self.emitted if self.binding.source_only else None
            while (page := pages.for_cpu()) is not None:
                if not number:
                    superstep = self._completed + 1
                    host.begin_pages(arrays, superstep, arrays.last_aggregates, stream)
                try:
                    found, wrong = host.push_page(page, arrays, emitted, stream, self.speeds)
                except BaseException as error:
                    pages.cancel(error)
                    raise
                pages.leave(page)
                number, edges, bad = number + 1, edges + found, bad or wrong
            if number:
                host.end_pages()
        return Pushed(number, edges, bad, measured)

    def _take(self, run: Any, pushed: Pushed) -> None:
        """Have the device take the messages of the CPU's pages."""
        if not pushed.pages:
            return
        self._pushed = pushed
        self._take_messages(run, bad=pushed.bad)

    def _take_messages(self, run: Any, *, bad: bool) -> None:
        """The same of those that the CPU has now; ``bad``: one did not fit its type."""
        messages, received = self._sent
        self._host.send(messages, received, cupy.cuda.get_current_stream())
        sent = self.arrays.stored(messages, self.binding.message), received
        into = (*sent, self.messages, self.received)
        self._launch("take_sent", -(-self.arrays.n // THREADS), run, *into)()
        if bad:
            place = CONTROL.index("bad")
            self.arrays.control[place : place + 1] |= _BAD_COMPUTE

    def _after(self) -> Any:
        """The stream of copies from the device, after what is known of the superstep by now."""
        self._stream.wait_event(self._known)
        return self._stream

    @cached_property
    def _host(self) -> HostSide:
        return self._begun().result()

    def _begun(self) -> Future[HostSide]:
        """The CPU's side, which is set up in the other thread."""
        if self._making is None:
            self.speeds.was_set_up = True
            self._making = self._helper.submit(self._make)
        return self._making

    def _make(self) -> HostSide:
        with cupy.cuda.Device(self._device), self._after(), at_most(self._threads):
            return self._kind(self.binding, self.report, self.arrays.tier.kept, self.arrays)

    @property
    def _kind(self) -> type[HostSide]:
        return DiskHostSide if self._on_disk else HostSide

    @cached_property
    def _on_disk(self) -> bool:
        return is_on_disk(self.binding.send)

    @cached_property
    def _sent(self) -> tuple[Any, Any]:
        """Where messages of the CPU come to, and whether there is one."""
        return cupy.empty(self.arrays.n, self._host.messages.dtype), cupy.empty_like(self.received)

    # -- the report ------------------------------------------------------------------------------

    def _flush(self, control: dict[str, int]) -> None:
        """Note the supersteps of the device so far; there is room for as many again."""
        Synchronous._report(self, control)
        control["log_size"] = 0

    def _nbytes(self) -> int:
        held = self.__dict__.get("_sent", ())
        return super()._nbytes() + sum(int(array.nbytes) for array in held)

    def _report(self, control: dict[str, int]) -> None:
        super()._report(control)
        gpu = self._done["gpu"]
        gpu["pages"] += sum(moved.parts for moved in self.transfer.moved.values())
        self.report.sides = {side: dict(of) for side, of in self._done.items()}
        if "_host" in self.__dict__:
            moved = {"parts": 0, "supersteps": 0, "bytes": self._host.moved}
            self.report.moved["state"] = moved
