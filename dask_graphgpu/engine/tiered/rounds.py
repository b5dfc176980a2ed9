"""Asynchronous rounds: what is loaded is gone over until nothing changes, before more is.

References
----------
.. [1] Sabet, Zhao, Gupta. Subway: minimizing data transfer during out-of-GPU-memory graph processing. EuroSys 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.tiered import pinned
from dask_graphgpu.engine.tiered.arrays import TieredArrays
from dask_graphgpu.engine.tiered.supersteps import TieredSynchronous
from dask_graphgpu.engine.tiered.transfer import Go, Transfer
from dask_graphgpu.report import Report

# Words of struct Local in program_tiers.cuh.
_LOCAL = ("active", "settled", "rounds", "edges")

# Local rounds that are queued between two looks at the device, at most.
_MOST_AHEAD = 16


class Asynchronous(TieredSynchronous):
    """A run of rounds in each of which every part is a run of local rounds.

    The first round loads all edges, so that values get far; later ones those of active vertices.
    Vertices of which the part has all edges take part in its local rounds, also those that an
    earlier part has just reached. Others, of which rows are cut, send once in a round and take what
    they got at its end. So each vertex sends what it has once along each edge, and programs whose
    messages add up are right as well. Edges that kernels read in host memory are not loaded: for
    these a round is a superstep.
    """

    def __init__(self, arrays: TieredArrays, report: Report, transfer: Transfer) -> None:
        super().__init__(arrays, report, transfer)
        self._local = cupy.zeros(len(_LOCAL), np.int64)
        self._seen = pinned.empty(len(_LOCAL), np.int64)
        self._loads_everything = True

    def _bring(self, push: Go) -> None:
        everything, self._loads_everything = self._loads_everything, False
        self.transfer.superstep(self.arrays.active, push, everything=everything)

    def _push(
        self,
        run: Any,
        columns: Mapping[str, str],
        offsets: Any,
        begins: Mapping[str, int],
        lo: int,
        hi: int,
        way: str,
    ) -> None:
        super()._push(run, columns, offsets, begins, lo, hi, way)
        if way == "zero-copy":
            return
        here, lists = self._part(run, columns, offsets, begins, lo, hi, way)
        self._local[:2] = 0
        self._apply(here, lists)
        ahead = 1
        while not self._settled():
            for _ in range(ahead):
                self._round(here, lists)
            ahead = min(2 * ahead, _MOST_AHEAD)

    def _round(self, here: Any, lists: Any) -> None:
        """A local round; its kernels return at once where nothing is left to do."""
        arrays, blocks = self.arrays, self._listing
        part = (here, lists, arrays.tier.offsets, arrays.active, self._local)
        self._launch("begin_part", 1, here)()
        self._launch("list_whole", blocks, *part)()
        if self._emits:
            self._launch("emit_whole", blocks, *part, self._emitted)()
        self._send(here, lists)
        self._apply(here, lists)

    def _apply(self, here: Any, lists: Any) -> None:
        arrays = self.arrays
        into = (self.messages, self.received, arrays.reached, arrays.active, self._local)
        self._launch("apply_whole", self._listing, here, lists, arrays.tier.offsets, *into)()
        self._launch("settle_part", 1, here, self._local)()

    def _settled(self) -> bool:
        stream = cupy.cuda.get_current_stream()
        self._local.get(out=self._seen, blocking=False)
        stream.synchronize()
        return bool(self._seen[_LOCAL.index("settled")])

    def _report(self, control: dict[str, int]) -> None:
        super()._report(control)
        local = dict(zip(_LOCAL, cupy.asnumpy(self._local).tolist(), strict=True))
        edge = self.transfer.tier.bytes_of_edge + self.messages.dtype.itemsize
        self.report.advance(
            "local", supersteps=local["rounds"], frontier=0, edges=local["edges"],
            bytes=local["edges"] * edge, seconds=0.0,  # in those of the rounds
        )  # fmt: skip
