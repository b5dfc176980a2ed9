// Frontiers of few edges, which a kernel goes on from without the host: rows are read where they
// lie.

#pragma once

#include "common.cuh"

// The frontier of a level: its vertices, their edges, and how many have few of them and how many
// have many, which are in lists as far as these are long enough.
struct Frontier {
    uint64 size, edges, few, many;
};

// Edges, on the device up to `resident` and from there on the host: where edge 0 would be.
struct Edges {
    const OFFSET *offsets;
    const ID *here, *there;
    uint64 n, resident;
};

// Levels of a launch at most: one of very many can be interrupted.
constexpr uint64 MOST_CREPT = 65536;

// A frontier that `creep` takes: rows up to FEW edges, which are a warp's each, and longer ones, of
// which each is all warps'.
constexpr uint64 MOST_MANY = 1024, FEW = 1024;

// Of a level and the next: room for `most` rows of few edges, then for those of many.
struct Lists {
    ID *rows;
    uint64 most;

    __device__ __forceinline__ ID *few(uint64 depth) const {
        return rows + depth % 2 * (most + MOST_MANY);
    }

    __device__ __forceinline__ ID *many(uint64 depth) const { return few(depth) + most; }
};

// Appends to a list for which it may be too long. By whole warps.
__device__ __forceinline__ void append_some(bool wanted, ID v, uint64 *listed, ID *list,
                                            uint64 most) {
    uint32 votes = __ballot_sync(FULL_WARP, wanted);
    if (votes == 0)
        return;
    uint64 first = 0;
    if (lane() == 0)
        first = atomicAdd(listed, (uint64)__popc(votes));
    first = __shfl_sync(FULL_WARP, first, 0) + __popc(votes & lower_lanes());
    if (wanted && first < most)
        list[first] = v;
}

__device__ __forceinline__ void append_row(bool wanted, ID v, uint64 length, Frontier *step,
                                           const Lists &lists, uint64 depth) {
    append_some(wanted && length <= FEW, v, &step->few, lists.few(depth), lists.most);
    append_some(wanted && length > FEW, v, &step->many, lists.many(depth), MOST_MANY);
}

__device__ __forceinline__ void add_block(uint64 *sum, uint64 mine) {
    mine = block_sum(mine);
    if (threadIdx.x == 0 && mine > 0)
        atomicAdd(sum, mine);
}
