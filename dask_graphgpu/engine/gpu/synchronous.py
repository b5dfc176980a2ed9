"""Supersteps on the GPU: queued in batches, without a look at the device after each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine import loop
from dask_graphgpu.engine.gpu import checkpoints
from dask_graphgpu.engine.gpu.arrays import CONTROL, Arrays
from dask_graphgpu.engine.gpu.asked import forced
from dask_graphgpu.engine.gpu.policies import Blind, InStretches, OneByOne, Policy
from dask_graphgpu.engine.gpu.superstep import DIRECTIONS, LOG_WORDS, Superstep
from dask_graphgpu.engine.keeping import Keeper, Keeping, refuse_pending
from dask_graphgpu.engine.loop import Progress
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.schedule import configured_allocation
from dask_graphgpu.engine.state import State
from dask_graphgpu.report import Report


class Synchronous(Superstep):
    """A run in supersteps.

    Attributes
    ----------
    overflows : int
        Supersteps, after a run, in which a bin of a filter was full.
    control : dict
        The words of the control, as the host has seen them last.
    before : int
        Supersteps of what the run goes on from.
    """

    control: dict[str, int]
    before = 0

    def __init__(self, arrays: Arrays, report: Report) -> None:
        super().__init__(arrays)
        self.report = report
        self._words = [cupyx.empty_pinned(len(CONTROL), np.int64) for _ in range(2)]

    # -- the loop --------------------------------------------------------------------------------

    def run(self, options: RunOptions, kept: Keeping | None = None) -> State:
        """Run until no vertex is active, ``stop`` says so, or after the most supersteps that there may be.

        ``kept`` has the state kept whenever that is due, and may have one to go on from.
        """
        limit = options.max_supersteps
        known: dict[str, Any] = {}
        self.before = before = 0 if kept is None else kept.resume(known)
        if known:
            self.arrays.set_aggregates(known)
        self.control = self._begin(limit, before)
        at = Progress(before, self.control["num_active"])
        if not at.is_over(limit):
            self._first()
            policy: Policy = self._policy()
            if kept is not None:
                policy = InStretches(policy, self._stretches(kept.keeper))

            def some(at: Progress) -> Progress:
                policy.advance(at.superstep, limit)
                self.check_overflow()
                said = self.control
                return Progress(said["completed"], said["num_active"], bool(said["stopped"]))

            at = loop.advance(at, some, self.arrays.last_aggregates, options, kept)
        self.overflows = self.control["overflows"]
        aggregates = self.arrays.last_aggregates() if at.superstep else {}
        self._report(self.control)
        self.report.memory = self._nbytes()
        result = partial(self.arrays.result, at.superstep)
        return loop.ended(self.program, at, aggregates, options, result)

    def _policy(self) -> Policy:
        """How it advances between two looks at whether the state is due."""
        if self.stops_on_device and not self._grows:
            return Blind(self, self._words)
        return OneByOne(self)

    def _stretches(self, keeper: Keeper) -> checkpoints.Stretches:
        return checkpoints.Stretches(keeper)

    @property
    def completed(self) -> int:
        """Supersteps that are complete, also before this run."""
        return self.control["completed"] or self.before

    def steps(self) -> Callable[[], None]:
        """All launches of a superstep, or of several."""
        return self._steps(self.stops_on_device)

    def go_on(self, until: int) -> None:
        """Have the device go on to a superstep, from the one where it has stopped, if it has."""
        words, changed = self.arrays.control, {"limit": until}
        if self.control["completed"]:
            changed |= {"superstep": self.control["completed"] + 1, "done": 0}
        for name, value in changed.items():
            words[CONTROL.index(name)] = value
        self.control |= changed
        if self.control["completed"] and self.stages.next and self.stops_on_device:
            run = self.arrays.run("send" if "push" in (self.dense, self.sparse) else "gather")
            for launched in self._next(run):
                launched()

    def kept(self) -> dict[str, np.ndarray]:
        """What to keep so that `resume` can go on from here."""
        return checkpoints.supersteps_kept(self.arrays)

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Take what was kept for the state at the start."""
        arrays = self.arrays
        self._take_pending(columns)
        checkpoints.put(arrays, columns)
        self._tell_ghosts()
        arrays.sources = None if self.every else np.flatnonzero(cupy.asnumpy(arrays.active))
        if self.stages.alone_after:
            for name, column in arrays.new.items():
                column[:] = arrays.state[name]

    def _take_pending(self, columns: Mapping[str, np.ndarray]) -> None:
        """Have messages that were sent before: here a superstep begins without any."""
        refuse_pending(columns, "engine='gpu' with all edges in its memory")

    def _tell_ghosts(self) -> None:
        """Have values at ghosts that own vertices have elsewhere: here are none."""

    def _begin(self, limit: int | None, before: int = 0) -> dict[str, int]:
        arrays = self.arrays
        active, edges = self._first_frontier()
        dense = 2 * edges > self.num_edges
        control = dict.fromkeys(CONTROL, 0) | {
            "superstep": before + 1,
            "limit": -1 if limit is None else limit,
            "num_active": active,
            "active_edges": edges,
            "direction": DIRECTIONS.index(self.dense if dense else self.sparse),
            "blocks": self.blocks,
        }
        arrays.control.set(np.array([control[name] for name in CONTROL], np.int64))
        return control

    def _first_frontier(self) -> tuple[int, int]:
        """Vertices that send in the first superstep, and edges that they send over."""
        arrays, view = self.arrays, self.binding.view
        if arrays.sources is None:
            return view.graph_vertices, self.num_edges
        sources = arrays.sources[arrays.sources < view.num_owned]
        edges = int(arrays.degree[cupy.asarray(sources)].sum()) if len(sources) else 0
        return len(sources), edges

    def turns(self) -> bool:
        """Whether supersteps change from pull alone to notify-pull where few vertices are active."""
        few = 2 * self.control["active_edges"] <= self.num_edges
        if self.every or forced(self.binding) != "auto" or self.program.combine != "sum":
            return False
        if self.sparse == "notify-pull" or self.in_shards or not few:
            return False
        self.sparse = "notify-pull"
        self.marked = cupy.zeros(self.arrays.n, np.uint8)
        return True

    def stops(self) -> bool:
        """Whether ``stop``, on the host, ends the run after the last superstep."""
        self.check_overflow()
        return loop.stops(self.binding, self.arrays.last_aggregates(), self.control["completed"])

    @property
    def _grows(self) -> bool:
        """Whether the list of edges may be shorter than a superstep needs."""
        return self.filter == "batch" and configured_allocation() != "maximum"

    def make_room(self) -> None:
        """Have room for the edges of the next superstep."""
        control = self.control
        if not self._grows or DIRECTIONS[control["direction"]] != "push":
            return
        ready = control["chunks"] >> 32  # the upper half of that word
        self._kept.make_room(control["batched" if ready else "active_edges"])
        self._needed["most"] = max(self._needed.get("most", 0), self._kept.room)

    def look(self) -> None:
        """See what the device says now."""
        self.see(cupy.asnumpy(self.arrays.control))

    def see(self, words: np.ndarray) -> None:
        """Have the words of the control as the device has told them."""
        self.control = dict(zip(CONTROL, words.tolist(), strict=True))

    # -- what the device says --------------------------------------------------------------------

    def check_overflow(self) -> None:
        """Raise the error of an overflow that the device has told of, if there was one."""
        told = cupy.asnumpy(self.arrays.aggregates).reshape(-1, 4)[:, 3]
        wrong = zip(self.program.aggregates, told, strict=False)  # there is room for one at least
        bad = {f"aggregates[{name!r}]" for name, is_bad in wrong if is_bad}
        bad |= {role for bit, role in ((1, "compute"), (2, "apply")) if self.control["bad"] & bit}
        if error := loop.first_overflow(self.program, bad):
            raise error

    def _report(self, control: dict[str, int]) -> None:
        arrays, item = self.arrays, self.messages.dtype.itemsize
        edge = arrays.bytes_of_edge + item + 2 * self.in_shards
        if self.in_blocks:  # places of 2 bytes; of a far edge also its value, written and read
            far = self.blocked.num_values * (2 + 2 * item)
            edge = -(-(2 * self.num_edges + far) // max(1, self.num_edges))
        state = sum(
            self.glue.storage(self.binding.dtypes[f]).itemsize for f in self.program.changing
        )
        log = cupy.asnumpy(self.log[: control["log_size"] * LOG_WORDS]).reshape(-1, LOG_WORDS)
        for direction, supersteps, frontier, edges, nanoseconds in log.tolist():
            self.report.advance(
                DIRECTIONS[direction],
                supersteps=supersteps,
                frontier=frontier,
                edges=edges,
                bytes=edges * edge + supersteps * arrays.n * (2 * item + 2 * state + 1),
                seconds=nanoseconds / 1e9,
            )
