// rank_betweenness.cu: a level of Brandes' accumulation on one of several ranks.
//
// Launch    a level: list_level, add_level, and an exchange of the values of border vertices of it.
//           Once over the levels away from the source, over in-edges; once back, over out-edges.
// Encoding  vertices are local ids: own ones, then ghosts, whose rows are empty. level: edges from
//           the source, 255 where there is no path; right for ghosts too.
// Why       every vertex takes from its own edges, so what is sent to a peer is one value a border
//           vertex, once it is final. A level is a byte, so that looking it up at random stays in
//           the cache; the eight bytes of a value are read only where it is the right one.

#include "degree_lists.cuh"

// The own vertices of a level, into lists that are empty.
extern "C" __global__ void __launch_bounds__(512)
    list_level(const OFFSET *offsets, uint64 owned, const uint8 *level, uint64 depth, ID *queue,
               ID *piece_row, uint32 *piece, uint64 n, uint32 medium, uint32 large,
               Counts *counts) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    Appender appender(lists, Slice{}, counts, slots);
    for (uint64 first = warp_rank() * WARP; first < owned; first += num_warps() * WARP) {
        uint64 v = first + lane();
        bool wanted = v < owned && level[v] == depth;
        if (!__any_sync(FULL_WARP, wanted))
            continue;
        appender.append(wanted, (ID)v, wanted ? offsets[v + 1] - offsets[v] : (OFFSET)0);
    }
    appender.flush();
}

// Adds to each vertex that is listed the values of its neighbours of another level; to `also` too,
// unless that is null.
extern "C" __global__ void __launch_bounds__(512, 2)
    add_level(const OFFSET *offsets, const ID *neighbours, const uint8 *level, uint64 from,
              const double *values, double *sums, double *also, ID *queue, ID *piece_row,
              uint32 *piece, uint64 n, uint32 medium, uint32 large, const Counts *counts) {
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    Slice slice = {};
    slice.count = *counts;
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        bool wanted[BATCH];
        double total = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            wanted[j] = j * step < left;
            v[j] = wanted[j] ? neighbours[edge + j * step] : 0;
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            wanted[j] = wanted[j] && level[v[j]] == from;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            if (wanted[j])
                total += values[v[j]];
        if (step == WARP)
            total = warp_sum(total);
        if (total > 0 && (step != WARP || lane() == 0)) {
            atomicAdd(sums + u, total);
            if (also != nullptr)
                atomicAdd(also + u, total);
        }
    });
}
