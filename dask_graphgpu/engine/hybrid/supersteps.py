"""Supersteps that the GPU and the CPU share."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property

import cupy
import numpy as np

from dask_graphgpu.engine.gpu.arrays import CONTROL
from dask_graphgpu.engine.gpu.policies import OneByOne, Policy
from dask_graphgpu.engine.gpu.superstep import DIRECTIONS, Superstep
from dask_graphgpu.engine.gpu.synchronous import Synchronous
from dask_graphgpu.engine.hybrid.cpu_side import CpuSide
from dask_graphgpu.engine.keeping import PENDING, Keeping
from dask_graphgpu.engine.link_rates import Rates
from dask_graphgpu.engine.loop import Progress, run_superstep
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.page_dispatch import Sides
from dask_graphgpu.engine.speeds import alpha, read_alone, streams, streams_of_disk
from dask_graphgpu.engine.state import State
from dask_graphgpu.engine.tiered import link
from dask_graphgpu.engine.tiered.supersteps import SegmentCarrier

# Words of the control that are of lists which no superstep of the CPU leaves.
_LISTS = (
    "next_active", "next_edges", "read", "log_size", "rows", "chunks", "listed", "overflow",
    "batched", "batch",
)  # fmt: skip


class _Turns(OneByOne):
    """As `OneByOne` where the GPU is in a superstep; the CPU runs whole ones in between."""

    def __init__(self, engine: HybridSupersteps) -> None:
        super().__init__(engine.carrier)
        self._engine = engine

    def advance(self, done: int, limit: int | None) -> None:
        engine, superstep = self._engine, self.superstep
        if superstep.control["completed"] and not superstep.folds:
            superstep.first()
        while True:
            if engine.is_alone():
                engine.run_alone(limit)
                if superstep.control["done"]:
                    return
            self.one()
            if self.is_done():
                return

    def one(self) -> None:
        engine, before = self._engine, self.superstep.control
        # A step of rounds over few edges says nothing of others.
        timed, began = not engine.carrier.creeps, time.perf_counter()
        super().one()
        engine.note_together(before, time.perf_counter() - began if timed else None)


class HybridSupersteps(Synchronous):
    """A run in supersteps of the GPU, of which the CPU takes pages, as the carrier lends them, or the whole.

    Where the CPU runs whole supersteps the state is on the host, and moves once, before the first
    and after the last of these.
    """

    carrier: SegmentCarrier

    def __init__(self, superstep: Superstep, carrier: SegmentCarrier, cpu: CpuSide) -> None:
        super().__init__(superstep, carrier)
        self._cpu, self._transfer = cpu, carrier.transfer
        self._sides, self._has_pending, self._waited_before = Sides(), False, 0.0
        self._streamed = (-1, -1), 0.0  # edges and vertices that are active, and as of `_streams`
        self._done = {
            side: dict.fromkeys(("supersteps", "alone", "pages", "edges"), 0)
            for side in ("gpu", "cpu")
        }

    def run(self, options: RunOptions, kept: Keeping | None = None) -> State:
        try:
            return super().run(options, kept)
        finally:
            self._cpu.close()

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        super().resume(columns)
        self._has_pending = PENDING in columns

    def _policy(self) -> Policy:
        return _Turns(self)

    def _waited(self) -> float:
        """Seconds of the superstep in which pages were waited for."""
        before, self._waited_before = self._waited_before, self._transfer.waited
        return self._waited_before - before

    def note_together(self, before: dict[str, int], seconds: float | None) -> None:
        """Note a superstep that the GPU was in, and the control before it; no ``seconds`` where they say nothing."""
        self.superstep.folds, self._has_pending = True, False
        pushed, edges, speeds = self._cpu.pushed, before["active_edges"], self._cpu.speeds
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
                speeds.step_of_both(seconds, self._streams(before))
        elif before["completed"] and seconds is not None:  # in the first one code is loaded
            speeds.step_of_gpu(seconds, self._streams(before), waited)

    # -- whole supersteps of the CPU -------------------------------------------------------------

    def is_alone(self) -> bool:
        """Whether the CPU is to run the next superstep."""
        control, speeds = self.superstep.control, self._cpu.speeds
        num_edges = self.superstep.num_edges
        if self.carrier.creeps and not self._sides.on_host:
            return False
        if self._has_pending:
            return False  # messages that were kept are on the device
        if self._cpu.dispatch != "auto":
            return self._cpu.dispatch == "supersteps" and control["completed"] % 2 == 1
        size = self._streams(control)
        gpu = speeds.gpu_beside + size / speeds.gpu
        if self._cpu.on_disk and not self.binding.has_gather:
            return False  # rows are not turned over on disk for this
        if self._sides.stays_on_device(speeds.cpu_beside, gpu):
            return False  # this is between any two supersteps, however short
        share = control["active_edges"] / max(num_edges, 1)
        pull, segment = num_edges / speeds.pull, self._transfer.tier.cut.segment
        read = read_alone(share, speeds.random, control["num_active"], num_edges, segment)
        least = read / speeds.disk  # 0 in memory
        cpu = alpha(share, speeds.random, pull, gpu, speeds.cpu_beside, least) * gpu
        return self._sides.alone(cpu / (1 - speeds.least_gain), gpu, self._moving)

    def _streams(self, control: dict[str, int]) -> float:
        """Streamed edges that take as long as what a superstep has to get over the link."""
        active = control["active_edges"], control["num_active"]
        if self._streamed[0] != active:  # it is asked for before and after a superstep
            rest, share, edge, arrays = self._beyond
            edges, rows = (each * share for each in active)
            if self._cpu.on_disk:
                size = streams_of_disk(rows, rest, self._transfer.tier.cut.segment)
            else:
                size = streams(edges, rows, rest, edge, arrays, self._rates, self._cpu.speeds.gpu)
            self._streamed = active, size
        return self._streamed[1]

    @cached_property
    def _beyond(self) -> tuple[int, float, int, int]:
        """Edges that are not on the device, their share, bytes of one, and arrays that it is spread over."""
        tier = self._transfer.tier
        rest = tier.num_edges - tier.cut.resident
        return rest, rest / max(tier.num_edges, 1), tier.bytes_of_edge, len(tier.arrays)

    @property
    def _moving(self) -> float:
        """Seconds in which the state moves to the other side, which may have to be made first."""
        return self._cpu.state_bytes / self._rates.copies + self._cpu.setting_up

    @property
    def _rates(self) -> Rates:
        return link.rates(self._cpu.device)

    def run_alone(self, limit: int | None) -> None:
        """Supersteps of the CPU, until the GPU is to join or the run is over."""
        cpu, superstep, arrays = self._cpu, self.superstep, self.arrays
        cpu.note()
        host, control, num_edges = cpu.host, superstep.control, max(superstep.num_edges, 1)
        self._transfer.rest()
        superstep.tell()  # of the device so far; there is room for as many again
        control["log_size"] = 0
        done = superstep.completed
        known = arrays.last_aggregates() if done else {}
        host.take_over(arrays, control, known, cpu.stream())
        stopped = over = False
        while True:
            done += 1
            active, began = host.active_edges, time.perf_counter()
            stopped = run_superstep(self.binding, host, host.arrays.aggregates, done)
            last = superstep.report.advances[-1]
            took = time.perf_counter() - began
            share = active / num_edges
            cpu.speeds.step_of_cpu(took, last.direction, share, superstep.num_edges)
            sums = self._done["cpu"]
            sums["supersteps"] += 1
            sums["alone"] += 1
            sums["edges"] += last.edges
            control |= {
                "completed": done, "num_active": host.num_active,
                "active_edges": host.active_edges,
            }  # fmt: skip
            over = Progress(done, host.num_active, stopped).is_over(limit)
            if over or not self.is_alone():
                break
        control |= dict.fromkeys(_LISTS, 0) | {
            "superstep": done + (not over), "done": int(over), "stopped": int(stopped),
            "direction": DIRECTIONS.index("push"),
        }  # fmt: skip
        host.hand_over(arrays, cupy.cuda.get_current_stream())
        host.end_stretch()
        arrays.control[:] = cupy.asarray(np.array([control[name] for name in CONTROL], np.int64))
        arrays.set_aggregates(host.arrays.aggregates)
        superstep.folds = False
        if not over:
            superstep.first()

    def _nbytes(self) -> int:
        return super()._nbytes() + self._cpu.nbytes

    def _tell(self) -> None:
        super()._tell()
        gpu, cpu, report = self._done["gpu"], self._cpu, self.superstep.report
        gpu["pages"] += sum(moved.parts for moved in self._transfer.moved.values())
        report.sides = {side: dict(of) for side, of in self._done.items()}
        if "host" in vars(cpu):
            moved = {"parts": 0, "supersteps": 0, "bytes": cpu.host.moved}
            report.moved["state"] = moved
