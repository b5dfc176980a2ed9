// Sums over the neighbours in each row of a direction.
//
// Long rows are blocks', rows of a warp's length and more warps', the others threads', and each is
// added up in one order.

#include "degree_lists.cuh"

// Edges from which a row is a block's.
constexpr uint32 LARGE = 4096;

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

// A sum of each block, of a number of each vertex.
template <typename Number> __device__ void sum_of_block(uint64 n, double *parts, Number number) {
    double sum = 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        sum += number(v);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}
