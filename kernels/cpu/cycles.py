"""Simple cycles, depth-first from each edge that one may begin with.

Encoding
--------
edges : those of `engine.cycle_search.Core`, which says what keys are
root : the vertex at which a cycle begins; path[0]
taken : of each vertex of the path the key of the edge that leaves it
after, until : keys of edges to come are above the one, and not above the other
reach : of each vertex the last key at which it may be left to come to the root by two edges or one; 0: it may not
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit

WORTH = (
    16  # vertices with two edges left, from which on it is looked which of them lead to the root
)
FURTHER = 32  # so many times as many are taken to be one edge further

_ONE = np.uint32(1)


@inner
def _after(keys, lo, hi, key):
    """The first place of some ascending keys, from ``lo`` to ``hi``, that is above a key."""
    while lo < hi:
        middle = (lo + hi) // 2
        if keys[middle] <= key:
            lo = middle + 1
        else:
            hi = middle
    return lo


@inner
def _behind(ends, keys, lo, hi, end, key):
    """The first place of rows by end and key, from ``lo`` to ``hi``, that is behind an end and a key."""
    while lo < hi:
        middle = (lo + hi) // 2
        if ends[middle] < end or (ends[middle] == end and keys[middle] <= key):
            lo = middle + 1
        else:
            hi = middle
    return lo


@inner
def _passed(path, depth, x):
    """Whether a path of so many edges has a vertex."""
    for i in range(depth + 1):
        if path[i] == x:
            return True
    return False


@inner
def _write(cycles, at, timed, path, taken, depth, last, closing):
    """Write a cycle: a path of ``depth`` edges, the vertex ``last`` unless it is the path's, and an edge back."""
    vertices, keys = cycles
    for i in range(depth + 1):
        vertices[at, i] = path[i] + _ONE
    if last != path[depth]:
        depth += 1
        vertices[at, depth] = last + _ONE
    if timed:
        for i in range(depth):
            keys[at, i] = taken[i]
        keys[at, depth] = closing


@inner
def _pairs(out, into, near, ways, backs, path, taken, depth, after, asked, lists, cycles, at):
    """Find cycles that two edges close, from the end of the path to the root; how many there are.

    Parameters
    ----------
    ways, backs : places of edges in question from the end of the path, and of those to the root
    """
    _, timed, directed, until = asked
    root, x = path[0], path[depth]
    found = 0
    if ways[1] - ways[0] <= backs[1] - backs[0]:
        lo, hi = into[0][root], into[0][root + 1]
        for a in range(ways[0], ways[1]):
            y, key = out[1][a], out[2][a]
            if _passed(path, depth, y) or not (directed or y > path[1]):
                continue
            taken[depth] = key
            later = key if timed else root
            i = _behind(*near, lo, hi, y, later)
            while i < hi and near[0][i] == y and near[1][i] <= until:
                if lists:
                    _write(cycles, at + found, timed, path, taken, depth, y, near[1][i])
                found += 1
                i += 1
        return found
    for b in range(backs[0], backs[1]):
        y, key = into[1][b], into[2][b]
        if timed and key <= after:
            continue
        if _passed(path, depth, y) or not (directed or y > path[1]):
            continue
        hi = into[0][y + 1]
        i = _behind(*near, into[0][y], hi, x, after)
        while i < hi and near[0][i] == x and (near[1][i] < key or not timed):
            taken[depth] = near[1][i]
            if lists:
                _write(cycles, at + found, timed, path, taken, depth, y, key)
            found += 1
            i += 1
    return found


@inner
def _note(reach, touched, number, x, key):
    """Note that a vertex may be left at a key, if not later; how many vertices have one."""
    before = reach[x]
    if before >= key:
        return number
    reach[x] = key
    if before == 0:
        touched[number] = x
        number += 1
    return number


@inner
def _reaching(into, backs, after, timed, steps, reach, touched):
    """Note of each vertex the last key of a first one of two edges to the root, or of one; how many have any.

    -1 where that takes more than so many ``steps``. Not timed, keys are 1.
    """
    number = 0
    for b in range(backs[0], backs[1]):
        z, key = into[1][b], into[2][b]
        begin, end = into[0][z], into[0][z + 1]
        begin = _after(into[2], begin, end, after)
        if timed:
            end = _after(into[2], begin, end, key - _ONE)
        steps -= end - begin + 1
        if steps < 0:
            _forget(reach, touched, number)
            return -1
        number = _note(reach, touched, number, z, key if timed else _ONE)
        for a in range(begin, end):
            way = into[2][a] if timed else _ONE
            number = _note(reach, touched, number, into[1][a], way)
    return number


@inner
def _forget(reach, touched, number):
    for i in range(number):
        reach[touched[i]] = 0


