"""An array of the host where values on GPUs need it beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.partition.device import memory


class Beside:
    """Copies of an array, on each GPU where there was one asked for; until memory is short."""

    def __init__(self) -> None:
        self._copies: dict[int, Any] = {}  # by the GPU's number
        memory.keep(self)

    def of(self, array: Callable[[], Any], values: Any) -> Any:
        """What ``array()`` gives, the same each time, on the GPU where ``values`` are; brought there once."""
        found = self.found(values)
        if found is None:
            found = self._copies[values.device.id] = np.asarray(array(), like=values)
        return found

    def found(self, values: Any) -> Any:
        """What `of` has brought to the GPU where ``values`` are; None: nothing, or it was let go of."""
        return self._copies.get(values.device.id)

    def drop(self) -> bool:
        """Let go of the copies. Return whether there were any."""
        copies, self._copies = self._copies, {}
        return bool(copies)

    def __reduce__(self) -> tuple[Any, ...]:
        return Beside, ()  # copies are of this process
