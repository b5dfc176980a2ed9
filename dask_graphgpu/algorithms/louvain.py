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
.. [5] Aynaud, Guillaume, "Static community detection algorithms for evolving networks", WiOpt 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    resolution : number or list of numbers
        The larger, the smaller the communities; 1 is modularity as it was defined first. Of a list there are
        communities at each of its resolutions, in one run.
    seed : int
        Number that the random order of vertices starts from. Other seeds give other answers of about the
        same modularity, and so does the other engine; several ranks give the answer of one GPU.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.
    initial : frame or str, optional
        The groups to start from: a frame with the id column(s) and one more column, the group of each vertex,
        or an earlier result as it is, or the name of a column of numbers of the vertices frame. Groups are any
        integers or strings; of several columns ``community``, ``label`` or ``component`` is read. Vertices that
        it does not name start alone; ids that are no vertices are passed over, and counted in
        ``last_report().attrs["ignored"]``.
    fixed : str, optional
        Name of a column of ``initial``, of truth values: vertices that stay in their group. Fixed vertices end in
        one community exactly when their groups were the same; others may join these.
    levels : bool
        Give the hierarchy, a row for each vertex and level, instead of the last communities alone.
    max_size : int, optional
        Vertices of a community, at most. The resolution is doubled inside a community that is larger, and
        only there, until its parts are small enough. Not together with ``fixed``.

    Returns
    -------
    frame
        ``vertex``; ``community``: the smallest id in the same community; ``modularity`` (float64) of
        all communities at this resolution, the same in every row (0 without edges). One row a vertex
        in ascending order of ids. Of a list of resolutions ``community_0.5``, ``modularity_0.5`` and so on instead,
        as Python writes the numbers, in the order of the list: the same as a call for each gives.

        With ``levels`` instead ``vertex``, ``level`` (int64), ``community`` and ``parent``, a row for each vertex and
        level, in this order: level 0 has the communities that a call without it gives; further ones have
        the communities that became vertices, the smaller the deeper. The parent is the
        community of the level before in which this one lies, null on level 0.
        With ``max_size`` as well, level 0 has the communities of a call without it, and each further one those after
        another step of dividing the ones that are too large; on the last all are small enough.

    Raises
    ------
    InvalidArgument
        An argument is out of range; a resolution is there twice; ``max_size`` and ``fixed`` are both given; a vertex
        has two rows in ``initial``; ``fixed`` names no column of it, or one that is not of truth values.
    InvalidVertices
        ``initial`` has no id column, or a null in it or in the groups.
    InvalidEdges
        Weights are so large or small that sums of them would be lost.

    Notes
    -----
    The CPU engine moves vertices in random batches of about the same size, 1024 at first, then 64: all
    threads find where the vertices of a batch gain most, and moves that still gain are done in order;
    small levels, and what is left of large ones, one by one on one thread. The GPU engine, and several
    ranks, move those of one of 16 random classes at the same time, and end a level when a round over all
    of them gains less than 1e-4 of modularity. Cost: some passes over the edges; 40 bytes a vertex and
    two copies of the edges that join communities; of a directed graph a copy of all edges in both
    directions, and of an undirected one whose vertices lie by degree another. On several ranks
    each has these bytes for all vertices of the graph, and its own edges twice more. In each of these ways the
    answer depends on the edges, the resolution and the seed, not on threads, ranks, partitions or the
    order in memory. With edges on disk the CPU engine takes 344 bytes a vertex, and goes over the pages in each round
    as often as they are larger than what memory is left; the answer is the same.
    A community need not be connected: those of ``leiden`` are.

    Weights of repeated rows are added up in some order: where sums of floats round, the last digits of modularity
    may be others for shuffled rows, and so may a community between two of which a vertex gains the same.

    From ``initial`` single vertices move first, then whole groups as above (Aynaud, Guillaume), so that modularity
    is at least that of the groups given. A group stays as it is where no vertex gains by leaving it, though it be
    not connected, or too large, as a connected component is: start from communities. After a change of few edges
    this takes a fraction of the time, and most vertices stay where they were; fewer of them from a result of
    ``louvain`` than from one of ``leiden``, since single vertices of the former may still gain.
    """

    def engine_functions(self) -> tuple[str, ...]:
        return ("louvain",) if self.max_size is None else ("louvain", "smaller_communities")

    def found(
        self, run: Run, resolution: float, start: Start | None, finer: list[Any] | None
    ) -> tuple[np.ndarray, float]:
        community, modularity = run.engine.louvain(
            run.view, resolution, int(self.seed), run.report, start, finer
        )
        return community, modularity

    def iterations(self, start: Start | None) -> int | None:
        return None
