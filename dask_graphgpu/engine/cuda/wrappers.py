"""A program's Python functions as device functions of C linkage.

Each gets a wrapper in Python that converts what the function gives and tests it for overflow, with
the text of the CPU's kernels; it writes results through pointers and returns 1 on overflow. What a
function reads are scalars: the C++ that calls a wrapper loads them.
"""

from __future__ import annotations

import dis
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.compiler import run_frontend
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typed_passes import type_inference_stage

from dask_graphgpu.engine import module_cache
from dask_graphgpu.engine.embed import embed
from dask_graphgpu.engine.expressions import call
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.writer import Writer, flat, indented
from dask_graphgpu.errors import ProgramError
from dask_graphgpu.functions import may_overflow, parameters, plain
from dask_graphgpu.kernels.compile import DeviceFunction

C_TYPES = {
    "bool": "uint8", "float32": "float", "float64": "double",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
    "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
}  # fmt: skip
"""Types of common.cuh that hold values of NumPy's."""

_INT64 = np.dtype(np.int64)
_MATH = "from dask_graphgpu.kernels import device_math as math"


@cache
def c_type(dtype: np.dtype[Any]) -> str:
    """The C++ type that holds ``dtype``."""
    if dtype.name not in C_TYPES:
        raise ProgramError(f"values of {dtype} are not for the GPU engine: convert the column.")
    return C_TYPES[dtype.name]


@dataclass(frozen=True)
class Wrapper:
    """How C++ calls a wrapper.

    Attributes
    ----------
    name : its symbol
    role : of the user's function, as messages name it
    reads : names of the values that it takes, in order
    outs : C++ types of the results, which it takes pointers to
    """

    name: str
    role: str
    reads: tuple[str, ...]
    types: tuple[np.dtype[Any], ...]
    outs: tuple[np.dtype[Any], ...]

    @property
    def declaration(self) -> str:
        """Of the symbol, in C++."""
        taken = [*(c_type(t) for t in self.types), *(f"{c_type(t)} *" for t in self.outs)]
        return f'extern "C" __device__ int32 {self.name}({", ".join(taken)});'

    @property
    def signature(self) -> str:
        """Of Numba; bools are bytes there."""
        taken = [_numba(t) for t in self.types] + [f"CPointer({_numba(t)})" for t in self.outs]
        return f"int32({', '.join(taken)})"


def _numba(dtype: np.dtype[Any]) -> str:
    return "uint8" if dtype.kind == "b" else dtype.name


