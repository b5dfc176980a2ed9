"""A vertex program bound to a graph: dtypes, constants, values at the start, and what a run gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np

from dask_graphgpu.errors import InvalidArgument, InvalidVertices, ProgramError
from dask_graphgpu.functions import computes, parameters, plain, where
from dask_graphgpu.partition.csr import Adjacency, from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram

INT64_MAX = 2**63 - 1

# Fills one field: (role, function, dtype) -> array of shape (num_vertices,).
Evaluate = Callable[[str, FunctionType, np.dtype[Any]], np.ndarray]


class State(dict[str, np.ndarray]):
    """What a run gives: field -> array of shape (num_vertices,), in dense order.

    Attributes
    ----------
    reached : bool array of shape (num_vertices,), or None
        Which vertices have a value; None for a program whose vertices all have one. The fields of
        an unreached vertex hold 0 and mean nothing.
    aggregates : dict of str to int or float
        Their last values.
    supersteps : int
        How many were run; of a run in place, how many rounds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reached: np.ndarray | None = None
        self.aggregates: dict[str, Any] = {}
        self.supersteps = 0


@dataclass(frozen=True, eq=False)
class Binding:
    """A program on a graph."""

    program: VertexProgram
    view: View
    given: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def constants(self) -> dict[str, Any]:
        """Run-time scalars: the program's, replaced by those given to the run."""
        unknown = set(self.given) - set(self.program.constants)
        if unknown:
            raise InvalidArgument(
                f"constants {sorted(unknown)}: the program declares "
                f"{sorted(self.program.constants) or 'none'}."
            )
        return {**self.program.constants, **self.given}

    # -- edges -----------------------------------------------------------------------------------

    @cached_property
    def send(self) -> Adjacency:
        """A row holds the vertices that the row's vertex sends to."""
        if self._mirrored:
            return self._both
        return self.view.into if self._against else self.view.out

    @cached_property
    def gather(self) -> Adjacency:
        """A row holds the vertices that send to the row's vertex."""
        if self._mirrored:
            return self._both
        return self.view.out if self._against else self.view.into

    @property
    def has_send(self) -> bool:
        """Whether `send` is known to cost nothing."""
        return self._mirrored or (self.view.has_into if self._against else self._has_out)

    @property
    def has_gather(self) -> bool:
        """Whether `gather` is known to cost nothing."""
        return self._mirrored or (self._has_out if self._against else self.view.has_into)

    @property
    def _has_out(self) -> bool:
        """A view holds one of the two from the start, so without ``into`` there is ``out``."""
        return not self.view.directed or not self.view.has_into

    @property
    def edges(self) -> Adjacency:
        """Whichever of `send` and `gather` is there."""
        return self.send if self.has_send else self.gather

    @property
    def direction(self) -> str:
        """Edges that a vertex sends over, as a `View` names them; undirected: its rows."""
        return self.program.edges if self.view.directed else "out"

    @property
    def _mirrored(self) -> bool:
        return self.program.edges == "both" and self.view.directed

    @property
    def _against(self) -> bool:
        return self.program.edges == "in"

    @cached_property
    def _both(self) -> Adjacency:
        """Every edge in both directions; a self-loop sends twice, as it is in two rows."""
        out = self.view.out if self._has_out else self.view.into
        rows = np.repeat(np.arange(out.num_vertices, dtype=out.neighbours.dtype), out.degrees)
        return from_edges(
            out.num_vertices,
            np.concatenate([rows, out.neighbours]),
            np.concatenate([out.neighbours, rows]),
            {name: np.concatenate([column, column]) for name, column in out.columns.items()},
        )

    def edge_column(self, adjacency: Adjacency, name: str) -> np.ndarray:
        """A column of the edges, "weight" or one that compute names as ``edge_<name>``."""
        if name not in adjacency.columns:
            function = plain(self.program.compute, "compute")
            raise ProgramError(
                f"compute ({where(function)}): parameter 'edge_{name}' reads a column that the graph "
                f"does not carry; it has {sorted(adjacency.columns) or 'none'}."
            )
        column = adjacency.columns[name]
        if column.dtype.kind not in "biuf":
            raise ProgramError(f"edge column {name!r} is of dtype {column.dtype}: numbers only.")
        if column.dtype == np.uint64 and column.size and column.max() > INT64_MAX:
            raise ProgramError(f"edge column {name!r} holds values beyond int64.")
        return column

    # -- types -----------------------------------------------------------------------------------

    @cached_property
    def weight_dtype(self) -> np.dtype[Any]:
        """int64 or float64; int64 without weights."""
        weight = self.edges.weight
        return np.dtype(np.float64 if weight is not None and weight.dtype.kind == "f" else np.int64)

    def dtype(self, name: str) -> np.dtype[Any]:
        """Resolve "weight", "id" and the fixed names."""
        if name == "weight":
            return self.weight_dtype
        return self.edges.neighbours.dtype if name == "id" else np.dtype(name)

    @cached_property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """Dtype of each field."""
        return {name: self.dtype(declared.dtype) for name, declared in self.program.state.items()}

    @cached_property
    def message(self) -> np.dtype[Any]:
        """Dtype of a message."""
        return self.dtype(self.program.message or self.program.state[self.program.first].dtype)

    def identity(self, dtype: np.dtype[Any]) -> Any:
        """What combines with anything to that thing: what ``message`` is when none came."""
        if self.program.combine in ("sum", "any"):
            return dtype.type(0)
        least = self.program.combine == "max"
        if dtype.kind == "f":
            return dtype.type(-np.inf if least else np.inf)
        if dtype.kind == "b":
            return dtype.type(not least)
        # User functions see ids as int64, whose largest a 64-bit id never reaches.
        info = np.iinfo(dtype)
        return dtype.type(info.min if least else min(int(info.max), INT64_MAX))

    # -- what is checked -------------------------------------------------------------------------

    @cached_property
    def checks_integers(self) -> bool:
        """Whether integers are watched for overflow; not so when they wrap or are bounded."""
        program = self.program
        kinds = [self.message, *(self.dtypes[name] for name in program.changing)]
        integers = [dtype for dtype in kinds if dtype.kind in "iu"]
        if program.wraps or not integers:
            return False
        if program.bound is None:
            return True
        largest = self.view.max_weight
        values = {
            "max_weight": 1 if largest is None else largest,
            "num_vertices": self.view.num_vertices,
        }
        named = parameters(plain(program.bound, "bound"), "bound")
        bound = program.bound(**{name: values[name] for name in named if name in values})
        return not bound < min(int(np.iinfo(dtype).max) for dtype in integers)

    def checked(self, role: str) -> bool:
        """Whether the integers that ``role`` (compute, apply, sum) makes are checked."""
        program = self.program
        if not self.checks_integers:
            return False
        if role == "sum":
            return program.combine == "sum" and self.message.kind in "iu"
        if role == "compute":
            return self.message.kind in "iu" and computes(plain(program.compute, role))
        if program.apply is None:
            return False
        made = any(self.dtypes[name].kind in "iu" for name in program.changing)
        return made and computes(plain(program.apply, role))

    # -- values at the start ---------------------------------------------------------------------

    def scalars(self, function: Any, role: str, extra: Mapping[str, Any]) -> dict[str, Any] | None:
        """Arguments of a function that reads scalars only; None if it reads more."""
        values = {**self.constants, "num_vertices": self.view.num_vertices, **extra}
        named = parameters(plain(function, role), role)
        if any(name not in values and not has_default for name, has_default in named.items()):
            return None
        return {name: values[name] for name in named if name in values}

    def initial(self, evaluate: Evaluate, sources: np.ndarray | None) -> dict[str, np.ndarray]:
        """Fields at the start, arrays of shape (num_vertices,)."""
        n, state = self.view.num_vertices, {}
        ordered = sorted(self.program.state, key=lambda f: self.program.state[f].vertices is None)
        for name in ordered:
            declared, dtype = self.program.state[name], self.dtypes[name]
            role = f"state[{name!r}].initial"
            if declared.vertices is not None:
                state[name] = self._vertex_column(declared.vertices, dtype)
            elif declared.initial is None:
                state[name] = np.full(n, self.identity(dtype), dtype)
            else:
                state[name] = self._filled(declared.initial, role, dtype, evaluate)
            if declared.at_source is not None and sources is not None:
                role = f"state[{name!r}].at_source"
                values = self._filled(declared.at_source, role, dtype, evaluate)
                if not state[name].flags.writeable:
                    state[name] = state[name].copy()
                state[name][sources] = values[sources]
        return {name: state[name] for name in self.program.state}

    def _filled(
        self, value: Any, role: str, dtype: np.dtype[Any], evaluate: Evaluate
    ) -> np.ndarray:
        n = self.view.num_vertices
        if callable(value):
            arguments = self.scalars(value, role, {})
            if arguments is None:
                return evaluate(role, plain(value, role), dtype)
            value = value(**arguments)
        return np.broadcast_to(np.asarray(exact(value, dtype, role), dtype), (n,)).copy()

    def _vertex_column(self, column: str, dtype: np.dtype[Any]) -> np.ndarray:
        columns = self.view.vertex_columns
        if column not in columns:
            raise InvalidVertices(
                f"the program reads column {column!r} of the vertices frame, which has "
                f"{sorted(columns) or 'no columns besides the id'}: pass a vertices= frame with it."
            )
        values = np.asarray(columns[column])
        if values.dtype.kind not in "biuf" or (values.dtype.kind == "f" and dtype.kind != "f"):
            raise InvalidVertices(
                f"column {column!r} of the vertices frame is {values.dtype}; the program's field is "
                f"{dtype}: convert the column."
            )
        if dtype.kind in "iu" and values.size:
            info = np.iinfo(dtype)
            if int(values.min()) < info.min or int(values.max()) > info.max:
                raise InvalidVertices(f"column {column!r} of the vertices frame exceeds {dtype}.")
        return values.astype(dtype)


