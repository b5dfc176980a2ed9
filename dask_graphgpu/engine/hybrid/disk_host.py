"""The CPU's side where edges lie on disk."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dask_graphgpu.engine.hybrid.host import HostSide
from dask_graphgpu.engine.page_dispatch import Page
from dask_graphgpu.engine.paged.synchronous import PagedSynchronous
from dask_graphgpu.partition.csr import Adjacency


class DiskHostSide(HostSide, PagedSynchronous):
    """As `HostSide`: pages are pushed where they were brought to, supersteps are those over pages."""

    @property
    def _no_edges(self) -> Mapping[str, np.ndarray]:
        edges = self.binding.send
        arrays = {"neighbours": edges.neighbours, **edges.columns}
        return {name: np.empty(0, array.dtype) for name, array in arrays.items()}

    def _along(self, page: Page) -> Adjacency:
        held = dict(page.held or {})
        return Adjacency(self.binding.send.offsets, held.pop("neighbours"), held)

    def end_stretch(self) -> None:
        """The memory for pages goes, since the GPU's side has some of its own."""
        if "_window" in vars(self):
            self._window.release()
