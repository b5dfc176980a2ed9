"""Louvain as the GPU engine does it, in plain Python: the same steps over dicts, whole numbers and floats."""

from collections import defaultdict

import numpy as np

CLASSES = 16
LEAST_GAIN = 1e-10
LEAST_ROUND = 1e-6
_WORD = 2**64 - 1


def louvain(n, edges, *, resolution=1.0, seed=0, rank=None):
    """Smallest member by rank of each vertex's community, and the modularity.

    ``edges``: (u, v) or (u, v, whole weight), each once; directions mean nothing.
    """
    rank = list(range(n)) if rank is None else [int(place) for place in rank]
    rows, loops = [defaultdict(int) for _ in range(n)], [0] * n
    for u, v, *weight in edges:  # under ranks, as the answer does not depend on the order in memory
        (w,) = weight or (1,)
        u, v = rank[u], rank[v]
        if u == v:
            loops[u] += 2 * w
        elif w:
            rows[u][v] += w
            rows[v][u] += w
    rng, place, modularity = np.random.default_rng(seed), list(range(n)), 0.0
    total = sum(loops) + sum(sum(row.values()) for row in rows)
    while total:
        salt = int(rng.integers(2**64, dtype=np.uint64))
        labels, modularity = _moved(rows, loops, total, resolution, salt)
        kept = sorted(set(labels))
        if len(kept) == len(rows):
            break
        number = {label: i for i, label in enumerate(kept)}
        labels = [number[label] for label in labels]
        place = [labels[v] for v in place]
        rows, loops = _aggregated(rows, loops, labels, len(kept))
    smallest = {}
    for v, part in enumerate(place):
        smallest.setdefault(part, v)
    holder = {r: v for v, r in enumerate(rank)}
    return [holder[smallest[place[rank[v]]]] for v in range(n)], modularity


def _mixed(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    return x ^ x >> 31


def _class_of(v, salt):
    return _mixed(v * 0x9E3779B97F4A7C15 + salt & _WORD) % CLASSES


def _moved(rows, loops, total, resolution, salt):
    n, scale = len(rows), resolution / total
    degree = [loops[v] + sum(rows[v].values()) for v in range(n)]
    labels, totals = list(range(n)), degree.copy()
    active = {v for v in range(n) if degree[v]}
    best, reached = labels.copy(), _modularity(rows, loops, labels, totals, total, resolution)
    rounds = 0
    while True:
        turns, moved = _mixed(salt + rounds & _WORD), 0
        for turn in range(CLASSES):
            looking = [v for v in active if _class_of(v, turns) == turn]
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
