"""Earliest arrival in temporal graphs: when a path along which times do not fall reaches each vertex.

References
----------
.. [1] Wu, Cheng, Huang, Ke, Lu, Xu, "Path problems in temporal graphs", PVLDB 7(9), 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.algorithm import Resumable, as_plain_ids
from dask_graphgpu.algorithms.edge_times import carried, check_times, columns_of, dtype_of
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.algorithms.traversal import Traversal, each_state
from dask_graphgpu.arguments import refuse
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.fields import Field
from dask_graphgpu.io.results import ColumnType
from dask_graphgpu.io.schema import EdgeSchema
from dask_graphgpu.io.times import as_bound, is_time
from dask_graphgpu.program import VertexProgram

# An edge at this time is never there, and a vertex that is reached then is not reached.
_NEVER = {"int64": 2**63 - 1, "float64": float("inf")}
_FIRST = {"int64": -(2**63), "float64": float("-inf")}


@cache
def program(dtype: str, *, strict: bool, edges: str = "out") -> VertexProgram:
    """The vertex program: an edge is taken where its time is not before, or ``strict`` after, the arrival."""
    return VertexProgram(
        state={"arrival": Field(dtype, initial=_NEVER[dtype], at_source=lambda first: first)},
        compute=(
            lambda source_arrival, edge_time, last, never: (
                edge_time if source_arrival < edge_time and edge_time <= last else never
            )
        )
        if strict
        else (
            lambda source_arrival, edge_time, last, never: (
                edge_time if source_arrival <= edge_time and edge_time <= last else never
            )
        ),
        combine="min",
        edges=edges,
        constants={"first": _FIRST[dtype], "last": _NEVER[dtype], "never": _NEVER[dtype]},
        priority=lambda arrival: arrival,
    )


@cache
def _least(dtype: str) -> VertexProgram:
    """The least time of the edges into a vertex."""
    return VertexProgram(
        state={"least": Field(dtype, initial=_NEVER[dtype])},
        compute=lambda edge_time: edge_time,
        combine="min",
    )


@dataclass(frozen=True)
class EarliestArrival(Traversal, Resumable):
    """When a path in order of time first reaches every vertex.

    Every edge is there at the time in a column, and is passed at once. A path takes edges whose times never
    fall: what is passed on, spreads or travels so.

    Parameters
    ----------
    source : id or list of ids
        With a list the result has a ``source`` column and one row a source and vertex.
    time : str
        The edge column of times: numbers, or dates and times.
    start : number, or time as of `pandas.Timestamp`, optional
        When paths begin: edges before it are not taken. Default: the least time of all edges.
    strict : bool
        Times along a path rise. Else edges of the same time may follow each other.
    both_ways : bool
        Edges are taken either way, as where they are contacts.
    target : id or list of ids, optional
        The result has the rows of these only.
    cutoff : number, or time as of `pandas.Timestamp`, optional
        Edges after it are not taken: vertices that are reached later are left unreached.

    Returns
    -------
    frame
        ``vertex``, ``arrival`` (as the time column: of times the same dtype, else Int64 or Float64; null:
        unreached). A source has arrived at the start. One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        There is no such column of numbers or times; ``start`` or ``cutoff`` is no value of its kind; or rows at
        several times are one edge of the graph, by ``duplicates=`` or since it is undirected.
    UnknownVertex
        A source or target is not a vertex.

    Notes
    -----
    Repeated rows are edges of their own, each at its time (Wu et al., PVLDB 2014). An edge at the largest integer of
    64 bits, or at infinity, is never taken. Cost: O(V + E) and what is relaxed again; without ``start`` a pass over
    the times before.
    """

    time: str
    start: Any = None
    strict: bool = False
    _: KW_ONLY
    both_ways: bool = False
    cutoff: Any = None

    rule = "keep"
    returns_weight = True
    value = "arrival"

    def __post_init__(self) -> None:
        as_plain_ids(self, "source", *["target"] * (self.target is not None))
        if not isinstance(self.time, str):
            refuse("time", self.time, "is the name of an edge column")

    def reads_weight(self, schema: EdgeSchema) -> bool:
        return schema.weight == self.time

    def edge_columns(self) -> Sequence[str]:
        return columns_of(self.time)

    def dtype_of_values(self, schema: EdgeSchema) -> str:
        return dtype_of(schema, self.time)

    def result_columns(self, schema: EdgeSchema) -> dict[str, ColumnType]:
        kind = self._kind(schema)
        self._bounds(schema)
        columns = super().result_columns(schema)
        if is_time(kind):
            columns["arrival"] = replace(columns["arrival"], time=kind)
        return columns

    def values(
        self, run: Run, source: int, targets: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        ((value,), (valid,)) = next(self.each_values(run, np.array([source]), targets))
        return value, valid

    def each_values(
        self, run: Run, sources: np.ndarray, targets: np.ndarray | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        dtype = self.dtype_of_values(run.schema)
        start, last = self._bounds(run.schema)
        if not run.view.graph_edges:  # and no column
            start = _NEVER[dtype] if start is None else start
            none = np.full_like(run.rows, _NEVER[dtype], dtype, shape=run.view.num_vertices)
            found: Iterator[Any] = iter([none] * len(sources))
        else:
            view = run.view.with_edge_column("time", carried(run.schema, self.time))
            if start is None:
                start = _least_time(run, view, dtype)
            first = _before(start, dtype) if self.strict else start
            options = run.options(constants={"first": first, "last": last}, targets=targets)
            edges = "both" if self.both_ways else "out"
            asked = program(dtype, strict=self.strict, edges=edges)
            states = each_state(run, asked, view, sources, options)
            found = (state["arrival"] for state in states)
        for source, arrival in zip(sources, found, strict=True):
            arrival = arrival.copy()
            arrival[run.rows_of(np.array([source]))[0]] = start
            reached = (arrival < _NEVER[dtype]) & (arrival <= last)
            yield np.where(reached, arrival, 0)[None], reached[None]

    def _kind(self, schema: EdgeSchema) -> Any:
        return check_times(schema, self.time, "give both_ways=True")

    def _bounds(self, schema: EdgeSchema) -> tuple[Any, Any]:
        """The start, None where none was given, and the last time, as numbers that edges carry."""
        kind, dtype = self._kind(schema), self.dtype_of_values(schema)
        start = as_bound("start", self.start, kind)
        last = as_bound("cutoff", self.cutoff, kind)
        return (
            None if start is None else _as_carried(start, dtype, math.ceil),
            _NEVER[dtype] if last is None else _as_carried(last, dtype, math.floor),
        )


def _as_carried(bound: Any, dtype: str, rounded: Callable[[float], int]) -> Any:
    """A bound as a number of the times' dtype."""
    if not _FIRST[dtype] < bound < _NEVER[dtype]:
        return _FIRST[dtype] if bound <= _FIRST[dtype] else _NEVER[dtype]
    return rounded(bound) if dtype == "int64" else _as_float(bound)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


def _least_time(run: Run, view: Any, dtype: str) -> Any:
    """The least time of all edges."""
    options = run.options(max_supersteps=1, exact_supersteps=True)
    least = run.engine.run(_least(dtype), view, replace(options, keeper=None))["least"]
    return run.least(least)


def _before(time: Any, dtype: str) -> Any:
    """The number below a time."""
    if time <= _FIRST[dtype]:
        raise InvalidArgument(f"with strict=True times have to be above {_FIRST[dtype]}")
    return time - 1 if dtype == "int64" else float(np.nextafter(time, -np.inf))
