"""What is wrong with the weights of edges, which matters to methods that read them alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class WeightFault:
    """Some weights are none: negative, infinite, NaN or missing.

    ``message`` : what is wrong, where, and what to do.
    ``lost`` : whether the edges carry other values than the frame has, as no number says what stands there.
    """

    message: str
    lost: bool

    @classmethod
    def worst(cls, faults: Iterable[WeightFault | None]) -> WeightFault | None:
        """The first of the faults by which values are lost, else the first."""
        found = [fault for fault in faults if fault is not None]
        return next((fault for fault in found if fault.lost), found[0] if found else None)
