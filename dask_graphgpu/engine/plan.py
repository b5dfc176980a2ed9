"""How a run of a vertex program is done: the checks and the decisions that all engines share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.engine.arguments import check_run
from dask_graphgpu.engine.direction import configured_direction
from dask_graphgpu.engine.keeping import keeps_senders
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding


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

    A monotone program runs in place. In supersteps it runs where their number is limited, where what is kept
    has to say who sends, and, without a cutoff, where ``graphgpu.direction`` is one in which vertices pull or
    ``forced`` says that a setting is of supersteps.

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
