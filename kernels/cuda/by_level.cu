// by_level.cu: places of border vertices put in the order of a search's levels, within a level in
// the order in which they stand.
//
// Computes  count_levels: how many places of each chunk are of each level. scan_counts: where they
//           begin among all. place_levels: puts each place's vertex there. add_values: sums of
//           ghosts, at their owners.
// Launch    the first three in this order; scan_counts as a block for each of both sides.
// Encoding  what is sent to peers is one side, the ghosts that come from them the other. A chunk is
//           a warp's: places side by side, of one peer. What is not reached is left out.
// Why       levels are few, so two passes over the bytes of the levels do what a sort of keys does
//           in eight over keys of eight bytes. Both ends of a connection come to the same order.

#include "common.cuh"

constexpr uint32 UNREACHED = 255;
constexpr int WARPS = 512 / WARP; // of a block

struct Side {
    const ID *vertices; // null: `base` and those behind it
    uint64 base;
    const uint64 *first; // place, of each chunk, and the end
    uint64 chunks;
    const uint64 *peer_chunk; // the first of each peer
    uint32 *starts;           // of each level and chunk
    ID *sorted;
    uint32 *cuts; // where each level and peer begins, and the end

    __device__ __forceinline__ ID vertex(uint64 place) const {
        return vertices == nullptr ? (ID)(base + place) : vertices[place];
    }
};

struct Sides {
    Side side[2];

    __device__ __forceinline__ uint64 chunks() const { return side[0].chunks + side[1].chunks; }
};

// Calls visit(level, lanes, place) of each level that lanes of the warp have in a chunk; `place` is
// the lane's. All lanes together.
template <typename Visit>
__device__ __forceinline__ void for_levels(const Side &side, uint64 chunk, const uint8 *level,
                                           Visit visit) {
    uint64 end = side.first[chunk + 1];
    for (uint64 first = side.first[chunk]; first < end; first += WARP) {
        uint64 place = first + lane();
        uint32 at = place < end ? level[side.vertex(place)] : UNREACHED;
        for (uint32 left = __ballot_sync(FULL_WARP, at != UNREACHED); left != 0;) {
            uint32 one = __shfl_sync(FULL_WARP, at, __ffs(left) - 1);
            uint32 lanes = __ballot_sync(FULL_WARP, at == one);
            left &= ~lanes;
            visit(one, lanes, place);
        }
    }
}

extern "C" __global__ void __launch_bounds__(512)
    count_levels(Sides sides, const uint8 *level, uint64 levels) {
    __shared__ uint32 held[WARPS][UNREACHED + 1];
    uint32 *mine = held[warp_in_block()];
    for (uint64 i = warp_rank(); i < sides.chunks(); i += num_warps()) {
        bool second = i >= sides.side[0].chunks;
        const Side &side = sides.side[second];
        uint64 chunk = second ? i - sides.side[0].chunks : i;
        for (uint32 j = lane(); j < levels; j += WARP)
            mine[j] = 0;
        __syncwarp();
        for_levels(side, chunk, level, [&](uint32 one, uint32 lanes, uint64) {
            if (lane() == 0)
                mine[one] += __popc(lanes);
        });
        __syncwarp();
        for (uint32 j = lane(); j < levels; j += WARP)
            side.starts[j * side.chunks + chunk] = mine[j];
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(1024)
    scan_counts(Sides sides, uint64 levels, uint64 peers) {
    const Side &side = sides.side[blockIdx.x];
    uint32 before = 0;
    for (uint64 first = 0; first < levels * side.chunks; first += blockDim.x) {
        uint64 i = first + threadIdx.x;
        bool is = i < levels * side.chunks;
        uint32 total, start = before + block_exclusive_scan(is ? side.starts[i] : 0u, &total);
        if (is)
            side.starts[i] = start;
        before += total;
    }
    __syncthreads();
    for (uint64 i = threadIdx.x; i < levels * peers; i += blockDim.x) {
        uint64 at = i / peers * side.chunks + side.peer_chunk[i % peers];
        side.cuts[i] = at < levels * side.chunks ? side.starts[at] : before;
    }
    if (threadIdx.x == 0)
        side.cuts[levels * peers] = before;
}

extern "C" __global__ void __launch_bounds__(512)
    place_levels(Sides sides, const uint8 *level, uint64 levels) {
    __shared__ uint32 held[WARPS][UNREACHED + 1];
    uint32 *mine = held[warp_in_block()];
    for (uint64 i = warp_rank(); i < sides.chunks(); i += num_warps()) {
        bool second = i >= sides.side[0].chunks;
        const Side &side = sides.side[second];
        uint64 chunk = second ? i - sides.side[0].chunks : i;
        for (uint32 j = lane(); j < levels; j += WARP)
            mine[j] = side.starts[j * side.chunks + chunk];
        __syncwarp();
        for_levels(side, chunk, level, [&](uint32 one, uint32 lanes, uint64 place) {
            uint32 start = mine[one];
            if (lanes >> lane() & 1)
                side.sorted[start + __popc(lanes & lower_lanes())] = side.vertex(place);
            __syncwarp();
            if (lane() == 0)
                mine[one] = start + __popc(lanes);
            __syncwarp();
        });
        __syncwarp();
    }
}

// Adds what has come of these vertices; one may be there for several peers.
extern "C" __global__ void add_values(const ID *vertices, uint64 number, const double *came,
                                      double *sums) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        atomicAdd(sums + vertices[i], came[i]);
}
