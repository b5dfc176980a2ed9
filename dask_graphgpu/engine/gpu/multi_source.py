"""A program from several sources at once: a vertex has a value for each of them, side by side.

There is one frontier of pairs of a vertex and a source, and one order of priorities. So where the frontier of one
source does not fill the device, several sources take about as many rounds together as one alone.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.gpu import near_far
from dask_graphgpu.engine.gpu.arrays import Arrays
from dask_graphgpu.engine.gpu.programs import run
from dask_graphgpu.engine.options import RunOptions, configured_direction
from dask_graphgpu.engine.plan import check_run
from dask_graphgpu.engine.schedule import is_forced
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram

# Edges of a vertex in the mean, and edges of a graph, below which one source does not fill the device.
LONG_ROWS, FEW_EDGES = 8, 1 << 25

# Values of all vertices at once: some 25 bytes each.
MOST_VALUES = 1 << 28


def run_each(program: VertexProgram, view: View, sources: Any, options: RunOptions) -> list[State]:
    """Run a vertex program from each of several sources; what `run` gives of each.

    Notes
    -----
    Where rows are short, or edges few, as many sources at once as their values fit 2**28, as one run
    in near-far order: it takes the rounds of the one that takes most. Elsewhere one after another: one
    source keeps the device busy, and the values of many would be further apart in memory. Some 25
    bytes a vertex and source.
    """
    at_once = 1 << max(MOST_VALUES // max(view.num_vertices, 1), 1).bit_length() - 1
    small = view.num_edges < max(LONG_ROWS * view.num_vertices, FEW_EDGES)
    sources = np.asarray(sources)
    limited = options.max_supersteps is not None or options.keeper is not None
    if limited or not small or at_once == 1 or not _in_columns(program, view):
        return [run(program, view, replace(options, sources=[each])) for each in sources]
    made: list[State] = []
    for first in range(0, len(sources), at_once):
        asked = replace(options, sources=sources[first : first + at_once])
        made += _together(program, view, asked)
    return made


def _in_columns(program: VertexProgram, view: View) -> bool:
    """Whether it runs in near-far order, of functions that read nothing of a vertex but its value."""
    if not program.in_place or program.priority is None:
        return False
    if not program.has_reached or len(program.state) > 1:
        return False
    if view.levels is not None or is_forced() or configured_direction() != "auto":
        return False
    own = {f"{before}{program.first}" for before in ("", "new_", "source_")}
    return all(
        name in own or name == "weight" or name in program.constants or name.startswith("edge_")
        for role, function in program.functions().items()
        if role in ("compute", "active", "priority", "apply")
        for name in parameters(plain(function, role), role)
    )


def _together(program: VertexProgram, view: View, options: RunOptions) -> list[State]:
    binding, sources = Binding(program, view, options.constants), options.sources
    places, ends = check_run(binding, options)
    arrays = Columns(binding, places, sources)
    if ends is not None:
        ends = (ends[:, None] << arrays.column_bits | np.arange(len(sources))).ravel()
    rounds = near_far.improved(arrays, arrays.starts, ends, options)
    return [arrays.of(k, rounds) for k in range(len(sources))]


class Columns(Arrays):
    """State of runs from several sources.

    Attributes
    ----------
    n : int
        Values, of all vertices: that of vertex v and source k is at ``(v << column_bits) + k``.
    starts : int64
        Where the sources are, each in its own column.
    """

    def __init__(self, binding: Binding, places: Any, sources: np.ndarray) -> None:
        super().__init__(binding, places)
        self.column_bits = max(len(sources) - 1, 1).bit_length()
        self.starts = (sources.astype(np.int64) << self.column_bits) + np.arange(len(sources))
        first, rows = self.program.first, self.n
        self.n = rows << self.column_bits
        values = self.state[first]
        at, of = cupy.asarray(self.starts), cupy.asarray(sources)
        none = self.lowered.glue.identity(self.binding.dtypes[first])
        wide = cupy.full(self.n, none, values.dtype)
        wide[at] = values[of]
        self.state = {first: wide}
        self.new = {first: wide}
        self.active = cupy.zeros(self.n, np.uint8)
        self.active[at] = 1
        self.reached = self.active.copy()

    def of(self, column: int, supersteps: int) -> State:
        """What the run from one of the sources has found."""
        one, step = copy.copy(self), 1 << self.column_bits
        one.state = {name: values[column::step].copy() for name, values in self.state.items()}
        one.reached = self.reached[column::step].copy()
        return one.result(supersteps)
