"""The C++ that joins a program's Python functions to the kernels: it loads what they read.

What it defines stands in the head of kernels/cuda/program.cuh. Names of the user's become numbers:
they may be words of C++ or not be ASCII.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dask_graphgpu.engine.cuda.packing import Packing
from dask_graphgpu.engine.cuda.wrappers import Wrapper, Wrappers, c_type, seen
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.functions import INT64_MAX, parameters, plain

KINDS = {"sum": 0, "min": 1, "max": 2}  # as Kind in program.cuh

_one_writes = threading.Lock()


@dataclass(frozen=True)
class Member:
    """One of struct Run: 8 bytes. ``of`` and ``name`` say what the run puts there."""

    name: str
    of: str
    what: str
    type: str  # in C++


class Glue:
    """The text for one program, and the layout of its ``Run``.

    Parameters
    ----------
    wrappers : Wrappers
    narrow : bool
        int64 fields are stored in 32 bits: ``bound`` says that they fit.
    columns : dict of str to dtype
        Of the edge columns that compute reads.
    packing : Packing, optional
        How these are in words with the ends of edges; functions get the word for ``e`` then.
    degree, weighted_degree : dtype
        In which the degrees are stored.
    """

    def __init__(
        self,
        wrappers: Wrappers,
        *,
        narrow: bool,
        columns: dict[str, np.dtype[Any]],
        packing: Packing | None,
        degree: np.dtype[Any],
        weighted_degree: np.dtype[Any] | None,
    ) -> None:
        self.wrappers, self.narrow = wrappers, narrow
        self.columns, self.packing = columns, packing
        self.binding, self.program = wrappers.binding, wrappers.program
        self.fields = {name: i for i, name in enumerate(self.program.state)}
        self.made = {name: i for i, name in enumerate(self.program.changing)}
        self.stages = Stages.of(self.binding)
        self.members = self._members(degree, weighted_degree)
        self.parts: list[str] = []

    # -- storage ---------------------------------------------------------------------------------

    def storage(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """In which values of ``dtype`` are stored on the device."""
        if dtype.kind == "b":
            return np.dtype(np.uint8)
        return np.dtype(np.int32) if self.narrow and dtype == np.int64 else dtype

    def identity(self, dtype: np.dtype[Any]) -> Any:
        """What a message or a first field holds when there is none, in storage."""
        if self.storage(dtype) == dtype:
            return self.binding.identity(dtype)
        return self.storage(dtype).type(self.binding.identity(self.storage(dtype)))

    def _members(self, degree: Any, weighted: Any) -> list[Member]:
        made = [
            Member("num_vertices", "scalar", "num_vertices", "int64"),
            Member("num_owned", "scalar", "num_owned", "int64"),
            Member("graph_vertices", "scalar", "graph_vertices", "int64"),
            Member("control", "scalar", "control", "RunControl *"),
            Member("aggregates", "scalar", "aggregates", "Aggregate *"),
            Member("degree", "degree", "degree", f"const {c_type(degree)} *"),
        ]
        if self.binding.view.numbers is not None:
            number = c_type(self.binding.view.numbers.dtype)
            made.append(Member("numbers", "scalar", "numbers", f"const {number} *"))
        if weighted is not None:
            made.append(
                Member(
                    "weighted_degree", "degree", "weighted_degree", f"const {c_type(weighted)} *"
                )
            )
        for name, i in self.fields.items():
            stored = c_type(self.storage(self.binding.dtypes[name]))
            made.append(Member(f"state_{i}", "state", name, f"{stored} *"))
        for name, i in self.made.items():
            stored = c_type(self.storage(self.binding.dtypes[name]))
            made.append(Member(f"new_{i}", "new", name, f"{stored} *"))
        if self.packing is None:
            for i, (name, dtype) in enumerate(self.columns.items()):
                made.append(Member(f"column_{i}", "column", name, f"const {c_type(dtype)} *"))
        for i, (name, value) in enumerate(self.binding.constants.items()):
            made.append(
                Member(
                    f"constant_{i}",
                    "constant",
                    name,
                    "double" if isinstance(value, float) else "int64",
                )
            )
        return made

    @cached_property
    def layout(self) -> np.dtype[Any]:
        """Of struct Run."""
        types = {"double": np.float64, "int64": np.int64}
        return np.dtype([(m.name, types.get(m.type, np.uint64)) for m in self.members])

    # -- what functions read ---------------------------------------------------------------------

    def _run_names(self, superstep: str) -> dict[str, str]:
        names = {name: f"run.constant_{i}" for i, name in enumerate(self.binding.constants)}
        for i, (name, dtype) in enumerate(self.wrappers.aggregates.items()):
            names[name] = f"run.aggregates[{i}].{'real' if dtype.kind == 'f' else 'whole'}"
        return names | {"superstep": superstep, "num_vertices": "run.graph_vertices"}

    def _vertex_names(self, v: str) -> dict[str, str]:
        names = {name: f"field_{i}(run, {v})" for name, i in self.fields.items()}
        return names | {
            "id": f"(int64){v if self.binding.view.numbers is None else f'run.numbers[{v}]'}",
            "degree": f"(int64)run.degree[{v}]",
            "weighted_degree": f"run.weighted_degree[{v}]",
        }

    def _made_names(self, prefix: str) -> dict[str, str]:
        return {
            f"{prefix}{name}": f"shown_{self.fields[name]}(made.made_{i})"
            for name, i in self.made.items()
        }

    def _edge_names(self, first: str | None) -> dict[str, str]:
        names = self._run_names("run.control->superstep")
        for end, x in (("source", "u"), ("destination", "v")):
            names |= {f"{end}_{name}": text for name, text in self._vertex_names(x).items()}
        if first is not None:
            names[f"source_{self.program.first}"] = first
        names["weight"] = "1"
        if self.packing is None:
            texts = {name: f"run.column_{i}[e]" for i, name in enumerate(self.columns)}
        else:
            texts = {column.name: column.value("e") for column in self.packing.columns}
        for name, text in texts.items():
            names["weight" if name == "weight" else f"edge_{name}"] = text
        return names

    @staticmethod
    def call(wrapper: Wrapper, names: dict[str, str], *outs: str) -> str:
        """A call of a wrapper."""
        return f"{wrapper.name}({', '.join([*(names[name] for name in wrapper.reads), *outs])})"

    # -- the text --------------------------------------------------------------------------------

    def text(self) -> str:
        """All of it; kernels call what they need. Ranks that are threads ask for it at once."""
        with _one_writes:
            self.parts = ['#include "program.cuh"\n']
            self._types()
            self._message()
            if self.program.priority is not None:
                self._priority()
            self._apply()
            self._active()
            self._starts()
            self._aggregates()
            self._stop()
            return "\n".join(self.parts)

    def _add(self, text: str) -> None:
        self.parts.append(text)

    def _function(self, head: str, body: str) -> None:
        self._add(f"static __device__ __forceinline__ {head} {{\n{body}\n}}")

    def _declare(self, role: str) -> Wrapper:
        wrapper = self.wrappers.wrapper(role)
        self._add(wrapper.declaration)
        return wrapper

    def _types(self) -> None:
        binding = self.binding
        first = binding.dtypes[self.program.first]
        value, message = self.storage(first), self.storage(binding.message)
        self._add(f"typedef {c_type(value)} VALUE;\ntypedef {c_type(message)} MESSAGE;")
        members = "\n".join(
            f"    {m.type}{'' if m.type.endswith('*') else ' '}{m.name};" for m in self.members
        )
        self._add(f"struct Run {{\n{members}\n}};")
        self._add(f"constexpr int NUM_AGGREGATES = {len(self.program.aggregates)};")
        changing = "\n".join(
            f"    {c_type(self.storage(binding.dtypes[name]))} made_{i};"
            for name, i in self.made.items()
        )
        self._add(f"struct New {{\n{changing}\n}};")
        self._function(
            "MESSAGE identity()", f"    return {literal(self.identity(binding.message), message)};"
        )
        self._function("VALUE *first_field(const Run &run)", "    return run.state_0;")
        self._function("int64 shown_message(MESSAGE value)" if binding.message.kind in "iu" else
                       f"{c_type(seen(binding.message))} shown_message(MESSAGE value)",
                       self._shown(binding.message, "identity()"))  # fmt: skip
        for name, i in self.fields.items():
            dtype = binding.dtypes[name]
            stored, shown = c_type(self.storage(dtype)), c_type(seen(dtype))
            empty = None
            if name == self.program.first and self.program.has_reached:
                empty = literal(self.identity(dtype), self.storage(dtype))
            self._function(f"{shown} shown_{i}({stored} value)", self._shown(dtype, empty))
            self._function(
                f"{shown} field_{i}(const Run &run, uint64 v)",
                f"    return shown_{i}(run.state_{i}[v]);",
            )
        for name, places in (
            ("made", {i: f"new_{i}" for i in self.made.values()}),
            ("old", {i: f"state_{self.fields[field]}" for field, i in self.made.items()}),
        ):
            lines = [f"    made.made_{i} = run.{place}[v];" for i, place in places.items()]
            self._function(
                f"New {name}_values(const Run &run, uint64 v)",
                "\n".join(["    New made;", *lines, "    return made;"]),
            )
            lines = [f"    run.{place}[v] = made.made_{i};" for i, place in places.items()]
            head = f"void store_{name}(const Run &run, uint64 v, const New &made)"
            self._function(head, "\n".join(lines))

    def _shown(self, dtype: np.dtype[Any], empty: str | None) -> str:
        """How a stored value is seen: what stands for none, as in the type that is not narrow."""
        if self.storage(dtype) == np.int32 and dtype == np.int64 and empty is not None:
            wide = literal(self.binding.identity(dtype), dtype)
            return f"    return value == {empty} ? {wide} : value;"
        return "    return value;"

    def _message(self) -> None:
        wrapper = self._declare("compute")
        shown = c_type(seen(self.binding.dtypes[self.program.first]))
        for head, first in (
            ("bool message(const Run &run, uint64 u, uint64 v, uint64 e, MESSAGE &out)", None),
            ("bool message_from(const Run &run, VALUE value, uint64 u, uint64 v, uint64 e, MESSAGE &out)",
             f"({shown})shown_0(value)"),
        ):  # fmt: skip
            lines = [f"    {c_type(wrapper.outs[0])} made;"]
            lines.append(f"    if ({self.call(wrapper, self._edge_names(first), '&made')})")
            lines += ["        return false;", "    out = (MESSAGE)made;", "    return true;"]
            self._function(head, "\n".join(lines))

    def _priority(self) -> None:
        wrapper = self._declare("priority")
        kind = c_type(wrapper.outs[0])
        self._add(f"typedef {kind} PRIORITY;")
        names = self._run_names("0") | {self.program.first: "shown_0(value)"}
        body = f"    PRIORITY made;\n    {self.call(wrapper, names, '&made')};\n    return made;"
        self._function("PRIORITY priority(const Run &run, VALUE value)", body)

    def _apply(self) -> None:
        """``apply_vertex``: the user's, or what the contract says without one."""
        head = "bool apply_vertex(const Run &run, uint64 v, MESSAGE m, bool r, bool had, New &made)"
        if self.program.apply is None:
            old = "run.state_0[v]"
            text = {
                "sum": "m",
                "any": f"r ? m : {old}",
                "min": f"!had || better(m, {old}) ? m : {old}",
                "max": f"!had || better(m, {old}) ? m : {old}",
            }[self.program.combine]
            self._function(head, f"    made.made_0 = {text};\n    return true;")
            return
        wrapper = self._declare("apply")
        names = self._run_names("run.control->superstep") | self._vertex_names("v")
        names |= {"message": "shown_message(m)", "received": "r"}
        lines = [f"    {c_type(dtype)} out_{i};" for i, dtype in enumerate(wrapper.outs)]
        outs = [f"&out_{i}" for i in range(len(wrapper.outs))]
        lines += [f"    if ({self.call(wrapper, names, *outs)})", "        return false;"]
        for i, name in enumerate(self.program.changing):
            stored = c_type(self.storage(self.binding.dtypes[name]))
            lines.append(f"    made.made_{i} = ({stored})out_{i};")
        self._function(head, "\n".join([*lines, "    return true;"]))

    def _active(self) -> None:
        """``active_vertex`` after apply; ``sends_next`` in place."""
        head = "bool active_vertex(const Run &run, uint64 v, MESSAGE m, bool r, const New &made)"
        program = self.program
        first = self.made.get(program.first)
        if program.active is None:
            body = "    return true;"
            if program.combine != "sum" and first is not None:
                body = f"    return made.made_{first} != run.state_0[v];"
            elif program.combine != "sum":
                body = "    return false;"  # the first field is a constant
            self._function(head, body)
        else:
            wrapper = self._declare("active")
            names = self._run_names("run.control->superstep") | self._vertex_names("v")
            names |= {"message": "shown_message(m)", "received": "r"} | self._made_names("new_")
            self._function(head, f"    return {self.call(wrapper, names)} != 0;")
        if not program.in_place:
            return
        body = "    return true;"
        if program.active is not None:
            names = self._run_names("1") | self._vertex_names("v")
            names |= {program.first: "shown_0(old)", f"new_{program.first}": "shown_0(now)"}
            names |= {"message": "shown_message(now)", "received": "true"}
            asked = f"{self.call(wrapper, names)} != 0"
            body = f"    return {asked};"
            if program.has_reached:  # a first value is not asked about
                body = f"    return old == identity() || {asked};"
        self._function("bool sends_next(const Run &run, uint64 v, VALUE old, VALUE now)", body)

    def _starts(self) -> None:
        """``start_value``: a field at the start, in its own type."""
        cases = []
        for i, role in enumerate(self.wrappers.starts):
            wrapper = self._declare(role)
            names = self._run_names("0") | self._vertex_names("v")
            out = f"({c_type(wrapper.outs[0])} *)out + v"
            cases.append(f"    case {i}:\n        return !{self.call(wrapper, names, out)};")
        body = "\n".join(["    switch (which) {", *cases, "    }", "    return true;"])
        self._function(
            "bool start_value(const Run &run, int64 which, uint64 v, void *out)",
            body if cases else "    return true;",
        )

    # -- aggregates ------------------------------------------------------------------------------

    def _aggregates(self) -> None:
        """A function each, and those that are taken with apply or one by one."""
        for i, (name, dtype) in enumerate(self.wrappers.aggregates.items()):
            wrapper = self._declare(f"aggregates[{name!r}]")
            names = self._run_names("superstep") | self._vertex_names("v")
            for field, k in self.made.items():  # the next superstep's state is in `made`
                shown = f"shown_{self.fields[field]}"
                names[field] = f"{shown}((NEXT ? made : old).made_{k})"
            if name in self.stages.after:
                names |= self._made_names("new_")
            self._add("template <bool NEXT>")
            self._function(
                f"bool aggregate_{i}(const Run &run, uint64 v, const New &old, const New &made, "
                f"int64 superstep, {c_type(dtype)} &out)",
                f"    return !{self.call(wrapper, names, '&out')};",
            )
        order = list(self.wrappers.aggregates)
        self._totals("Totals", [order.index(name) for name in self.stages.with_apply])
        self._totals("NextTotals", [order.index(name) for name in self.stages.next])
        for name in order:
            i = order.index(name)
            self._totals(f"Totals_{i}", [i])
        cases = "\n".join(
            f"    case {i}:\n        return aggregate_all<Totals_{i}>(run, reached, partials);"
            for i in range(len(order))
        )
        folds = "\n".join(
            f"    case {i}:\n        return Totals_{i}::fold(run, partials);"
            for i in range(len(order))
        )
        for head, text in (
            ("void aggregate_one(const Run &run, int64 which, const uint8 *reached, Partial *partials)", cases),
            ("void fold_one(const Run &run, int64 which, Partial *partials)", folds),
        ):  # fmt: skip
            self._function(head, f"    switch (which) {{\n{text}\n    }}" if order else "")

    def _totals(self, name: str, which: list[int]) -> None:
        order = list(self.wrappers.aggregates.items())
        after = "true" if all(order[i][0] in self.stages.after for i in which) else "false"
        kinds = {i: KINDS[self.program.aggregates[order[i][0]].combine] for i in which}
        members = "\n".join(
            f"    Total<{c_type(order[i][1])}, {kinds[i]}> total_{i};" for i in which
        )
        adds = "\n".join(
            f"""\
        {{
            {c_type(order[i][1])} x;
            if (aggregate_{i}<NEXT>(run, v, old, made, superstep, x))
                total_{i}.add(x);
            else
                total_{i}.bad = true;
        }}"""
            for i in which
        )
        stores = "\n".join(f"        total_{i}.store(partials + {i} * BLOCKS);" for i in which)
        folds = "\n".join(
            f"        Total<{c_type(order[i][1])}, {kinds[i]}>::fold(partials + {i} * BLOCKS, "
            f"run.control->blocks, run.aggregates + {i}, CHECKS_AGGREGATES);"
            for i in which
        )
        self._add(f"""\
struct {name} {{
    static constexpr bool AFTER = {after};
{members}
    template <bool NEXT>
    __device__ __forceinline__ void add(const Run &run, uint64 v, const New &old, const New &made,
                                        int64 superstep) {{
{adds}
    }}
    __device__ __forceinline__ void store(Partial *partials) {{
{stores}
    }}
    static __device__ __forceinline__ void fold(const Run &run, Partial *partials) {{
{folds}
    }}
}};""")

    def _stop(self) -> None:
        if self.wrappers.stop:
            wrapper = self._declare("stop")
            names = self._run_names("run.control->superstep")
            body = f"    return {self.call(wrapper, names)} != 0;"
        else:
            body = "    return false;"  # the host asks
        self._function("bool stop_now(const Run &run)", body)


