"""Communities of high modularity, each of them connected, by the Leiden method.

References
----------
.. [1] Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected communities",
   Scientific Reports 2019.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

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
    resolution : float
        The larger, the smaller the communities; 1 is modularity as it was defined first.
    seed : int
        Number that random choices start from. Other seeds give other answers of about the same
        modularity, and so does the other engine; several ranks give the answer of one GPU.
    weighted : bool, optional
        Count edges by their weight. Default: when the graph has weights.
    max_iterations : int
        Rounds at most, each from the communities of the one before; fewer when one changes nothing.

    Returns
    -------
    frame
        ``vertex``; ``community``: the smallest id in the same community; ``modularity`` (float64) of
        all communities at this resolution, the same in every row (0 without edges). One row a vertex
        in ascending order of ids.

    Notes
    -----
    Which part a vertex joins is drawn, with better ones more likely, on the CPU engine; on the GPU
    engine and on several ranks it is the best, and the seed says which vertices choose at the same
    time. Cost: as ``louvain``, twice an iteration. In each of these ways the answer depends on the edges
    and the arguments, not on threads, ranks, partitions or the order in memory.
    """

    _: KW_ONLY
    max_iterations: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_iterations is not None:
            check_whole("max_iterations", self.max_iterations, 1)

    def engine_functions(self) -> tuple[str, ...]:
        return ("leiden",)

    def found(self, run: Run, start: Start | None) -> tuple[np.ndarray, float]:
        iterations = self.max_iterations or (2 if start is None else 1)
        community, modularity = run.engine.leiden(
            run.view, float(self.resolution), int(self.seed), int(iterations), run.report, start
        )
        return community, modularity
