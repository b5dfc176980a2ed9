"""How similar two vertices are by their neighbours in common: what is added up, and what is made of the sum.

References
----------
.. [1] Liben-Nowell, Kleinberg, "The link-prediction problem for social networks", JASIST 2007.
.. [2] Adamic, Adar, "Friends and neighbors on the Web", Social Networks 2003.
.. [3] Zhou, Lu, Zhang, "Predicting missing links via local information", European Physical Journal B 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# Metrics, by what the kernels call them: ``kind`` of kernels/cpu/similar.py.
KINDS = {
    "count": 0, "adamic_adar": 0, "resource_allocation": 0, "jaccard": 1, "overlap": 2, "cosine": 3, "sorensen": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Similarity:
    """Which partners a vertex gets.

    Attributes
    ----------
    metric : str
        One of `KINDS`.
    top_k : int or None
        The best, those of the largest score first, equal ones by id. None: all, by id.
    later : bool
        Only partners that come later in the order of the user's ids.
    least_common : int
        Neighbours in common, at least; of metrics that count them.
    least_score : float
    degree_cutoff : int or None
        Vertices of more neighbours are not looked at as neighbours in common.
    """

    metric: str
    top_k: int | None = None
    later: bool = False
    least_common: int = 1
    least_score: float = 0.0
    degree_cutoff: int | None = None

    @property
    def kind(self) -> int:
        return KINDS[self.metric]

    def amounts(self, degrees: Any, most: int) -> tuple[Any, float]:
        """What each vertex counts as a neighbour in common, and what to multiply sums by.

        Parameters
        ----------
        degrees : integer array of NumPy or CuPy
        most : int
            The largest degree of the graph.

        Returns
        -------
        amounts : int32 or int64 array
            0 of a vertex that is passed over.
        scale : float

        Notes
        -----
        Terms of Adamic-Adar and resource allocation are multiples of a power of 2, so that sums are exact and
        equal ones are equal wherever they are made, in whatever order; no sum exceeds 62 bits.
        """
        shift = 0
        if self.metric in ("adamic_adar", "resource_allocation"):
            shift = 60 - most.bit_length()
            # A vertex of one neighbour is in common to nobody.
            terms = np.maximum(degrees, 2).astype(np.float64)
            terms = np.log(terms) if self.metric == "adamic_adar" else terms
            found = np.rint(2.0**shift / terms).astype(np.int64)
        else:
            found = np.ones_like(degrees, np.int32 if most < 2**31 else np.int64)
        if self.degree_cutoff is not None:
            found[degrees > self.degree_cutoff] = 0
        return found, 2.0**-shift

    def scores(self, common: Any, own: Any, other: Any, scale: float) -> Any:
        """Scores of sums of amounts, and the degrees of both vertices; int64 arrays of NumPy or CuPy."""
        if self.kind == 1:
            return common / (own + other - common)
        if self.kind == 2:
            return common / np.minimum(own, other)
        if self.kind == 3:
            return common / np.sqrt(own.astype(np.float64) * other.astype(np.float64))
        if self.kind == 4:
            return 2 * common / (own + other)
        return common * scale

    def left_out(self, degrees: Any) -> dict[str, int]:
        """How many vertices of such degrees are passed over, and how many ordered pairs have them in common."""
        if self.degree_cutoff is None:
            return {}
        hubs = degrees[degrees > self.degree_cutoff].astype(np.int64)
        return {"vertices": len(hubs), "pairs": int((hubs * (hubs - 1)).sum())}

    def best(self, first: Any, second: Any, common: Any, own: Any, other: Any, scale: float) -> Any:
        """Of candidates the partners, in the order that is asked for; arrays of NumPy or CuPy.

        Parameters
        ----------
        first, second : integer arrays
            Numbers of the vertices of each candidate.
        common, own, other : int64 arrays
            Sums of amounts, and the degrees of both vertices.

        Returns
        -------
        tuple of array
            Of the candidates that are left: first, second, and their scores.
        """
        score = self.scores(common, own, other, scale)
        kept = (common >= self.least_common) & (score >= self.least_score) & (first != second)
        if self.later:
            kept &= second > first
        first, second, score = first[kept], second[kept], score[kept]
        if self.top_k is None:
            order = np.lexsort(np.stack([second, first]))
        else:
            keys = [second.astype(np.float64), -score, first.astype(np.float64)]
            order = np.lexsort(np.stack(keys))
        first, second, score = first[order], second[order], score[order]
        if self.top_k is not None:
            place = np.arange(len(first), like=first) - np.searchsorted(first, first)
            first, second, score = (each[place < self.top_k] for each in (first, second, score))
        return first, second, score
