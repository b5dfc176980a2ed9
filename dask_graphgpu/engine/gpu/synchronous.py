"""A run in supersteps on the GPU, wherever its edges lie."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine import loop
from dask_graphgpu.engine.gpu import checkpoints
from dask_graphgpu.engine.gpu.carriers import Carrier
from dask_graphgpu.engine.gpu.policies import InStretches, Policy
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.loop import Progress
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import State


class Synchronous:
    """A run in supersteps.

    Parameters
    ----------
    superstep : Superstep
        The launches of the program.
    carrier : Carrier, optional
        What brings edges to these; without one all are on the device.

    Attributes
    ----------
    overflows : int
        Supersteps, after a run, in which a bin of a filter was full.
    """

    def __init__(self, superstep: Superstep, carrier: Carrier | None = None) -> None:
        self.superstep, self.arrays, self.binding = superstep, superstep.arrays, superstep.binding
        self.carrier = Carrier(superstep) if carrier is None else carrier

    def run(self, options: RunOptions, kept: Keeping | None = None) -> State:
        """Run until no vertex is active, ``stop`` says so, or after the most supersteps that there may be.

        ``kept`` has the state kept whenever that is due, and may have one to go on from.
        """
        self.carrier.begin(kept)
        try:
            return self._run(options, kept)
        finally:
            self.carrier.close()

    def _run(self, options: RunOptions, kept: Keeping | None) -> State:
        limit, superstep = options.max_supersteps, self.superstep
        known: dict[str, Any] = {}
        before = 0 if kept is None else kept.resume(known)
        if known:
            self.arrays.set_aggregates(known)
        superstep.begin(limit, before)
        at = Progress(before, superstep.control["num_active"])
        if not at.is_over(limit):
            superstep.first()
            policy: Policy = self._policy()
            if kept is not None:
                stretches = checkpoints.CheckpointStretches(
                    kept.keeper, self.binding.view.ranks.max
                )
                policy = InStretches(policy, stretches)

            def some(at: Progress) -> Progress:
                policy.advance(at.superstep, limit)
                superstep.check_overflow()
                said = superstep.control
                return Progress(said["completed"], said["num_active"], bool(said["stopped"]))

            at = loop.advance(at, some, self.arrays.last_aggregates, options, kept)
        self.overflows = superstep.control["overflows"]
        aggregates = self.arrays.last_aggregates() if at.superstep else {}
        self._tell()
        result = partial(self.arrays.result, at.superstep)
        return loop.ended(self.binding.program, at, aggregates, options, result)

    def _policy(self) -> Policy:
        """How it advances between two looks at whether the state is due."""
        return self.carrier.policy()

    def _tell(self) -> None:
        """Fill the report."""
        self.superstep.tell()
        self.carrier.tell()
        self.superstep.report.memory = self._nbytes()

    def _nbytes(self) -> int:
        """Of device memory that this run holds beside the graph."""
        return self.superstep.nbytes + self.carrier.nbytes

    def kept(self) -> dict[str, np.ndarray]:
        """What to keep so that `resume` can go on from here."""
        return self.carrier.kept(checkpoints.supersteps_kept(self.arrays))

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Take what was kept for the state at the start."""
        arrays, superstep = self.arrays, self.superstep
        self.carrier.resume(columns)
        checkpoints.put(arrays, columns)
        superstep.tell_ghosts()
        arrays.sources = None if superstep.every else np.flatnonzero(cupy.asnumpy(arrays.active))
        if superstep.stages.alone_after:
            for name, column in arrays.new.items():
                column[:] = arrays.state[name]
