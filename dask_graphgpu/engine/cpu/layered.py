"""Monotone programs over edges by layers: sweeps from the first layer to the last, until all is quiet.

What a layer improves, the next ones see in the same sweep, so a search from the root of the layers is
over after one [1]_. Layers of few edges are combined: one thread runs them one after another without
coming back to Python. A layer of many is run by all threads.

References
----------
.. [1] Zhu et al., "WolfPath: accelerating iterative traversing-based graph processing algorithms on
   GPU", Int. J. Parallel Programming 2018.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np

from dask_graphgpu.engine.cpu.arrays import Arrays
from dask_graphgpu.engine.cpu.improving import Improving
from dask_graphgpu.engine.keeping import Keeper
from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.options import layer_edges, layer_repeats
from dask_graphgpu.engine.state import State
from dask_graphgpu.kernels.cpu.threads import LITTLE_WORK, even_blocks, num_threads
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.report import Report

# Edges from which a layer goes to the threads: as of a level of a search.
_LARGE_LAYER = 32 * LITTLE_WORK


def combined(lengths: np.ndarray, least: int) -> list[tuple[int, int]]:
    """Runs of consecutive layers: each layer of at least so many edges by itself, the others together.

    Parameters
    ----------
    lengths : int64, shape (num_layers,)
        Edges of each layer.
    least : int

    Returns
    -------
    list of pairs
        The first layer of a run, and the one behind its last; all layers, in order.
    """
    large = np.flatnonzero(lengths >= least)
    bounds = distinct(np.concatenate([[0, len(lengths)], large, large + 1])).tolist()
    return list(pairwise(bounds))


class Sweeps(Improving):
    """One run of a monotone program over edges by layers.

    Attributes
    ----------
    num_active : int
        Layers with vertices that have to send.
    """

    ordered = False  # values are sent in the order of layers, whatever their priority

    def __init__(
        self, arrays: Arrays, sources: np.ndarray | None, cutoff: Any, report: Report
    ) -> None:
        super().__init__(arrays, sources, cutoff, report)
        self.edges = self.binding.layered
        self.level = self.edges.level
        self.dirty = np.zeros(self.edges.num_layers, np.uint8)
        self.passed = np.ones(self.edges.num_layers, np.int32)  # the last pass over each layer
        self.now = 1
        least = layer_edges(_LARGE_LAYER)
        self.repeats = layer_repeats()
        apart = num_threads() > 1 or self.repeats
        self.runs = combined(self.edges.lengths, least) if apart else None
        self.join(self.start)

    @property
    def num_active(self) -> int:
        return int(self.dirty.sum())

    def join(self, vertices: np.ndarray) -> None:
        """Have these send next as well."""
        self.stamp[vertices.astype(np.intp)] = self.now
        self.dirty[self.level.take(vertices).astype(np.intp)] = 1

    def run(self, keeper: Keeper | None = None) -> State:
        """Sweep until no value improves; ``keeper`` gets the state whenever it is due."""
        self.relax(keeper)
        return self.result()

    def relax(self, keeper: Keeper | None = None) -> None:
        """Sweep until no value improves."""
        while self.dirty.any():
            self.relax_once()
            self.keep(keeper)

    def relax_once(self) -> None:
        """Sweep over all layers once."""
        began, counts = time.perf_counter(), np.array([self.now, 0, 0], np.int64)
        size = int(np.count_nonzero(self.stamp >= self.passed.take(self.level)))
        for first, last in self.runs or [(0, self.edges.num_layers)]:
            for _ in range(1 + self.repeats):
                if not self.dirty[first:last].any():
                    break
                if self.runs is not None and last - first == 1:
                    self._on_threads(first, counts)
                else:
                    self._one_after_another(first, last, counts)
        self.now = int(counts[0])
        self._note("layers", "layers", self.edges, (int(counts[2]), size, int(counts[1])), began)

    def _one_after_another(self, first: int, last: int, counts: np.ndarray) -> None:
        edges, arrays = self.edges, self.arrays
        bad = arrays.lowered.kernel("layers")(
            first, last, edges.starts, self.dirty, self.passed, self.level, self.stamp, self.late,
            counts, self.cutoff, edges.sources, edges.neighbours, *arrays.named("layers", edges),
        )  # fmt: skip
        if bad:
            raise overflow(self.program, "compute")

    def _on_threads(self, layer: int, counts: np.ndarray) -> None:
        edges, since = self.edges, int(self.passed[layer])
        start, size = int(edges.starts[layer]), int(edges.lengths[layer])
        counts += [1, size, 1]
        now = int(counts[0])
        self.dirty[layer], self.passed[layer] = 0, now
        bad = self.arrays.run(
            "layer_block", start + even_blocks(size), edges, now, since, self.dirty, self.level,
            self.stamp, self.late, self.cutoff, edges.sources, edges.neighbours,
        )  # fmt: skip
        if any(bad):
            raise overflow(self.program, "compute")
