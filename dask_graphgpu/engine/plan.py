"""How a run of a vertex program is done: the checks and the decisions that all engines share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.keeping import keeps_senders
from dask_graphgpu.engine.options import RunOptions, configured_direction
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import EngineUnavailable, InvalidArgument
from dask_graphgpu.functions import check_integers, plain
from dask_graphgpu.partition.distinct import distinct
from dask_graphgpu.program import COUNT, IN_PYTHON, VertexProgram


def check_run(binding: Binding, options: RunOptions) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Check the arguments of a run; return sources and targets as arrays of dense ids."""
    program, n = binding.program, binding.view.graph_vertices
    sources, targets, cutoff = options.sources, options.targets, options.cutoff
    max_supersteps = options.max_supersteps
    for role, function in program.functions().items():
        if role not in IN_PYTHON:
            check_integers(plain(function, role), role)
    if sources is None and program.has_reached:
        raise InvalidArgument(
            f"field {program.first!r} has no value but at a source: run the program with source=."
        )
    if (cutoff is not None or targets is not None) and program.priority is None:
        raise InvalidArgument("cutoff and target need a program with priority=.")
    if (cutoff is not None or targets is not None) and max_supersteps is not None:
        raise InvalidArgument("cutoff and target do not go together with max_supersteps.")
    if max_supersteps is not None and max_supersteps < 0:
        raise InvalidArgument(f"max_supersteps is {max_supersteps}: give 0 or more.")
    found: list[np.ndarray | None] = []
    for name, ids in (("sources", sources), ("targets", targets)):
        if ids is None:
            found.append(None)
            continue
        ids = np.atleast_1d(np.asarray(ids))
        if ids.dtype.kind not in "iu" or (
            ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < n
        ):
            raise InvalidArgument(f"{name} {ids!r}: dense ids lie in 0 .. {n - 1}.")
        # Of a single one it takes a quarter of a millisecond.
        found.append((ids if ids.size == 1 else distinct(ids.ravel())).astype(np.int64).reshape(-1))
    if program.combine == "sum" and not may_end(program) and max_supersteps is None:
        raise InvalidArgument(
            "every vertex stays active, and the program has neither active= nor stop=: run it with "
            "max_supersteps=."
        )
    return found[0], found[1]


def with_known_counts(program: VertexProgram, sources: Any) -> VertexProgram:
    """The program for an engine that does not count messages, where their number is known.

    Raises
    ------
    EngineUnavailable
        It is not: not all vertices send in every superstep.
    """
    if not program.counts_messages:
        return program
    if sources is None and program.combine == "sum" and program.active is None:
        return program.with_constant_counts()
    raise EngineUnavailable(
        f"a function of the program names {COUNT}, and not every vertex sends in every superstep "
        "(combine='sum' without active= and source=): on a GPU messages are not counted. Use "
        "engine='cpu', or divide by what a second run with compute=lambda: 1 adds up"
    )


def may_end(program: VertexProgram) -> bool:
    """Whether a run can end before its limit of supersteps."""
    return program.combine != "sum" or program.stop is not None or program.active is not None


@dataclass(frozen=True, eq=False)
class Plan:
    """A run that is about to begin.

    Attributes
    ----------
    binding : Binding
        The program on its graph.
    options : RunOptions
    starts, ends : int64 array, optional
        Sources and targets, each once.
    any_order : bool
        Values may be improved in any order: nothing but ``graphgpu.direction`` may ask for supersteps.
    in_place : bool
        They are, and not in supersteps.
    """

    binding: Binding
    options: RunOptions
    starts: np.ndarray | None
    ends: np.ndarray | None
    any_order: bool
    in_place: bool


def plan(binding: Binding, options: RunOptions, *, forced: bool = False) -> Plan:
    """Check what a run is asked, and decide whether it is in place.

    A monotone program runs in place, but in supersteps

    - where their number is limited,
    - where what is kept has to say who sends,
    - without a cutoff, where ``graphgpu.direction`` is one in which vertices pull, or ``forced`` says that a setting
      is of supersteps.

    Raises
    ------
    InvalidArgument
    """
    program, cutoff = binding.program, options.cutoff
    starts, ends = check_run(binding, options)
    options.report.limit = options.exactly
    in_steps = options.max_supersteps is not None or keeps_senders(program, options.keeper, cutoff)
    any_order = program.in_place and not in_steps
    directed = forced or configured_direction() in ("pull", "notify-pull")
    in_place = any_order and not (cutoff is None and directed)
    return Plan(binding, options, starts, ends, any_order, in_place)
