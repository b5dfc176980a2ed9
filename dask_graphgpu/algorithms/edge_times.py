"""An edge column of times, named by an argument ``time``: numbers, or dates and times of a calendar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.schema import EdgeSchema, is_integer, is_weight
from dask_graphgpu.io.times import is_time

WEIGHT = "weight"  # what edges call their weight


def columns_of(time: str) -> Sequence[str]:
    """The edge columns to read beside the weight, which edges have under its own name."""
    return () if time == WEIGHT else (time,)


def carried(schema: EdgeSchema, time: str) -> str:
    """What edges call the column."""
    return WEIGHT if schema.weight == time else time


def dtype_of(schema: EdgeSchema, time: str) -> str:
    """The type that values of the column are worked with: "int64" or "float64"."""
    kind = dict(schema.dtypes).get(time)
    return "int64" if is_time(kind) or is_integer(kind) else "float64"


def check_times(schema: EdgeSchema, time: str, instead: str) -> Any:
    """The dtype of the column, if it is one of numbers or times, and every row an edge with a time of its own.

    Raises
    ------
    InvalidArgument
        ``instead`` says what is to be done where the graph is undirected.
    """
    kinds = dict(schema.dtypes)
    kind = kinds.get(time)
    if kind is None or not (is_time(kind) or is_weight(kind)):
        has = f"is of type {kind}" if time in kinds else f"is none of {[*kinds]}"
        raise InvalidArgument(f"time={time!r} {has}; name an edge column of numbers or times")
    if time == WEIGHT and schema.weight != WEIGHT:
        raise InvalidArgument(
            f"time={WEIGHT!r} is what edges call their weight, and that is {schema.weight!r} here: "
            "rename the column"
        )
    if not (schema.directed or (schema.weight == time and is_integer(kind))):
        raise InvalidArgument(
            "in an undirected graph rows that lead either way between two vertices are one edge, whatever "
            f"their times: leave directed=False out, and {instead}"
        )
    return kind
