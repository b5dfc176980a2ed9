"""Generated kernels of monotone programs: values are improved where they stand."""

from __future__ import annotations

from enum import IntEnum

from dask_graphgpu.engine.edge_kernels import over_frontier
from dask_graphgpu.engine.expressions import call, number, run_names, shown
from dask_graphgpu.engine.writer import Writer, indented


class Due(IntEnum):
    """Whether a vertex is to send: not; once its row is at hand; once its priority is near; a message did not fit."""

    NO, NEAR, FAR, UNSENT = range(4)


def improve(writer: Writer, *, then: list[str], fail: str, atomic: bool) -> str:
    """Lines for an edge ``e`` from ``u``: if its message improves ``v``, keep it, and ``then``.

    A value may equal the identity (the largest int64 is a distance like any other): ``late`` says
    that a vertex got just that.
    """
    program, binding = writer.program, writer.binding
    first, dtype = program.first, binding.message
    sign = "<" if program.combine == "min" else ">"
    improves = f"m {sign} old"
    if program.has_reached:
        improves += f" or (old == m == {number(binding.identity(dtype), dtype)} and late[v] == 0)"
    keep = [f"atomic_{program.combine}(state_{first}, v, m)" if atomic else f"state_{first}[v] = m"]
    if program.has_reached:
        keep += [f"if m == {number(binding.identity(dtype), dtype)}: late[v] = 1"]
    if program.active is not None:
        active = writer.active("v", "old", "m", {first: "m"}, "True")
        if program.has_reached:  # a first value is not asked about
            active = f"old == {number(binding.identity(dtype), dtype)} or {active}"
        then = [f"if {active}:", *("    " + line for line in then)]
    if program.priority is not None:
        keep = [f"p = {_priority(writer, 'm')}", "if p > cutoff: continue", *keep]
    lines = [
        "v = neighbours[e]",
        writer.message("u", "v", "e", fail),
        f"old = state_{first}[v]",
        f"if {improves}:",
        *("    " + line for line in [*keep, *then]),
    ]
    return "\n".join(lines)


def _priority(writer: Writer, value: str) -> str:
    """Expression of a priority: int64 where the user's function gives integers, else float64."""
    program = writer.program
    names = run_names(writer.binding)
    names[program.first] = shown(value, writer.binding.dtypes[program.first])
    convert = "to_int" if writer.binding.whole_priorities else "to_float"
    return f"{convert}({call('_priority', program.priority, 'priority', names)})"


def write_relax(writer: Writer) -> None:
    """``relax``: rounds over a queue in one call, until it is empty or longer than ``most``.

    Counts: queue length, stamp of the round, edges, rounds (odd: the queue is in ``queue``).
    """
    queue = [
        "if stamp[v] != now:",
        "    stamp[v] = now",
        "    queue[length] = v",
        "    length += 1",
    ]
    body = f"""\
count = counts[0]
now = counts[1]
edges = 0
rounds = 0
bad = 0
while 0 < count <= most and bad == 0:
    now += 1
    length = 0
    for i in range(count):
        u = frontier[i]
        begin = offsets[u]
        end = offsets[u + ONE]
        edges += np.int64(end - begin)
        for e in range(begin, end):
{indented(improve(writer, then=queue, fail="return 1", atomic=False), 12)}
    frontier, queue = queue, frontier
    count = length
    rounds += 1
counts[0] = count
counts[1] = now
counts[2] += edges
counts[3] += rounds
return 0"""
    fixed = "frontier, queue, stamp, late, counts, cutoff, most, offsets, neighbours"
    writer.kernel("relax", fixed, body)
    mark = ["stamp[v] = now"]
    body = over_frontier(improve(writer, then=mark, fail="return 1", atomic=True))
    fixed = "lo, hi, frontier, ends, stamp, late, now, cutoff, offsets, neighbours"
    writer.kernel("relax_block", fixed, body)


