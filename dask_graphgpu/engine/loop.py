"""The superstep loop: when a run goes on, ends and fails, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dask_graphgpu.engine.keeping import Keeping
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.plan import may_end
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.errors import IntegerOverflow, InvalidCheckpoint, NotConverged
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


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    superstep: int  # the last one that is complete; 0: none is
    num_active: int  # vertices that send next
    stopped: bool = False  # `stop` has ended the run

    def is_over(self, limit: int | None) -> bool:
        """Whether nothing is left to do; what was kept may be of a later superstep than the limit."""
        at_limit = limit is not None and self.superstep >= limit
        return self.stopped or not self.num_active or at_limit


def run_supersteps(
    binding: Binding,
    engine: Stepper,
    aggregates: dict[str, Any],
    options: RunOptions,
    keeping: Keeping | None = None,
) -> State:
    """Run one superstep after another until no vertex is active, ``stop`` says so, or at the limit.

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

    def one(at: Progress) -> Progress:
        stopped = run_superstep(binding, engine, aggregates, at.superstep + 1)
        return Progress(at.superstep + 1, engine.num_active, stopped)

    superstep = 0 if keeping is None else keeping.resume(aggregates)
    at = Progress(superstep, engine.num_active)
    at = advance(at, one, lambda: aggregates, options, keeping)
    return ended(binding.program, at, aggregates, options, engine.result)


def advance(
    at: Progress,
    some: Callable[[Progress], Progress],
    aggregates: Callable[[], Mapping[str, Any]],
    options: RunOptions,
    keeping: Keeping | None,
) -> Progress:
    """Go on until a run is over; whether the state is due is asked whenever ``some`` supersteps are done.

    ``aggregates`` gives their last values.
    """
    while not at.is_over(options.max_supersteps):
        at = some(at)
        if keeping is not None and not at.stopped:
            keeping.after(at.superstep, aggregates())
    return at


def ended(
    program: VertexProgram,
    at: Progress,
    aggregates: Mapping[str, Any],
    options: RunOptions,
    result: Callable[[], State],
) -> State:
    """The result of a run that is over; NotConverged where the limit came before the end."""
    if options.exactly is not None and at.superstep > options.exactly:
        raise InvalidCheckpoint(
            f"the checkpoint is of superstep {at.superstep:,}, and the run is to have exactly {options.exactly:,}: "
            "give as many or more, or run without resume=True"
        )
    converged = at.stopped or not at.num_active or not may_end(program)
    if not converged and options.exactly is None:
        raise not_converged(at.superstep, at.num_active, aggregates)
    state = result()
    state.aggregates, state.supersteps = dict(aggregates), at.superstep
    return state


def run_superstep(
    binding: Binding, engine: Stepper, aggregates: dict[str, Any], superstep: int
) -> bool:
    """Run one superstep. Return whether ``stop`` says that it is the last."""
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
    return program.stop is not None and stops(binding, aggregates, superstep)


def stops(binding: Binding, aggregates: Mapping[str, Any], superstep: int) -> bool:
    """Whether ``stop``, which the program has, ends the run after a superstep."""
    stop = binding.program.stop
    assert stop is not None
    arguments = binding.scalars(stop, "stop", {**aggregates, "superstep": superstep})
    assert arguments is not None
    return bool(stop(**arguments))


def overflow(program: VertexProgram, role: str) -> IntegerOverflow:
    """Error of a message, sum, new value or aggregate that does not fit its integer type."""
    function = program.functions().get(role, program.compute)
    if plain(function, role).__module__.startswith("dask_graphgpu."):  # a method's own program
        return IntegerOverflow(
            "a value does not fit an integer of 64 bits: give float weights, as by .astype('float64') of the column"
        )
    of = f" (a new value of {', '.join(map(repr, program.changing))})" if role == "apply" else ""
    return IntegerOverflow(
        f"{role} ({where(plain(function, role))}): an integer result{of} does not fit its type; give "
        "float weights (or declare a float dtype), or wraps=True if wrapping around is meant."
    )


def first_overflow(program: VertexProgram, bad: Container[str]) -> IntegerOverflow | None:
    """Error of the one of several roles that comes first in a superstep, as `run_superstep` has them."""
    after = program.aggregates_after()
    before = [name for name in program.aggregates if name not in after]
    roles = [f"aggregates[{name!r}]" for name in before]
    roles += ["compute", "apply", *(f"aggregates[{name!r}]" for name in after)]
    return next((overflow(program, role) for role in roles if role in bad), None)


def not_converged(supersteps: int, active: int, aggregates: Mapping[str, Any]) -> NotConverged:
    """Error of a run that met its limit of supersteps."""
    last = ", ".join(f"{name} = {value!r}" for name, value in aggregates.items())
    return NotConverged(
        f"after {supersteps} supersteps {active} vertices are still active"
        + (f" ({last})" if last else "")
        + ": allow more supersteps by max_supersteps=, or loosen the condition to stop."
    )


def check_converged(tolerance: float, max_iterations: int, change: float) -> None:
    """Raise NotConverged after the last iteration of HITS, unless the tolerance is 0."""
    if tolerance:
        raise NotConverged(
            f"after {max_iterations} iterations the hub scores still change by {change:.3g} in sum: "
            "allow more by max_iterations=, or a larger tolerance="
        )
