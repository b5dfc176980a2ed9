"""Communities of high modularity by the Louvain method.

Q = sum over communities c of W(c) / W - resolution (D(c) / W)^2, where W(c) is the weight of the
edges within c and D(c) of those at its vertices, both ends counted, and W that of all.

References
----------
.. [1] Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks",
   J. Stat. Mech. 2008.
.. [2] Newman, Girvan, "Finding and evaluating community structure in networks", Phys. Rev. E 2004.
.. [3] Reichardt, Bornholdt, "Statistical mechanics of community detection", Phys. Rev. E 2006.
.. [4] Ghosh et al., "Distributed Louvain algorithm for graph community detection", IPDPS 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dask_graphgpu.algorithms.communities import Communities
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.engine.communities import Start


@dataclass(frozen=True)
class Louvain(Communities):
    """Community of every vertex by the Louvain method.

    Communities are such that modularity is high.

    Vertices move to the neighbouring community by which modularity gains most, until none gains; then
    communities become vertices, and so on. Directions mean nothing: the weights of both add up, as
    do those of repeated edges.

    Parameters
    ----------
    resolution : float
        The larger, the smaller the communities; 1 is modularity as it was defined first.
    seed : int
        Number that the random order of vertices starts from. Other seeds give other answers of about the
        same modularity, and so does the other engine; several ranks give the answer of one GPU.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.

    Returns
    -------
    frame
        ``vertex``; ``community``: the smallest id in the same community; ``modularity`` (float64) of
        all communities at this resolution, the same in every row (0 without edges). One row a vertex
        in ascending order of ids.

    Notes
    -----
    The CPU engine moves vertices in random batches of about the same size, 1024 at first, then 64: all
    threads find where the vertices of a batch gain most, and moves that still gain are done in order;
    small levels, and what is left of large ones, one by one on one thread. The GPU engine, and several
    ranks, move those of one of 16 random classes at the same time, and end a level when a round over all
    of them gains less than 1e-6 of modularity. Cost: some passes over the edges; 40 bytes a vertex and
    two copies of the edges that join communities; of a directed graph a copy of all edges in both
    directions, and of an undirected one whose vertices lie by degree another. On several ranks
    each has these bytes for all vertices of the graph, and its own edges twice more. In each of these ways the
    answer depends on the edges, the resolution and the seed, not on threads, ranks, partitions or the
    order in memory. A community need not be connected: those of ``leiden`` are.
    """

    def engine_functions(self) -> tuple[str, ...]:
        return ("louvain",)

    def found(self, run: Run, start: Start | None) -> tuple[np.ndarray, float]:
        community, modularity = run.engine.louvain(
            run.view, float(self.resolution), int(self.seed), run.report, start
        )
        return community, modularity
