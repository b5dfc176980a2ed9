"""Strongly connected components: trim, forward and backward, colour for what is left: two launches.

References
----------
.. [1] Fleischer, Hendrickson, Pinar. On identifying strongly connected components in parallel. IPDPS Workshops 2000.
.. [2] Slota, Rajamanickam, Madduri. BFS and coloring-based parallel algorithms for strongly connected components and
   related problems. IPDPS 2014.
.. [3] Alabandi, Sands, Biros, Burtscher. A high-performance algorithm for detecting strongly connected components on
   GPUs. SC 2023.
.. [4] Kahn. Topological sorting of large networks. Communications of the ACM 5, 1962.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type
from dask_graphgpu.engine.gpu import launch
from dask_graphgpu.engine.gpu.components import components
from dask_graphgpu.engine.gpu.degree_lists import degree_lists
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.gpu.runs import LaunchState
from dask_graphgpu.kernels.compile import cuda
from dask_graphgpu.kernels.sizes import SIZES
from dask_graphgpu.partition.device.memory import require
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

# Levels of a search after which a graph is coloured as a whole: each takes as long as a sweep over
# some hundred thousand edges.
MOST_LEVELS = 1024

# Levels of vertices that are taken away from the ends of a graph that may have no cycles; edges that a warp reads at
# once meanwhile.
MOST_TRIMMED, TRIM_PIECE = 4096, SIZES["trim.cuh"]["TRIM_PIECE"]

# Words of struct State.
_FIELDS: list[tuple[str, Any]] = [
    *((name, np.uint64) for name in ("barrier", "last_barrier", "pivot", "joining", "listed")),
    ("others", np.dtype((np.uint64, 40))),
]
_WAYS = {0: "trim", 1: "forward-backward", 2: "colour", 3: "order"}


def strong_components(view: View, report: Report) -> Any:
    """Strongly connected component of every vertex; as `engine.cpu.strong_components`.

    Notes
    -----
    Of the vertex with the most edges, the component is whom it reaches and is reached by [1]_. What is then left is
    coloured [2]_, both ways at once and with short cuts [3]_. O(V + E) for the largest component; for the others
    O(log V) rounds in the mean of O(log V) sweeps over edges that become fewer. A graph without cycles is trimmed from
    its ends [4]_, in O(V + E), unless it is deeper than some thousand levels; where its ids are in topological order,
    or against it, one look at all edges tells. Needs both directions of the edges; 4 ids for each edge outside the
    largest component; 5 and 8 bytes a vertex. See kernels/cuda/strong_components.cu.
    """
    if not view.directed:
        return components(view, report)
    here = DeviceView.of(view)
    n, rows, into, rank = here.n, here.out, here.into, here.user_rank
    label = cupy.empty(n, here.id_dtype)
    if not n:
        return here.to_caller(label)
    id_bytes = here.id_dtype.itemsize
    rank_type = c_type(np.dtype(np.int64) if rank is None else rank.dtype)
    module = cuda("strong_components", defines={**here.defines, "RANK": rank_type})
    lists, separators = degree_lists(rows)
    ends = cupy.empty(2 * n, here.id_dtype)  # while it is trimmed, what is left at both of a vertex
    pieces = cupy.empty(n + 2 * (rows.num_edges // TRIM_PIECE), np.uint64)
    live, found = (cupy.empty((n + 31) // 32, cupy.uint32) for _ in range(2))
    state = LaunchState(_FIELDS, _WAYS)
    launch.cooperative(
        module.kernel("giant_component"),
        (
            rows.offsets, rows.neighbours, into.offsets, into.neighbours, np.uint64(n),
            launch.or_null(rank), *lists, *separators, np.uint32(MOST_LEVELS),
            np.uint32(MOST_TRIMMED if n < 2**32 else 0),  # halves of a word count
            live, found, ends, pieces, np.uint64(len(pieces)), label, state.memory,
        ),
    )  # fmt: skip
    joining = int(state.read()[0]["joining"])
    del pieces
    require((4 * joining + n) * id_bytes, "finding strongly connected components")
    holder = cupy.empty(n, here.id_dtype)
    launch.cooperative(
        module.kernel("colour"),
        (
            rows.offsets, rows.neighbours, np.uint64(n), launch.or_null(rank),
            *lists, *separators, live, cupy.empty(4 * joining, here.id_dtype),
            ends[:n], ends[n:], label, holder, state.memory,
        ),
    )  # fmt: skip
    for run in state.read()[1]:
        run.note(report, run.edges * 2 * id_bytes + n * (2 * id_bytes + 8))
    return here.to_caller(label)
