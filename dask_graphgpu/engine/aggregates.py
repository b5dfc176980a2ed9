"""Aggregates: which are worked out in one pass with `apply`, and how parts of them come together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.values import fitted_aggregate
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.program import VertexProgram


def on_the_way(program: VertexProgram) -> dict[str, Literal["this", "next"]]:
    """Aggregates that `apply` gives on the way, and for which superstep.

    Those over the new state for this superstep, unless they read another such one. Those over the
    old state for the next superstep, whose old state is the new one of this; not if they read what
    changes between the two, an aggregate or ``superstep``.
    """
    after = program.aggregates_after()
    found: dict[str, Literal["this", "next"]] = {}
    for name, aggregate in program.aggregates.items():
        named = set(parameters(plain(aggregate.value, name), name))
        if name in after:
            if not named.intersection(after):
                found[name] = "this"
        elif not named.intersection((*program.aggregates, "superstep")):
            found[name] = "next"
    return found


class Partial(NamedTuple):
    """What some of the vertices make of an aggregate.

    Attributes
    ----------
    value : int, float or None
        Integers are exact, also beyond int64. None: the least or greatest of no vertex.
    overflows : bool
        Whether what a vertex has to add has wrapped around.
    """

    value: Any
    overflows: bool = False


def of_blocks(program: VertexProgram, name: str, blocks: Sequence[Any]) -> Partial:
    """Put together what kernels gave for blocks: value, its sum in floats, if empty, overflow."""
    exact = program.aggregates[name].combine == "sum" and not program.wraps
    parts = []
    for value, shadow, none, bad in blocks:
        whole = isinstance(value, int)
        if exact and whole:  # a sum that has wrapped around is whole turns from the one in floats
            value += round((shadow - value) / 2.0**64) * 2**64
        if not none:
            parts.append(Partial(value, whole and bool(bad)))
    return joined(program, name, parts)


def joined(program: VertexProgram, name: str, parts: Iterable[Partial]) -> Partial:
    """The parts of all as one; a float sum in their order."""
    kind, values, overflows = program.aggregates[name].combine, [], False
    for value, bad in parts:
        overflows |= bad
        if value is not None:
            values.append(value)
    if kind == "sum":
        return Partial(sum(values), overflows)
    return Partial((min if kind == "min" else max)(values, default=None), overflows)


def finished(program: VertexProgram, name: str, part: Partial) -> Any:
    """The value of an aggregate over all vertices; IntegerOverflow where it does not fit."""
    role = f"aggregates[{name!r}]"
    if part.overflows:
        raise overflow(program, role)
    if program.aggregates[name].combine != "sum":
        return part.value
    return fitted_aggregate(program, role, part.value)