@inner
def _from_edge(
    out, into, near, path, taken, cursor, stop, reach, touched, after, asked, most, lists, cycles, at
):  # fmt: skip
    """Find the cycles that begin with the edge path[0], path[1]; how many there are, and how long the longest is."""
    length, timed, directed, until = asked
    found, longest = 0, 0
    root = path[0]
    lo, hi = into[0][root], into[0][root + 1]
    first = _after(into[2], lo, hi, after)
    backs = first, _after(into[2], first, hi, until)
    if backs[0] == backs[1]:
        return found, longest
    if timed:
        until = into[2][backs[1] - 1]
    asked = length, timed, directed, until
    reached = -1
    if length >= 4:
        v = path[1]
        begin = _after(out[2], out[0][v], out[0][v + 1], after)
        end = _after(out[2], begin, out[0][v + 1], until)
        entries = (end - begin) * (1 if length == 4 else FURTHER)
        if entries > WORTH:
            reached = _reaching(into, backs, after, timed, entries, reach, touched)
    depth, entered = 1, True
    while depth > 0:
        if entered:
            entered = False
            x = path[depth]
            later = taken[depth - 1] if timed else root
            before = found
            if depth > 1 or directed:
                i = _behind(*near, lo, hi, x, later)
                while i < hi and near[0][i] == x and near[1][i] <= until:
                    if directed or x > path[1]:
                        if lists:
                            _write(cycles, at + found, timed, path, taken, depth, x, near[1][i])
                        found += 1
                    i += 1
            if found > before:
                longest = max(longest, depth + 1)
            cursor[depth] = stop[depth] = 0
            if depth + 2 <= length:
                begin, end = out[0][x], out[0][x + 1]
                begin = _after(out[2], begin, end, later)
                end = _after(out[2], begin, end, until)
                if depth + 2 < length:
                    cursor[depth], stop[depth] = begin, end
                elif begin < end:
                    more = _pairs(
                        out, into, near, (begin, end), backs, path, taken, depth, later, asked, lists,
                        cycles, at + found,
                    )  # fmt: skip
                    found += more
                    if more:
                        longest = max(longest, depth + 2)
            if found > most:
                break
        if cursor[depth] == stop[depth]:
            depth -= 1
            continue
        a = cursor[depth]
        cursor[depth] = a + 1
        if reached >= 0 and depth + 3 == length:  # two edges are left from there
            latest = reach[out[1][a]]
            if latest == 0 or (timed and latest <= out[2][a]):
                continue
        if not _passed(path, depth, out[1][a]):
            taken[depth] = out[2][a]
            depth += 1
            path[depth] = out[1][a]
            entered = True
    if reached > 0:
        _forget(reach, touched, reached)
    return found, longest


@jit
def search(lo, hi, out, into, near, last, asked, begin, counts, most, starts, lists, cycles):
    """Count the cycles that begin with each edge, or list them.

    Parameters
    ----------
    lo, hi : edges, by their places in ``out``
    out, into, near : offsets, ends and keys of rows by source and by destination; ends and keys of the latter by source
    asked : edges of a cycle, at most; whether keys are times; whether edges have a direction; the largest key
    most : cycles after which counting ends
    lists : whether cycles are written to ``cycles``, vertices and keys, from row ``starts[i]`` on; else counted
    begin : the edge that ``counts[0]`` and ``starts[0]`` are of

    Returns
    -------
    cycles, and how long the longest is
    """
    length, timed, directed, until = asked
    path, taken = np.empty(length + 1, np.uint32), np.empty(length + 1, np.uint32)
    cursor, stop = np.empty(length + 1, np.int64), np.empty(length + 1, np.int64)
    reach = np.zeros(len(out[0]) if length >= 4 else 0, np.uint32)
    touched = np.empty_like(reach)
    total, longest = 0, 0
    root = np.searchsorted(out[0], lo, side="right") - 1
    for e in range(lo, hi):
        while out[0][root + 1] <= e:
            root += 1
        if lists and counts[e - begin] == 0:
            continue
        at = starts[e - begin] if lists else 0
        path[0], path[1], taken[0] = root, out[1][e], out[2][e]
        found, long = 0, 1
        if path[1] == path[0]:
            if lists:
                _write(cycles, at, timed, path, taken, 0, path[0], taken[0])
            found = 1
        elif length > 1 and (timed or path[1] > path[0]):
            after = taken[0] if timed else path[0]
            end = last[taken[0]] if len(last) else until
            found, long = _from_edge(
                out, into, near, path, taken, cursor, stop, reach, touched, after, (length, timed, directed, end), most,
                lists, cycles, at,
            )  # fmt: skip
        if not lists:
            counts[e - begin] = found
        total += found
        if found:
            longest = max(longest, long)
        if total > most:
            break
    return total, longest
