"""Communities of high modularity, each of them connected, by the Leiden method.

References
----------
.. [1] Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
   Scientific Reports 2019.
.. [2] Sahu, "A starting point for dynamic community detection with Leiden algorithm", arXiv 2405.11658.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from dask_graphgpu.algorithms.communities import Communities
from dask_graphgpu.algorithms.run import Run
from dask_graphgpu.arguments import check_whole
from dask_graphgpu.engine.communities import Start


@dataclass(frozen=True)
class Leiden(Communities):
    """Community of every vertex by the Leiden method.

    Communities are connected, and such that modularity is high.

    As ``louvain``, but communities are refined before they become vertices: into parts, each of
    which is connected and well connected to its community, which can then leave it.

    Parameters
    ----------
    resolution : number or list of numbers
        The larger, the smaller the communities; 1 is modularity as it was defined first. Of a list there are
        communities at each of its resolutions, in one run.
    seed : int
        Number that random choices start from. Other seeds give other answers of about the same
        modularity, and so does the other engine; several ranks give the answer of one GPU.
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
    max_iterations : int, optional
        Rounds at most, each from the communities of the one before; fewer when one changes nothing. Default: 2,
        or 1 from ``initial``.

    Returns
    -------
    frame
        ``vertex``; ``community``: the smallest id in the same community; ``modularity`` (float64) of
        all communities at this resolution, the same in every row (0 without edges). One row a vertex
        in ascending order of ids. Of a list of resolutions ``community_0.5``, ``modularity_0.5`` and so on instead,
        as Python writes the numbers, in the order of the list: the same as a call for each gives.

        With ``levels`` instead ``vertex``, ``level`` (int64), ``community`` and ``parent``, a row for each vertex and
        level, in this order: level 0 has the communities that a call without it gives; further ones have
        the parts that became vertices in the last round, the smaller the deeper; in a part that is no community yet
        single vertices may still gain. The parent is the
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
    Which part a vertex joins is drawn, with better ones more likely, on the CPU engine; on the GPU
    engine and on several ranks it is the best, and the seed says which vertices choose at the same
    time. Cost: as ``louvain``, twice an iteration. In each of these ways the answer depends on the edges
    and the arguments, not on threads, ranks, partitions or the order in memory.

    Weights of repeated rows are added up in some order: where sums of floats round, the last digits of modularity
    may be others for shuffled rows, and so may a community between two of which a vertex gains the same.

    From ``initial`` modularity is at least that of the groups given, of which those that are not connected come apart.
    In the first round the connected pieces of communities become vertices, not their refined parts: of many divisions
    of about the same modularity it finds one near to the groups, in a fraction of the time. Further rounds refine all:
    they move more vertices, and are for groups that are no communities yet: from connected components take three.
    A community with fixed vertices may be in several pieces, each of which has one.
    """

    _: KW_ONLY
    max_iterations: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_iterations is not None:
            check_whole("max_iterations", self.max_iterations, 1)

    def engine_functions(self) -> tuple[str, ...]:
        return ("leiden",) if self.max_size is None else ("leiden", "smaller_communities")

    def found(
        self, run: Run, resolution: float, start: Start | None, finer: list[Any] | None
    ) -> tuple[np.ndarray, float]:
        community, modularity = run.engine.leiden(
            run.view, resolution, int(self.seed), self.iterations(start), run.report, start, finer
        )
        return community, modularity

    def iterations(self, start: Start | None) -> int:
        return int(self.max_iterations or (2 if start is None else 1))
