"""Vertex programs: the contract between an algorithm and the engines, and the checks of it.

A program says in plain Python functions what travels along an edge, how the messages that meet at a
vertex combine, and what a vertex makes of them. The names of a function's parameters say what it
reads, so an engine loads nothing else.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from dask_graphgpu.arguments import (
    as_mapping,
    check_choice,
    check_flag,
    check_function,
    said,
)
from dask_graphgpu.errors import ProgramError
from dask_graphgpu.fields import (
    DTYPES,
    Aggregate,
    Counted,
    Field,
    Function,
    Max,
    Min,
    Number,
    Sum,
    plain_number,
)
from dask_graphgpu.functions import (
    check_literals,
    fingerprint,
    parameters,
    plain,
    returned_keys,
    where,
)

COMBINES = ("min", "max", "sum", "any")
EDGES = ("out", "in", "both")

# Roles of functions that no engine compiles: their integers are Python's.
IN_PYTHON = ("stop", "bound")

_VERTEX = ("degree", "weighted_degree", "id")
_RUN = ("superstep", "num_vertices")

# Of a vertex too, unless something of the program is called so: see `VertexProgram.with_degrees`.
DEGREES = {"in_degree": "in", "out_degree": "out"}

# How many messages came; the same holds of it: see `VertexProgram.counts_messages`.
COUNT = "num_messages"

# By `edges`, over which edges a vertex receives.
_RECEIVES = {"out": "in", "in": "out", "both": "both"}
_RESERVED = {*_VERTEX, *_RUN, "weight", "message", "received", "max_weight"}
_PREFIXES = ("source_", "destination_", "new_", "edge_")


@dataclass(frozen=True, kw_only=True, eq=False)
class VertexProgram:
    """A graph computation, said for one vertex and one edge.

    A superstep: every active vertex sends ``compute(...)`` along its edges, the messages that meet
    at a vertex are combined, ``apply`` makes the vertex's new state of them, ``active`` says who
    sends next. It ends when no vertex is active or ``stop`` says so.

    Parameters
    ----------
    state : mapping of str to Field
        The fields, the first one is the one that a message is about.
    compute : function
        The message along one edge, a scalar. May name ``source_<field>``, ``destination_<field>``,
        the same with ``degree``, ``weighted_degree``, ``in_degree``, ``out_degree`` and ``id``,
        ``weight`` (1 on a graph without weights) and ``edge_<column>``. Source is the end that sends.
    combine : {"min", "max", "sum", "any"}
        How messages meet; "any": one of them is taken, no matter which: it may be another one in the
        next run.
    apply : function, optional
        New value of the first field, or a dict of fields written out as ``{"a": ..., "b": ...}``.
        May name fields, ``message``, ``received`` (whether one came), ``num_messages`` (how many
        came in this superstep), ``degree``, ``weighted_degree``, ``in_degree``, ``out_degree``,
        ``id``. Where no message came, ``message`` is 0 (sum, any), the largest (min) or smallest
        (max) value. A vertex that had no value is asked only when a message came, and its old value
        reads as that number too. Default: min, max: the better of old and message; sum: the message; any:
        the message, if one came. A field that ``apply`` does not return is a constant.
    active : function, optional
        Whether the vertex sends in the next superstep; as for ``apply``, and ``new_<field>``. A
        vertex that just got its first value is active in any case. Default: the first field
        changed (min, max, any); always (sum).
    priority : function, optional
        Of the first field (and constants): vertices of low priority go first. Makes the run
        work-efficient where a value is final once no lower priority is left (near-far order).
    edges : {"out", "in", "both"}
        Along the edges, against them, or both ways. ``degree`` counts the edges that a vertex *sends*
        over, ``weighted_degree`` adds up their weights. Over how many it *receives* is ``in_degree``
        with "out", and ``out_degree`` with "in"; how many messages have come is ``num_messages``.
        On an undirected graph all degrees are the same.
    constants : mapping of str to number
        Scalars of the run, integers within int64; another value does not compile again.
    aggregates : mapping of str to Sum, Min or Max
        Values over all vertices, by name for all functions.
    stop : function, optional
        Of aggregates, constants, ``superstep``, ``num_vertices``; asked after each superstep.
    monotone : bool, optional
        Values only improve and any order leads to the same end, so they may be updated in place.
        Default: True for min and max without apply, aggregates, stop or ``superstep``.
    accumulative : bool
        What is sent is the new part of a sum, and who has sent it has nothing left to send, so that
        the order in which vertices send does not matter: ``graphgpu.rounds`` may be asynchronous.
        For sums with ``apply`` and ``active``, which do not name ``superstep`` or an aggregate;
        ``apply`` leaves a vertex as it is that was not active and got no message.
    wraps : bool
        Integers may wrap around. Default: a result beyond int64 is an error.
    message : str, optional
        Dtype of a message; default: of the first field.
    bound : function, optional
        Of ``max_weight`` and ``num_vertices``, in exact integers: no value at the start, message,
        sum or new value is larger in magnitude. Where it fits int64 nothing is checked at run time.

    Raises
    ------
    ProgramError
        The program does not keep this contract; the message names the function and its line.

    Notes
    -----
    ``id`` is the place of a vertex among all, in ascending order of the user's ids, from 0: the
    smaller of two is that of the smaller id. ``superstep`` counts from 1. Constants, aggregates,
    ``superstep`` and ``num_vertices`` may be named by all functions that run in supersteps, except
    that what names ``new_<field>`` is known to ``stop`` and later aggregates only.

    Examples
    --------
    >>> sssp = VertexProgram(
    ...     state={"distance": Field(dtype="weight", initial=None, at_source=0)},
    ...     compute=lambda source_distance, weight: source_distance + weight,
    ...     combine="min",
    ...     priority=lambda distance: distance,
    ... )
    >>> sssp.in_place
    True
    """

    state: Mapping[str, Field]
    compute: Function
    combine: str
    apply: Function | None = None
    active: Function | None = None
    priority: Function | None = None
    edges: str = "out"
    constants: Mapping[str, Number] = field(default_factory=dict)
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    stop: Function | None = None
    monotone: bool | None = None
    accumulative: bool = False
    wraps: bool = False
    message: str | None = None
    bound: Function | None = None

    def __post_init__(self) -> None:
        for name, of in (
            ("state", "Fields"),
            ("constants", "numbers"),
            ("aggregates", "Sum, Min or Max"),
        ):
            given = as_mapping(name, getattr(self, name), of, ProgramError)
            object.__setattr__(self, name, MappingProxyType(given))
        numbers = {name: plain_number(name, value) for name, value in self.constants.items()}
        object.__setattr__(self, "constants", MappingProxyType(numbers))
        for name, allowed in (("combine", COMBINES), ("edges", EDGES)):
            check_choice(name, getattr(self, name), allowed, error=ProgramError)
        if self.message is not None:
            check_choice("message", self.message, DTYPES, error=ProgramError)
        for name in ("monotone", "accumulative", "wraps"):
            check_flag(name, getattr(self, name), optional=name == "monotone", error=ProgramError)
        self._check_names()
        self._check_fields()
        self._check_functions()
        self._check_order()

    # -- what follows from the declarations ----------------------------------------------------

    @property
    def first(self) -> str:
        """Name of the field that messages are about."""
        return next(iter(self.state))

    @property
    def has_reached(self) -> bool:
        """Whether vertices may be without a value."""
        first = self.state[self.first]
        return first.initial is None and first.vertices is None

    @cached_property
    def changing(self) -> tuple[str, ...]:
        """Fields that ``apply`` returns; the others are constants."""
        if self.apply is None:
            return (self.first,)
        return returned_keys(plain(self.apply, "apply"), "apply") or (self.first,)

    @cached_property
    def in_place(self) -> bool:
        """Whether values may be updated in place, in any order."""
        return self._may_be_in_place() is None if self.monotone is None else self.monotone

    def functions(self) -> dict[str, Function]:
        """Every function of the program under the name that messages give it."""
        found: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("compute", "apply", "active", "priority", "stop", "bound")
        }
        for name, declared in self.state.items():
            found[f"state[{name!r}].initial"] = declared.initial
            found[f"state[{name!r}].at_source"] = declared.at_source
        for name, aggregate in self.aggregates.items():
            found[f"aggregates[{name!r}]"] = aggregate.value
        return {name: function for name, function in found.items() if callable(function)}

    def aggregates_after(self) -> tuple[str, ...]:
        """Aggregates that are known only after ``apply``."""
        after: list[str] = []
        for name, aggregate in self.aggregates.items():
            named = parameters(plain(aggregate.value, name), name)
            late = any(p.startswith("new_") or p in after for p in named)
            if late or (self.counts_messages and COUNT in named):
                after.append(name)
        return tuple(after)

    def allowed(self, role: str) -> tuple[str, ...]:
        """Names of the parameters that the function called ``role`` may have."""
        after = self.aggregates_after()
        state = (*self.state, *self._free_degrees())
        before = tuple(name for name in self.aggregates if name not in after)
        run = (*_RUN, *self.constants)
        new = tuple(f"new_{name}" for name in self.changing)
        came = ("message", "received", *self._free((COUNT,)))
        if role == "compute":
            ends = tuple(
                f"{end}_{name}" for end in ("source", "destination") for name in (*state, *_VERTEX)
            )
            return (*ends, "weight", "edge_<column>", *run, *before)
        if role == "apply":
            return (*state, *came, *_VERTEX, *run, *before)
        if role == "active":
            return (*state, *new, *came, *_VERTEX, *run, *before)
        if role == "priority":
            return (self.first, "num_vertices", *self.constants)
        if role == "stop":
            return (*run, *self.aggregates)
        if role == "bound":
            return ("max_weight", "num_vertices")
        if role.startswith("aggregates"):
            own = role.split("'")[1]
            earlier = tuple(self.aggregates)[: tuple(self.aggregates).index(own)]
            return (*state, *new, *self._free((COUNT,)), *_VERTEX, *run, *earlier)
        given = tuple(name for name, declared in self.state.items() if declared.vertices)
        given += self._free_degrees()
        return (*_VERTEX, "num_vertices", *given, *self.constants)

    @cached_property
    def degrees(self) -> tuple[str, ...]:
        """Those of `DEGREES` that a function names."""
        free, functions = self._free_degrees(), self.functions().items()
        named = {p for role, f in functions for p in parameters(plain(f, role), role)}
        ends = ("", "source_", "destination_")
        return tuple(name for name in free if named.intersection(end + name for end in ends))

    @cached_property
    def counts_messages(self) -> bool:
        """Whether a function names how many messages have come."""
        if COUNT in self.state:
            return isinstance(self.state[COUNT], Counted)
        functions = self.functions().items()
        named = (parameters(plain(f, role), role) for role, f in functions if role not in IN_PYTHON)
        return bool(self._free((COUNT,))) and any(COUNT in each for each in named)

    def degree_columns(self) -> dict[str, str]:
        """Columns of `with_degrees`: of which edges each counts those of a vertex, as a `View` names them."""
        counted = {COUNT: _RECEIVES[self.edges]} if self.counts_messages else {}
        return {name: DEGREES[name] for name in self.degrees} | counted

    @cached_property
    def with_degrees(self) -> VertexProgram:
        """The program that engines run: with a field for each of `degree_columns`, read from there."""
        fields = {
            name: (Counted if name == COUNT else Field)("int64", vertices=name)
            for name in self.degree_columns()
        }
        return replace(self, state={**self.state, **fields}) if fields else self

    def with_constant_counts(self) -> VertexProgram:
        """The program for an engine that does not count: as many messages come as the column says."""
        plain_field = {COUNT: Field("int64", vertices=COUNT)}
        return replace(self, state={**self.state, **plain_field})

    def _free_degrees(self) -> tuple[str, ...]:
        return self._free(DEGREES)

    def _free(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those that nothing of the program is called."""
        taken = {*self.state, *self.constants, *self.aggregates}
        return tuple(name for name in names if name not in taken)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Equal for programs of equal text, wherever they were made."""
        functions = tuple(
            (name, fingerprint(function, name)) for name, function in self.functions().items()
        )
        state = tuple(
            (name, f.dtype, f.vertices, *(None if callable(v) else repr(v) for v in (f.initial, f.at_source)))
            for name, f in self.state.items()
        )  # fmt: skip
        kinds = tuple((name, aggregate.combine) for name, aggregate in self.aggregates.items())
        plain_values = (
            self.combine, self.edges, self.monotone, self.accumulative, self.wraps, self.message,
            *((name, repr(value)) for name, value in self.constants.items()),
        )  # fmt: skip
        return ("VertexProgram", functions, state, kinds, plain_values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Mapping proxies do not pickle: go back through the constructor."""
        arguments = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in ("state", "constants", "aggregates"):
            arguments[name] = dict(arguments[name])
        return _rebuilt, (arguments,)

    # -- checks ---------------------------------------------------------------------------------

    def _check_names(self) -> None:
        if not self.state:
            raise ProgramError("state={}: a program needs at least one Field.")
        seen: set[str] = set()
        for kind in ("state", "constants", "aggregates"):
            for name in getattr(self, kind):
                if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
                    raise ProgramError(f"{kind}: {name!r} is not a name for a parameter.")
                if name in _RESERVED or name.startswith(_PREFIXES):
                    raise ProgramError(
                        f"{kind}: the name {name!r} is taken; reserved are {_listed(_RESERVED)} "
                        f"and what starts with {_listed(_PREFIXES)}."
                    )
                if name in seen:
                    raise ProgramError(f"{kind}: the name {name!r} is used twice in the program.")
                seen.add(name)

    def _check_fields(self) -> None:
        for name, declared in self.state.items():
            if not isinstance(declared, Field):
                raise ProgramError(f"state[{name!r}] is {said(declared)}: give a Field.")
            missing = declared.initial is None and declared.vertices is None
            if missing and name != self.first:
                raise ProgramError(
                    f"state[{name!r}] has no initial value; only the first field "
                    f"({self.first!r}) may go without. Give initial= or vertices=."
                )
        first = self.state[self.first]
        if self.has_reached and first.at_source is None:
            raise ProgramError(
                f"state[{self.first!r}] has no value anywhere: give initial=, at_source= or "
                "vertices=."
            )
        for name, aggregate in self.aggregates.items():
            if not isinstance(aggregate, (Sum, Min, Max)):
                raise ProgramError(
                    f"aggregates[{name!r}] is {said(aggregate)}: give Sum(f), Min(f) or Max(f)."
                )

    def _check_functions(self) -> None:
        for role in ("compute", "apply", "active", "priority", "stop", "bound"):
            value = getattr(self, role)
            check_function(role, value, ProgramError, optional=role != "compute")
        if self.apply is not None:
            unknown = set(self.changing) - set(self.state)
            if unknown:
                raise ProgramError(
                    f"apply ({where(plain(self.apply, 'apply'))}): returns {_listed(unknown)}; the "
                    f"fields are {_listed(self.state)}."
                )
            if self.has_reached and self.first not in self.changing:
                raise ProgramError(
                    f"apply ({where(plain(self.apply, 'apply'))}): has to return {self.first!r}, "
                    "which has no initial value."
                )
        for role, function in self.functions().items():
            if role not in IN_PYTHON:
                check_literals(plain(function, role), role)
            named, allowed = parameters(plain(function, role), role), self.allowed(role)
            for name, has_default in named.items():
                edge = role == "compute" and name.startswith("edge_") and name != "edge_"
                if name not in allowed and not edge and not has_default:
                    raise ProgramError(
                        f"{role} ({where(plain(function, role))}): parameter {name!r} is unknown; "
                        f"allowed are {_listed(allowed)}."
                    )

    def _check_order(self) -> None:
        first = self.state[self.first].dtype
        message = self.message or first
        if self.apply is None and message != first:
            raise ProgramError(
                f"message={message!r}: without apply= a message is the new value of {self.first!r}, "
                f"which is {first!r}. Give apply=."
            )
        if self.combine == "sum" and message == "bool":
            raise ProgramError("combine='sum' of bools: give message='int64' to count them.")
        reason = self._may_be_in_place()
        if self.monotone and reason:
            raise ProgramError(f"monotone=True does not go with {reason}.")
        if self.accumulative and (reason := self._not_accumulative()):
            raise ProgramError(f"accumulative=True does not go with {reason}.")
        if self.priority is not None and not self.in_place:
            raise ProgramError(
                "priority= needs a monotone program"
                + (
                    f", which does not go with {reason}."
                    if reason
                    else ": monotone=False was given."
                )
            )

    def _not_accumulative(self) -> str | None:
        """What stands against an order of its own for each vertex, None if nothing does."""
        if self.combine != "sum":
            return f"combine={self.combine!r} (sum only; minima and maxima are monotone=True)"
        for name in ("apply", "active"):
            if getattr(self, name) is None:
                return f"no {name}="
        early = {"superstep", *self.aggregates, *([COUNT] if self.counts_messages else [])}
        for role, function in self.functions().items():
            named = early.intersection(parameters(plain(function, role), role))
            if role != "stop" and named:
                return f"{min(named)} as a parameter of {role}"
        return None

    def _may_be_in_place(self) -> str | None:
        """What stands against updates in place, None if nothing does."""
        if self.combine not in ("min", "max"):
            return f"combine={self.combine!r} (min and max only)"
        if self.message is not None and self.message != self.state[self.first].dtype:
            return f"message={self.message!r} (a message is a value of {self.first!r} there)"
        if self.state[self.first].dtype == "bool":
            return f"a field of bools (state[{self.first!r}]; use int32)"
        for name in ("apply", "stop"):
            if getattr(self, name) is not None:
                return f"{name}="
        if self.aggregates:
            return "aggregates="
        for role in ("compute", "active"):
            function = getattr(self, role)
            if function is not None and "superstep" in parameters(plain(function, role), role):
                return f"superstep as a parameter of {role}"
            if function is not None and "received" in parameters(plain(function, role), role):
                return f"received as a parameter of {role}"
        if self.counts_messages:
            return f"{COUNT} as a parameter of active"
        return None


def _rebuilt(arguments: dict[str, Any]) -> VertexProgram:
    return VertexProgram(**arguments)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names) if isinstance(names, (set, frozenset)) else names)
