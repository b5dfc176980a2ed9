"""Sizes that a CUDA file and what launches its kernels both reckon with.

`cuda_build.joined` writes those of a file in front of it, as ``constexpr int``.
"""

WARP = 32
THREADS = 512  # of a block, unless a kernel has another number; launch bounds in files say it, too

_BATCH = 4  # edges that a lane has under way at once

# By the file that is written over them.
SIZES = {
    "common.cuh": {"WARP": WARP},
    # The block of a piece of `PIECE` edges has a batch for each of its threads.
    "degree_lists.cuh": {"BATCH": _BATCH, "PIECE": _BATCH * THREADS},
    "trim.cuh": {"TRIM_PIECE": _BATCH * WARP},
    "column.cuh": {"TILE": 1024},
    "multi_bfs_depths.cuh": {
        "PLANES": 4,  # bits of a depth that are kept in words
        "SIDE": 4,  # vertices of a thread, side by side: 16 bytes of a search's levels
    },
    "communities.cuh": {
        "BLOCK": THREADS,
        "CHUNK": 8,  # neighbours in succession that a thread takes of all edges
    },
    "induced.cu": {"CHUNK": 1024},  # edges of a warp
    "program_pull.cuh": {"PULL_THREADS": 1024},
    "blocked.cuh": {
        "QUAD": 4,
        # Of a block of every kernel but sum_far, of which two blocks are to share a
        # multiprocessor, with as many registers a thread.
        "BLOCKED_THREADS": 1024,
        "FAR_THREADS": 512,
    },
    "betweenness_levels.cu": {"LOOKED_AT": 16 * WARP},  # levels that a warp reads at once
    # LONG: edges from which a row is a block's.
    "neighbour_statistics.cu": {"BLOCK": 256, "LONG": 1024},
    "hyperball.cu": {
        "BLOCK": 256,
        "LONG": 1024,
        "MOST_RANK": 44,  # enough for 2**44 vertices
    },
    "hub_triangles.cu": {"BLOCK": 256},
    # Border values that a thread has under way at once.
    "ranks.cu": {"TOGETHER": 4},
    "near_far_ranks.cu": {"TOGETHER": 4},
    **{
        f"{name}.cu": {"BLOCK": THREADS}
        for name in ("hits", "rank_hits", "jaccard", "label_propagation", "triangles", "trusses")
    },
}
