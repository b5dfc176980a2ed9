"""What brings edges to the launches of a superstep: nothing has to be done where all are on the device."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dask_graphgpu.engine.gpu.policies import Blind, OneByOne, Policy
from dask_graphgpu.engine.gpu.superstep import Superstep
from dask_graphgpu.engine.keeping import Keeping, refuse_pending


class Carrier:
    """What brings edges within reach of a run's launches; this one has nothing to do: edges are on the device.

    It has the superstep, which does not know of it: a circle would hold memory of the device.
    """

    def __init__(self, superstep: Superstep) -> None:
        self.superstep = superstep

    def begin(self, kept: Keeping | None) -> None:
        """A run begins, of which the state is kept or not."""

    def resume(self, columns: Mapping[str, np.ndarray]) -> None:
        """Take what of a state that was kept is not of vertices alone; here a superstep begins without messages."""
        refuse_pending(columns, "engine='gpu' with all edges in its memory")

    def kept(self, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What `resume` goes on from, of the columns that are kept after a superstep."""
        return columns

    def policy(self) -> Policy:
        """How the run advances: without looks, unless the host is asked `stop` or has to make room."""
        blind = self.superstep.stops_on_device and not self.superstep.grows
        return Blind(self) if blind else OneByOne(self)

    def steps(self) -> Callable[[], None]:
        """What brings the edges of a superstep, or of several, and queues all its launches."""
        return self.superstep.steps()

    @property
    def nbytes(self) -> int:
        """Of device memory that it holds beside the graph."""
        return 0

    def tell(self) -> None:
        """Add what it has done to the report."""

    def close(self) -> None:
        """The run is over, also by an error."""