@dataclass(frozen=True)
class Stages:
    """When aggregates are taken.

    Attributes
    ----------
    after : those that are known only after apply
    with_apply : of these, those that name no other: apply takes them
    alone_after : of these, the others, one by one
    next : those before compute that name no other: apply takes them for the next superstep
    before : all before compute, as the first superstep takes them
    alone_before : of these, those that each superstep takes
    """

    after: tuple[str, ...]
    with_apply: tuple[str, ...]
    alone_after: tuple[str, ...]
    next: tuple[str, ...]
    before: tuple[str, ...]
    alone_before: tuple[str, ...]

    @classmethod
    def of(cls, binding: Binding) -> Stages:
        """Of a program's aggregates."""
        program = binding.program
        after = program.aggregates_after()
        before = tuple(name for name in program.aggregates if name not in after)

        def names_another(name: str, others: tuple[str, ...]) -> bool:
            named = parameters(plain(program.aggregates[name].value, name), name)
            return any(other in named for other in others)

        alone_after = tuple(name for name in after if names_another(name, after))
        alone_before = tuple(name for name in before if names_another(name, before))
        return cls(
            after,
            tuple(name for name in after if name not in alone_after),
            alone_after,
            tuple(name for name in before if name not in alone_before),
            before,
            alone_before,
        )


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """C++ of a number of a stored type."""
    if dtype.kind == "f":
        value = float(value)
        if np.isinf(value):
            bits = "7f800000" if dtype == np.float32 else "7ff0000000000000"
            make = "__int_as_float" if dtype == np.float32 else "__longlong_as_double"
            return f"({'-' if value < 0 else ''}{make}(0x{bits}))"
        return f"({c_type(dtype)}){value!r}"
    value = int(value)
    if value == -INT64_MAX - 1:
        return f"((int64)-{INT64_MAX}LL - 1)"
    return f"(({c_type(dtype)}){value}{'ull' if value > INT64_MAX else 'LL'})"
