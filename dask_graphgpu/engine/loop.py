"""The superstep loop: the same for every engine that runs programs in supersteps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from dask_graphgpu.engine.arguments import may_end
from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.errors import IntegerOverflow, NotConverged
from dask_graphgpu.functions import plain, where
from dask_graphgpu.program import VertexProgram


class Stepper(Protocol):
    """What an engine does between two looks at the frontier."""

    @property
    def num_active(self) -> int:
        """Vertices that send next."""

    def begin(self, superstep: int) -> None:
        """Superstep ``superstep`` (from 1) starts."""

    def aggregate(self, name: str) -> Any:
        """Value of an aggregate over the old state and, after `advance`, the new one."""

    def advance(self) -> None:
        """Messages, combine, apply: the new state stands beside the old one."""

    def commit(self) -> None:
        """The new state becomes the old one."""

    def result(self) -> State:
        """The fields."""


def run_supersteps(
    binding: Binding,
    engine: Stepper,
    aggregates: dict[str, Any],
    options: RunOptions,
    keeping: Keeping | None = None,
) -> State:
    """Run until no vertex is active, ``stop`` says so, or after the most supersteps that there may be.

    Parameters
    ----------
    binding : Binding
        The program on its graph.
    engine : Stepper
        Reads ``aggregates``, which this loop keeps up to date.
    aggregates : dict
        Name to last value.
    options : RunOptions
        Of which the limits count.
    keeping : Keeping, optional
        Has the state kept whenever that is due, and may have one to go on from.

    Raises
    ------
    NotConverged
        The limit came first.
    """
    superstep, stopped, limit = 0, False, options.max_supersteps
    if keeping is not None:
        superstep = keeping.resume(aggregates)
    # What was kept may be of a later superstep than the limit.
    while engine.num_active and not stopped and (limit is None or superstep < limit):
        superstep += 1
        stopped = run_superstep(binding, engine, aggregates, superstep)
        if keeping is not None and not stopped:
            keeping.after(superstep, aggregates)
    may_fail = not options.exact_supersteps
    if engine.num_active and not stopped and may_fail and may_end(binding.program):
        raise not_converged(superstep, engine.num_active, aggregates)
    state = engine.result()
    state.aggregates, state.supersteps = dict(aggregates), superstep
    return state


def run_superstep(
    binding: Binding, engine: Stepper, aggregates: dict[str, Any], superstep: int
) -> bool:
    """Run one superstep; whether ``stop`` says that it is the last."""
    program = binding.program
    after = program.aggregates_after()
    engine.begin(superstep)
    for name in program.aggregates:
        if name not in after:
            aggregates[name] = engine.aggregate(name)
    engine.advance()
    for name in after:
        aggregates[name] = engine.aggregate(name)
    engine.commit()
    if program.stop is None:
        return False
    values = {**aggregates, "superstep": superstep}
    arguments = binding.scalars(program.stop, "stop", values)
    assert arguments is not None
    return bool(program.stop(**arguments))


def overflow(program: VertexProgram, role: str) -> IntegerOverflow:
    """Error of a message, sum, new value or aggregate that does not fit its integer type."""
    function = program.functions().get(role, program.compute)
    of = f" (a new value of {', '.join(map(repr, program.changing))})" if role == "apply" else ""
    return IntegerOverflow(
        f"{role} ({where(plain(function, role))}): an integer result{of} does not fit its type; give "
        "float weights (or declare a float dtype), or wraps=True if wrapping around is meant."
    )


def not_converged(supersteps: int, active: int, aggregates: Mapping[str, Any]) -> NotConverged:
    """Error of a run that met its limit of supersteps."""
    last = ", ".join(f"{name} = {value!r}" for name, value in aggregates.items())
    return NotConverged(
        f"after {supersteps} supersteps {active} vertices are still active"
        + (f" ({last})" if last else "")
        + ": allow more supersteps by max_supersteps=, or loosen the condition to stop."
    )
