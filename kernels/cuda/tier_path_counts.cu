// Number of shortest paths over finished breadth-first levels and edges that come in parts.
//
// count: int64 or double, 1 at the source, else 0. A level after the other: find_level, then a
// count_part for each part adds the counts of its vertices to those of their out-neighbours that
// are of the next. `overflow` becomes 1 where one does not fit.

#include "edges_of_part.cuh"
#include "path_counts.cuh"

extern "C" __global__ void find_level(const int32 *level, uint64 n, int32 depth, uint8 *active) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        active[v] = level[v] == depth;
}

extern "C" __global__ void __launch_bounds__(256)
    count_part(Part part, const int32 *level, int32 depth, COUNT *count, uint64 *overflow,
               uint64 *read) {
    bool bad = false;
    uint64 mine = for_part(part, [&](ID u, ID v) {
        bool first;
        if (level[v] == depth + 1)
            bad |= add(count + v, count[u], first);
    });
    count_read(mine, read);
    if (bad)
        *overflow = 1;
}
