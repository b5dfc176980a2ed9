// Dependencies of several sources on vertices, over finished breadth-first levels and edges that
// come in parts.
//
// What a vertex has for each of `width` sources stands together: its level, the number of shortest
// paths (`count`, 1 at the source, else 0), and its share, as in betweenness.cu. A level after the
// other, find_level finds the rows of all sources, and along_part goes along them for all of these:
// counts are added to those of the next level; then, from the farthest level to the nearest, shares
// to those of the level before. Either way the rows may be those of the nearer or (`pulls`, where
// rows are in-edges too) of the farther one of two levels.

#include "tier_levels.cuh"

extern "C" __global__ void __launch_bounds__(256)
    along_part(Part part, const int32 *level, uint32 width, int32 depth, uint32 pulls, uint32 back,
               double *value, uint64 *read) {
    uint64 mine = for_part(part, [&](ID u, ID v) {
        uint64 near = (uint64)(pulls ? v : u) * width, far = (uint64)(pulls ? u : v) * width;
        uint64 from = back ? far : near, into = back ? near : far;
        for (uint32 s = 0; s < width; ++s)
            if (level[near + s] == depth && level[far + s] == depth + 1)
                atomic_add(value + into + s, value[from + s]);
    });
    count_read(mine, read);
}

// What each path to a vertex is worth if it ends there; whether a count is infinite.
extern "C" __global__ void begin_shares(const int32 *level, uint64 size, const double *count,
                                        double *share, uint32 *infinite) {
    for (uint64 i = thread_rank(); i < size; i += num_threads()) {
        share[i] = level[i] < 0 ? 0 : 1 / count[i];
        if (isinf(count[i]))
            *infinite = 1;
    }
}

// The dependencies of all sources on each vertex but themselves; `ends`: 1 where a path goes
// through its ends as well.
extern "C" __global__ void add_up(const int32 *level, uint64 n, uint32 width, const double *count,
                                  const double *share, double ends, double *through) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        double sum = 0;
        for (uint64 i = v * width; i < (v + 1) * width; ++i)
            if (level[i] > 0)
                sum += share[i] * count[i] - 1 + ends;
        through[v] = sum;
    }
}
