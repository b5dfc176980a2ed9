"""The algorithms, one file each, by the name of the graph method."""

from dask_graphgpu.algorithms.algorithm import Algorithm
from dask_graphgpu.algorithms.bfs import BFS
from dask_graphgpu.algorithms.core_number import CoreNumber
from dask_graphgpu.algorithms.degree import Degree
from dask_graphgpu.algorithms.k_core import KCore
from dask_graphgpu.algorithms.pagerank import PageRank
from dask_graphgpu.algorithms.run_program import RunProgram
from dask_graphgpu.algorithms.ssnsp import SSNSP
from dask_graphgpu.algorithms.sssp import SSSP
from dask_graphgpu.algorithms.sswp import SSWP
from dask_graphgpu.algorithms.weakly_connected_components import WeaklyConnectedComponents

ALGORITHMS: dict[str, type[Algorithm]] = {
    "bfs": BFS,
    "sssp": SSSP,
    "sswp": SSWP,
    "ssnsp": SSNSP,
    "pagerank": PageRank,
    "weakly_connected_components": WeaklyConnectedComponents,
    "core_number": CoreNumber,
    "k_core": KCore,
    "degree": Degree,
    "run": RunProgram,
}

__all__ = [
    "ALGORITHMS",
    "BFS",
    "SSNSP",
    "SSSP",
    "SSWP",
    "Algorithm",
    "CoreNumber",
    "Degree",
    "KCore",
    "PageRank",
    "RunProgram",
    "WeaklyConnectedComponents",
]
