// Hubs and authorities on one of several ranks: sums over the rows of its own vertices.
//
// Scores are left as they were added up. What they are to be scaled by follows from the sums of all
// ranks, which each of them adds up in the same order. What a block adds up of own vertices follows
// from their numbers alone, and each row is added up in one order: so scores are the same in every
// run on as many ranks.
//
// Launch    once: list_own of each direction. An iteration: of each direction sum_own, add_own,
//           fold, an all-gather of sums, and the values of the border; then add_changes, fold, an
//           all-gather.

#include "hits.cuh"

// Of what all ranks have told, what numbers are to be multiplied by to have a sum of 1: by nothing
// where weights of both signs cancel to 0.
__device__ double scale_of(const double *every, uint64 size) {
    double total = 0;
    for (uint64 rank = 0; rank < size; ++rank)
        total += every[rank];
    return total != 0 ? 1 / total : 1.0;
}

// `counts`: rows of warps and of blocks; both 0.
extern "C" __global__ void __launch_bounds__(BLOCK)
    list_own(const OFFSET *offsets, uint64 n, ID *todo, uint64 *counts) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    list_rows(offsets, n, todo, slots, counts, counts + 1);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    sum_own(const OFFSET *offsets, const ID *neighbours, const WEIGHT *weight, uint64 n,
            const ID *todo, const uint64 *counts, const double *values, double *sums) {
    sum_neighbours({offsets, neighbours, weight}, n, todo, counts[0], counts[1], values, sums);
}

// Scales own vertices' sums of what was scaled as `every` says, and adds them up.
extern "C" __global__ void __launch_bounds__(BLOCK)
    add_own(uint64 n, const double *every, uint64 size, double *sums, double *parts) {
    double scale = scale_of(every, size);
    sum_of_block(n, parts, [&](uint64 v) { return sums[v] *= scale; });
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    add_changes(uint64 n, uint64 size, const double *before, const double *every_before,
                const double *after, const double *every_after, double *parts) {
    double of_before = scale_of(every_before, size), of_after = scale_of(every_after, size);
    sum_of_block(n, parts,
                 [&](uint64 v) { return fabs(after[v] * of_after - before[v] * of_before); });
}

// Launch: one block.
extern "C" __global__ void __launch_bounds__(BLOCK)
    fold(const double *parts, uint64 blocks, double *told) {
    double sum = 0;
    for (uint64 i = threadIdx.x; i < blocks; i += blockDim.x)
        sum += parts[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *told = sum;
}

// Scales the vertices that are here.
extern "C" __global__ void __launch_bounds__(BLOCK)
    scale_here(uint64 n, const double *every, uint64 size, const double *values, double *scaled) {
    double scale = scale_of(every, size);
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        scaled[v] = values[v] * scale;
}
