"""What a program gives, in the types that are kept, and the fields at the start of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from dask_graphgpu.engine.loop import overflow
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import InvalidVertices, ProgramError
from dask_graphgpu.functions import INT64_MAX, INT64_MIN, plain, where
from dask_graphgpu.partition.device.elements import copy_some
from dask_graphgpu.program import VertexProgram

# Fills one field: (role, function, dtype) -> array of shape (num_vertices,).
Evaluate = Callable[[str, FunctionType, np.dtype[Any]], np.ndarray]


def initial(
    binding: Binding,
    given: Mapping[str, np.ndarray],
    evaluate: Evaluate,
    sources: np.ndarray | None,
    full: Callable[..., Any] = np.full,
) -> dict[str, np.ndarray]:
    """Fields at the start, arrays of shape (num_vertices,); ``given``: see `given_columns`.

    ``full`` makes an array; all others come from ``given`` and ``evaluate``.
    """
    program, n = binding.program, binding.view.num_vertices
    state = dict(given)
    for name, declared in program.state.items():
        dtype = binding.dtypes[name]
        if declared.initial is not None:
            role = f"state[{name!r}].initial"
            state[name] = _filled(binding, declared.initial, role, dtype, evaluate, full)
        elif declared.vertices is None:
            state[name] = full(n, binding.identity(dtype), dtype)
        if declared.at_source is not None and sources is not None:
            role = f"state[{name!r}].at_source"
            values = _filled(binding, declared.at_source, role, dtype, evaluate, full)
            state[name] = state[name].copy() if name in given else state[name]
            copy_some(values, sources, state[name])
    return {name: state[name] for name in program.state}


def given_columns(binding: Binding) -> dict[str, np.ndarray]:
    """The fields that are read from the vertices frame, as new arrays."""
    return {
        name: _vertex_column(binding, declared.vertices, binding.dtypes[name])
        for name, declared in binding.program.state.items()
        if declared.vertices is not None
    }


def _filled(
    binding: Binding,
    value: Any,
    role: str,
    dtype: np.dtype[Any],
    evaluate: Evaluate,
    full: Callable[..., Any],
) -> Any:
    """A field that is a number everywhere, or what a function says."""
    if callable(value):
        arguments = binding.scalars(value, role, {})
        if arguments is None:
            return evaluate(role, plain(value, role), dtype)
        value = value(**arguments)
        if dtype.kind in "iu" and not _is_fraction(value):
            value = fitted(binding.program, role, int(value), dtype)
    return full(binding.view.num_vertices, _exact(value, dtype, role), dtype)


def _vertex_column(binding: Binding, column: str, dtype: np.dtype[Any]) -> np.ndarray:
    columns = binding.view.vertex_columns
    if column not in columns:
        raise InvalidVertices(
            f"the program reads column {column!r} of the vertices frame, which has "
            f"{sorted(columns) or 'no columns besides the id'}: pass a vertices= frame with it."
        )
    values: Any = columns[column]  # NumPy's or CuPy's
    if values.dtype.kind not in "biuf" or (values.dtype.kind == "f" and dtype.kind != "f"):
        raise InvalidVertices(
            f"column {column!r} of the vertices frame is {values.dtype}; the program's field is "
            f"{dtype}: convert the column."
        )
    if dtype.kind in "iu" and values.size:
        info = np.iinfo(dtype)
        if int(values.min()) < info.min or int(values.max()) > info.max:
            raise InvalidVertices(f"column {column!r} of the vertices frame exceeds {dtype}.")
    made: np.ndarray = values.astype(dtype)
    return made


def _is_fraction(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and not float(value).is_integer()


def _exact(value: Any, dtype: np.dtype[Any], role: str) -> Any:
    """Convert a number to ``dtype``; refuses what would change it (a fraction, overflow)."""
    if dtype.kind == "f":
        return dtype.type(value)
    if dtype.kind == "b":
        return dtype.type(bool(value))
    if _is_fraction(value):
        raise ProgramError(f"{role} gives {value!r} for a field of {dtype}: give a whole number.")
    info = np.iinfo(dtype)
    if not info.min <= int(value) <= info.max:
        raise ProgramError(f"{role} gives {value!r}, which does not fit {dtype}.")
    return dtype.type(int(value))


def fitted(program: VertexProgram, role: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """What a function of the program gave, as a Python number that ``dtype`` holds.

    Raises
    ------
    ProgramError
        A float where a whole number is declared.
    IntegerOverflow
        It does not fit, and the program does not say that integers wrap around.
    """
    if dtype.kind not in "iu":
        return dtype.type(value).item()
    if isinstance(value, (float, np.floating)):
        function = plain(program.functions()[role], role)
        raise ProgramError(
            f"{role} ({where(function)}): gives {value!r} for {dtype}: give a whole number "
            "(int(...) rounds towards zero), or declare a float dtype."
        )
    value, info = int(value), np.iinfo(dtype)
    if not info.min <= value <= info.max:
        if not program.wraps:
            raise overflow(program, role)
        value = (value - int(info.min)) % 2 ** (8 * dtype.itemsize) + int(info.min)
    return value


def fitted_aggregate(program: VertexProgram, role: str, value: Any) -> Any:
    """A value of an aggregate; a whole number has to fit int64, as of `fitted`."""
    if isinstance(value, int) and not INT64_MIN <= value <= INT64_MAX:
        return fitted(program, role, value, np.dtype(np.int64))
    return value
