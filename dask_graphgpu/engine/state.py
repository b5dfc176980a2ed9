"""A vertex program bound to a graph: edges, dtypes, constants, and what a run gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.errors import InvalidArgument, ProgramError
from dask_graphgpu.fields import plain_number
from dask_graphgpu.functions import INT64_MAX, handed_on, may_overflow, parameters, plain, where
from dask_graphgpu.partition.csr import Adjacency
from dask_graphgpu.partition.layered import Layered
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram


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
    """A program on a graph.

    Attributes
    ----------
    increments : dict of number to float
        What `buckets` has found by a sample of the edges, by the value that senders were taken to have.
    """

    program: VertexProgram
    view: View
    given: Mapping[str, Any] = field(default_factory=dict)
    increments: dict[Any, float] = field(default_factory=dict)

    @cached_property
    def constants(self) -> dict[str, Any]:
        """Run-time scalars: the program's, replaced by those given to the run."""
        unknown = set(self.given) - set(self.program.constants)
        if unknown:
            raise InvalidArgument(
                f"constants {sorted(unknown)}: the program declares "
                f"{sorted(self.program.constants) or 'none'}."
            )
        given = {name: plain_number(name, value) for name, value in self.given.items()}
        return {**self.program.constants, **given}

    # -- edges -----------------------------------------------------------------------------------

    @cached_property
    def send(self) -> Adjacency:
        """A row holds the vertices that the row's vertex sends to."""
        if self.mirrored:
            return self.mirror.out
        return self.view.into if self.against else self.view.out

    @cached_property
    def gather(self) -> Adjacency:
        """A row holds the vertices that send to the row's vertex."""
        if self.mirrored:
            return self.mirror.out
        return self.view.out if self.against else self.view.into

    @cached_property
    def layered(self) -> Layered:
        """The edges that are sent over, by layers of the vertices that send."""
        if self.mirrored:
            return self.mirror.layered("source")
        return self.view.layered("destination" if self.against else "source")

    @property
    def has_send(self) -> bool:
        """Whether `send` is known to cost nothing."""
        return self.mirrored or (self.view.has_into if self.against else self._has_out)

    @property
    def has_gather(self) -> bool:
        """Whether `gather` is known to cost nothing."""
        return self.mirrored or (self._has_out if self.against else self.view.has_into)

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
    def mirrored(self) -> bool:
        """Whether edges are looked at both ways that stand one way."""
        return self.program.edges == "both" and self.view.directed

    @property
    def against(self) -> bool:
        """Whether messages go against the edges."""
        return self.program.edges == "in"

    @property
    def graph_edges(self) -> int:
        """Edges of the whole graph over which messages go."""
        return self.view.graph_edges * (2 if self.mirrored else 1)

    @cached_property
    def mirror(self) -> View:
        """Every edge both ways."""
        return self.view.undirected()

    def edge_column(self, adjacency: Adjacency | Layered, name: str) -> np.ndarray:
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
        return self.view.id_dtype if name == "id" else np.dtype(name)

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
        changing = (self.dtypes[name] for name in self.program.changing)
        return any(self.checks(dtype) for dtype in (self.message, *changing))

    def checks(self, dtype: np.dtype[Any]) -> bool:
        """Whether values of ``dtype`` may overflow, and are not meant to."""
        if dtype.kind not in "iu" or self.program.wraps:
            return False
        return self.most is None or not self.most < int(np.iinfo(dtype).max)

    @cached_property
    def most(self) -> Any:
        """What the program says that no value is larger than."""
        program, largest = self.program, self.view.max_weight
        if program.bound is None:
            return None
        values = {
            "max_weight": 1 if largest is None else largest,
            "num_vertices": self.view.graph_vertices,
        }
        named = parameters(plain(program.bound, "bound"), "bound")
        return program.bound(**{name: values[name] for name in named if name in values})

    def shadowed(self, role: str) -> bool:
        """Whether ``role`` (compute, apply, sum) is worked out in floats too, to find overflow."""
        program = self.program
        if not self.checks_integers:
            return False
        if role == "sum":
            return program.combine == "sum" and self.message.kind in "iu"
        if role == "compute":
            return self.message.kind in "iu" and may_overflow(plain(program.compute, role))
        if program.apply is None:
            return False
        made = any(self.dtypes[name].kind in "iu" for name in program.changing)
        return made and may_overflow(plain(program.apply, role))

    def shadows_aggregate(self, name: str) -> bool:
        """Whether an aggregate is worked out in floats too: one of whole numbers only."""
        program, function = self.program, plain(self.program.aggregates[name].value, name)
        if program.wraps or not may_overflow(function):
            return False
        whole = {field for field, dtype in self.dtypes.items() if dtype.kind in "iub"}
        whole |= {f"new_{field}" for field in whole}
        whole |= {key for key, value in self.constants.items() if isinstance(value, int)}
        whole |= {"id", "degree", "superstep", "num_vertices"}
        whole |= {"weighted_degree"} if self.weight_dtype.kind == "i" else set()
        return set(parameters(function, name)) <= whole

    # -- what the functions name -----------------------------------------------------------------

    @cached_property
    def source_only(self) -> bool:
        """Whether a vertex sends the same along all its edges."""
        named = parameters(plain(self.program.compute, "compute"), "compute")
        return not any(p.startswith(("destination_", "edge_")) or p == "weight" for p in named)

    @cached_property
    def sent_field(self) -> str | None:
        """The field that is itself the message along every edge, if that is all compute says."""
        name = (handed_on(plain(self.program.compute, "compute")) or "").removeprefix("source_")
        same = name in self.dtypes and self.dtypes[name] == self.message
        return name if same and self.message.kind != "b" else None

    @cached_property
    def needs_received(self) -> bool:
        """Whether it matters that a message came at all."""
        named = [
            name
            for role in ("apply", "active")
            if (function := getattr(self.program, role)) is not None
            for name in parameters(plain(function, role), role)
        ]
        needs = self.program.has_reached or self.program.combine == "any" or "received" in named
        return needs or self.program.counts_messages

    @cached_property
    def whole_priorities(self) -> bool:
        """Whether priorities are integers: tried on the number 1."""
        function = self.program.priority
        if function is None or self.message.kind not in "iu":
            return False
        arguments = self.scalars(function, "priority", {self.program.first: 1})
        assert arguments is not None
        return isinstance(function(**arguments), (int, np.integer))

    def scalars(self, function: Any, role: str, extra: Mapping[str, Any]) -> dict[str, Any] | None:
        """Arguments of a function that reads scalars only; None if it reads more."""
        values = {**self.constants, "num_vertices": self.view.graph_vertices, **extra}
        named = parameters(plain(function, role), role)
        if any(name not in values and not has_default for name, has_default in named.items()):
            return None
        return {name: values[name] for name in named if name in values}
