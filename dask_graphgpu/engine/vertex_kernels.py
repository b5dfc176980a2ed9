"""Generated kernels over blocks of vertices: values at the start, apply, aggregates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dask_graphgpu.engine.aggregates import on_the_way
from dask_graphgpu.engine.expressions import run_names, shown, vertex_names
from dask_graphgpu.engine.writer import Writer, flat, indented


def write_initial(writer: Writer, role: str, function: Any) -> None:
    """``state_<field>_initial(lo, hi, out)`` fills a field; gives overflow."""
    names = run_names(writer.binding) | vertex_names(writer.binding, "v")
    value = writer.started("out[v]", role, function, names, "bad = 1")
    body = f"""\
bad = 0
for v in range(lo, hi):
{indented(value, 4)}
return bad"""
    writer.kernel(flat(role), "lo, hi, out", body)


def write_emit(writer: Writer) -> None:
    """``emit``: a message that reads only its source is worked out once a vertex.

    Vertices without edges are left out: ``rank / degree`` is never asked of them.
    """
    message = writer.message("u", "u", "0", "bad = 1")
    body = f"""\
bad = 0
for u in range(lo, hi):
    if active[u] != 0 and degree[u] > 0:
{indented(message, 8)}
        emitted[u] = m
return bad"""
    writer.kernel("emit", "lo, hi, active, emitted", body)


def write_apply(writer: Writer) -> None:
    """``apply``: new values, who has one, who is active; gives active vertices, their edges, overflow.

    And for each aggregate that it works out on the way (`engine.aggregates.on_the_way`) what the
    aggregate's own kernel gives.
    """
    program = writer.program
    first, changing = program.first, program.changing
    lines = ["r = received[v] != 0"] if writer.binding.needs_received else []
    if program.has_reached:
        lines += ["had = reached[v] != 0", "if not (had or r):", "    active[v] = 0"]
        lines += [f"    new_{name}[v] = state_{name}[v]" for name in changing]
        lines += ["    continue"]
    lines += [f"m = {writer.from_store('messages[v]')}", f"old = state_{first}[v]"]
    lines += [_default(writer)] if program.apply is None else _users(writer)
    lines += [f"new_{name}[v] = made_{name}" for name in changing]
    active = writer.active("v", "old", "m", {name: f"made_{name}" for name in changing}, "r")
    if program.has_reached:
        lines += [f"a = ({active}) if had else True", "if r: reached[v] = 1"]
    else:
        lines += [f"a = {active}"]
    lines += ["active[v] = a", "if a:", "    count += 1", "    edges += degree[v]"]
    starts, results = ["bad = 0", "count = 0", "edges = 0"], ["count", "edges", "bad"]
    for name, when in on_the_way(program).items():
        fold = _fold(writer, name, f"_{flat(name)}", ahead=when == "next")
        starts, lines = starts + fold.starts, lines + fold.lines
        results.append(f"({fold.results})")
    body = f"""\
{chr(10).join(starts)}
for v in range(lo, hi):
{indented(chr(10).join(lines), 4)}
return {", ".join(results)}"""
    writer.kernel("apply", "lo, hi, messages, received, reached, active", body)


def _default(writer: Writer) -> str:
    """The better of old and message; sum: the message; any: the message, if one came."""
    first, combine = writer.program.first, writer.program.combine
    if combine == "sum":
        return f"made_{first} = m"
    if combine == "any":
        return f"made_{first} = m if r else old"
    better = f"m {'<' if combine == 'min' else '>'} old"
    if writer.program.has_reached:
        better = f"(not had) or {better}"
    return f"made_{first} = m if {better} else old"


def _users(writer: Writer) -> list[str]:
    names = run_names(writer.binding) | vertex_names(writer.binding, "v")
    names |= {"message": shown("m", writer.binding.message), "received": "r"}
    return writer.made(names, "bad = 1")


@dataclass(frozen=True)
class _Fold:
    """Source of an aggregate over a block: before the loop, in it, and what comes out."""

    starts: list[str]
    lines: list[str]
    results: str


def _fold(writer: Writer, name: str, end: str = "", *, ahead: bool = False) -> _Fold:
    """An aggregate in variables whose names end in ``end``.

    ``ahead``: the fields are the new ones, which are the old ones of the next superstep.
    """
    program, binding = writer.program, writer.binding
    names = run_names(binding) | vertex_names(binding, "v")
    for field in program.changing:
        new = shown(f"new_{field}[v]", binding.dtypes[field])
        names[field if ahead else f"new_{field}"] = new
    x, best, shadow, none, bad = (f"{n}{end}" for n in ("x", "best", "shadow", "none", "bad"))
    combine = program.aggregates[name].combine
    better = {"min": f"{x} < {best}", "max": f"{x} > {best}"}.get(combine)
    keep = f"{best} + {x}" if better is None else f"{x} if {none} or {better} else {best}"
    return _Fold(
        [f"{best} = 0", f"{shadow} = 0.0", f"{none} = True", f"{bad} = 0"],
        [
            *writer.aggregated(name, names, f"{bad} = 1", x),
            f"{best} = {keep}",
            f"{shadow} += np.float64({x})",
            f"{none} = False",
        ],
        f"{best}, {shadow}, {none}, {bad}",
    )


def write_aggregate(writer: Writer, name: str) -> None:
    """Over a block: the value, its sum in floats, whether there was no vertex, and overflow."""
    fold = _fold(writer, name)
    skip = ["if reached[v] == 0: continue"] if writer.program.has_reached else []
    body = f"""\
{chr(10).join(fold.starts)}
for v in range(lo, hi):
{indented(chr(10).join([*skip, *fold.lines]), 4)}
return {fold.results}"""
    writer.kernel(flat(f"aggregates[{name!r}]"), "lo, hi, reached", body)
