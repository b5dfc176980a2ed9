"""Generated kernels of a synchronous superstep: gather (pull, notify-pull) and push."""

from __future__ import annotations

import numpy as np

from dask_graphgpu.engine.expressions import number
from dask_graphgpu.engine.writer import Writer, indented, outside


def write_gather(writer: Writer, name: str, *, some: bool) -> None:
    """``gather_all`` and ``gather_some``: each row combines what its in-neighbours send.

    ``some``: only rows that are marked, only from neighbours that are active.
    """
    binding, combine = writer.binding, writer.program.combine
    dtype = binding.message
    summed = combine == "sum"
    # Sums of float32 are kept in float64 while a row is summed: free, and good to the last digit.
    wide = np.dtype(np.int64 if dtype.kind in "iu" else np.float64) if summed else dtype
    checked = binding.shadowed("sum")
    start = number(binding.identity(dtype) if not summed else 0, wide)
    message = (
        f"m = {writer.from_store('emitted[u]')}"
        if binding.source_only
        else writer.message("u", "v", "e", "bad = 1")
    )
    lines = ["u = neighbours[e]"]
    if some:
        lines += ["if active[u] == 0: continue"]
    lines += [message]
    if binding.needs_received and some:
        lines += ["got = 1"]
    if summed:
        lines += ["best += m"] + (["shadow += np.float64(m)"] if checked else [])
    elif combine == "any":
        lines += ["best = m", "break"]
    else:
        lines += [f"if m {'<' if combine == 'min' else '>'} best: best = m"]
    narrow = dtype != wide
    end = ["messages[v] = " + (f"np.{dtype}(best)" if narrow else "best")]
    if checked:
        tests = ["wrapped(best, shadow)", *outside("best", dtype)]
        end += [f"if {' or '.join(tests)}: bad = 1"]
    if binding.needs_received:
        end += [f"received[v] = {'got' if some else 'end > begin'}"]
    skip = f"""\
    if marked[v] == 0:
        messages[v] = {start if not narrow else f"np.{dtype}(0)"}
        {"received[v] = 0" if binding.needs_received else ""}
        continue
""" if some else ""  # fmt: skip
    body = f"""\
bad = 0
for v in range(np.uint64(lo), np.uint64(hi)):
{skip}    best = {start}
    shadow = 0.0
    got = 0
    begin = offsets[v]
    end = offsets[v + ONE]
    for e in range(begin, end):
{indented(chr(10).join(lines), 8)}
{indented(chr(10).join(end), 4)}
return bad"""
    fixed = "lo, hi, offsets, neighbours, emitted, active, marked, messages, received"
    writer.kernel(name, fixed, body)


def write_push(writer: Writer) -> None:
    """``push``: the rows of a list of active vertices, combined at the other end by atomics."""
    binding, combine = writer.binding, writer.program.combine
    meet = {
        "min": "atomic_min(messages, v, m)",
        "max": "atomic_max(messages, v, m)",
        "sum": "atomic_add(messages, v, m)",
        "any": "messages[v] = m",
    }[combine]
    lines = ["v = neighbours[e]"]
    lines += [
        f"m = {writer.from_store('emitted[u]')}"
        if binding.source_only
        else writer.message("u", "v", "e", "bad = 1")
    ]
    lines += [meet] + (["received[v] = 1"] if binding.needs_received else [])
    body = f"""\
bad = 0
for i in range(lo, hi):
    u = frontier[i]
    for e in range(offsets[u], offsets[u + ONE]):
{indented(chr(10).join(lines), 8)}
return bad"""
    writer.kernel(
        "push", "lo, hi, frontier, offsets, neighbours, emitted, messages, received", body
    )
