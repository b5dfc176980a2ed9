"""What a vertex program keeps: fields of vertices, and aggregates over all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dask_graphgpu.arguments import check_choice, check_function, refuse, said
from dask_graphgpu.errors import ProgramError
from dask_graphgpu.functions import INT64_MAX, INT64_MIN

DTYPES = ("weight", "int64", "int32", "float64", "float32", "bool", "id")

Function = Callable[..., Any]
Number = int | float | bool


@dataclass(frozen=True)
class Field:
    """One value a vertex.

    Parameters
    ----------
    dtype : str
        "int64", "int32", "float64", "float32", "bool"; "weight": int64 on a graph with integer (or
        no) weights, float64 with float weights; "id": a vertex, as ``id`` gives it. Results show the
        vertex under its own id.
    initial : number or function, optional
        Value at the start. None: no value, the vertex is unreached until a message comes; only the
        first field of a program may have none. A function may name ``id``, ``degree``,
        ``weighted_degree``, ``num_vertices``, constants, and fields read from the vertices frame.
    at_source : number or function, optional
        Value at the sources of the run, the same names.
    vertices : str, optional
        Column of the vertices frame that holds the value at the start, instead of ``initial``.
    """

    dtype: str
    initial: Number | Function | None = None
    at_source: Number | Function | None = None
    vertices: str | None = None

    def __post_init__(self) -> None:
        check_choice("Field dtype", self.dtype, DTYPES, error=ProgramError)
        for name in ("initial", "at_source"):
            value = getattr(self, name)
            if value is not None and not callable(value):
                check_number(value, f"Field {name}")
        if not (self.vertices is None or isinstance(self.vertices, str)):
            refuse(
                "Field vertices", self.vertices, "is a column of the vertices frame", ProgramError
            )
        if self.vertices is not None and self.initial is not None:
            raise ProgramError(
                f"Field reads its value from vertices={self.vertices!r} and has initial= as well: "
                "give one of them."
            )


class Counted(Field):
    """The field in which engines count messages; its column: as many as come when all vertices send."""


@dataclass(frozen=True)
class Aggregate:
    """A value over all vertices, taken each superstep; use Sum, Min or Max."""

    value: Function
    combine: ClassVar[str]

    def __post_init__(self) -> None:
        check_function(type(self).__name__, self.value, ProgramError, optional=False)


class Sum(Aggregate):
    """Sum over all vertices that have a value of a function of the vertex.

    The function may name fields, ``degree``, ``weighted_degree``, ``id``, ``superstep``,
    ``num_vertices``, ``num_messages``, constants and aggregates declared before. One that names a
    ``new_<field>`` or ``num_messages`` is taken after ``apply``, any other one before ``compute``.
    """

    combine = "sum"


class Min(Aggregate):
    """Least over all vertices that have a value of a function of the vertex; as for Sum."""

    combine = "min"


class Max(Aggregate):
    """Greatest over all vertices that have a value of a function of the vertex; as for Sum."""

    combine = "max"


def plain_number(name: str, value: Any) -> Number:
    """A constant as a bool, int or float of Python; ProgramError if it is none or beyond int64."""
    check_number(value, f"constants[{name!r}]")
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if not INT64_MIN <= value <= INT64_MAX:
        raise ProgramError(
            f"constants[{name!r}] is {said(value)}, beyond int64 ({INT64_MIN} to {INT64_MAX}): give a float."
        )
    return int(value)


def check_number(value: Any, what: str) -> None:
    """Raise ProgramError unless a value is a number."""
    if not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        raise ProgramError(f"{what} is {said(value)}: give a number.")
