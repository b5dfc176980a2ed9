// Levels of some searches added up at each vertex: how many searches have reached it, but for one
// that starts there, and of their hops the sum, the sum of squares, of inverses, and of squares of
// inverses.
//
// Launch    `add_levels`, a thread a vertex, after each sweep of searches
// Why       Side by side threads read one search's levels side by side.

#include "common.cuh"

// `level` : of all searches, of `stride` each, -1 where not reached. `sums` : of 5 a vertex.
extern "C" __global__ void __launch_bounds__(256)
    add_levels(const int32 *level, uint64 stride, uint64 n, uint32 searches, double *sums) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        uint32 reached = 0;
        uint64 total = 0, squares = 0;
        double inverses = 0, of_squares = 0;
        for (uint32 k = 0; k < searches; ++k) {
            int32 hops = level[k * stride + v];
            if (hops <= 0)
                continue;
            double inverse = 1.0 / hops;
            ++reached;
            total += hops;
            squares += (uint64)hops * hops;
            inverses += inverse;
            of_squares += inverse * inverse;
        }
        if (reached == 0)
            continue;
        double *sum = sums + v * 5;
        sum[0] += reached;
        sum[1] += (double)total;
        sum[2] += (double)squares;
        sum[3] += inverses;
        sum[4] += of_squares;
    }
}
