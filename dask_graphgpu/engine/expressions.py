"""The names that a program's functions read, as expressions of generated kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dask_graphgpu.engine.state import Binding
from dask_graphgpu.functions import parameters, plain


def shown(expression: str, dtype: np.dtype[Any]) -> str:
    """How user functions see a stored value: ids and unsigned numbers as int64.

    Numba makes float64 of uint64 with int64.
    """
    if dtype.kind == "u":
        return f"np.int64({expression})"
    return expression


def stored(expression: str, dtype: np.dtype[Any]) -> str:
    """What a user function returned, in the type that is kept."""
    if dtype.kind == "f":
        value = f"to_float({expression})"
        return value if dtype == np.float64 else f"np.{dtype}({value})"
    if dtype.kind == "b":
        return f"to_bool({expression})"
    value = f"to_int({expression})"
    return value if dtype == np.int64 else f"np.{dtype}({value})"


def number(value: Any, dtype: np.dtype[Any]) -> str:
    """Source of a constant of ``dtype``."""
    value = np.asarray(value, dtype).item()
    if dtype.kind == "f":
        text = repr(value) if np.isfinite(value) else ("-np.inf" if value < 0 else "np.inf")
        return f"np.{dtype}({text})"
    return repr(bool(value)) if dtype.kind == "b" else f"np.{dtype}({value})"


def run_names(binding: Binding) -> dict[str, str]:
    """Scalars of the run."""
    names = {name: f"constant_{name}" for name in binding.program.constants}
    names |= {name: f"aggregate_{name}" for name in binding.program.aggregates}
    return names | {"superstep": "superstep", "num_vertices": "num_vertices"}


def vertex_names(binding: Binding, v: str) -> dict[str, str]:
    """What a vertex ``v`` has."""
    names = {name: shown(f"state_{name}[{v}]", dtype) for name, dtype in binding.dtypes.items()}
    return names | {
        "id": f"np.int64({v})" if binding.view.numbers is None else f"np.int64(numbers[{v}])",
        "degree": f"degree[{v}]",
        "weighted_degree": f"weighted_degree[{v}]",
    }


def edge_names(binding: Binding, u: str, v: str, e: str) -> dict[str, str]:
    """What an edge ``e`` from ``u`` to ``v`` has."""
    names = run_names(binding)
    for end, x in (("source", u), ("destination", v)):
        names |= {f"{end}_{name}": text for name, text in vertex_names(binding, x).items()}
    weight = binding.edges.weight
    wide = f"np.{binding.weight_dtype}"
    names["weight"] = "np.int64(1)" if weight is None else f"{wide}(column_weight[{e}])"
    for name in parameters(plain(binding.program.compute, "compute"), "compute"):
        if name.startswith("edge_"):
            column = name.removeprefix("edge_")
            dtype = binding.edge_column(binding.edges, column).dtype
            names[name] = shown(f"column_{column}[{e}]", dtype)
    return names


def call(name: str, function: Any, role: str, names: Mapping[str, str]) -> str:
    """Source of a call with those parameters that the contract knows; defaults stay out."""
    named = parameters(plain(function, role), role)
    known = [parameter for parameter in named if parameter in names]
    if known == list(named)[: len(known)]:
        return f"{name}({', '.join(names[parameter] for parameter in known)})"
    return f"{name}({', '.join(f'{parameter}={names[parameter]}' for parameter in known)})"


def in_floats(names: Mapping[str, str]) -> dict[str, str]:
    """The same values as float64."""
    return {name: f"np.float64({text})" for name, text in names.items()}