def write_relax_there(writer: Writer) -> None:
    """``relax_there``: rounds over a queue in one call, until it is empty, along rows of which not all are at hand.

    ``there`` says which are. Others that have to send become ``due`` as `Due` says, and so do those of a priority
    above ``limit``. Who has sent is not due, unless a message did not fit its type: that is an error if the value
    does not improve any more.

    Counts: queue length, stamp of the round, edges, rounds.
    """
    near = " and p <= limit" if writer.program.priority is not None else ""
    then = [
        f"if there[v] == 1{near}:",
        "    if stamp[v] != now:",
        "        stamp[v] = now",
        "        queue[length] = v",
        "        length += 1",
        "else:",
        f"    due[v] = {Due.NEAR}",
    ]
    if near:
        then[-1] += f" if p <= limit else {Due.FAR}"
    fail = f"due[u] = {Due.UNSENT}; break"
    body = f"""\
count = counts[0]
now = counts[1]
while count > 0:
    now += 1
    length = 0
    for i in range(count):
        u = frontier[i]
        due[u] = {Due.NO}
        begin = offsets[u]
        end = offsets[u + ONE]
        counts[2] += np.int64(end - begin)
        for e in range(begin, end):
{indented(improve(writer, then=then, fail=fail, atomic=False), 12)}
    frontier, queue = queue, frontier
    count = length
    counts[3] += 1
counts[1] = now
return 0"""
    fixed = "frontier, queue, there, due, stamp, late, counts, limit, cutoff, offsets, neighbours"
    writer.kernel("relax_there", fixed, body)


def write_sweep(writer: Writer) -> None:
    """``sweep``: every row takes the best of its in-neighbours, as they are at that moment.

    Over parts (see ``cpu/merge_path.py``): the pieces of a cut row improve its value independently.
    """
    program, binding = writer.program, writer.binding
    first, dtype = program.first, binding.message
    none = number(binding.identity(dtype), dtype)
    sign = "<" if program.combine == "min" else ">"
    skip = (
        f"if state_{first}[u] == {none} and late[u] == 0: continue\n" if program.has_reached else ""
    )
    improves = f"m {sign} best"
    if program.has_reached:
        improves += f" or (best == m == {none} and late[v] == 0)"
    mark = f"if m == {none}: late[v] = 1" if program.has_reached else ""
    active = (
        "True"
        if program.active is None
        else writer.active("v", "old", "best", {first: "best"}, "True")
    )
    body = f"""\
bad = 0
for p in range(np.uint64(lo), np.uint64(hi)):
    first = rows[p]
    last = rows[p + ONE]
    low = edges[p]
    high = edges[p + ONE]
    for v in range(first, last + ONE):
        old = state_{first}[v]
        best = old
        improved = False
        for e in range(max(offsets[v], low), min(offsets[v + ONE], high)):
            u = neighbours[e]
{indented(skip + writer.message("u", "v", "e", "return 1"), 12)}
            if {improves}:
                best = m
                improved = True
                {mark}
        if improved:
            if first < v < last:
                state_{first}[v] = best
            else:
                atomic_{program.combine}(state_{first}, v, best)
            if {active}:
                stamp[v] = now
return bad"""
    writer.kernel("sweep", "lo, hi, rows, edges, stamp, late, now, offsets, neighbours", body)


def write_asked(writer: Writer) -> None:
    """``awake`` and ``priorities``: what the program says of the vertices of a list, for many ranks.

    Awake: whether they send, from the values that they had and those that they have.
    """
    program, binding = writer.program, writer.binding
    first = program.first
    if program.active is not None:
        new = f"state_{first}[v]"
        active = writer.active("v", "old[i]", new, {first: new}, "True")
        if program.has_reached:
            active = f"old[i] == {number(binding.identity(binding.message), binding.message)} or {active}"
        body = f"""\
for i in range(lo, hi):
    v = places[i]
    out[i] = {active}"""
        writer.kernel("awake", "lo, hi, places, old, out", body)
    if program.priority is not None:
        body = f"""\
for i in range(lo, hi):
    v = places[i]
    out[i] = {_priority(writer, f"state_{first}[v]")}"""
        writer.kernel("priorities", "lo, hi, places, out", body)


