"""Breadth-first search as a program: for edges that are looked at by layers, and in supersteps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import State
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

PROGRAM = VertexProgram(
    state={"level": Field(dtype="int32", initial=None, at_source=0)},
    compute=lambda source_level: source_level + 1,
    combine="min",
    priority=lambda level: level,
    bound=lambda num_vertices: num_vertices,
)

SWEEP = 64  # sources of one sweep: the bits of a word

# A level a superstep.
LEVELS = VertexProgram(
    state={"level": Field("int32", initial=None, at_source=0)},
    compute=lambda superstep: superstep,
    combine="min",
)


def in_supersteps(
    run: Callable[..., State],
    program: VertexProgram,
    view: Any,
    source: int,
    cutoff: int | None,
    report: Report,
) -> np.ndarray:
    """Hops as an engine's ``run`` of one of the programs gives them, at most ``cutoff`` supersteps."""
    return levels(run(program, view, up_to(cutoff, source, report)))


def up_to(cutoff: int | None, source: int, report: Report) -> RunOptions:
    """What a search from a source in supersteps is asked: at most ``cutoff`` of them, one a level."""
    return RunOptions(report=report, sources=source, max_supersteps=cutoff, exact_supersteps=True)


def in_place(
    run: Callable[..., State],
    view: Any,
    source: int,
    cutoff: int | None,
    report: Report,
    targets: Any = None,
) -> np.ndarray:
    """Hops as an engine's ``run`` finds them in place, of those up to a cutoff: in sweeps where the view has layers."""
    options = RunOptions(report=report, sources=source, cutoff=cutoff, targets=targets)
    return levels(run(PROGRAM, view, options))


def levels(state: State) -> np.ndarray:
    """Hops of every vertex, int32; -1 where not reached."""
    found = state["level"].copy()
    found[~_reached(state)] = -1
    return found


def _reached(state: State) -> np.ndarray:
    assert state.reached is not None  # the program's vertices have no level at first
    return state.reached
