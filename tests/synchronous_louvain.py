"""Louvain and Leiden as the GPU engine does them, in plain Python: the same steps over dicts, integers and floats."""

from collections import defaultdict

import numpy as np

CLASSES = 16
LEAST_GAIN = 1e-10
LEAST_ROUND = 1e-4
_WORD = 2**64 - 1


def louvain(n, edges, *, resolution=1.0, seed=0, rank=None, start=None, fixed=()):
    """Smallest member by rank of each vertex's community, and the modularity.

    ``edges``: (u, v) or (u, v, whole weight), each once; directions mean nothing. ``start``: vertices that are in one
    community at first have one label, any below n; ``fixed``: those that do not move.
    """
    rank, rows, loops = _by_rank(n, edges, rank)
    labels, fixed = _begun(rank, start, fixed)
    rng, place, modularity = np.random.default_rng(seed), list(range(n)), 0.0
    total = sum(loops) + sum(sum(row.values()) for row in rows)
    if not total:
        place = labels
    while total:
        labels, modularity = _moved(rows, loops, labels, total, resolution, _salt(rng), fixed)
        labels, count = _renumbered(labels)
        if count == len(rows):
            break
        place = [labels[v] for v in place]
        fixed = {labels[v] for v in fixed}
        rows, loops = _aggregated(rows, loops, labels, count)
        labels = list(range(count))
    return _by_vertex(rank, _smallest(place)), modularity


def leiden(n, edges, *, resolution=1.0, seed=0, iterations=2, rank=None, start=None, fixed=()):
    """As `louvain`, with refinement."""
    rank, rows, loops = _by_rank(n, edges, rank)
    total = sum(loops) + sum(sum(row.values()) for row in rows)
    rng = np.random.default_rng(seed)
    labels, fixed = _begun(rank, start, fixed)
    if not total:
        return _by_vertex(rank, _smallest(_held(rows, labels, fixed))), 0.0
    for k in range(iterations):
        refines = k > 0 or start is None
        before, labels = labels, _once(rows, loops, labels, total, resolution, rng, fixed, refines)
        if refines and labels == before:
            break
    totals = [0] * n
    for v, row in enumerate(rows):
        totals[labels[v]] += loops[v] + sum(row.values())
    modularity = _modularity(rows, loops, labels, totals, total, resolution)
    return _by_vertex(rank, labels), modularity


def _begun(rank, start, fixed):
    """Smallest members of the communities at first, by rank, and which ranks are fixed."""
    labels = list(range(len(rank)))
    if start is not None:
        for place, label in zip(rank, start, strict=True):
            labels[place] = label
    return _smallest(labels), {rank[v] for v in fixed}


def _held(rows, labels, fixed):
    """Connected pieces of communities, those with fixed vertices of one community as one."""
    pieces = _connected(rows, labels)
    held = {pieces[v] for v in fixed}
    one = {labels[v]: pieces[v] for v in sorted(fixed)}
    return [one[labels[v]] if piece in held else piece for v, piece in enumerate(pieces)]


def _once(rows, loops, labels, total, resolution, rng, fixed, refines):
    place, first = list(range(len(rows))), True
    while True:
        labels, _ = _moved(rows, loops, labels, total, resolution, _salt(rng), fixed)
        labels, count = _renumbered(labels)
        if count == len(rows):
            break
        if refines or not first:
            parts = _refined(rows, loops, labels, resolution / total, _salt(rng))
        else:
            parts = _connected(rows, labels)
        first = False
        parts, number = _renumbered(parts)
        if number == len(rows):
            labels = _held(rows, labels, fixed)
            break
        place = [parts[v] for v in place]
        fixed = {parts[v] for v in fixed}
        of_parts = dict(zip(parts, labels, strict=True))
        rows, loops = _aggregated(rows, loops, parts, number)
        labels = [of_parts[part] for part in range(number)]
    return _smallest([labels[part] for part in place])


def _refined(rows, loops, labels, scale, salt):
    n = len(rows)
    within = [
        {u: w for u, w in row.items() if labels[u] == labels[v]} for v, row in enumerate(rows)
    ]
    degree = [loops[v] + sum(row.values()) for v, row in enumerate(rows)]
    totals, parts, members = defaultdict(int), list(range(n)), [{v} for v in range(n)]
    for v in range(n):
        totals[labels[v]] += degree[v]

    def cut(part):
        return sum(w for v in members[part] for u, w in within[v].items() if parts[u] != part)

    def well(part, total):
        size = sum(degree[v] for v in members[part])
        return cut(part) >= scale * size * (total - size)

    for turn in range(CLASSES):
        joins = {}
        for v in range(n):
            total = totals[labels[v]]
            alone = members[v] == {v}
            if _class_of(v, salt) != turn or not alone or not cut(v) or not well(v, total):
                continue
            to = defaultdict(int)
            for u, w in within[v].items():
                if members[parts[u]] != {u} or _class_of(u, salt) != turn or u != parts[u]:
                    to[parts[u]] += w
            best, most = None, 0
            for part in sorted(to):
                gain = to[part] - scale * degree[v] * sum(degree[u] for u in members[part])
                if well(part, total) and (gain > most or (gain == most and best is None)):
                    best, most = part, gain
            if best is not None:
                joins[v] = best
        for v, part in joins.items():
            parts[v] = part
            members[v] = set()
            members[part].add(v)
    return parts


