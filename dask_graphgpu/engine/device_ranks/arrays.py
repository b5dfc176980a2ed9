"""The arrays of a run on one of several GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.device_ranks.view import RankDeviceView
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.values import initial
from dask_graphgpu.exchange.ranks import Ranks
from dask_graphgpu.partition.device import elements
from dask_graphgpu.partition.view import View


class RankArrays(Arrays):
    """`Arrays` of a rank's vertices and ghosts, in types that are the same on all ranks.

    Attributes
    ----------
    lasts : bool
        Whether later runs use them too: then a run gives copies.
    stays : bool
        Whether answers stay on the device.
    """

    lasts = False
    stays = False

    def __init__(
        self, binding: Binding, ranks: Ranks, sources: np.ndarray | None, *, every: bool
    ) -> None:
        self._ranks = ranks
        super().__init__(binding, sources, every=every)

    def release(self) -> None:
        """Let go of the view until `restart`: it holds these arrays, and neither would ever go."""
        del self.binding, self.view
        self.__dict__.pop("edge_view", None)

    def rebind(self, binding: Binding, sources: np.ndarray | None) -> None:
        """Belong to another run, which differs in sources alone."""
        self.binding, self.view = binding, self._on_device(binding.view)
        self.sources = sources

    def restart(self, binding: Binding, sources: np.ndarray | None) -> None:
        """Put what there is at the start of a run, from other sources, in the same memory.

        By kernels of the package and copies: a fill of CuPy's would be compiled in the second run.
        """
        self.rebind(binding, sources)
        self.control.fill(0)
        self.aggregates.fill(0)
        places = None if sources is None else cupy.asarray(sources)
        if any(callable(x) for f in self.program.state.values() for x in (f.initial, f.at_source)):
            made = initial(self.binding, {}, self._evaluate, places, self._full)
            for name, column in made.items():
                self.state[name][...] = self._stored(column)
        else:
            self._set(places)
        for name, new in self.new.items():
            if new is not self.state[name]:
                new[...] = self.state[name]
        elements.fill(self.active, sources is None)
        if places is not None:
            elements.mark(places, self.active)
        if self.program.has_reached:
            self.reached[...] = self.active

    def _set(self, places: Any) -> None:
        """As `initial`, of fields that start with the same number everywhere but at sources."""
        for name, field in self.program.state.items():
            values = self.state[name]
            elements.fill(values, self.constant(name, field.initial))
            if field.at_source is not None and places is not None:
                elements.fill_some(values, places, self.constant(name, field.at_source))

    def constant(self, name: str, value: Any) -> Any:
        """A number that a field starts with, as it is stored; None: no value."""
        dtype, glue = self.binding.dtypes[name], self.lowered.glue
        if value is None or (dtype.kind != "b" and value == self.binding.identity(dtype)):
            return glue.storage(dtype).type(glue.identity(dtype))
        return glue.storage(dtype).type(value)

    def _handed(self) -> tuple[dict[str, Any], Any]:
        fields, reached = super()._handed()
        if not self.lasts:
            return fields, reached
        return {name: column.copy() for name, column in fields.items()}, reached.copy()

    def _to_caller(self) -> Callable[[Any], Any]:
        return (lambda array: array) if self.stays else super()._to_caller()

    def _everywhere(self, fits: bool) -> bool:
        return bool(self._ranks.min(int(fits)))

    def _on_device(self, view: View) -> DeviceView:
        return RankDeviceView.of(view)
