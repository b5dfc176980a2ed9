"""Supersteps that the GPU and the CPU share.

References
----------
.. [1] Ma et al. Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
   replication. USENIX ATC 2017.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.arrays import CONTROL
from dask_graphgpu.engine.gpu.policies import OneByOne, Policy
from dask_graphgpu.engine.gpu.superstep import DIRECTIONS
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.hybrid.sharing import SharingSupersteps
from dask_graphgpu.engine.keeping import PENDING
from dask_graphgpu.engine.loop import Progress, run_superstep
from dask_graphgpu.engine.page_dispatch import Sides
from dask_graphgpu.engine.speeds import alpha, read_alone, streams, streams_of_disk
from dask_graphgpu.engine.tiered import link

# Words of the control that are of lists which no superstep of the CPU leaves.
_LISTS = (
    "next_active", "next_edges", "read", "log_size", "rows", "chunks", "listed", "overflow",
    "batched", "batch",
)  # fmt: skip


class _Turns(OneByOne):
    """As `OneByOne` where the GPU is in a superstep; the CPU runs whole ones in between."""

    engine: HybridSupersteps

    def advance(self, done: int, limit: int | None) -> None:
        engine = self.engine
        while True:
            if engine.is_alone():
                engine.run_alone(limit)
                if engine.control["done"]:
                    return
            self.superstep()
            if self.is_done():
                return

    def superstep(self) -> None:
        engine, before = self.engine, self.engine.control
        timed, began = engine.is_timed, time.perf_counter()
        super().superstep()
        engine.note_together(before, time.perf_counter() - began if timed else None)


class HybridSupersteps(SharingSupersteps):
    """As `SharingSupersteps`, of which the CPU takes pages, or the whole.

    Where the CPU runs whole supersteps the state is on the host, and moves once, before the first
    and after the last of these.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._sides = Sides()
        self._folds, self._has_pending, self._waited_before = True, False, 0.0
        self._streamed = (-1, -1), 0.0  # edges and vertices that are active, and as of `_streams`
        self._done = {
            side: dict.fromkeys(("supersteps", "alone", "pages", "edges"), 0)
            for side in ("gpu", "cpu")
        }

    def _take_pending(self, columns: Mapping[str, np.ndarray]) -> None:
        super()._take_pending(columns)
        self._has_pending = PENDING in columns

    def go_on(self, until: int) -> None:
        super().go_on(until)
        if self.control["completed"] and not self._folds:
            self._first()

    # -- the loop --------------------------------------------------------------------------------

    def _policy(self) -> Policy:
        return _Turns(self)

    @property
    def is_timed(self) -> bool:
        """Whether the time of the next superstep says something of others."""
        return True

    def _waited(self) -> float:
        """Seconds of the superstep in which pages were waited for."""
        before, self._waited_before = self._waited_before, self.transfer.waited
        return self._waited_before - before

    def note_together(self, before: dict[str, int], seconds: float | None) -> None:
        """Note a superstep that the GPU was in, and the control before it; no ``seconds`` where they say nothing."""
        self._folds, self._has_pending = True, False
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
        elif before["completed"] and seconds is not None:  # in the first one code is loaded
            self.speeds.step_of_gpu(seconds, self._streams(before), waited)

    # -- whole supersteps of the CPU -------------------------------------------------------------

    def is_alone(self) -> bool:
        """Whether the CPU is to run the next superstep."""
        control, speeds = self.control, self.speeds
        if self._has_pending:
            return False  # messages that were kept are on the device
        if self.dispatch != "auto":
            return self.dispatch == "supersteps" and control["completed"] % 2 == 1
        size = self._streams(control)
        gpu = speeds.gpu_beside + size / speeds.gpu
        if self._on_disk and not self.binding.has_gather:
            return False  # rows are not turned over on disk for this
        if self._sides.stays_on_device(speeds.cpu_beside, gpu):
            return False  # this is between any two supersteps, however short
        share = control["active_edges"] / max(self.num_edges, 1)
        pull, segment = self.num_edges / speeds.pull, self.transfer.tier.cut.segment
        read = read_alone(share, speeds.random, control["num_active"], self.num_edges, segment)
        least = read / speeds.disk  # 0 in memory
        cpu = alpha(share, speeds.random, pull, gpu, speeds.cpu_beside, least) * gpu
        return self._sides.alone(cpu / (1 - speeds.least_gain), gpu, self._moving)

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

    def run_alone(self, limit: int | None) -> None:
        """Supersteps of the CPU, until the GPU is to join or the run is over."""
        self._known.record(cupy.cuda.get_current_stream())
        host, control = self._host, self.control
        self.transfer.rest()
        self._flush(control)
        superstep = self.completed
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
            over = Progress(superstep, host.num_active, stopped).is_over(limit)
            if over or not self.is_alone():
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
        self.control, self._folds = control, False
        if not over:
            self._first()

    def _next(self, run: Any) -> list[Callable[[], None]]:
        steps = super()._next(run)

        def fold() -> None:
            if self._folds:  # else `_first` has taken them, after a superstep of the CPU
                for launched in steps:
                    launched()

        return [fold]

    # -- the report ------------------------------------------------------------------------------

    def _flush(self, control: dict[str, int]) -> None:
        """Note the supersteps of the device so far; there is room for as many again."""
        Synchronous._report(self, control)
        control["log_size"] = 0

    def _report(self, control: dict[str, int]) -> None:
        super()._report(control)
        gpu = self._done["gpu"]
        gpu["pages"] += sum(moved.parts for moved in self.transfer.moved.values())
        self.report.sides = {side: dict(of) for side, of in self._done.items()}
        if "_host" in self.__dict__:
            moved = {"parts": 0, "supersteps": 0, "bytes": self._host.moved}
            self.report.moved["state"] = moved
