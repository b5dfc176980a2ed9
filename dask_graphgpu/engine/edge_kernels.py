"""Generated kernels of a synchronous superstep: gather (pull, notify-pull) and push."""

from __future__ import annotations

from typing import Any

import numpy as np

from dask_graphgpu.engine.expressions import number
from dask_graphgpu.engine.state import Binding
from dask_graphgpu.engine.writer import Writer, indented, outside


def write_gather(writer: Writer, name: str, *, some: bool) -> None:
    """``gather_all`` and ``gather_some``: each row combines what its in-neighbours send.

    Over parts (see ``cpu/merge_path.py``). What a part has of its first row goes to slot ``2 p``, of its
    last row to ``2 p + 1``, for ``fold``. ``some``: only rows that are marked, only from neighbours
    that are active. Gives overflow and how many edges were looked at.
    """
    binding, row = writer.binding, _Row(writer)
    message = (
        f"m = {writer.from_store('emitted[u]')}"
        if binding.source_only
        else writer.message("u", "v", "e", "bad = 1")
    )
    lines = ["u = neighbours[e]"]
    if some:
        lines += ["if active[u] == 0: continue"]
    lines += [message]
    counts = writer.program.counts_messages
    if binding.needs_received and some:
        lines += ["got += 1" if counts else "got = 1"]
    lines += row.combine("m", "np.float64(m)")
    if writer.program.combine == "any" and not counts:
        lines += ["break"]
    whole = "got = np.int64(end - begin)" if counts else "got = 1 if end > begin else 0"
    received = whole if binding.needs_received and not some else ""
    gather = f"""\
{row.begin}
{received}
read += end - begin
for e in range(begin, end):
{indented(chr(10).join(lines), 4)}"""
    skip = f"""\
if marked[v] == 0:
    messages[v] = {row.kept(row.start)}
    {"received[v] = 0" if binding.needs_received else ""}
    continue""" if some else ""  # fmt: skip
    body = f"""\
bad = 0
read = np.uint64(0)
for p in range(np.uint64(lo), np.uint64(hi)):
    first = rows[p]
    last = rows[p + ONE]
    for v in range(first + ONE, last):
{indented(skip, 8)}
        begin = offsets[v]
        end = offsets[v + ONE]
{indented(gather, 8)}
{indented(row.end, 8)}
    for slot in range(p + p, p + p + ONE + ONE):
        v = rows[(slot + ONE) >> ONE]
        begin = max(offsets[v], edges[p])
        end = min(offsets[v + ONE], edges[p + ONE])
        if {"marked[v] == 0 or " if some else ""}(v == first and slot & ONE != 0):
            end = begin
{indented(gather, 8)}
{indented(row.put("slot"), 8)}
return bad, read"""
    fixed = "lo, hi, rows, edges, offsets, neighbours, emitted, active, marked"
    writer.kernel(name, f"{fixed}, {_INTO}", body)


def write_fold(writer: Writer) -> None:
    """``fold``: put together, part after part, what the parts have of their first and last rows."""
    row = _Row(writer)
    body = f"""\
bad = 0
{row.begin}
for slot in range(np.uint64(partial.size)):
    part = (slot + ONE) >> ONE
    v = rows[part]
{indented(row.take("slot"), 4)}
    following = (slot + ONE + ONE) >> ONE
    if slot + ONE == partial.size or rows[following] != v:
{indented(row.end, 8)}
{indented(row.begin, 8)}
return bad"""
    writer.kernel("fold", f"rows, {_INTO}", body)


_INTO = "messages, received, partial, partial_shadow, partial_got"


