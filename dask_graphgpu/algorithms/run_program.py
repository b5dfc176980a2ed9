"""A vertex program of the user's own as a graph method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dask_graphgpu.algorithms.algorithm import Resumable, as_plain_ids
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import as_mapping, check_whole, said
from dask_graphgpu.errors import InvalidArgument, ProgramError
from dask_graphgpu.fields import plain_number
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.io.results import ColumnType, Table, Values
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.program import VertexProgram


@dataclass(frozen=True)
class RunProgram(Resumable):
    """Run a vertex program.

    Parameters
    ----------
    program : VertexProgram
    source : id, list or array of ids, optional
        The vertices that start active with the fields' ``at_source``. Default: all are active.
    max_supersteps : int, optional
        Raise NotConverged when the program has not ended by then.
    constants : mapping of str to number, optional
        Other values for the program's constants; nothing is compiled again.

    Returns
    -------
    frame
        ``vertex`` and the program's fields, but for those read from the vertices frame; null where
        a vertex was never reached. One row a vertex in ascending order of ids.

    Raises
    ------
    ProgramError, NotConverged, IntegerOverflow

    Notes
    -----
    Repeated rows are kept as edges of their own unless the graph was given ``duplicates=``.
    """

    program: VertexProgram
    source: Any = None
    max_supersteps: int | None = None
    constants: Any = None

    rule = "keep"

    def __post_init__(self) -> None:
        if not isinstance(self.program, VertexProgram):
            raise InvalidArgument(
                f"run takes a VertexProgram, not {type(self.program).__name__}; make one with "
                "dask_graphgpu.VertexProgram(state=..., compute=..., combine=...)"
            )
        if self.source is not None:
            as_plain_ids(self, "source")
        if self.constants is not None:
            given = as_mapping("constants", self.constants, "numbers")
            if unknown := sorted(set(given) - set(self.program.constants)):
                raise InvalidArgument(
                    f"constants={said(unknown)} are not declared by the program; it has "
                    f"{sorted(self.program.constants)}"
                )
            numbers = {name: plain_number(name, value) for name, value in given.items()}
            object.__setattr__(self, "constants", numbers)
        if self.max_supersteps is not None:
            check_whole("max_supersteps", self.max_supersteps, 1)
            object.__setattr__(self, "max_supersteps", int(self.max_supersteps))

    @property
    def by(self) -> str:
        """What is improved in place is sent along rows; messages of all others are pulled."""
        return "source" if self.program.in_place else "destination"

    def reads_weight(self, schema: EdgeSchema) -> bool:
        named = any(name == "weight" or name.endswith("weighted_degree") for name in self._read())
        dtypes = {self.program.message, *(field.dtype for field in self.program.state.values())}
        return schema.weight is not None and (named or "weight" in dtypes)

    def edge_columns(self) -> Sequence[str]:
        return sorted(p.removeprefix("edge_") for p in self._read() if p.startswith("edge_"))

    def vertex_columns(self) -> Sequence[str]:
        return sorted(f.vertices for f in self.program.state.values() if f.vertices is not None)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        kinds = {"vertex": ColumnType("vertex")}
        for name, field in self._shown().items():
            dtype = {"weight": schema.weight_kind or "int64", "id": "vertex"}.get(
                field.dtype, field.dtype
            )
            names = schema.prefixed(name) if dtype == "vertex" else (name,)
            kinds[_key(name)] = ColumnType(dtype, self.program.has_reached, names)
        return kinds

    def run(self, run: Run) -> Table:
        sources = None
        if self.source is not None:
            sources = run.ids.find(self.source if isinstance(self.source, list) else [self.source])
        program, view = self.program.with_degrees, run.view
        if counted := self.program.degree_columns():
            columns = {name: view.vertex_columns[name] for name in self.vertex_columns()}
            columns |= {name: view.degrees(of) for name, of in counted.items()}
            view = view.with_columns(columns)
        # On ranks, and where this is the order of the dense ids, programs see these numbers anyway.
        numbered = run.ranks is None and view.user_rank is not None and self._sees_ids()
        if numbered:
            view = view.with_user_numbers()
        options = run.options(
            sources=sources,
            constants=dict(self.constants or {}),
            max_supersteps=self.max_supersteps,
        )
        state = run.engine.run(program, view, options)
        reached = None if state.reached is None else run.own(state.reached)
        fields = {
            _key(name): Values(run.own(state[name]), reached, fresh=True) for name in self._shown()
        }
        self._check_ids(run, fields)
        if numbered:
            for name, field in self._shown().items():
                if field.dtype == "id":
                    fields[_key(name)] = Values(run.rows.take(fields[_key(name)].data), reached)
        return {"vertex": Values(run.vertices), **fields}

    def _sees_ids(self) -> bool:
        """Whether the program could tell one order of the vertices from another."""
        of_ids = any(field.dtype == "id" for field in self.program.state.values())
        return of_ids or not self._read().isdisjoint(("id", "source_id", "destination_id"))

    def _check_ids(self, run: Run, fields: Table) -> None:
        """Raise ProgramError for a field of dtype "id" that holds what is no vertex."""
        n = run.num_vertices
        for name, field in self._shown().items():
            if field.dtype != "id":
                continue
            values, reached = fields[_key(name)].data, fields[_key(name)].valid
            values = values if reached is None else values[reached]
            largest = int(values.max()) if values.size else 0
            if run.ranks is not None:
                largest = int(run.ranks.max(min(largest, 2**63 - 1)))
            if largest >= n:
                raise ProgramError(
                    f"field {name!r} is of dtype 'id' and holds {largest} at the end, "
                    f"which is no vertex: ids lie in 0 .. {n - 1} and are handed on, not worked "
                    "with. Declare an integer dtype for other numbers."
                )

    def _read(self) -> set[str]:
        """Every parameter that a function of the program names."""
        functions = self.program.functions().items()
        return {p for name, f in functions for p in parameters(plain(f, name), name)}

    def _shown(self) -> dict[str, Any]:
        """The fields that the result has."""
        return {name: f for name, f in self.program.state.items() if f.vertices is None}


def _key(field: str) -> str:
    """The key of a field's column; fields may have the name of another column, such as "vertex"."""
    return f"field {field}"