class Wrappers:
    """All wrappers of a program.

    Attributes
    ----------
    aggregates : dict of str to dtype
        int64 or float64, as the functions say.
    stop : bool
        Whether ``stop`` can be asked on the device, with the answer that Python gives.
    """

    def __init__(self, binding: Binding) -> None:
        self.binding, self.program = binding, binding.program
        self.writer = Writer(binding, _MATH)
        self.aggregates: dict[str, np.dtype[Any]] = {}
        self._types: dict[tuple[str, int], dict[str, np.dtype[Any]]] = {}
        self.functions = self.program.functions()
        for role, function in self.functions.items():
            if role not in ("stop", "bound"):
                name = "_" + flat(role)
                self.writer.parts += embed(function, name, role, tuples=role == "apply")
        embeds_stop = self._embed_stop()
        for name in self.program.aggregates:
            self._write(f"aggregates[{name!r}]", self._aggregate(name), typed=True)
        for role in self.starts:
            self._write(role, self._start(role))
        self._write("compute", self._message())
        for role, lines in (("apply", self._apply), ("active", self._active)):
            if role in self.functions:
                self._write(role, lines())
        if self.program.priority is not None:
            self._write("priority", self._priority())
        if embeds_stop:
            self._write("stop", [f"return 1 if {self._call('stop')} else 0"])
        self.module: ModuleType = module_cache.load(self.writer.text())
        for name in self.program.aggregates:
            self.aggregates[name] = self._inferred(f"aggregates[{name!r}]")
        self.stop = embeds_stop and self._same_as_python()

    @property
    def starts(self) -> tuple[str, ...]:
        """Roles of the fields' values at the start that are worked out a vertex."""
        return tuple(
            role
            for role, function in self.functions.items()
            if role.startswith("state") and self.binding.scalars(function, role, {}) is None
        )

    def wrapper(self, role: str) -> Wrapper:
        """How C++ calls the function called ``role``."""
        outs: tuple[np.dtype[Any], ...]
        if role == "compute":
            outs = (self.binding.message,)
        elif role == "apply":
            outs = tuple(self.binding.dtypes[name] for name in self.program.changing)
        elif role == "priority":
            whole = self.binding.whole_priorities
            outs = (np.dtype(np.int64 if whole else np.float64),)
        elif role.startswith("aggregates"):
            outs = (self.aggregates[role.split("'")[1]],)
        elif role.startswith("state"):
            outs = (self.binding.dtypes[role.split("'")[1]],)
        else:
            outs = ()
        reads = self._reads(role)
        types = self.types(role)
        return Wrapper(_symbol(role), role, reads, tuple(types[name] for name in reads), outs)

    def device_function(self, role: str) -> DeviceFunction:
        """What the compiler takes."""
        wrapper = self.wrapper(role)
        return DeviceFunction(wrapper.name, getattr(self.module, wrapper.name), wrapper.signature)

    # -- what functions read ---------------------------------------------------------------------

    def types(self, role: str) -> dict[str, np.dtype[Any]]:
        """Values that a function may name, with the types in which it sees them."""
        key = role, len(self.aggregates)  # their types become known one by one
        if key not in self._types:
            self._types[key] = self._types_of(role)
        return self._types[key]

    def _types_of(self, role: str) -> dict[str, np.dtype[Any]]:
        binding = self.binding
        run = {name: _of_number(value) for name, value in binding.constants.items()}
        run |= {name: self.aggregates.get(name, _INT64) for name in self.program.aggregates}
        run |= {"superstep": _INT64, "num_vertices": _INT64}
        vertex = {name: seen(dtype) for name, dtype in binding.dtypes.items()}
        if role == "priority":
            return run | {self.program.first: vertex[self.program.first]}
        if role == "stop":
            return run
        new = {f"new_{name}": vertex[name] for name in self.program.changing}
        vertex |= {"id": _INT64, "degree": _INT64, "weighted_degree": binding.weight_dtype}
        if role == "compute":
            edge = {
                f"{end}_{name}": t
                for end in ("source", "destination")
                for name, t in vertex.items()
            }
            edge["weight"] = binding.weight_dtype
            for name in parameters(plain(self.program.compute, role), role):
                if name.startswith("edge_"):
                    column = binding.edge_column(binding.edges, name.removeprefix("edge_"))
                    edge[name] = seen(column.dtype)
            return run | edge
        if role.startswith("state"):
            return run | vertex
        if role.startswith("aggregates"):
            return run | vertex | new
        vertex |= {"message": seen(binding.message), "received": np.dtype(bool)}
        return run | vertex | (new if role == "active" else {})

    def _reads(self, role: str) -> tuple[str, ...]:
        types = self.types(role)
        return tuple(p for p in parameters(plain(self.functions[role], role), role) if p in types)

    def _names(self, role: str) -> dict[str, str]:
        """What is read, as expressions of a wrapper."""
        types = self.types(role)
        return {
            name: f"(given_{name} != 0)" if types[name].kind == "b" else f"given_{name}"
            for name in self._reads(role)
        }

    def _call(self, role: str) -> str:
        return call("_" + flat(role), self.functions[role], role, self._names(role))

    # -- the text of wrappers --------------------------------------------------------------------

    def _write(self, role: str, lines: list[str], *, typed: bool = False) -> None:
        taken = [f"given_{name}" for name in self._reads(role)]
        outs = len(self.program.changing) if role == "apply" else 1
        results = [] if role in ("active", "stop") else [f"out_{i}" for i in range(outs)]
        body = "\n".join(lines)
        self.writer.parts.append(
            f"\ndef {_symbol(role)}({', '.join([*taken, *results])}):\n{indented(body, 4)}"
        )
        if typed:  # a sum of bools counts them
            self.writer.parts.append(
                f"\ndef typed_{flat(role)}({', '.join(taken)}):\n    return 0 + {self._call(role)}"
            )

    def _message(self) -> list[str]:
        lines = self.writer.sent(self._names("compute"), "return 1")
        return [lines, _put(0, "m", self.binding.message), "return 0"]

    def _apply(self) -> list[str]:
        lines = self.writer.made(self._names("apply"), "return 1")
        for i, name in enumerate(self.program.changing):
            lines.append(_put(i, f"made_{name}", self.binding.dtypes[name]))
        return [*lines, "return 0"]

    def _active(self) -> list[str]:
        return [f"return 1 if {self.writer.asked(self._names('active'))} else 0"]

    def _priority(self) -> list[str]:
        convert = "to_int" if self.binding.whole_priorities else "to_float"
        return [f"out_0[0] = {convert}({self._call('priority')})", "return 0"]

    def _start(self, role: str) -> list[str]:
        function, dtype = self.functions[role], self.binding.dtypes[role.split("'")[1]]
        lines = self.writer.started("value", role, function, self._names(role), "return 1")
        return [lines, _put(0, "value", dtype), "return 0"]

    def _aggregate(self, name: str) -> list[str]:
        names = self._names(f"aggregates[{name!r}]")
        return [*self.writer.aggregated(name, names, "return 1"), "out_0[0] = 0 + x", "return 0"]

    # -- types that follow from the functions ----------------------------------------------------

    def _inferred(self, role: str) -> np.dtype[Any]:
        """int64 or float64: what an aggregate's function gives."""
        given = inferred(getattr(self.module, f"typed_{flat(role)}"), self.argument_types(role))
        return np.dtype(np.int64 if isinstance(given, numba.types.Integer) else np.float64)

    def argument_types(self, role: str) -> tuple[Any, ...]:
        """Numba's types of what a wrapper reads."""
        types = self.types(role)
        return tuple(getattr(numba.types, _numba(types[name])) for name in self._reads(role))

    def check(self, role: str) -> None:
        """Raise Numba's typing error if a function has one."""
        if role not in ("stop", "bound") and (not role.startswith("state") or role in self.starts):
            outs = self.wrapper(role).outs
            pointers = tuple(numba.types.CPointer(getattr(numba.types, _numba(t))) for t in outs)
            types = (*self.argument_types(role), *pointers)
            inferred(getattr(self.module, _symbol(role)), types)

    def _embed_stop(self) -> bool:
        """Whether ``stop`` may be compiled: Python's integers and its errors stay Python's."""
        if self.program.stop is None:
            return False
        function = plain(self.program.stop, "stop")
        if any(i.argrepr.rstrip("=") in _UNSAFE for i in dis.get_instructions(function)):
            return False
        try:
            self.writer.parts += embed(function, "_stop", "stop")
        except ProgramError:
            return False  # it reads what only Python can
        return True

    def _same_as_python(self) -> bool:
        types = self.types("stop")
        whole = any(types[name].kind != "f" for name in self._reads("stop"))
        if whole and may_overflow(plain(self.program.stop, "stop")):
            return False
        try:
            inferred(getattr(self.module, _symbol("stop")), self.argument_types("stop"))
        except numba.core.errors.NumbaError:
            return False
        return True


_UNSAFE = ("/", "//", "%", "**", "<<")  # divide by zero, or leave 64 bits


def _symbol(role: str) -> str:
    return f"program_{flat(role)}"


def seen(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which user functions see a stored one (see `expressions.shown`)."""
    return _INT64 if dtype.kind == "u" else dtype


def _of_number(value: Any) -> np.dtype[Any]:
    if isinstance(value, bool):
        return np.dtype(bool)
    return np.dtype(np.int64 if isinstance(value, int) else np.float64)


def _put(place: int, value: str, dtype: np.dtype[Any]) -> str:
    return f"out_{place}[0] = {f'np.uint8({value})' if dtype.kind == 'b' else value}"


@cache
def inferred(function: Any, types: tuple[Any, ...]) -> Any:
    """Numba's type of what a function gives; its typing errors."""
    typing, target = cpu_target.typing_context, cpu_target.target_context
    with global_compiler_lock:
        typing.refresh()
        target.refresh()
        found = type_inference_stage(typing, target, run_frontend(function), types, None)
    return found.return_type
