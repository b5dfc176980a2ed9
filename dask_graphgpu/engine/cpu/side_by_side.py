"""A vertex program from several sources, side by side."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from dask_graphgpu.engine.cpu.programs import compile_program, run
from dask_graphgpu.report import Report

if TYPE_CHECKING:
    from dask_graphgpu.engine.state import State
    from dask_graphgpu.partition.view import View
    from dask_graphgpu.program import VertexProgram


def run_each(
    program: VertexProgram,
    view: View,
    sources: np.ndarray,
    *,
    cutoff: Any,
    targets: Any,
    report: Report,
) -> list[State]:
    """Run a vertex program from each of several sources; what `run` gives of each.

    With at least as many sources as threads each is one thread's, and as many run side by side:
    they wait for nobody. Else they run one after another, each on all threads.
    """
    from dask_graphgpu.kernels.cpu.threads import at_most, for_blocks, num_threads

    how: dict[str, Any] = {"cutoff": cutoff, "targets": targets}
    if num_threads() == 1 or len(sources) < num_threads():
        return [run(program, view, sources=[each], report=report, **how) for each in sources]
    reports = [Report(report.algorithm) for _ in sources]
    how["compiled"] = compile_program(program, view)

    def one(lo: int, hi: int) -> State:
        with at_most(1):
            return run(program, view, sources=sources[lo:hi], report=reports[lo], **how)

    made = for_blocks(one, np.arange(len(sources) + 1))
    for advance in (advance for each in reports for advance in each.advances):
        report.advance(**asdict(advance))
    return made
