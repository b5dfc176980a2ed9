"""The 16 ways in which three vertices may be joined: their names, and counts of all from those of triangles.

Encoding
--------
code : of an edge from one vertex to another: 1 it leads there, 2 it leads back, 3 both
"""

from __future__ import annotations

from itertools import product

import numpy as np

from dask_graphgpu.engine.joined_pairs import BACK, BOTH, IN, OUT
from dask_graphgpu.errors import IntegerOverflow

# By name; the first three digits are the pairs that are joined both ways, one way and not at all.
TRIADS = (
    "003", "012", "021C", "021D", "021U", "030C", "030T", "102", "111D", "111U", "120C", "120D", "120U", "201", "210",
    "300",
)  # fmt: skip


def triangle_name(uv: int, uw: int, vw: int) -> str:
    """The triad of three vertices that are all joined, by the codes of u to v, u to w and v to w."""
    mutual = [uv, uw, vw].count(BOTH)
    if mutual >= 2:
        return "300" if mutual == 3 else "210"
    # Of each vertex its two edges, as it sees them, and the one across.
    seen = [((uv, uw), vw), ((BACK[uv], vw), uw), ((BACK[uw], BACK[vw]), uv)]
    if mutual:
        ((first, second),) = [pair for pair, across in seen if across == BOTH]
        return "120C" if first != second else "120D" if first == OUT else "120U"
    return "030C" if all(first != second for (first, second), _ in seen) else "030T"


# Of a triangle's codes, less 1 each, as digits of a number of base 3: which triad it is.
TRIANGLE_OF = np.array(
    [TRIADS.index(triangle_name(*codes)) for codes in product((1, 2, 3), repeat=3)], np.int64
)

# Triads of two edges: the directions of both, as the vertex that they share sees them.
_OPEN = {
    "021D": (OUT, OUT),
    "021U": (IN, IN),
    "021C": (OUT, IN),
    "111U": (OUT, BOTH),
    "111D": (IN, BOTH),
    "201": (BOTH, BOTH),
}


def _pairs_in(name: str) -> dict[tuple[int, int], int]:
    """How many pairs of edges of one vertex, as it sees them, a triangle has."""
    codes = next(c for c in product((1, 2, 3), repeat=3) if triangle_name(*c) == name)
    uv, uw, vw = codes
    found: dict[tuple[int, int], int] = {}
    for pair in ((uv, uw), (BACK[uv], vw), (BACK[uw], BACK[vw])):
        key = min(pair), max(pair)
        found[key] = found.get(key, 0) + 1
    return found


def census(
    num_vertices: int, sums: dict[tuple[int, int], int], triangles: list[int]
) -> list[int | None]:
    """How many of each of `TRIADS` there are, as Python's integers; None: the first one is beyond int64.

    Parameters
    ----------
    sums : pairs of edges of one vertex, by their codes as it sees them, the smaller first; and under (0, 1) and (0, 3)
        how many pairs of vertices are joined one way, and both ways
    triangles : of each of `TRIADS`, those of which all vertices are joined

    Raises
    ------
    IntegerOverflow
    """
    counts = dict(zip(TRIADS, triangles, strict=True))
    closed = {name: _pairs_in(name) for name in TRIADS if name[2] == "0"}
    for name, pair in _OPEN.items():
        within = sum(counts[each] * pairs.get(pair, 0) for each, pairs in closed.items())
        counts[name] = sums[pair] - within
    for name, key, digit in (("012", (0, 1), 1), ("102", (0, 3), 0)):
        others = sum(int(each[digit]) * counts[each] for each in TRIADS if each[2] in "01")
        counts[name] = sums[key] * (num_vertices - 2) - others
    n = num_vertices
    counts["003"] = n * (n - 1) * (n - 2) // 6 - sum(counts[each] for each in TRIADS[1:])
    for name in TRIADS[1:]:
        if counts[name] >= 2**63:
            raise IntegerOverflow(
                f"{counts[name]:,} triads {name} are beyond 64 bits: take a part of the graph"
            )
    return [count if count < 2**63 else None for count in counts.values()]