def exact(value: Any, dtype: np.dtype[Any], role: str) -> Any:
    """Convert a Python number to ``dtype``; refuses what would change it (a fraction, overflow)."""
    if dtype.kind == "f":
        return dtype.type(value)
    if dtype.kind == "b":
        return dtype.type(bool(value))
    if not float(value).is_integer():
        raise ProgramError(f"{role} gives {value!r} for a field of {dtype}: give a whole number.")
    info = np.iinfo(dtype)
    if not info.min <= int(value) <= info.max:
        raise ProgramError(f"{role} gives {value!r}, which does not fit {dtype}.")
    return dtype.type(int(value))


def check_run(
    binding: Binding,
    sources: Any,
    cutoff: Any,
    targets: Any,
    max_supersteps: int | None,
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Check the arguments of a run; return sources and targets as arrays of dense ids."""
    program, n = binding.program, binding.view.num_vertices
    if sources is None and program.has_reached:
        raise InvalidArgument(
            f"field {program.first!r} has no value but at a source: run the program with source=."
        )
    if (cutoff is not None or targets is not None) and program.priority is None:
        raise InvalidArgument("cutoff and target need a program with priority=.")
    if (cutoff is not None or targets is not None) and max_supersteps is not None:
        raise InvalidArgument("cutoff and target do not go together with max_supersteps.")
    if max_supersteps is not None and max_supersteps < 0:
        raise InvalidArgument(f"max_supersteps is {max_supersteps}: give 0 or more.")
    found: list[np.ndarray | None] = []
    for name, ids in (("sources", sources), ("targets", targets)):
        if ids is None:
            found.append(None)
            continue
        ids = np.atleast_1d(np.asarray(ids))
        if ids.dtype.kind not in "iu" or (
            ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < n
        ):
            raise InvalidArgument(f"{name} {ids!r}: dense ids lie in 0 .. {n - 1}.")
        found.append(np.unique(ids).astype(np.int64))
    if program.combine == "sum" and not may_end(program) and max_supersteps is None:
        raise InvalidArgument(
            "every vertex stays active, and the program has neither active= nor stop=: run it with "
            "max_supersteps=."
        )
    return found[0], found[1]


def may_end(program: VertexProgram) -> bool:
    """Whether a run can end before its limit of supersteps."""
    return program.combine != "sum" or program.stop is not None or program.active is not None
