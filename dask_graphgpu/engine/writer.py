"""What the generated kernels are written with: arguments by name, messages, tests for overflow."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import numpy as np

from dask_graphgpu.engine.expressions import (
    call,
    edge_names,
    in_floats,
    run_names,
    shown,
    stored,
    vertex_names,
)
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.functions import parameters, plain, returned_keys

_HEAD = """\
# Made by dask_graphgpu from a vertex program. Never change it: Numba goes by its time and size.
import marshal
import math
import types

import numpy
import numpy as np
from numba import njit

from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_max, atomic_min
from dask_graphgpu.kernels.cpu.convert import raised_limit, to_bool, to_float, to_int, wrapped

ONE = np.uint64(1)
"""

_ARRAYS = re.compile(
    r"\b(?:(?:state|new|constant|aggregate|column)_\w+|degree|weighted_degree|superstep|num_vertices)\b"
)


def flat(role: str) -> str:
    """A name for a function: ``state['x'].initial`` becomes ``state_x_initial``."""
    return re.sub(r"\W+", "_", role).strip("_")


def indented(text: str, spaces: int) -> str:
    """``text`` with each line moved right."""
    return textwrap.indent(text, " " * spaces)


class Writer:
    """The module of one program, as it grows."""

    def __init__(self, binding: Binding) -> None:
        self.binding, self.program = binding, binding.program
        self.parts: list[str] = [_HEAD]
        self.arguments: dict[str, tuple[str, ...]] = {}

    def text(self) -> str:
        """Source of the module."""
        return "\n".join(self.parts) + "\n"

    def kernel(self, name: str, fixed: str, body: str) -> None:
        """Add a kernel; what its body names besides ``fixed`` becomes arguments."""
        names = tuple(sorted(set(_ARRAYS.findall(body))))
        self.arguments[name] = names
        self.parts.append(
            f"\n@njit(nogil=True, cache=True)\ndef {name}({', '.join((fixed, *names))}):\n"
            + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
        )

    @property
    def source_only(self) -> bool:
        """Whether a vertex sends the same along all its edges."""
        named = parameters(plain(self.program.compute, "compute"), "compute")
        return not any(p.startswith(("destination_", "edge_")) or p == "weight" for p in named)

    def message(self, u: str, v: str, e: str, fail: str) -> str:
        """Lines that set ``m`` to the message; ``fail`` is what to do on overflow."""
        names = edge_names(self.binding, u, v, e)
        raw = call("_compute", self.program.compute, "compute", names)
        return self.checked("compute", "m", raw, in_floats(names), self.binding.message, fail)

    def checked(
        self, role: str, target: str, raw: str, floats: dict[str, str], dtype: Any, fail: str
    ) -> str:
        if not self.binding.checked(role):
            return f"{target} = {stored(raw, dtype)}"
        shadow = call(f"_{role}", getattr(self.program, role), role, floats)
        test = f"wrapped(raw, to_float({shadow}))"
        return (
            f"raw = to_int({raw})\n"
            f"if {test}{outside('raw', dtype)}: {fail}\n"
            f"{target} = {stored('raw', dtype)}"
        )

    def active(self, v: str, old: str, message: str, new: dict[str, str], received: str) -> str:
        """Expression: does ``v`` send in the next superstep."""
        if self.program.active is None:
            if self.program.combine == "sum":
                return "True"
            first = self.program.first
            return f"{new[first]} != {old}"
        names = run_names(self.binding) | vertex_names(self.binding, v)
        names[self.program.first] = shown(old, self.binding.dtypes[self.program.first])
        for name, text in new.items():
            names[f"new_{name}"] = shown(text, self.binding.dtypes[name])
        names |= {"message": shown(message, self.binding.message), "received": received}
        return f"to_bool({call('_active', self.program.active, 'active', names)})"

    @property
    def whole_priorities(self) -> bool:
        """Whether priorities are integers: tried on the number 1."""
        function = self.program.priority
        if function is None or self.binding.message.kind not in "iu":
            return False
        arguments = self.binding.scalars(function, "priority", {self.program.first: 1})
        assert arguments is not None
        return isinstance(function(**arguments), (int, np.integer))

    @property
    def needs_received(self) -> bool:
        """Whether it matters that a message came at all."""
        named = [
            name
            for role in ("apply", "active")
            if (function := getattr(self.program, role)) is not None
            for name in parameters(plain(function, role), role)
        ]
        return self.program.has_reached or self.program.combine == "any" or "received" in named

    @property
    def returns_dict(self) -> bool:
        assert self.program.apply is not None
        return returned_keys(plain(self.program.apply, "apply"), "apply") is not None

    def from_store(self, expression: str) -> str:
        """A stored message; bools are kept in bytes."""
        return f"{expression} != 0" if self.binding.message.kind == "b" else expression


def outside(value: str, dtype: np.dtype[Any]) -> str:
    """Test, to follow another one, of an int64 for the range of a narrower type."""
    if dtype == np.int64:
        return ""
    info = np.iinfo(dtype)
    return f" or {value} < {info.min} or {value} > {min(int(info.max), 2**63 - 1)}"