class _Row:
    """Lines about the sum (minimum, ...) of a row: ``best``, ``shadow`` in floats, whether it ``got`` one."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.binding = writer, writer.binding
        self.operator, self.message = writer.program.combine, writer.binding.message
        self.checked, self.notes = self.binding.shadowed("sum"), self.binding.needs_received
        self.wide = partial_dtype(self.binding)
        self.start = number(
            self.binding.identity(self.message) if self.operator != "sum" else 0,
            self.message if self.message.kind == "b" else self.wide,
        )

    @property
    def begin(self) -> str:
        return f"best = {self.start}\nshadow = 0.0\ngot = 0"

    def combine(self, value: str, shadow: str) -> list[str]:
        if self.operator == "sum":
            return [f"best += {value}"] + ([f"shadow += {shadow}"] if self.checked else [])
        if self.operator == "any":
            return [f"best = {value}"]
        return [f"if {value} {'<' if self.operator == 'min' else '>'} best: best = {value}"]

    def kept(self, value: str) -> str:
        """What is in ``best``, in the type of a message."""
        narrow = self.message.kind != "b" and self.message != self.wide
        return f"np.{self.message}({value})" if narrow else value

    @property
    def end(self) -> str:
        lines = [f"messages[v] = {self.kept('best')}"]
        if self.checked:
            tests = ["wrapped(best, shadow)", *outside("best", self.message)]
            lines += [f"if {' or '.join(tests)}: bad = 1"]
        return "\n".join(lines + (["received[v] = got"] if self.notes else []))

    def put(self, slot: str) -> str:
        lines = [f"partial[{slot}] = best"]
        lines += [f"partial_shadow[{slot}] = shadow"] if self.checked else []
        lines += [f"partial_got[{slot}] = got"] if self.notes else []
        return "\n".join(lines)

    def take(self, slot: str) -> str:
        x = self.writer.from_store(f"partial[{slot}]")
        lines = [f"x = {x}", *self.combine("x", f"partial_shadow[{slot}]")]
        if self.notes:
            noted = (
                f"got += partial_got[{slot}]" if self.writer.program.counts_messages else "got = 1"
            )
            lines = [f"if partial_got[{slot}] != 0:", f"    {noted}", *("    " + x for x in lines)]
        return "\n".join(lines)


def partial_dtype(binding: Binding) -> np.dtype[Any]:
    """Type in which a row is combined, and kept where the row is cut.

    Sums of float32 are kept in float64 while a row is summed: free, and good to the last digit.
    Bools are kept in bytes.
    """
    dtype = binding.message
    if binding.program.combine == "sum":
        return np.dtype(np.int64 if dtype.kind in "iu" else np.float64)
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype


def write_push(writer: Writer) -> None:
    """``push``: the rows of a list of active vertices, combined at the other end by atomics."""
    fixed = "lo, hi, frontier, ends, offsets, neighbours, emitted, messages, received"
    lines = [*_pushed(writer), _MEET[writer.program.combine], *_noted(writer)]
    writer.kernel("push", fixed, over_frontier("\n".join(lines)))


def write_push_rows(writer: Writer) -> None:
    """``push_rows``: the active ones among some rows, part by part of their edges.

    Sums over the first vertices, which the hubs are among where rows are by falling degree, are of
    each part its own, ``own[part]``: threads that add to a hub at a time wait for each other. Gives
    overflow and how many edges active vertices have there.
    """
    combine = writer.program.combine
    meet = _MEET[combine]
    if combine == "sum":
        meet = f"if v < np.uint64(mine.size):\n    mine[v] += m\nelse:\n    {meet}"
    lines = "\n".join([*_pushed(writer), meet, *_noted(writer)])
    fixed = "lo, hi, cuts, offsets, neighbours, active, emitted, own, messages, received"
    writer.kernel(
        "push_rows",
        fixed,
        f"""\
bad = 0
read = np.uint64(0)
for part in range(lo, hi):
    mine = own[part]
    place = np.uint64(cuts[part])
    end = np.uint64(cuts[part + 1])
    u = np.uint64(np.searchsorted(offsets, place, side="right")) - ONE
    while place < end:
        stop = min(offsets[u + ONE], end)
        if active[u] != 0:
            read += stop - place
            for e in range(place, stop):
{indented(lines, 16)}
        place = stop
        u += ONE
return bad, read""",
    )


_MEET = {
    "min": "atomic_min(messages, v, m)",
    "max": "atomic_max(messages, v, m)",
    "sum": "atomic_add(messages, v, m)",
    "any": "messages[v] = m",
}


def _pushed(writer: Writer) -> list[str]:
    """Lines that set ``v`` to where edge ``e`` of ``u`` goes, and ``m`` to what is sent there."""
    if writer.binding.source_only:
        return ["v = neighbours[e]", f"m = {writer.from_store('emitted[u]')}"]
    return ["v = neighbours[e]", writer.message("u", "v", "e", "bad = 1")]


def _noted(writer: Writer) -> list[str]:
    """Lines that note who gets a message, or how many.

    A flag is read first, so that threads do not fetch a line from each other.
    """
    if writer.program.counts_messages:
        return ["atomic_add(received, v, 1)"]
    return ["if received[v] == 0: received[v] = 1"] if writer.binding.needs_received else []


def over_frontier(lines: str) -> str:
    """A body that runs ``lines`` for the edges ``e`` from ``u`` that stand at lo..hi of a frontier.

    ``ends``: how many edges the frontier has up to each of its vertices, that one included. So the
    edges of one vertex may be those of several blocks.
    """
    return f"""\
bad = 0
place = np.uint64(lo)
i = np.uint64(np.searchsorted(ends, place, side="right"))
while place < np.uint64(hi):
    u = frontier[i]
    stop = min(ends[i], np.uint64(hi))
    begin = offsets[u + ONE] - (ends[i] - place)
    for e in range(begin, begin + (stop - place)):
{indented(lines, 8)}
    place = stop
    i += ONE
return bad"""
