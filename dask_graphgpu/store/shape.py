"""The shape of JSON values: what has to be where, looked at before any of it is used."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

# A type; a function that says whether a value is right; a list of one shape, for any number of these; a dict of shapes,
# whose keys have to be there, among others; or one of the classes below.
Shape: TypeAlias = Any

_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Each:
    """A dict of values of one shape, whose keys are right."""

    value: Shape
    key: Callable[[str], bool] = lambda _: True


@dataclass(frozen=True)
class Maybe:
    """None, or what has the shape."""

    value: Shape


def one_of(*words: str) -> Callable[[Any], bool]:
    """Whether a value is one of some words."""
    return lambda value: isinstance(value, str) and value in words


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 0 to the largest of 64 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST


def is_number(value: Any) -> bool:
    """Whether it is a number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def misfit(value: Any, shape: Shape, where: str) -> str | None:
    """Where a value is not of a shape, in words; None: it is. ``where`` is what it is called."""
    if isinstance(shape, Maybe):
        return None if value is None else misfit(value, shape.value, where)
    kind: Any = {dict: dict, Each: dict, list: list}.get(type(shape))
    if kind is None:
        right = isinstance(value, shape) if isinstance(shape, type) else shape(value)
    else:
        right = isinstance(value, kind)
    if not right:
        return f"{where} is {reprlib.repr(value)}"
    if isinstance(shape, dict):
        for key in shape:
            if key not in value:
                return f"{where} has no {key}"
    if isinstance(shape, Each):
        for key in value:
            if not shape.key(key):
                return f"{where} names {reprlib.repr(key)}"
    parts = () if kind is None else _parts(value, shape, where)
    return next((found for part in parts if (found := misfit(*part)) is not None), None)


def _parts(value: Any, shape: Shape, where: str) -> Iterator[tuple[Any, Shape, str]]:
    """What is in a list or a dict, the shape that it has to have, and what it is called."""
    if isinstance(shape, list):
        yield from ((each, shape[0], f"{where}[{i}]") for i, each in enumerate(value))
    elif isinstance(shape, Each):
        yield from ((each, shape.value, f"{where}[{key!r}]") for key, each in value.items())
    else:
        yield from ((value[key], part, f"{where}[{key!r}]") for key, part in shape.items())
