"""The arrays of a run that the GPU shares with the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.tiered import arrays as tiered
from dask_graphgpu.engine.tiered.arrays import TieredArrays


class HybridArrays(TieredArrays):
    """`TieredArrays`, and what the CPU has in their place: there, nothing is stored in fewer bits."""

    def wide(self, column: Any, dtype: np.dtype[Any]) -> Any:
        """A column, or a part of it, as the CPU has values of ``dtype``."""
        glue = self.lowered.glue
        if glue.storage(dtype).itemsize == dtype.itemsize:
            return column
        none = self.binding.identity(dtype)
        return cupy.where(column == glue.identity(dtype), none, column.astype(dtype))

    def stored(self, column: Any, dtype: np.dtype[Any]) -> Any:
        """A column of the CPU's, on the device, as it is stored here."""
        storage = self.lowered.glue.storage(dtype)
        if storage.itemsize == dtype.itemsize:
            return column
        none = self.lowered.glue.identity(dtype)
        return cupy.where(column == self.binding.identity(dtype), none, column).astype(storage)

    def set_aggregates(self, values: Mapping[str, Any]) -> None:
        """Have these values, of which those that the program does not name are none of its own."""
        words = cupy.asnumpy(self.aggregates).reshape(-1, 4)
        for i, (name, dtype) in enumerate(self.lowered.wrappers.aggregates.items()):
            value = values.get(name)
            words[i] = 0, 0, int(value is not None), 0
            if value is None:
                continue
            if dtype.kind == "i":
                words[i, 0] = value
            words[i, 1:2].view(np.float64)[0] = value
        self.aggregates[:] = cupy.asarray(words.reshape(-1))


def bytes_of_vertices(binding: Binding) -> int:
    """As of `tiered.arrays.bytes_of_vertices`, with the messages that come from the CPU."""
    vertex = binding.message.itemsize + 1
    return tiered.bytes_of_vertices(binding) + (binding.view.num_vertices + 1) * vertex