def write_near_far(writer: Writer) -> None:
    """``near_far``: rounds over the near list; when it is empty, the next bucket of the far list.

    Counts: near, stamp, edges, rounds (odd: the near list is in ``queue``), far, settled targets.
    Limits: the priorities up to which vertices are near, of which what is below is final once near
    is empty, and the lowest in the far list. Those above ``until`` are left there.
    Returns 0: done, 1: overflow, 2: the near list is longer than ``most``; ``near_block`` then does
    a round of it on threads, leaving stamps in place of the queue and marks 2 in ``in_far``.
    """
    first = writer.program.first
    then = [
        "if p <= limit:",
        "    if stamp[v] != now:",
        "        stamp[v] = now",
        "        queue[length] = v",
        "        length += 1",
        "elif in_far[v] == 0:",
        "    in_far[v] = 1",
        "    far[n_far] = v",
        "    n_far += 1",
    ]
    marks = ["if p <= limit:", "    stamp[v] = now", "elif in_far[v] == 0:", "    in_far[v] = 2"]
    body = over_frontier(improve(writer, then=marks, fail="return 1", atomic=True))
    fixed = "lo, hi, frontier, ends, stamp, in_far, late, now, limit, cutoff, offsets, neighbours"
    writer.kernel("near_block", fixed, body)
    dtype = writer.binding.message
    none = number(writer.binding.identity(dtype), dtype)
    step = "raised_limit(least, delta)" if writer.binding.whole_priorities else "least + delta"
    step = f"min({step}, until)"
    priority = _priority(writer, f"state_{first}[v]")
    body = f"""\
count = counts[0]
now = counts[1]
edges = 0
rounds = 0
n_far = counts[4]
settled = counts[5]
limit = limits[0]
status = 0
while True:
    while 0 < count <= most:
        now += 1
        length = 0
        for i in range(count):
            u = near[i]
            begin = offsets[u]
            end = offsets[u + ONE]
            edges += np.int64(end - begin)
            for e in range(begin, end):
{indented(improve(writer, then=then, fail="return 1", atomic=False), 16)}
        near, queue = queue, near
        count = length
        rounds += 1
    if count > 0:
        status = 2
        break
    while settled < targets.size:
        v = targets[settled]
        if state_{first}[v] == {none} or {priority} > limit: break
        settled += 1
    if targets.size > 0 and settled == targets.size: break
    done = limit
    least = done
    limit = max(limit, {step.replace("least", "done")})
    while n_far > 0:
        kept = 0
        for i in range(n_far):
            v = far[i]
            p = {priority}
            if p <= limit:
                in_far[v] = 0
                if p > done:
                    near[count] = v
                    count += 1
            else:
                least = p if kept == 0 or p < least else least
                far[kept] = v
                kept += 1
        n_far = kept
        limits[1] = least
        if count > 0 or kept == 0 or least > until: break
        limit = {step}
    if count == 0: break
counts[0] = count
counts[1] = now
counts[2] += edges
counts[3] += rounds
counts[4] = n_far
counts[5] = settled
limits[0] = limit
return status"""
    lists = "near, queue, far, stamp, in_far, late, counts, limits"
    fixed = f"{lists}, delta, until, cutoff, targets, most, offsets, neighbours"
    writer.kernel("near_far", fixed, body)


def write_layered(writer: Writer) -> None:
    """``layers``: a pass over each dirty layer of some, one after another, by one thread.

    A vertex is stamped with the pass in which its value has last improved, and a layer with its last
    pass: those stamped since then send. A layer is dirty when one of its vertices has to.

    Counts: the last pass, edges read, passes.

    ``layer_block``: a part of the pass ``now`` over one layer, by several threads.
    """
    then = ["stamp[v] = now", "dirty[level[v]] = 1"]
    edge = """\
u = sources[e]
if stamp[u] < since: continue
"""
    body = f"""\
now = counts[0]
for layer in range(first_layer, last_layer):
    if dirty[layer] == 0: continue
    dirty[layer] = 0
    now += 1
    since = passed[layer]
    passed[layer] = now
    counts[1] += starts[layer + 1] - starts[layer]
    counts[2] += 1
    for e in range(np.uint64(starts[layer]), np.uint64(starts[layer + 1])):
{indented(edge + improve(writer, then=then, fail="return 1", atomic=False), 8)}
counts[0] = now
return 0"""
    lists = "starts, dirty, passed, level, stamp, late, counts, cutoff, sources, neighbours"
    writer.kernel("layers", f"first_layer, last_layer, {lists}", body)
    body = f"""\
bad = 0
for e in range(np.uint64(lo), np.uint64(hi)):
{indented(edge + improve(writer, then=then, fail="return 1", atomic=True), 4)}
return bad"""
    fixed = "lo, hi, now, since, dirty, level, stamp, late, cutoff, sources, neighbours"
    writer.kernel("layer_block", fixed, body)
