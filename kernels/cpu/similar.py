"""The most similar vertices of each: walks of two edges added up in an array, and a heap of the best.

Encoding
--------
number : place of a vertex in the order of the user's ids
rows : of some vertices, their places in `offsets`; ``mine`` has their numbers
at, targets : the rows that second steps go along, by what `neighbours` has; they hold numbers
amount : what a neighbour in common counts, by what `neighbours` has; 0: it is passed over
cells : by number, the sum of amounts and the degree, side by side: one miss of the cache for both
kind : 0 the sum of amounts, 1 Jaccard, 2 overlap, 3 cosine, 4 Sorensen
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.prefetch import prefetch

_ONE, _TWO, _FOUR = np.uint64(1), np.uint64(2), np.uint64(4)

AHEAD = np.uint64(16)  # cells that are asked for before they are read


@jit
def steps(lo, hi, rows, offsets, neighbours, at, amount, found):
    """``found[i]`` = walks of two edges from the i-th vertex."""
    for i in range(lo, hi):
        row = np.uint64(rows[i])
        number = 0
        for e in range(offsets[row], offsets[row + _ONE]):
            w = np.uint64(neighbours[e])
            if amount[w] != 0:
                number += at[w + _ONE] - at[w]
        found[i] = number


@inner
def _walk(row, offsets, neighbours, at, targets, amount, cells, seen):
    """Add up in ``cells`` the neighbours in common with each vertex; how many are listed in ``seen``."""
    number = 0
    stop = offsets[row + _ONE]
    for e in range(offsets[row], stop):
        w = np.uint64(neighbours[e])
        if e + _FOUR < stop:
            prefetch(at, np.uint64(neighbours[e + _FOUR]))
            prefetch(amount, np.uint64(neighbours[e + _FOUR]))
        if e + _TWO < stop:
            prefetch(targets, at[np.uint64(neighbours[e + _TWO])])
        if e + _ONE < stop:
            following = np.uint64(neighbours[e + _ONE])
            begin = at[following]
            if amount[following] != 0:
                for f in range(begin, min(begin + AHEAD, at[following + _ONE])):
                    prefetch(cells, _TWO * np.uint64(targets[f]))
        more = amount[w]
        if more != 0:
            end = at[w + _ONE]
            for f in range(at[w], end):
                if f + AHEAD < end:
                    prefetch(cells, _TWO * np.uint64(targets[f + AHEAD]))
                cell = _TWO * np.uint64(targets[f])
                before = cells[cell]
                if before == 0:
                    seen[number] = targets[f]
                    number += 1
                cells[cell] = before + more
    return number


@inner
def _score(kind, scale, common, own, other):
    if kind == 1:
        return common / (own + other - common)
    if kind == 2:
        return common / min(own, other)
    if kind == 3:
        return common / np.sqrt(np.float64(own) * np.float64(other))
    if kind == 4:
        return 2 * common / (own + other)
    return common * scale


@inner
def _worse(by_score, score, number, score_b, number_b):
    """Whether one partner comes after another in a result."""
    if by_score and score != score_b:
        return score < score_b
    return number > number_b


@inner
def _sink(by_score, second, score, begin, size):
    """Move the top of a heap, of which the worst is at the top, to where it belongs."""
    i = 0
    x, value = second[begin], score[begin]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        c = begin + child
        if child + 1 < size and _worse(by_score, score[c + 1], second[c + 1], score[c], second[c]):
            child += 1
            c += 1
        if not _worse(by_score, score[c], second[c], value, x):
            break
        second[begin + i], score[begin + i] = second[c], score[c]
        i = child
    second[begin + i], score[begin + i] = x, value


@inner
def _rise(by_score, second, score, begin, last):
    """Move the last of a heap to where it belongs."""
    i = last
    x, value = second[begin + i], score[begin + i]
    while i > 0:
        parent = (i - 1) // 2
        p = begin + parent
        if not _worse(by_score, value, x, score[p], second[p]):
            break
        second[begin + i], score[begin + i] = second[p], score[p]
        i = parent
    second[begin + i], score[begin + i] = x, value


@inner
def _sort(by_score, second, score, begin, size):
    """Put a heap in order, the best one first."""
    for last in range(size - 1, 0, -1):
        k = begin + last
        second[begin], second[k] = second[k], second[begin]
        score[begin], score[k] = score[k], score[begin]
        _sink(by_score, second, score, begin, last)


@jit
def best(
    lo, hi, cells, rows, mine, offsets, neighbours, at, targets, amount, kind, scale, later,
    least_common, least_score, by_score, counts_only, starts, second, score, lengths,
):  # fmt: skip
    """Write the numbers and scores of the best partners of each vertex, as many as ``starts`` has room for.

    Parameters
    ----------
    cells : with sums of 0, as they are left
    later : whether partners have larger numbers only
    least_common, least_score : what a partner has at least
    by_score : whether the best are those of the largest score, equal ones by number; else they are in this order
    counts_only : whether nothing is written but ``lengths``, of all partners
    lengths : how many there are of each
    """
    seen = np.empty(cells.size // 2, targets.dtype)
    for i in range(lo, hi):
        own = np.uint64(mine[i])
        degree = np.int64(cells[_TWO * own + _ONE])
        number = _walk(np.uint64(rows[i]), offsets, neighbours, at, targets, amount, cells, seen)
        begin = starts[i]
        room = starts[i + 1] - begin
        size = 0
        for k in range(number):
            if k + np.int64(AHEAD) < number:
                prefetch(cells, _TWO * np.uint64(seen[k + np.int64(AHEAD)]))
            x = np.uint64(seen[k])
            shared = np.int64(cells[_TWO * x])
            cells[_TWO * x] = 0
            if x == own or (later and x < own) or shared < least_common:
                continue
            value = _score(kind, scale, shared, degree, np.int64(cells[_TWO * x + _ONE]))
            if value < least_score:
                continue
            if counts_only or size < room:
                if not counts_only:
                    second[begin + size], score[begin + size] = x, value
                    _rise(by_score, second, score, begin, size)
                size += 1
            elif _worse(by_score, score[begin], second[begin], value, x):
                second[begin], score[begin] = x, value
                _sink(by_score, second, score, begin, size)
        if not counts_only:
            _sort(by_score, second, score, begin, size)
        lengths[i] = size
