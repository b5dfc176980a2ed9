"""The active subgraph of edges in host memory: its rows from the device, its edges from the host.

References
----------
.. [1] Sabet, Zhao, Gupta. Subway: minimizing data transfer during out-of-GPU-memory graph processing. EuroSys 2020.
"""

from __future__ import annotations

import time
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.copies import bring
from dask_graphgpu.engine.gpu.ring import Slot
from dask_graphgpu.engine.link_rates import Rates
from dask_graphgpu.engine.tiered.store import EdgeStore
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.cpu.subgraph import gather_edges
from dask_graphgpu.kernels.cpu.threads import even_blocks, for_blocks

_THREADS, _BLOCKS = 256, 1024


class Subgraph:
    """The rows of active vertices among the edges of a tier that are not on the device.

    Attributes
    ----------
    begin : device array of shape (num_vertices + 1,)
        Where rows begin; those of other vertices are empty.
    """

    def __init__(self, tier: EdgeStore, defines: dict[str, str]) -> None:
        n, offsets, ids = tier.num_vertices, tier.offsets.dtype, tier.host.neighbours.dtype
        self._tier = tier
        module = cuda("tiers", defines=defines)
        names = "count_active", "scan_active", "list_subgraph", "part_bounds"
        self._kernels = {name: module.kernel(name) for name in names}
        self._blocks = min(_BLOCKS, max(1, -(-n // _THREADS)))
        self._counted = cupy.empty(2 * (self._blocks + 1), np.uint64)
        self.begin = cupy.empty(n + 1, offsets)
        self._vertex, self._start = cupy.empty(n, ids), cupy.empty(n + 1, offsets)
        self._places = cupy.asarray(tier.bounds.astype(np.uint64))
        self._rows = cupy.asarray(tier.rows.astype(np.uint64))
        self._before = cupy.empty(len(tier.bounds), np.uint64)
        self._found = tier.kept.take(2 + len(tier.bounds), np.uint64)
        self._host_counted = self._found[:2]
        self._host_before = self._found[2 : 2 + len(tier.bounds)]
        self._host_vertex, self._host_start = np.empty(0, ids), np.empty(0, offsets)
        self._ready = cupy.cuda.Event(disable_timing=True)

    @property
    def bytes_of_row(self) -> int:
        """On its way to the host."""
        return int(self._vertex.itemsize + self._start.itemsize)

    @property
    def nbytes(self) -> int:
        """On the device."""
        held = (self._counted, self.begin, self._vertex, self._start, self._places, self._rows)
        return sum(int(array.nbytes) for array in held)

    def find(self, active: Any) -> None:
        """Queue the kernels that list the rows of active vertices."""
        tier, n, first = self._tier, np.uint64(self._tier.num_vertices), np.uint64(self._first)
        threads = self._blocks * _THREADS
        given = (active, tier.offsets, n, first, self._counted)
        self._run("count_active", threads, given)
        self._run("scan_active", 1024, (self._counted, np.uint64(self._blocks)), threads=1024)
        self._run("list_subgraph", threads, (*given, self.begin, self._vertex, self._start))
        number = len(tier.bounds)
        self._run(
            "part_bounds", number,
            (tier.offsets, self.begin, first, self._places, self._rows, np.uint64(number), n, self._before),
        )  # fmt: skip
        stream = cupy.cuda.get_current_stream()
        bring(self._counted[2 * self._blocks :], self._host_counted, stream)
        bring(self._before, self._host_before, stream)
        self._ready.record(stream)

    def found(self) -> tuple[int, np.ndarray]:
        """Wait for what was found: how many rows, and edges before each bound of segments, int64."""
        self._ready.synchronize()
        return int(self._host_counted[0]), self._host_before.astype(np.int64)

    @property
    def _first(self) -> int:
        return self._tier.cut.resident

    def _run(self, name: str, items: int, given: tuple[Any, ...], threads: int = _THREADS) -> None:
        launch.flat(self._kernels[name], items, given, threads=threads)

    # -- on the host -----------------------------------------------------------------------------

    def bring_rows(self, number: int) -> int:
        """Bring the list of rows to the host; bytes that were moved."""
        # What was taken may be longer than asked for, one more than the other.
        if number > min(len(self._host_vertex), len(self._host_start) - 1):
            room, kept = min(2 * number, self._tier.num_vertices), self._tier.kept
            self.give_back()
            self._host_vertex = kept.take(room, self._vertex.dtype)
            self._host_start = kept.take(room + 1, self._start.dtype)
        stream = cupy.cuda.get_current_stream()
        vertex, start = self._host_vertex[:number], self._host_start[: number + 1]
        bring(self._vertex, vertex, stream)
        bring(self._start, start, stream)
        self._ready.record(stream)
        self._ready.synchronize()
        self._listed = vertex, start.view(f"i{start.itemsize}") if start.itemsize > 4 else start
        return vertex.nbytes + start.nbytes

    def gather(self, slot: Slot, lo: int, hi: int, rates: Rates) -> dict[str, np.ndarray]:
        """Put edges lo to hi of the subgraph into the host's side of a buffer, by all threads."""
        staged, host = slot.stage(), self._tier.host
        began, blocks = time.perf_counter(), even_blocks(hi - lo)
        vertex, start = self._listed
        for name, array in self._tier.arrays.items():
            kind = f"u{array.itemsize}"  # whatever it is, it is copied
            for_blocks(
                gather_edges, blocks, lo, vertex, start, host.offsets, self._first,
                array.view(kind), staged[name].view(kind),
            )  # fmt: skip
        rates.gathered((hi - lo) * self._tier.bytes_of_edge, time.perf_counter() - began)
        return staged

    def give_back(self) -> None:
        """Leave the list of rows on the host, which is not filled any more, to other runs."""
        for array in (self._host_vertex, self._host_start):
            if len(array):
                self._tier.kept.give_back(array)
        self._host_vertex, self._host_start = self._host_vertex[:0], self._host_start[:0]

    def close(self) -> None:
        """Leave what is pinned to other runs; after the last copy."""
        self.give_back()
        self._tier.kept.give_back(self._found)
