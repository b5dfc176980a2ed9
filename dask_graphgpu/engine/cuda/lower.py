"""Lower a vertex program to device functions and the C++ around them.

Kernels are written once (kernels/cuda/program.cu, near_far.cu); in front of them stands a text for
the program (`glue`), which calls its Python functions (`wrappers`). `Lowered.module` compiles both
for what a kernel source needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from dask_graphgpu.engine.cuda.glue import Glue, literal
from dask_graphgpu.engine.cuda.outline import Outline, bound, columns, outline
from dask_graphgpu.engine.cuda.packing import Packing
from dask_graphgpu.engine.cuda.wrappers import Wrappers
from dask_graphgpu.engine.embed import embed
from dask_graphgpu.engine.lower import translated
from dask_graphgpu.engine.schedule import needs_all_vertices
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.errors import ProgramError
from dask_graphgpu.functions import INT64_MAX, INT64_MIN
from dask_graphgpu.kernels.compile import architecture, cuda
from dask_graphgpu.program import VertexProgram

# The functions that the kernels of a source call; None: all.
_CALLED = {"near_far": ("compute", "active", "priority"), "near_far_ranks": ("active", "priority")}
_CALLED["layers"] = _CALLED["near_far"]

# Edges of a part of a long row that a warp of pull takes, and of one that a block of push takes.
PART, CHUNK = 128, 4096


class Lowered:
    """A program on a graph, ready to be compiled.

    Attributes
    ----------
    glue : Glue
        The text, the layout of ``Run``, in which types fields are stored.
    defines : dict of str to str
        Macros of every kernel source: those given (types, `schedule.macros`) and the program's.
    """

    def __init__(
        self,
        binding: Binding,
        *,
        narrow: bool,
        every: bool,
        defines: Mapping[str, str],
        degree: np.dtype[Any],
        weighted_degree: np.dtype[Any] | None,
        packing: Packing | None = None,
    ) -> None:
        self.binding, self.every = binding, every
        self._modules: dict[tuple[Any, ...], Any] = {}
        program = binding.program
        try:
            self.wrappers = Wrappers(binding)
        except Exception as error:
            raise self._told(error) from error
        self.glue = Glue(
            self.wrappers,
            narrow=narrow,
            columns=columns(binding),
            packing=packing,
            degree=degree,
            weighted_degree=weighted_degree,
        )
        message = binding.message
        info = np.iinfo(message) if message.kind in "iu" else None
        checked = binding.shadowed("compute") or (binding.checks(message) and message != np.int64)
        flags = {
            **{f"COMBINE_{name.upper()}": program.combine == name for name in ("min", "max", "sum", "any")},
            "HAS_REACHED": program.has_reached,
            "HAS_PRIORITY": program.priority is not None,
            "HAS_ACTIVE": program.active is not None,
            "MESSAGE_CHECKED": checked,
            "NARROW": narrow and binding.dtypes[program.first] == np.int64,
            "EVERY": every,
            "EMITS": binding.source_only,
            "NEEDS_RECEIVED": binding.needs_received,
            "SUM_CHECKED": binding.shadowed("sum"),
            "CHECKS_AGGREGATES": not program.wraps,
            "FILTERABLE": needs_all_vertices(program) is None,
        }  # fmt: skip
        int64 = np.dtype(np.int64)
        self.defines = {
            **dict.fromkeys(("FILTERED", "ATOMIC", "SHARDS", "TAIL", "TIERED", "PACKED"), "0"),
            "WORD_BITS": "0",
            "WORD": "ID",
            **({} if packing is None else packing.macros),
            **defines,
            **{name: str(int(flag)) for name, flag in flags.items()},
            "MESSAGE_LEAST": literal(INT64_MIN if info is None else info.min, int64),
            "MESSAGE_MOST": literal(INT64_MAX if info is None else min(info.max, INT64_MAX), int64),
            "PART": str(PART),
            "CHUNK": str(CHUNK),
        }

    def sources(self, source: str) -> dict[str, Any]:
        """What `kernels.compile.cuda` takes for ``source``."""
        called = _CALLED.get(source)
        roles = [
            role
            for role in self.wrappers.functions
            if (role in called if called is not None else role not in ("priority", "bound", "stop"))
            and (not role.startswith("state") or role in self.wrappers.starts)
        ]
        if called is None and self.wrappers.stop:
            roles.append("stop")
        functions = [self.wrappers.device_function(role) for role in roles]
        return {"defines": self.defines, "text": self.glue.text(), "functions": functions}

    def module(self, source: str, defines: Mapping[str, str] | None = None) -> Any:
        """``kernels/cuda/<source>.cu`` for this program, compiled; errors in terms of the program."""
        key = (source, architecture(), *sorted((defines or {}).items()))
        if key not in self._modules:
            given = self.sources(source)
            given["defines"] = {**given["defines"], **(defines or {})}
            try:
                self._modules[key] = cuda(source, **given)
            except Exception as error:
                told = self._told(error)
                if told is error:
                    raise
                raise told from error
        return self._modules[key]

    def _told(self, error: Exception) -> Exception:
        """An error of Numba's in the words of the program; others as they are."""
        if not any(c.__name__ == "NumbaError" for c in type(error).__mro__):
            return error
        roles = self.binding.program.functions()
        wrappers: Any = getattr(self, "wrappers", None)
        for role in roles if wrappers is not None else ():
            try:
                wrappers.check(role)
            except Exception as found:
                return translated(found, role, roles)
        return translated(error, "program", roles)


def lowered(binding: Binding, *, defines: Mapping[str, str], **types: Any) -> Lowered:
    """As `Lowered`; made once for runs of a program that differ in nothing which that looks at."""
    constants = [(name, type(value), value) for name, value in binding.constants.items()]
    return _lowered(
        binding.program, frozen(binding), tuple(constants), outline(binding),
        tuple(sorted(defines.items())), tuple(sorted(types.items())),
    )  # fmt: skip


def frozen(binding: Binding) -> tuple[str, ...]:
    """The functions with what they read from outside, which may change from run to run."""
    lines = [repr(binding.most)]
    for role, function in binding.program.functions().items():
        try:
            lines += [] if role == "bound" else embed(function, "f", role)
        except ProgramError:
            if role != "stop":  # that may be asked on the host
                raise
    return tuple(lines)


@lru_cache(maxsize=64)
def _lowered(
    program: VertexProgram,
    frozen: tuple[str, ...],
    constants: tuple[Any, ...],
    drawn: Outline,
    defines: tuple[tuple[str, str], ...],
    types: tuple[tuple[str, Any], ...],
) -> Lowered:
    given = {name: value for name, _, value in constants}
    return Lowered(bound(program, given, drawn), defines=dict(defines), **dict(types))


def may_be_narrow(binding: Binding) -> bool:
    """Whether ``bound`` says that int64 values fit 32 bits, with the largest left for "none".

    The values at the start that are known here are looked at: a program may start a source beyond
    its bound.
    """
    largest = np.iinfo(np.int32).max
    if binding.most is None or not binding.most < largest:
        return False
    for name, field in binding.program.state.items():
        if binding.dtypes[name] != np.int64:
            continue
        for kind, value in (("initial", field.initial), ("at_source", field.at_source)):
            if callable(value):
                arguments = binding.scalars(value, f"state[{name!r}].{kind}", {})
                value = None if arguments is None else value(**arguments)
            if isinstance(value, (int, np.integer)) and abs(int(value)) >= largest:
                return False
    return True
