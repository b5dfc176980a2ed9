"""Rounds of monotone programs between which the CPU may take over."""

from __future__ import annotations

from dask_graphgpu.engine.hybrid.supersteps import HybridSupersteps
from dask_graphgpu.engine.tiered.rounds import ResidentFirst


class HybridRounds(HybridSupersteps, ResidentFirst):
    """Rounds of a monotone program that begin with the resident edges, or supersteps of the CPU.

    In a round a part's vertices take what the parts before it have sent them: pages have an order,
    and the GPU goes along all of them.
    """

    shares = False

    def is_alone(self) -> bool:
        creeps = self._has_few and not self._sides.on_host
        return not creeps and super().is_alone()

    @property
    def is_timed(self) -> bool:
        return not self._has_few
