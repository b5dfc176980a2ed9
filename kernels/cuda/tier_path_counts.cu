// Number of shortest paths over finished breadth-first levels and edges that come in parts.
//
// count: int64 or double, 1 at the source, else 0. A level after the other: find_level, then a
// count_part for each part adds the counts of its vertices to those of their out-neighbours that
// are of the next; or (`pulls`, where rows are in-edges too), of the rows of the next level, those
// of the neighbours that are of this one. `overflow` becomes 1 where one does not fit.
// measure_levels: the edges of each level that are not on the device, and how many rows have any.

#include "edges_of_part.cuh"
#include "path_counts.cuh"

extern "C" __global__ void find_level(const int32 *level, uint64 n, int32 depth, uint8 *active) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        active[v] = level[v] == depth;
}

extern "C" __global__ void __launch_bounds__(256)
    count_part(Part part, const int32 *level, int32 depth, uint32 pulls, COUNT *count,
               uint64 *overflow, uint64 *read) {
    bool bad = false;
    int32 other = pulls ? depth : depth + 1;
    uint64 mine = for_part(part, [&](ID u, ID v) {
        bool first;
        if (level[v] == other)
            bad |= pulls ? add(count + u, count[v], first) : add(count + v, count[u], first);
    });
    count_read(mine, read);
    if (bad)
        *overflow = 1;
}

// `edges` and `rows`: of `depths` levels each.
extern "C" __global__ void __launch_bounds__(256)
    measure_levels(const OFFSET *offsets, uint64 n, uint64 resident, const int32 *level,
                   uint64 depths, uint64 *edges, uint64 *rows) {
    for (uint64 base = warp_rank() * WARP; base < n; base += num_warps() * WARP) {
        uint64 v = base + lane();
        uint64 end = v < n ? offsets[v + 1] : 0, begin = v < n ? offsets[v] : 0;
        begin = begin < resident ? resident : begin;
        int32 mine = begin < end ? level[v] : -1;
        // Vertices next to each other mostly are of few levels: one atomic a warp and level.
        for (uint32 votes; (votes = __ballot_sync(FULL_WARP, mine >= 0)) != 0;) {
            int32 of = __shfl_sync(FULL_WARP, mine, __ffs(votes) - 1);
            uint64 sum = warp_sum(mine == of ? end - begin : 0);
            uint32 same = __popc(__ballot_sync(FULL_WARP, mine == of));
            if (lane() == 0 && (uint64)of < depths) {
                atomicAdd(edges + of, sum);
                atomicAdd(rows + of, (uint64)same);
            }
            if (mine == of)
                mine = -1;
        }
    }
}
