"""The contract of a vertex program in plain Python: to step through a program, and to test engines.

Every superstep is run as it is defined, over lists and with Python's exact integers. Cost: a few
microseconds for every edge of an active vertex.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from dask_graphgpu.engine.loop import run_supersteps
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.plan import plan
from dask_graphgpu.engine.shortcuts import of_engine as __getattr__  # noqa: F401  what an engine has
from dask_graphgpu.engine.state import Binding, State
from dask_graphgpu.engine.values import fitted, fitted_aggregate, given_columns, initial
from dask_graphgpu.functions import parameters, plain
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import COUNT, VertexProgram
from dask_graphgpu.report import Report


def run(program: VertexProgram, view: View, options: RunOptions) -> State:
    """Run ``program`` on ``view``; parameters and errors as of the compiled engine's `run`.

    All vertices are brought to the end, also with ``targets``.
    """
    how = plan(Binding(program, view, options.constants), options)
    engine = _Interpreter(how.binding, how.starts, options.cutoff, options.report)
    return run_supersteps(how.binding, engine, engine.aggregates, options)


_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "min": min,
    "max": max,
    "sum": operator.add,
    "any": lambda old, new: old,
}


class _Interpreter:
    def __init__(
        self, binding: Binding, sources: np.ndarray | None, cutoff: Any, report: Report
    ) -> None:
        self.binding, self.program, self.cutoff = binding, binding.program, cutoff
        self.report = report
        self.n = binding.view.num_vertices
        numbers = binding.view.numbers
        self.numbers = range(self.n) if numbers is None else numbers.tolist()
        self.edges = binding.send
        weight = self.edges.weight
        self.weights = [1] * self.edges.num_edges if weight is None else weight.tolist()
        offsets = self.edges.offsets.tolist()
        self.rows = [range(offsets[v], offsets[v + 1]) for v in range(self.n)]
        self.neighbours = self.edges.neighbours.tolist()
        self.degree = [len(row) for row in self.rows]
        self.weighted_degree = [sum(self.weights[e] for e in row) for row in self.rows]
        self.superstep = 0
        self.aggregates: dict[str, Any] = {}
        self.given = given_columns(binding)
        arrays = initial(binding, self.given, self._evaluate, sources)
        self.state = {name: array.tolist() for name, array in arrays.items()}
        start = set(range(self.n)) if sources is None else set(sources.tolist())
        self.reached = start if self.program.has_reached else set(range(self.n))
        self.active = set(start)

    # -- what the superstep loop asks for --------------------------------------------------------

    @property
    def num_active(self) -> int:
        return len(self.active)

    def begin(self, superstep: int) -> None:
        self.superstep, self.old = superstep, self.state

    def advance(self) -> None:
        began, frontier = time.perf_counter(), len(self.active)
        edges = sum(self.degree[v] for v in self.active)
        self.old = self.state
        self.state, self.active = self._apply(self._messages())
        seconds = time.perf_counter() - began
        self.report.advance(
            "push", supersteps=1, frontier=frontier, edges=edges, bytes=0, seconds=seconds
        )

    def aggregate(self, name: str) -> Any:
        aggregate, role = self.program.aggregates[name], f"aggregates[{name!r}]"
        values: list[Any] = []
        for v in sorted(self.reached):
            arguments = self._vertex(v) | {field: self.old[field][v] for field in self.old}
            arguments |= {f"new_{field}": self.state[field][v] for field in self.program.changing}
            value = self._call(role, aggregate.value, arguments)
            values.append(fitted_aggregate(self.program, role, value))
        kinds: dict[str, Callable[..., Any]] = {"sum": sum, "min": min, "max": max}
        if aggregate.combine != "sum" and not values:
            return None
        return fitted_aggregate(self.program, role, kinds[aggregate.combine](values))

    def commit(self) -> None:
        self.old = self.state

    # -- a superstep -----------------------------------------------------------------------------

    def _messages(self) -> dict[int, Any]:
        found: dict[int, Any] = {}
        count = [0] * self.n
        combine = _COMBINE[self.program.combine]
        for u in sorted(self.active & self.reached):
            for e in self.rows[u]:
                v = self.neighbours[e]
                m = self._convert("compute", self._compute(u, v, e), self.binding.message)
                if self.cutoff is not None and self._priority(m) > self.cutoff:
                    continue
                count[v] += 1
                if v not in found:
                    found[v] = m
                else:
                    found[v] = combine(found[v], m)
        for v in found:
            found[v] = self._convert("compute", found[v], self.binding.message)
        if self.program.counts_messages:
            self.state[COUNT] = count
        return found

    def _compute(self, u: int, v: int, e: int) -> Any:
        values: dict[str, Any] = {"weight": self.weights[e]}
        for end, x in (("source", u), ("destination", v)):
            values |= {f"{end}_{name}": value for name, value in self._vertex(x).items()}
        for name in parameters(plain(self.program.compute, "compute"), "compute"):
            if name.startswith("edge_"):
                column = self.binding.edge_column(self.edges, name.removeprefix("edge_"))
                values[name] = column[e].item()
        return self._call("compute", self.program.compute, values)

    def _priority(self, value: Any) -> Any:
        return self._call("priority", self.program.priority, {self.program.first: value})

    def _apply(self, messages: dict[int, Any]) -> tuple[dict[str, list[Any]], set[int]]:
        program, first = self.program, self.program.first
        new = {name: list(values) for name, values in self.state.items()}
        active = set()
        none = self.binding.identity(self.binding.message).item()
        for v in range(self.n):
            received, had = v in messages, v in self.reached
            if not (received or had):
                continue
            values = self._vertex(v)
            values |= {"message": messages.get(v, none), "received": received}
            if program.apply is not None:
                made = self._call("apply", program.apply, values)
                if not isinstance(made, dict):
                    made = {first: made}
            elif program.combine == "sum":
                made = {first: values["message"]}
            elif not received:
                made = {}
            elif program.combine == "any" or not had:
                made = {first: values["message"]}
            else:
                better = min if program.combine == "min" else max
                made = {first: better(values[first], values["message"])}
            for name, value in made.items():
                new[name][v] = self._convert("apply", value, self.binding.dtypes[name])
            values |= {f"new_{name}": new[name][v] for name in program.changing}
            if not had:
                sends = True
            elif program.active is not None:
                sends = bool(self._call("active", program.active, values))
            else:
                sends = program.combine == "sum" or new[first][v] != values[first]
            if sends:
                active.add(v)
            if received:
                self.reached.add(v)
        return new, active

    # -- names to values -------------------------------------------------------------------------

    def _vertex(self, v: int) -> dict[str, Any]:
        values = {name: column[v] for name, column in self.state.items()}
        return values | {
            "id": self.numbers[v],
            "degree": self.degree[v],
            "weighted_degree": self.weighted_degree[v],
        }

    def _call(self, role: str, function: Any, values: Mapping[str, Any]) -> Any:
        everything = {
            **self.binding.constants,
            **self.aggregates,
            "superstep": self.superstep,
            "num_vertices": self.n,
            **values,
        }
        named = parameters(plain(function, role), role)
        return function(**{name: everything[name] for name in named if name in everything})

    def _evaluate(self, role: str, function: FunctionType, dtype: np.dtype[Any]) -> np.ndarray:
        """One field at the start, from ids, degrees and the columns of the vertices frame."""
        values = np.empty(self.n, dtype)
        for v in range(self.n):
            arguments = {name: column[v].item() for name, column in self.given.items()}
            arguments |= {
                "id": self.numbers[v],
                "degree": self.degree[v],
                "weighted_degree": self.weighted_degree[v],
            }
            values[v] = self._convert(role, self._call(role, function, arguments), dtype)
        return values

    def _convert(self, role: str, value: Any, dtype: np.dtype[Any]) -> Any:
        return fitted(self.program, role, value, dtype)

    def result(self) -> State:
        result = State()
        mask = np.zeros(self.n, bool)
        mask[list(self.reached)] = True
        for name, values in self.state.items():
            dtype = self.binding.dtypes[name]
            result[name] = np.array(values, dtype=dtype)
            result[name][~mask] = 0
        result.reached = mask if self.program.has_reached else None
        return result
