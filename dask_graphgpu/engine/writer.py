"""What the generated kernels are written with: arguments by name, messages, tests for overflow."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
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
from dask_graphgpu.functions import INT64_MAX, may_overflow, plain, returned_keys

_HEAD = """\
# Made by dask_graphgpu from a vertex program.
import marshal
import types

import numpy
import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.atomics import atomic_add, atomic_max, atomic_min
from dask_graphgpu.kernels.cpu.convert import raised_limit, to_bool, to_float, to_int, wrapped

ONE = np.uint64(1)
"""

_ARRAYS = re.compile(
    r"\b(?:(?:state|new|constant|aggregate|column)_\w+|degree|weighted_degree|superstep|num_vertices|numbers)\b"
)


def flat(role: str) -> str:
    """A name for a function: ``state['x'].initial`` becomes ``state_x_initial``."""
    return re.sub(r"\W+", "_", role).strip("_")


def indented(text: str, spaces: int) -> str:
    """``text`` with each line moved right."""
    return textwrap.indent(text, " " * spaces)


class Writer:
    """The module of one program, as it grows."""

    def __init__(self, binding: Binding, math: str = "import math") -> None:
        self.binding, self.program = binding, binding.program
        self.parts: list[str] = [f"{_HEAD}{math}\n"]
        self.arguments: dict[str, tuple[str, ...]] = {}

    def text(self) -> str:
        """Source of the module."""
        return "\n".join(self.parts) + "\n"

    def kernel(self, name: str, fixed: str, body: str) -> None:
        """Add a kernel; what its body names besides ``fixed`` becomes arguments."""
        names = tuple(sorted(set(_ARRAYS.findall(body))))
        self.arguments[name] = names
        self.parts.append(
            f"\n@jit\ndef {name}({', '.join((fixed, *names))}):\n"
            + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
        )

    def message(self, u: str, v: str, e: str, fail: str) -> str:
        """Lines that set ``m`` to the message; ``fail`` is what to do on overflow."""
        return self.sent(edge_names(self.binding, u, v, e), fail)

    def sent(self, names: Mapping[str, str], fail: str) -> str:
        """The same, of an edge whose values have these names."""
        raw = call("_compute", self.program.compute, "compute", names)
        shadow = ""
        if self.binding.shadowed("compute"):
            shadow = call("_compute", self.program.compute, "compute", in_floats(names))
        return self.kept("m", raw, shadow, self.binding.message, fail)

    def kept(self, target: str, raw: str, shadow: str, dtype: np.dtype[Any], fail: str) -> str:
        """Lines that set ``target`` to what a user function gave, in the type that is kept.

        ``shadow`` is the same in floats, empty where only the range of the type is tested.
        """
        tests = [f"wrapped(raw, to_float({shadow}))"] if shadow else []
        tests += outside("raw", dtype) if self.binding.checks(dtype) else []
        if not tests:
            return f"{target} = {stored(raw, dtype)}"
        return (
            f"raw = to_int({raw})\n"
            f"if {' or '.join(tests)}: {fail}\n"
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
        return self.asked(names)

    def asked(self, names: Mapping[str, str]) -> str:
        """Expression: what the user's ``active`` says."""
        return f"to_bool({call('_active', self.program.active, 'active', names)})"

    def made(self, names: Mapping[str, str], fail: str) -> list[str]:
        """Lines that set ``made_<field>`` to what the user's ``apply`` gives.

        Integers are worked out in floats as well where they are checked.
        """
        program, binding = self.program, self.binding
        assert program.apply is not None
        several = returned_keys(plain(program.apply, "apply"), "apply") is not None
        lines = [f"made = {call('_apply', program.apply, 'apply', names)}"]
        if binding.shadowed("apply"):
            lines += [f"shadow = {call('_apply', program.apply, 'apply', in_floats(names))}"]
        for i, name in enumerate(program.changing):
            dtype, place = binding.dtypes[name], f"[{i}]" if several else ""
            shadow = f"shadow{place}" if binding.shadowed("apply") and dtype.kind in "iu" else ""
            lines += [self.kept(f"made_{name}", f"made{place}", shadow, dtype, fail)]
        return lines

    def started(
        self, target: str, role: str, function: Any, names: Mapping[str, str], fail: str
    ) -> str:
        """Lines that set ``target`` to the value of a field at the start."""
        dtype, name = self.binding.dtypes[role.split("'")[1]], "_" + flat(role)
        shadow = ""
        if self.binding.checks(dtype) and may_overflow(plain(function, role)):
            shadow = call(name, function, role, in_floats(names))
        return self.kept(target, call(name, function, role, names), shadow, dtype, fail)

    def aggregated(self, name: str, names: Mapping[str, str], fail: str, x: str = "x") -> list[str]:
        """Lines that set ``x`` to what a vertex has to add to an aggregate."""
        role, value = f"aggregates[{name!r}]", self.program.aggregates[name].value
        function = "_" + flat(role)
        lines = [f"{x} = {call(function, value, role, names)}"]
        if self.binding.shadows_aggregate(name):
            floats = call(function, value, role, in_floats(names))
            lines += [f"if wrapped({x}, to_float({floats})): {fail}"]
        return lines

    def from_store(self, expression: str) -> str:
        """A stored message; bools are kept in bytes."""
        return f"{expression} != 0" if self.binding.message.kind == "b" else expression


def outside(value: str, dtype: np.dtype[Any]) -> list[str]:
    """Tests of an int64 for the range of another integer type."""
    if dtype == np.int64:
        return []
    info = np.iinfo(dtype)
    above = [f"{value} > {info.max}"] if info.max < INT64_MAX else []
    return [f"{value} < {info.min}", *above]
