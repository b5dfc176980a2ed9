// Finished breadth-first levels of several searches over edges that come in parts: which rows are
// of a level, and what each level would take over the link.
//
// The levels that a vertex has in `width` searches stand together; -1: not reached.

#pragma once

#include "edges_of_part.cuh"

// Whose level it is in any search.
extern "C" __global__ void find_level(const int32 *level, uint64 n, uint32 width, int32 depth,
                                      uint8 *active) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        bool found = false;
        for (uint32 s = 0; s < width; ++s)
            found |= level[v * width + s] == depth;
        active[v] = found;
    }
}

// Adds a row of so many edges to those of its level, which is negative for none. By whole warps:
// vertices next to each other mostly are of few levels, so there is an atomic a warp and level.
__device__ __forceinline__ void add_row(int32 mine, uint64 length, uint64 depths, uint64 *edges,
                                        uint64 *rows) {
    for (uint32 votes; (votes = __ballot_sync(FULL_WARP, mine >= 0)) != 0;) {
        int32 of = __shfl_sync(FULL_WARP, mine, __ffs(votes) - 1);
        uint64 sum = warp_sum(mine == of ? length : 0);
        uint32 same = __popc(__ballot_sync(FULL_WARP, mine == of));
        if (lane() == 0 && (uint64)of < depths) {
            atomicAdd(edges + of, sum);
            atomicAdd(rows + of, (uint64)same);
        }
        if (mine == of)
            mine = -1;
    }
}

// The edges of each level that are not on the device, and how many rows have any: `edges` and
// `rows` are of `depths` levels each. A row that is of one level in several searches counts once.
extern "C" __global__ void __launch_bounds__(256)
    measure_levels(const OFFSET *offsets, uint64 n, uint64 resident, const int32 *level,
                   uint32 width, uint64 depths, uint64 *edges, uint64 *rows) {
    for (uint64 base = warp_rank() * WARP; base < n; base += num_warps() * WARP) {
        uint64 v = base + lane();
        uint64 end = v < n ? offsets[v + 1] : 0, begin = v < n ? offsets[v] : 0;
        begin = begin < resident ? resident : begin;
        for (uint32 s = 0; s < width; ++s) {
            int32 mine = begin < end ? level[v * width + s] : -1;
            for (uint32 before = 0; before < s && mine >= 0; ++before)
                if (level[v * width + before] == mine)
                    mine = -1;
            add_row(mine, end - begin, depths, edges, rows);
        }
    }
}
