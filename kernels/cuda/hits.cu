// Hubs and authorities by power iteration, all of it in one launch.
//
// Long rows are blocks', rows of a warp's length and more warps', the others threads', and each is
// added up in one order; what a block adds up of all vertices follows from their numbers alone. So
// scores are the same in every run on a device.

#include "degree_lists.cuh"
#include "runs.cuh"

// Edges from which a row is a block's.
constexpr uint32 LARGE = 4096;

struct State {
    uint64 barrier;
    uint64 converged;  // not 0: the last iteration changed little, or all is 0
    double change;     // of the last iteration, in sum
    uint64 mediums[2]; // rows of warps, by source and by destination
    uint64 larges[2];  // rows of blocks
    Runs runs;
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

struct Rows {
    const OFFSET *offsets;
    const ID *neighbours;
    const WEIGHT *weight; // null: all are 1

    __device__ __forceinline__ double term(const double *values, OFFSET e) const {
        double value = values[neighbours[e]];
        return weight == nullptr ? value : (double)weight[e] * value;
    }
};

// Sum of the terms of some of a row's edges, of every so many one.
__device__ __forceinline__ double add_up(const Rows &rows, const double *values, OFFSET first,
                                         OFFSET end, uint32 step) {
    double sum = 0;
    for (uint64 e = first; e < end; e += step)
        sum += rows.term(values, (OFFSET)e);
    return sum;
}

// Lists the rows of warps from the front, and those of blocks from the back.
__device__ void list_rows(const OFFSET *offsets, uint64 n, ID *todo, ID *slots, uint64 *mediums,
                          uint64 *larges) {
    ID *mine = slots + warp_in_block() * 2 * HELD;
    WarpBuffer medium(mine, mediums, todo);
    WarpBuffer large(mine + HELD, larges, todo + (n - 1), -1);
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        OFFSET size = v < n ? offsets[v + 1] - offsets[v] : (OFFSET)0;
        medium.append(size >= WARP && size < LARGE, (ID)v);
        large.append(size >= LARGE, (ID)v);
    }
    medium.flush();
    large.flush();
}

// The sums of all rows over their neighbours' values.
__device__ void sum_neighbours(const Rows &rows, uint64 n, const ID *todo, uint64 mediums,
                               uint64 larges, const double *values, double *sums) {
    for (uint64 i = blockIdx.x; i < larges; i += gridDim.x) {
        ID row = todo[n - 1 - i];
        double sum = block_sum(
            add_up(rows, values, rows.offsets[row] + threadIdx.x, rows.offsets[row + 1], BLOCK));
        if (threadIdx.x == 0)
            sums[row] = sum;
    }
    for (uint64 i = warp_rank(); i < mediums; i += num_warps()) {
        ID row = todo[i];
        double sum =
            warp_sum(add_up(rows, values, rows.offsets[row] + lane(), rows.offsets[row + 1], WARP));
        if (lane() == 0)
            sums[row] = sum;
    }
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        OFFSET start = rows.offsets[v], end = rows.offsets[v + 1];
        if (end - start < WARP)
            sums[v] = add_up(rows, values, start, end, 1);
    }
}

// Adds up a number of each vertex; all blocks get the sum. `parts`: one of each block.
template <typename Number>
__device__ double sum_of_all(uint64 n, double *parts, GridBarrier *barrier, Number number) {
    double sum = 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        sum += number(v);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
    grid_sync(barrier);
    sum = 0;
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
