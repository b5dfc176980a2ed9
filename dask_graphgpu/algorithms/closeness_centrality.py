"""Closeness: how near a vertex is to all others in the mean.

References
----------
.. [1] Freeman, "Centrality in social networks: conceptual clarification", Social Networks 1979.
.. [2] Wasserman, Faust, "Social network analysis", Cambridge University Press 1994 (graphs of several parts).
.. [3] Then et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 2014.
.. [4] Eppstein, Wang, "Fast approximation of centrality", J. Graph Algorithms and Applications 2004.
.. [5] Boldi, Vigna, "In-core computation of geometric centralities with HyperBall: a hundred billion nodes and
   beyond", ICDM workshops 2013.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.nearness import Balls, Nearness, Sums


@dataclass(frozen=True)
class ClosenessCentrality(Nearness):
    """How near every vertex is to all others, in the mean.

    One over the mean distance of those with a path to it, times their part of all others.

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
    wf_improved : bool
        Multiply by the part of all others that have a path to the vertex (Wasserman and Faust), so that
        vertices of small components are not taken for central. Without, it is the mean over those alone.

    Returns
    -------
    frame
        ``vertex``, ``closeness`` (float64), 0 without paths; ``error`` (float64) where sources are drawn
        or with HyperBall: the standard error. One row a vertex in ascending order of ids.

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
    Values are those of NetworkX, up to rounding. Of sources that are drawn, a vertex's mean is that over
    those other than itself, and NaN if there are none; ``error`` is that of the linearised ratio, and NaN
    of less than two. Eppstein and Wang's bound: log(V) / e² sources give all mean distances up to e times the
    diameter with high probability. The ``error`` of HyperBall is made of the errors of its counters, of which
    each holds the one before, to first order; it is some times too large for vertices that all others
    have a path to, since the estimate of their number is then cut.

    Cost: a sweep over the edges for 64 sources at a time, which on graphs of small diameter is a few times
    a ``bfs``; with weights an ``sssp`` a source. HyperBall: a pass over the edges for each step of the
    diameter, ``2 ** precision`` bytes an edge where counters have changed, and twice that a vertex in
    memory. The same counters come out everywhere, whatever the order of rows.
    """

    _: KW_ONLY
    wf_improved: bool = True

    name = "closeness_centrality"
    value = "closeness"

    def of_sums(self, sums: Sums) -> tuple[Any, Any]:
        with np.errstate(over="ignore"):  # of extreme weights
            over = np.where(sums.total > 0, sums.reached / _above_0(sums.total), 0.0)
        if self.wf_improved:
            value = over * sums.mean(sums.reached)
        else:
            value = over * np.where(sums.counted > 0, 1.0, sums.mean(sums.reached))
        return value, self._error(sums, over, value)

    def _error(self, sums: Sums, over: Any, value: Any) -> Any:
        """The value is a ratio of means over those counted; this is of the mean of its terms to first order.

        ``over`` : one over the mean distance of those with a path.
        """
        with np.errstate(all="ignore"):  # of extreme weights, where it is infinite or NaN
            squares = sums.squares * over**2 - 2 * over * sums.total
            if self.wf_improved:
                squares = over**2 * (squares + 4 * sums.reached - 2 * over * sums.total)
                return sums.standard_error(value, squares)
            spread = sums.standard_error(0.0, squares + sums.reached)
            mean = _above_0(sums.mean(sums.total))
            return np.where(sums.total > 0, spread / mean, spread * 0)

    def of_balls(self, balls: Balls) -> tuple[Any, Any]:
        total = _above_0(balls.total)
        value = np.where(balls.total > 0, balls.reached / total, 0.0)
        reached, times = _above_0(balls.reached), 1.0
        if self.wf_improved:
            value = value * np.minimum(balls.reached / max(balls.others, 1), 1.0)
            times = 2.0
        # Of reached**times / total, to first order; an upper bound where the factor was cut to 1.
        variance = balls.reached_variance * (times / reached) ** 2 + balls.total_variance / total**2
        variance = variance - 2 * times * balls.covariance / (reached * total)
        return value, np.where(balls.total > 0, value * np.sqrt(np.maximum(variance, 0.0)), 0.0)


def _above_0(values: Any) -> Any:
    """What may be divided by: 1 in the place of 0 and less."""
    return np.where(values <= 0, 1.0, values)
