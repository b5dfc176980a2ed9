"""A vertex program from several sources, side by side."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from dask_graphgpu.engine.cpu.programs import run, run_lowered
from dask_graphgpu.engine.lower import lower
from dask_graphgpu.engine.plan import plan
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.kernels.cpu.threads import at_most, for_blocks, num_threads
from dask_graphgpu.report import Report

if TYPE_CHECKING:
    from dask_graphgpu.engine.options import RunOptions
    from dask_graphgpu.engine.state import State
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.program import VertexProgram


def run_each(
    program: VertexProgram, view: View, sources: np.ndarray, options: RunOptions
) -> list[State]:
    """Run a vertex program from each of several sources; what `run` gives of each.

    With at least as many sources as threads each is one thread's, and as many run side by side:
    they wait for nobody. Else they run one after another, each on all threads.
    """
    if num_threads() == 1 or len(sources) < num_threads():
        return [run(program, view, replace(options, sources=[each])) for each in sources]
    reports = [Report(options.report.algorithm) for _ in sources]
    binding = Binding(program, view, options.constants)
    lowered = lower(binding)

    def one(lo: int, hi: int) -> State:
        with at_most(1):
            asked = replace(options, sources=sources[lo:hi], report=reports[lo])
            return run_lowered(plan(binding, asked), lowered)

    made = for_blocks(one, np.arange(len(sources) + 1))
    for advance in (advance for each in reports for advance in each.advances):
        options.report.advance(**asdict(advance))
    return made
