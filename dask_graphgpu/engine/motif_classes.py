"""Connected ways of joining three or four vertices: their ids, and what is counted of each of their parts.

Encoding
--------
code : of an edge from one vertex to another: 0 there is none, 1 it leads there, 2 it leads back, 3 both
form : the codes of all pairs of some vertices, (0, 1), (0, 2), ... (1, 2), ..., digits to base 4, the first the least
class : place in the ascending order of the ids of connected motifs; -1: not connected

References
----------
.. [1] Milo, Shen-Orr, Itzkovitz, Kashtan, Chklovskii, Alon, "Network motifs: simple building blocks of complex
   networks", Science 2002.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from dask_graphgpu.engine.joined_pairs import BACK, BOTH, IN, OUT

# Graphs of four vertices that are counted wherever they are, whatever else joins their vertices. Their edges, as they
# are seen; `kernels.motifs` says of each which vertex is which.
STAR = ((0, 1), (0, 2), (0, 3))
PATH = ((0, 2), (0, 1), (1, 3))
TAILED_TRIANGLE = ((0, 1), (0, 2), (1, 2), (2, 3))
CYCLE = ((0, 1), (2, 1), (0, 3), (2, 3))
DIAMOND = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3))
CLIQUE = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
# And of three.
WEDGE = ((0, 1), (0, 2))
TRIANGLE = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True, eq=False)
class MotifClasses:
    """The connected motifs of a number of vertices.

    Attributes
    ----------
    ids : int64, ascending
        With vertices so ordered that it is least: the sum of 2**(size * i + j) over edges from i to j [1]_.
    edges : how the vertices of that order are joined, as text
    mutual : whether all edges lead both ways
    class_of : int16, the class of each form
    order : classes, those with the most pairs that are joined first
    starts, wholes, times : class c is ``times[k]`` times a part, with all its vertices, of an occurrence of the class
        ``wholes[k]``, for k from starts[c] to starts[c + 1]
    """

    size: int
    ids: np.ndarray
    edges: list[str]
    mutual: np.ndarray
    class_of: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    wholes: np.ndarray
    times: np.ndarray

    def table(self, seen: Sequence[tuple[int, int]]) -> np.ndarray:
        """The class by codes less 1 of edges, each as it is seen from its first vertex, as digits to base 3."""
        pairs = list(combinations(range(self.size), 2))
        found = np.empty(3 ** len(seen), np.int16)
        for at, codes in enumerate(product((OUT, IN, BOTH), repeat=len(seen))):
            form = 0
            for (i, j), code in zip(seen, codes, strict=True):
                form += (code if i < j else BACK[code]) << 2 * pairs.index((min(i, j), max(i, j)))
            found[at] = self.class_of[form]
        return found

    def parts(self) -> tuple[np.ndarray, ...]:
        """What `kernels.motifs.induced` takes."""
        return self.order, self.starts, self.wholes, self.times


@functools.cache
def motif_classes(size: int) -> MotifClasses:
    """The connected motifs of three or of four vertices: 13, or 199."""
    pairs = list(combinations(range(size), 2))
    forms = np.arange(4 ** len(pairs))
    codes = {pair: forms >> 2 * at & 3 for at, pair in enumerate(pairs)}
    leads = {(i, j): codes[i, j] & 1 for i, j in pairs} | {
        (j, i): codes[i, j] >> 1 for i, j in pairs
    }
    numbers = np.array(
        [
            sum(lead << (size * to[i] + to[j]) for (i, j), lead in leads.items())
            for to in permutations(range(size))
        ]
    )
    least = numbers.min(axis=0)
    reached = _reached(size, leads)
    ids, class_of = np.unique(least[reached], return_inverse=True)
    of_form = np.full(len(forms), -1, np.int16)
    of_form[reached] = class_of
    own = reached & (numbers[0] == least)  # one form of each class, in the order that gives its id
    named = np.flatnonzero(own)[np.argsort(least[own])]
    joined = np.array([sum(int(codes[pair][f] > 0) for pair in pairs) for f in named])
    wholes: list[Counter[int]] = [Counter() for _ in ids]
    for whole, form in enumerate(named):
        there = [at for at in range(len(pairs)) if form >> 2 * at & 3]
        for number in range(size - 1, len(there)):
            for some in combinations(there, number):
                part = of_form[sum(int(form) & 3 << 2 * at for at in some)]
                if part >= 0:
                    wholes[part][whole] += 1
    return MotifClasses(
        size,
        ids,
        [" ".join(f"{i}>{j}" for i, j in sorted(leads) if leads[i, j][f]) for f in named],
        np.array([all(codes[pair][f] in (0, BOTH) for pair in pairs) for f in named]),
        of_form,
        np.argsort(-joined, kind="stable"),
        np.cumsum([0, *map(len, wholes)]),
        np.array([whole for each in wholes for whole in each], np.int64),
        np.array([number for each in wholes for number in each.values()], np.int64),
    )


def _reached(size: int, leads: dict[tuple[int, int], np.ndarray]) -> np.ndarray:
    """Of each form whether all vertices are joined to the first one by way of others."""
    reached = {i: np.full(len(leads[0, 1]), i == 0) for i in range(size)}
    for _ in range(size - 1):
        for i, j in leads:
            reached[j] = reached[j] | (reached[i] & ((leads[i, j] | leads[j, i]) > 0))
    every: np.ndarray = np.logical_and.reduce([*reached.values()])
    return every
