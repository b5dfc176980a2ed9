// Hubs and authorities by power iteration, all of it in one launch.
//
// What a block adds up of all vertices follows from their numbers alone, and each row is added up
// in one order. So scores are the same in every run on a device.

#include "hits.cuh"
#include "runs.cuh"

struct State {
    uint64 barrier;
    uint64 converged;  // not 0: the last iteration changed little, or all is 0
    double change;     // of the last iteration, in sum
    uint64 mediums[2]; // rows of warps, by source and by destination
    uint64 larges[2];  // rows of blocks
    Runs runs;
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// Adds up a number of each vertex; all blocks get the sum. `parts`: one of each block.
template <typename Number>
__device__ double sum_of_all(uint64 n, double *parts, GridBarrier *barrier, Number number) {
    sum_of_block(n, parts, number);
    grid_sync(barrier);
    double sum = 0;
    for (uint32 i = threadIdx.x; i < gridDim.x; i += BLOCK)
        sum += fresh(parts + i);
    return block_sum(sum);
}

// Scales numbers to a sum of 1, unless it is 0.
__device__ void scale(uint64 n, double *values, double total) {
    if (total != 0)
        for (uint64 v = thread_rank(); v < n; v += num_threads())
            values[v] /= total;
}

// `hub`: 1 / n of each vertex, and room for as many again; after an odd number of iterations it is
// there. `todo`: n of each kind of rows; `parts`: three for each block.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    hits(const OFFSET *offsets, const ID *neighbours, const WEIGHT *weight,
         const OFFSET *into_offsets, const ID *into_neighbours, const WEIGHT *into_weight, uint64 n,
         uint64 edges, double tolerance, uint64 most, ID *todo, double *hub, double *authority,
         double *parts, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Rows out = {offsets, neighbours, weight};
    Rows into = {into_offsets, into_neighbours, into_weight};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (leads)
        start_runs(&state->runs);
    list_rows(offsets, n, todo, slots, state->mediums, state->larges);
    list_rows(into_offsets, n, todo + n, slots, state->mediums + 1, state->larges + 1);
    grid_sync(barrier);
    for (uint64 iteration = 0; iteration < most; ++iteration) {
        const double *before = hub + iteration % 2 * n;
        double *after = hub + (iteration + 1) % 2 * n;
        sum_neighbours(into, n, todo + n, fresh(state->mediums + 1), fresh(state->larges + 1),
                       before, authority);
        grid_sync(barrier);
        double total = sum_of_all(n, parts, barrier, [&](uint64 v) { return authority[v]; });
        scale(n, authority, total);
        grid_sync(barrier);
        sum_neighbours(out, n, todo, fresh(state->mediums), fresh(state->larges), authority, after);
        grid_sync(barrier);
        total = sum_of_all(n, parts + gridDim.x, barrier, [&](uint64 v) { return after[v]; });
        scale(n, after, total);
        double change = sum_of_all(n, parts + 2 * gridDim.x, barrier, [&](uint64 v) {
            double difference = after[v] - before[v];
            return difference < 0 ? -difference : difference;
        });
        bool none = total == 0 && sum_of_all(n, parts, barrier, [&](uint64 v) {
                                      return after[v] == 0 ? 0.0 : 1.0;
                                  }) == 0;
        bool converged = change < tolerance || none;
        if (leads) {
            state->change = change;
            state->converged = converged;
            note_run(&state->runs, 0, 1, n, edges);
        }
        if (converged)
            break;
    }
}
