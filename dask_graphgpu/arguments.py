"""What arguments may be: asked here for all methods, options and programs, of the type first, then of the value.

An array, a frame or pandas' NA that is compared with a word gives no truth value; so nothing is compared
before its type is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

from dask_graphgpu.errors import GraphError, InvalidArgument

_SHOWN = 80  # characters of a value in an error


def said(value: Any) -> str:
    """A value in the text of an error: as Python writes it if that is short, else cut off, or its type."""
    try:
        text = repr(value)
    except Exception:  # its own code, or a number of more digits than Python writes
        text = "\n"
    if "\n" in text or (len(text) > _SHOWN and not isinstance(value, int | str | Sequence)):
        return f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def refuse(
    name: str, value: Any, allowed: str, error: type[GraphError] = InvalidArgument
) -> NoReturn:
    """Raise the error that says what was given and what is allowed."""
    raise error(f"{name}={said(value)}; allowed {allowed}")


def check_choice(
    name: str,
    value: Any,
    allowed: Sequence[str],
    more: str = "",
    error: type[GraphError] = InvalidArgument,
) -> None:
    """Raise unless it is one of some words; ``more`` says what else would be."""
    if not (isinstance(value, str) and value in allowed):
        refuse(name, value, f"are {', '.join(map(repr, allowed))}{more}", error)


def check_flag(
    name: str, value: Any, *, optional: bool = False, error: type[GraphError] = InvalidArgument
) -> None:
    """Raise unless it is a truth value, or None where ``optional``."""
    if not (isinstance(value, bool | np.bool_) or (optional and value is None)):
        refuse(name, value, f"are True, False{', None' * optional}", error)


def is_whole(value: Any) -> bool:
    """Whether it is an integer of Python or NumPy, not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Whether it is a real number of any size, not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_whole(name: str, value: Any, least: int, *, any_size: bool = False) -> None:
    """Raise InvalidArgument unless it is an integer of at least ``least`` that 64 bits hold, or of ``any_size``."""
    if not (is_whole(value) and least <= value and (any_size or value < 2**63)):
        beyond = " and below 2**63" if is_whole(value) and value > least else ""
        refuse(name, value, f"is a whole number of at least {least}{beyond}")


def check_real(name: str, value: Any, allowed: str, ok: Callable[[float], bool]) -> None:
    """Raise InvalidArgument unless it is a real number that a float can hold, and ``ok``."""
    try:
        good = is_real(value) and ok(float(value))
    except OverflowError:
        good = False
    if not good:
        refuse(name, value, f"is {allowed}")


def as_limit(name: str, value: Any) -> int | float:
    """A number of at least 0 as one of Python; infinity for what is beyond all floats."""
    if not (is_real(value) and value >= 0):
        refuse(name, value, "is a number of at least 0")
    try:
        limit = float(value)
    except OverflowError:
        return math.inf
    return int(value) if is_whole(value) else limit


def check_function(name: str, value: Any, error: type[GraphError], *, optional: bool) -> None:
    """Raise unless it can be called, or is None where ``optional``."""
    if not (callable(value) or (optional and value is None)):
        raise error(f"{name}={said(value)}: give a function{' or None' * optional}.")


def as_mapping(
    name: str, value: Any, of: str, error: type[GraphError] = InvalidArgument
) -> dict[str, Any]:
    """A mapping of names to ``of`` as a dict; raises where it is something else."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise error(f"{name}={said(value)}; give a dict of names to {of}")
    return dict(value)


def as_names(name: str, value: Any, error: type[GraphError] = InvalidArgument) -> tuple[str, ...]:
    """The name of a column, or several, as a tuple; raises where it is something else."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise error(
            f"{name}={said(value)} names no column: give a string or a list of them; columns with "
            "other names are renamed first, with .rename(columns=str)"
        )
    return tuple(names)


def as_id(name: str, value: Any) -> Any:
    """A vertex id as plain Python: a number, a text, or a tuple of these.

    Raises
    ------
    InvalidArgument
        It is a list, an array of several, a frame or nothing at all.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    parts = value if isinstance(value, tuple) else (value,)
    plain = tuple(part.item() if isinstance(part, np.generic) else part for part in parts)
    if not parts or not all(isinstance(part, str | int | float) for part in plain):
        raise InvalidArgument(f"{name}={said(value)}; give one vertex id")
    return plain if isinstance(value, tuple) else plain[0]


def as_ids(name: str, value: Any) -> Any:
    """A vertex id, or a list or array of them as a list.

    Raises
    ------
    InvalidArgument
        It is neither, or there are none in it.
    """
    if hasattr(value, "to_arrow"):  # cuDF's, which has no tolist of its own
        value = value.to_arrow()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, list):
        try:
            return as_id(name, value)
        except InvalidArgument:
            refuse(name, value, "is a vertex id; several vertices are given as a list")
    if not value:
        raise InvalidArgument(f"{name}=[]; give at least one vertex id")
    kinds = set(map(type, value))
    if kinds == {tuple} and all(value):
        kinds = {type(part) for each in value for part in each}
    if kinds <= {int, str}:  # as they come: a million at once are no million calls
        return list(value)
    return [as_id(name, tuple(each) if isinstance(each, list) else each) for each in value]
