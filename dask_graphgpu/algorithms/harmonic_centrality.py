"""Harmonic centrality: the sum of the inverse distances of all others.

References
----------
.. [1] Marchiori, Latora, "Harmony in the small-world", Physica A 2000.
.. [2] Boldi, Vigna, "Axioms for centrality", Internet Mathematics 2014.
.. [3] Then et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 2014.
.. [4] Boldi, Vigna, "In-core computation of geometric centralities with HyperBall: a hundred billion nodes and
   beyond", ICDM workshops 2013.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.nearness import Balls, Nearness, Sums


@dataclass(frozen=True)
class HarmonicCentrality(Nearness):
    """Sum over all others of one over their distance.

    A vertex without a path adds nothing, so that it means the same on graphs of several parts.

    Parameters
    ----------
    sources : int or list of ids, optional
        The vertices that paths start from: a list of ids, or a number to draw so many at random. The
        result is then an estimate of that of all. Default: all.
    target : id or list of ids, optional
        The result has the rows of these only, in this order. They are searched from backwards, which
        costs less where they are few.
    weighted : bool
        A path's length is the sum of its weights. Default: the number of its edges.
    direction : {"in", "out"}
        Paths to the vertex, as in NetworkX, or from it. In an undirected graph they are the same.
    method : {"search", "hyperball"}
        Search from each source, or count with HyperLogLog counters, for graphs too large to be searched
        from all vertices.
    precision : int
        Of HyperBall: each counter has ``2 ** precision`` bytes, and a relative error of 1.04 over the
        root of these: 6.5 % of 8, 1.6 % of 12, the most. At least 4.
    seed : int
        Number that the drawing of sources, and the hashes of HyperBall, start from.
    normalized : bool
        Divide by the number of all others, so that the largest possible value is 1 without weights.

    Returns
    -------
    frame
        ``vertex``, ``harmonic`` (float64); ``error`` (float64) where sources are drawn or with HyperBall:
        the standard error. One row a vertex in ascending order of ids.

    Raises
    ------
    InvalidArgument
        The graph has no weights, or fewer vertices than ``sources``; HyperBall with weights or sources.
    UnknownVertex
        A source or target is not a vertex.
    LimitTooSmall
        Counters of HyperBall do not fit the memory limit.

    Notes
    -----
    Values are those of NetworkX, up to rounding; others at a distance of 0, by weights of 0, add nothing. Of
    some sources the sum is scaled to all others; NetworkX does not. Of sources that are drawn a vertex's mean
    is that over those other than itself, and NaN if there are none, as is ``error`` of less than two. That of
    HyperBall is made of the errors of its counters, of which each holds the one before.

    Cost: as of ``closeness_centrality``.
    """

    _: KW_ONLY
    normalized: bool = False

    name = "harmonic_centrality"
    value = "harmonic"

    def of_sums(self, sums: Sums) -> tuple[Any, Any]:
        scale = 1 if self.normalized else sums.others
        mean = sums.mean(sums.inverses)
        return mean * scale, sums.standard_error(mean, sums.inverse_squares) * scale

    def of_balls(self, balls: Balls) -> tuple[Any, Any]:
        scale = 1 / max(balls.others, 1) if self.normalized else 1
        return balls.inverses * scale, np.sqrt(balls.inverses_variance) * scale
