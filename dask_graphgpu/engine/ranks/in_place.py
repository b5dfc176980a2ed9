"""Monotone programs on many ranks: each improves values by itself, then those of borders travel.

Over edges by layers a rank sweeps until nothing changes before values travel.

In near-far order a rank goes no further than to a priority that all have agreed on: the lowest that
is still to be sent anywhere and a stretch of some buckets above it, since what lies beyond will most
likely be improved from elsewhere. The less a stretch gives to do, the more buckets the next one has.
So a wide graph is worked through bucket after bucket, and a long thin one in few exchanges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu import config
from dask_graphgpu.engine.buckets import StretchPolicy, delta_of, mean_increment, no_limit, raised
from dask_graphgpu.engine.cpu import improving
from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.in_place import InPlace
from dask_graphgpu.engine.cpu.layered import Sweeps
from dask_graphgpu.engine.keeping import Keeper, Kept
from dask_graphgpu.engine.ranks.ghost_updates import Changes
from dask_graphgpu.engine.state import State
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.kernels.cpu.threads import even_blocks
from dask_graphgpu.partition.ranks.view import RankView
from dask_graphgpu.report import Report

STRETCHES = StretchPolicy(few_edges=1 << 15, few_edges_a_value=16)


def converges_locally() -> bool:
    """``graphgpu.local-convergence`` of Dask's configuration."""
    value = config.get("local-convergence")
    if not isinstance(value, bool):
        raise InvalidArgument(f"graphgpu.local-convergence is {value!r}: give True or False.")
    return value


class RankInPlace:
    """One rank's part in the run of a monotone program.

    Parameters
    ----------
    arrays : Arrays
        Over a view of `RankView.toward`, with values that are right for ghosts too.
    whole : RankView
    sources : int64 array, optional
        Local ids of the vertices that send first, ghosts too; None: all.
    targets : int64 array, optional
        Local ids of those targets that are own vertices.
    keeper : Keeper, optional
        Gets the state after an exchange, whenever it is due.
    """

    def __init__(
        self,
        arrays: Arrays,
        whole: RankView,
        sources: np.ndarray | None,
        cutoff: Any,
        targets: np.ndarray | None,
        report: Report,
        keeper: Keeper | None = None,
    ) -> None:
        self.arrays, self.ranks, self.targets = arrays, whole.ranks, targets
        self.local: InPlace | Sweeps
        if arrays.binding.view.levels is None:
            self.local = InPlace(arrays, sources, cutoff, None, report)
        else:
            self.local = Sweeps(arrays, sources, cutoff, report)
        self.changes = Changes(self.local, whole)
        self.keeper = keeper
        self.exchanges = 0

    def run(self) -> State:
        """Run until no value improves on any rank."""
        if not converges_locally():
            self._in_rounds(self.local.relax_once)
        elif isinstance(self.local, InPlace) and self.local.ordered:
            self._in_stretches(self.local)
        else:
            self._in_rounds(self.local.relax)
        state = self.local.result()
        state.supersteps = self.exchanges
        return state

    def _in_rounds(self, improve: Callable[[], None]) -> None:
        pending = True
        while pending:
            improve()
            changed = self.changes.find()
            arrived, every = self._tell(len(changed), self.local.num_active)
            self.local.join(arrived)
            pending = bool(every.any())
            self._keep()

    def _keep(self) -> None:
        if self.keeper is not None and self.keeper.due(self.exchanges):
            self.keeper.write(self.exchanges, self.local.kept(), {})

    def _tell(self, *scalars: Any) -> tuple[np.ndarray, np.ndarray]:
        self.exchanges += 1
        whole = all(isinstance(scalar, int) for scalar in scalars)
        return self.changes.tell(np.array(scalars, np.int64 if whole else np.float64))

    # -- near-far ----------------------------------------------------------------------------------

    def _in_stretches(self, local: InPlace) -> None:
        local.begin_near_far(self._delta())
        until, buckets = local.limits[0].item(), 1
        while True:
            read = local.read
            local.near_far(until)
            arrived, every = self._tell(*self._left(local, local.read - read))
            local.arrive(arrived, self._priorities(local, arrived))
            changed, far, edges, unreached = every[:, :4].sum(axis=0).tolist()
            least, furthest = every[:, 4].min().item(), every[:, 5].max().item()
            # Who is as far as a target may come before it on a path, over edges that add nothing.
            final = self.targets is not None and not unreached and furthest < least
            if not (changed or far) or final:
                break
            self._keep()
            buckets = STRETCHES.buckets(buckets, edges, changed, len(every))
            until = raised(least, buckets * local.delta, local.whole)

    def _left(self, local: InPlace, edges: int) -> tuple[Any, ...]:
        """What the ranks have to know of each other.

        Vertices whose values travel, and those whose values are far; edges read; targets without a
        value; the lowest priority that is to be sent, and the highest of a target. In the type of
        priorities.
        """
        changed = self.changes.find()
        priorities = self._priorities(local, changed)
        least = priorities.min(initial=no_limit(local.whole)).item()
        if local.num_far:
            least = min(least, local.limits[1].item())
        unreached, furthest = 0, -no_limit(local.whole)
        if self.targets is not None:
            has_value = local.has_value(self.targets)
            unreached = int((~has_value).sum())
            of_targets = self._priorities(local, self.targets[has_value])
            furthest = of_targets.max(initial=furthest).item()
        return len(changed), local.num_far, edges, unreached, least, furthest

    def _priorities(self, local: InPlace, vertices: np.ndarray) -> np.ndarray:
        arrays, out = self.arrays, np.empty(len(vertices), local.limits.dtype)
        arrays.run("priorities", even_blocks(len(vertices)), arrays.binding.send, vertices, out)
        return out

    def _delta(self) -> Any:
        """The width of a bucket, from samples of all ranks' edges; the same on all."""
        arrays, start = self.arrays, self.local.start
        own = start[start < arrays.owned][:1]
        values = np.concatenate(self.ranks.all_gather(arrays.state[self.local.program.first][own]))
        mean, count = 0.0, 0
        if len(values):
            sent = values[0].item()
            mean, count = mean_increment(arrays.binding, arrays.state, arrays, sent)
        means = self.ranks.scalars([float(mean), float(count)])
        total = means[:, 1].sum() or 1.0
        # Each is weighed first, because their sum may be beyond the largest float.
        return delta_of(float((means[:, 0] * (means[:, 1] / total)).sum()), self.local.whole)


def resumed(arrays: Arrays, whole: RankView, kept: Kept) -> np.ndarray | None:
    """As the CPU engine's `resumed`, at ghosts too. Collective."""
    first = arrays.state[arrays.binding.program.first]
    own = improving.resumed(arrays, kept)
    sends = np.zeros(arrays.n, bool)
    sends[slice(arrays.owned) if own is None else own] = True
    whole.border.refresh([first, sends])
    return None if own is None else np.flatnonzero(sends)
