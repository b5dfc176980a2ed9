"""Lower a vertex program to a Numba module: its kernels over blocks of vertices and edges.

The text depends on the program, the dtypes, and on whether the graph has weights and integers are
checked; constants are arguments. It does not depend on the layout, or on how many ranks there are:
what is compiled for one is there for the others. Numba compiles a kernel when it is first called, so
a run pays only for the directions that it takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numba

from dask_graphgpu.engine import module_cache
from dask_graphgpu.engine.edge_kernels import write_fold, write_gather, write_push, write_push_rows
from dask_graphgpu.engine.embed import embed
from dask_graphgpu.engine.in_place_kernels import (
    write_asked,
    write_layered,
    write_near_far,
    write_relax,
    write_relax_there,
    write_sweep,
)
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.vertex_kernels import (
    write_aggregate,
    write_apply,
    write_emit,
    write_initial,
)
from dask_graphgpu.engine.writer import Writer, flat
from dask_graphgpu.errors import ProgramError
from dask_graphgpu.functions import plain, where

# What in a Numba error tells a user most, best first.
_TELLING = (
    r"returns .* is declared",
    r"Unknown attribute.*",
    r"Untyped global name.*",
    r"Cannot unify.*",
    r"Use of unsupported.*",
    r"No implementation of function.*\s*>>> .*",
    r"Invalid use of.*",
)


@dataclass(frozen=True, eq=False)
class Lowered:
    """The kernels of a program, and the names of what each takes after its fixed arguments."""

    module: ModuleType
    arguments: dict[str, tuple[str, ...]]
    roles: dict[str, Any]

    def kernel(self, name: str) -> Callable[..., Any]:
        """A kernel whose compile errors are told in terms of the program."""
        function = getattr(self.module, name)

        def run(*args: Any) -> Any:
            try:
                return function(*args)
            except numba.core.errors.NumbaError as error:
                raise translated(error, name, self.roles) from error

        return run


def lower(binding: Binding) -> Lowered:
    """Return the kernels of a program on a graph."""
    writer = Writer(binding)
    _write(writer)
    return Lowered(module_cache.load(writer.text()), writer.arguments, binding.program.functions())


def translated(error: Exception, kernel: str, functions: Mapping[str, Any]) -> ProgramError:
    """A typing error, told with those of a program's functions, by role, that the kernel calls."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    used = {
        "emit": ("compute",), "gather": ("compute",), "push": ("compute",), "apply": ("apply", "active"),
        "relax": ("compute", "active", "priority"), "near": ("compute", "active", "priority"),
        "layers": ("compute", "active", "priority"), "layer": ("compute", "active", "priority"),
        "awake": ("active",), "priorities": ("priority",),
    }  # fmt: skip
    roles = used.get(kernel.split("_")[0], (kernel,))
    if kernel == "apply":  # which works out aggregates on the way
        roles += tuple(role for role in functions if role.startswith("aggregates"))
    places = [
        f"{role} ({where(plain(functions[role], role))})" for role in roles if role in functions
    ]
    if not places:
        places = [f"{r} ({where(plain(f, r))})" for r, f in functions.items() if flat(r) == kernel]
    found = next((match for pattern in _TELLING if (match := re.search(pattern, text))), None)
    said = " ".join(found.group(0).split()) if found else text.strip().splitlines()[0]
    return ProgramError(
        f"{' or '.join(places) or kernel} does not compile: {said.rstrip('.')}. "
        "Allowed are numbers, math and numpy functions of scalars, if, for and while, and plain "
        "Python functions of these. Integers are also worked out in floats to find overflow: what "
        "works on integers only (shifts, indices) needs wraps=True or bound=. engine='interpreted' "
        "runs a program without compiling it."
    )


def _write(writer: Writer) -> None:
    program, binding = writer.program, writer.binding
    functions = program.functions()
    starts = {
        role: function
        for role, function in functions.items()
        if role.startswith("state") and binding.scalars(function, role, {}) is None
    }
    for role, function in functions.items():
        if role not in ("stop", "bound") and (not role.startswith("state") or role in starts):
            writer.parts += embed(function, "_" + flat(role), role, tuples=role == "apply")
    for role, function in starts.items():
        write_initial(writer, role, function)
    if program.in_place:
        write_relax(writer)
        write_relax_there(writer)
        write_sweep(writer)
        write_layered(writer)
        if program.priority is not None:
            write_near_far(writer)
        write_asked(writer)
    if writer.binding.source_only:
        write_emit(writer)
    write_gather(writer, "gather_all", some=False)
    write_gather(writer, "gather_some", some=True)
    write_fold(writer)
    write_push(writer)
    write_push_rows(writer)
    write_apply(writer)
    for name in program.aggregates:
        write_aggregate(writer, name)