def _connected(rows, labels):
    parts = [None] * len(rows)
    for first in range(len(rows)):
        stack = [first] if parts[first] is None else []
        while stack:
            v = stack.pop()
            parts[v] = first
            stack += [u for u in rows[v] if parts[u] is None and labels[u] == labels[v]]
    return parts


def _by_rank(n, edges, rank):
    """Rows under ranks, as the answer does not depend on the order in memory, and loops."""
    rank = list(range(n)) if rank is None else [int(place) for place in rank]
    rows, loops = [defaultdict(int) for _ in range(n)], [0] * n
    for u, v, *weight in edges:
        (w,) = weight or (1,)
        u, v = rank[u], rank[v]
        if u == v:
            loops[u] += 2 * w
        elif w:
            rows[u][v] += w
            rows[v][u] += w
    return rank, rows, loops


def _by_vertex(rank, smallest):
    holder = {place: v for v, place in enumerate(rank)}
    return [holder[smallest[place]] for place in rank]


def _salt(rng):
    return int(rng.integers(2**64, dtype=np.uint64))


def _renumbered(labels):
    number = {label: i for i, label in enumerate(sorted(set(labels)))}
    return [number[label] for label in labels], len(number)


def _smallest(parts):
    first = {}
    for v, part in enumerate(parts):
        first.setdefault(part, v)
    return [first[part] for part in parts]


def _mixed(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    return x ^ x >> 31


def _class_of(v, salt):
    return _mixed(v * 0x9E3779B97F4A7C15 + salt & _WORD) % CLASSES


def _moved(rows, loops, labels, total, resolution, salt, fixed):
    n, scale = len(rows), resolution / total
    degree = [loops[v] + sum(rows[v].values()) for v in range(n)]
    labels, totals = list(labels), [0] * n
    for v in range(n):
        totals[labels[v]] += degree[v]
    active = {v for v in range(n) if degree[v]}
    best, reached = labels.copy(), _modularity(rows, loops, labels, totals, total, resolution)
    rounds = 0
    while True:
        turns, moved = _mixed(salt + rounds & _WORD), 0
        for turn in range(CLASSES):
            looking = [v for v in active - fixed if _class_of(v, turns) == turn]
            active.difference_update(looking)
            goes = {
                v: _destination(
                    v, rows[v], degree, labels, totals, scale,
                    lambda u: _class_of(u, turns) == turn,  # noqa: B023
                )
                for v in looking
            }  # fmt: skip
            goes = {v: to for v, to in goes.items() if to != labels[v]}
            for v, to in goes.items():
                totals[labels[v]] -= degree[v]
                totals[to] += degree[v]
                labels[v] = to
            moved += len(goes)
            active.update(u for v in goes for u in rows[v] if labels[u] != labels[v])
        now = _modularity(rows, loops, labels, totals, total, resolution)
        goes_on = moved and now > reached + LEAST_ROUND
        if now > reached:
            best, reached = labels.copy(), now
        if not goes_on:
            return best, reached
        rounds += 1


def _destination(v, row, degree, labels, totals, scale, at_once):
    own, k = labels[v], degree[v]
    single, to = totals[own] == k, defaultdict(int)
    for u, w in row.items():
        label = labels[u]
        if not (single and label > own and totals[label] == degree[u] and at_once(u)):
            to[label] += w
    scaled = scale * k
    most = to.pop(own, 0) - scaled * (totals[own] - k) + LEAST_GAIN * k
    best = own
    for label in sorted(to):
        gain = to[label] - scaled * totals[label]
        if gain > most:
            best, most = label, gain
    return v if most < 0 and totals[v] == 0 else best


def _modularity(rows, loops, labels, totals, total, resolution):
    within = sum(loops)
    for v, row in enumerate(rows):
        within += sum(w for u, w in row.items() if labels[u] == labels[v])
    squares = sum(int((part / total) * (part / total) * 2.0**62) for part in totals)
    return within / total - resolution * (squares * 2.0**-62)


def _aggregated(rows, loops, labels, count):
    made, within = [defaultdict(int) for _ in range(count)], [0] * count
    for v, row in enumerate(rows):
        within[labels[v]] += loops[v]
        for u, w in row.items():
            if labels[u] == labels[v]:
                within[labels[v]] += w
            else:
                made[labels[v]][labels[u]] += w
    return made, within
