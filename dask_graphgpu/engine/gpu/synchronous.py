"""Supersteps on the GPU: queued in batches, without a look at the device after each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import cupy
import cupyx
import numpy as np

from dask_graphgpu.engine.arguments import may_end
from dask_graphgpu.engine.gpu import checkpoints
from dask_graphgpu.engine.gpu.arrays import CONTROL, Arrays
from dask_graphgpu.engine.gpu.asked import forced
from dask_graphgpu.engine.gpu.superstep import DIRECTIONS, LOG_WORDS, Superstep
from dask_graphgpu.engine.keeping import Keeper, Keeping, refuse_pending
from dask_graphgpu.engine.loop import not_converged, overflow
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
    most_ahead : int
        Supersteps that are queued before the host looks at how far the device has come, at most.
    """

    most_ahead = 8

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
        before = 0 if kept is None or kept.found is None else kept.found.superstep
        if kept is not None and kept.found is not None:
            self.resume(kept.found.columns)
            self.arrays.set_aggregates(kept.found.aggregates)
        control = self._begin(limit, before)
        if control["num_active"] and (limit is None or before < limit):
            self._first()
            step = self._steps(self._stops_on_device)
            if kept is None:
                control = self._advance(step, control, limit)
            else:
                control = self._in_stretches(step, control, limit, kept)
            self._raise_overflow(control)
        completed = control["completed"] or before
        self.overflows = control["overflows"]
        aggregates = self.arrays.last_aggregates() if completed else {}
        self._report(control)
        self.report.memory = self._nbytes()
        ended = not control["num_active"] or control["stopped"] or options.exact_supersteps
        if not ended and may_end(self.program):
            raise not_converged(completed, control["num_active"], aggregates)
        state = self.arrays.result(completed)
        state.aggregates = aggregates
        return state

    def _advance(
        self, step: Callable[[], None], control: dict[str, int], number: int | None
    ) -> dict[str, int]:
        """Go on until the device is done, which ``number`` more supersteps see to at the latest."""
        if not self._stops_on_device:
            return self._asked(step, control)
        if self._grows:
            return self._with_room(step, control)
        return self._queue(step, number)

    def _in_stretches(
        self, step: Callable[[], None], control: dict[str, int], limit: int | None, kept: Keeping
    ) -> dict[str, int]:
        """The same to the end, with looks at whether the state is due."""
        stretches, done = self._stretches(kept.keeper), control["superstep"] - 1
        while True:
            until = done + stretches.after(done)
            until = until if limit is None else min(until, limit)
            self._go_on(control, until)
            directions = self.dense, self.sparse
            control = self._advance(step, control, until - done)
            if directions != (self.dense, self.sparse):
                step = self._steps(self._stops_on_device)
            stretches.done()
            done = control["completed"]
            self._raise_overflow(control)
            if control["stopped"]:
                return control
            kept.after(done, self.arrays.last_aggregates())
            if not control["num_active"] or done == limit:
                return control

    def _stretches(self, keeper: Keeper) -> checkpoints.Stretches:
        return checkpoints.Stretches(keeper)

    def _go_on(self, control: dict[str, int], until: int) -> None:
        """Have the device go on to a superstep, from the one where it has stopped, if it has."""
        words = self.arrays.control
        words[CONTROL.index("limit")] = until
        if control["completed"]:
            words[CONTROL.index("superstep")] = control["completed"] + 1
            words[CONTROL.index("done")] = 0
            if self.stages.next and self._stops_on_device:
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
        self.first_frontier = active
        return control

    def _first_frontier(self) -> tuple[int, int]:
        """Vertices that send in the first superstep, and edges that they send over."""
        arrays, view = self.arrays, self.binding.view
        if arrays.sources is None:
            return view.graph_vertices, self.num_edges
        sources = arrays.sources[arrays.sources < view.num_owned]
        edges = int(arrays.degree[cupy.asarray(sources)].sum()) if len(sources) else 0
        return len(sources), edges

    def _queue(self, step: Callable[[], None], limit: int | None) -> dict[str, int]:
        """Queue supersteps in batches; the next batch while the device is at work on the last."""
        words = self._words
        looks: deque[tuple[Any, Any]] = deque()
        queued, ahead = 0, 1
        while True:
            more = ahead if limit is None else min(ahead, limit - queued)
            for _ in range(more):
                step()
            queued, ahead = queued + more, min(2 * ahead, self.most_ahead)
            if more:
                looks.append((cupy.cuda.Event(disable_timing=True), words[0]))
                words.reverse()  # the other one may be waited for
                self.arrays.control.get(out=looks[-1][1], blocking=False)
                looks[-1][0].record()
                if len(looks) == 1:
                    continue
            event, out = looks.popleft()
            self._wait(event)
            control = dict(zip(CONTROL, out.tolist(), strict=True))
            if control["done"]:
                return control
            if self._turn(control):
                step = self._steps(True)

    def _wait(self, event: Any) -> None:
        event.synchronize()

    def _turn(self, control: dict[str, int]) -> bool:
        """Whether supersteps change from pull alone to notify-pull where few vertices are active."""
        few = 2 * control["active_edges"] <= self.num_edges
        if self.every or forced(self.binding) != "auto" or self.program.combine != "sum":
            return False
        if self.sparse == "notify-pull" or self.in_shards or not few:
            return False
        self.sparse = "notify-pull"
        self.marked = cupy.zeros(self.arrays.n, np.uint8)
        return True

    def _asked(self, step: Callable[[], None], control: dict[str, int]) -> dict[str, int]:
        """Superstep by superstep: ``stop`` is asked on the host."""
        while True:
            self._make_room(control)
            step()
            control = self._looked()
            if control["bad"]:
                return control
            control["stopped"] = self._stop_says(control)
            if control["stopped"] or control["done"]:
                return control

    def _stop_says(self, control: dict[str, int]) -> int:
        """1 where ``stop``, on the host, ends the run after the last superstep."""
        values = {**self.arrays.last_aggregates(), "superstep": control["completed"]}
        assert self.program.stop is not None
        arguments = self.binding.scalars(self.program.stop, "stop", values)
        assert arguments is not None
        self._raise_overflow(control)
        return int(bool(self.program.stop(**arguments)))

    @property
    def _grows(self) -> bool:
        """Whether the list of edges may be shorter than a superstep needs."""
        return self.filter == "batch" and configured_allocation() != "maximum"

    def _with_room(self, step: Callable[[], None], control: dict[str, int]) -> dict[str, int]:
        """Look after each superstep, or launch, whether the next one's edges fit, and make room."""
        while True:
            self._make_room(control)
            step()
            control = self._looked()
            if control["done"]:
                return control

    def _make_room(self, control: dict[str, int]) -> None:
        if not self._grows or DIRECTIONS[control["direction"]] != "push":
            return
        ready = control["chunks"] >> 32  # the upper half of that word
        self._kept.make_room(control["batched" if ready else "active_edges"])
        self._needed["most"] = max(self._needed.get("most", 0), self._kept.room)

    def _looked(self) -> dict[str, int]:
        """What the device says now."""
        return dict(zip(CONTROL, cupy.asnumpy(self.arrays.control).tolist(), strict=True))

    # -- what the device says --------------------------------------------------------------------

    def _raise_overflow(self, control: dict[str, int]) -> None:
        """The error of the role that comes first in a superstep."""
        bad = cupy.asnumpy(self.arrays.aggregates).reshape(-1, 4)[:, 3]
        names = list(self.program.aggregates)
        wrong = [name for name in names if bad[names.index(name)]]
        roles = [f"aggregates[{name!r}]" for name in wrong if name in self.stages.before]
        roles += ["compute"] if control["bad"] & 1 else []
        roles += ["apply"] if control["bad"] & 2 else []
        roles += [f"aggregates[{name!r}]" for name in wrong if name in self.stages.after]
        if roles and (control["bad"] or wrong):
            raise overflow(self.program, roles[0])

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
