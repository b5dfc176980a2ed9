// by_level.cu: places of border vertices put in the order of the levels of searches, within a level
// in the order in which they stand; and values of those of a level.
//
// Computes  count_levels: how many places of each chunk are of each level. scan_counts: where they
//           begin among all. place_levels: puts each place's vertex there. pack_parts: values that
//           are sent. take_parts: what has come.
// Launch    the first three in this order; scan_counts as a block for each source and side.
// Encoding  arrays of a source stand behind those of the one before. What is sent to peers is one
//           side, the ghosts that come from them the other. A chunk is a warp's: places side by
//           side, of one peer. What is not reached is left out.
// Why       levels are few, so two passes over the bytes of the levels do what a sort of keys does
//           in eight over keys of eight bytes. Both ends of a connection come to the same order.

#include "common.cuh"

constexpr uint32 UNREACHED = 255;
constexpr int WARPS = 512 / WARP; // of a block
constexpr int TOGETHER = 4;       // values that a thread has under way at once

struct Side {
    const ID *vertices; // null: `base` and those behind it
    uint64 base;
    const uint64 *first; // place, of each chunk, and the end
    uint64 chunks;
    const uint64 *peer_chunk; // the first of each peer
    uint32 *starts;           // of each level and chunk
    ID *sorted;
    uint64 places;
    uint32 *cuts; // where each level and peer begins, and the end

    __device__ __forceinline__ ID vertex(uint64 place) const {
        return vertices == nullptr ? (ID)(base + place) : vertices[place];
    }
};

struct Sides {
    Side side[2];               // of the first source
    uint64 most_levels, stride; // stride: of the levels of a source
    uint64 cuts;                // of a source and side

    __device__ __forceinline__ uint64 chunks() const { return side[0].chunks + side[1].chunks; }

    __device__ __forceinline__ Side of(uint64 source, bool second) const {
        Side made = side[second];
        made.starts += source * most_levels * made.chunks;
        made.sorted += source * made.places;
        made.cuts += source * cuts;
        return made;
    }
};

// Calls visit(level, lanes, vertex) of each level that lanes of the warp have in a chunk; `vertex`
// is the lane's. All lanes together.
template <typename Visit>
__device__ __forceinline__ void for_levels(const Side &side, uint64 chunk, const uint8 *level,
                                           Visit visit) {
    uint64 end = side.first[chunk + 1];
    for (uint64 first = side.first[chunk]; first < end; first += TOGETHER * WARP) {
        ID vertex[TOGETHER];
        uint32 at[TOGETHER];
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j) {
            uint64 place = first + j * WARP + lane();
            vertex[j] = place < end ? side.vertex(place) : 0;
        }
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j)
            at[j] = first + j * WARP + lane() < end ? level[vertex[j]] : UNREACHED;
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j) {
            for (uint32 left = __ballot_sync(FULL_WARP, at[j] != UNREACHED); left != 0;) {
                uint32 one = __shfl_sync(FULL_WARP, at[j], __ffs(left) - 1);
                uint32 lanes = __ballot_sync(FULL_WARP, at[j] == one);
                left &= ~lanes;
                visit(one, lanes, vertex[j]);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(512)
    count_levels(Sides sides, const uint8 *level, uint64 sources, uint64 levels) {
    __shared__ uint32 held[WARPS][UNREACHED + 1];
    uint32 *mine = held[warp_in_block()];
    for (uint64 i = warp_rank(); i < sources * sides.chunks(); i += num_warps()) {
        uint64 source = i / sides.chunks(), chunk = i % sides.chunks();
        bool second = chunk >= sides.side[0].chunks;
        Side side = sides.of(source, second);
        chunk -= second ? sides.side[0].chunks : 0;
        for (uint32 j = lane(); j < levels; j += WARP)
            mine[j] = 0;
        __syncwarp();
        for_levels(side, chunk, level + source * sides.stride, [&](uint32 one, uint32 lanes, ID) {
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
    Side side = sides.of(blockIdx.x / 2, blockIdx.x % 2);
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
    place_levels(Sides sides, const uint8 *level, uint64 sources, uint64 levels) {
    __shared__ uint32 held[WARPS][UNREACHED + 1];
    uint32 *mine = held[warp_in_block()];
    for (uint64 i = warp_rank(); i < sources * sides.chunks(); i += num_warps()) {
        uint64 source = i / sides.chunks(), chunk = i % sides.chunks();
        bool second = chunk >= sides.side[0].chunks;
        Side side = sides.of(source, second);
        chunk -= second ? sides.side[0].chunks : 0;
        for (uint32 j = lane(); j < levels; j += WARP)
            mine[j] = side.starts[j * side.chunks + chunk];
        __syncwarp();
        for_levels(side, chunk, level + source * sides.stride,
                   [&](uint32 one, uint32 lanes, ID vertex) {
                       uint32 start = mine[one];
                       if (lanes >> lane() & 1)
                           side.sorted[start + __popc(lanes & lower_lanes())] = vertex;
                       __syncwarp();
                       if (lane() == 0)
                           mine[one] = start + __popc(lanes);
                       __syncwarp();
                   });
        __syncwarp();
    }
}

// Values of a source that go to a peer, or come from it.
struct Part {
    uint64 first, number; // places in what is sent, or has come
    const ID *vertices;
    double *values; // by vertices
    uint64 adds;    // to what is there
};

extern "C" __global__ void __launch_bounds__(512)
    pack_parts(const Part *parts, uint64 number, double *packed) {
    for (uint64 i = 0; i < number; ++i) {
        Part part = parts[i];
        for (uint64 at = thread_rank(); at < part.number; at += TOGETHER * num_threads()) {
            double value[TOGETHER];
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) {
                uint64 place = at + j * num_threads();
                value[j] = place < part.number ? part.values[part.vertices[place]] : 0;
            }
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) {
                uint64 place = at + j * num_threads();
                if (place < part.number)
                    packed[part.first + place] = value[j];
            }
        }
    }
}

// One vertex may be there for several peers; what it gets from each is added.
extern "C" __global__ void __launch_bounds__(512)
    take_parts(const Part *parts, uint64 number, const double *came) {
    for (uint64 i = 0; i < number; ++i) {
        Part part = parts[i];
        for (uint64 at = thread_rank(); at < part.number; at += num_threads()) {
            double *place = part.values + part.vertices[at], value = came[part.first + at];
            if (part.adds)
                atomicAdd(place, value);
            else
                *place = value;
        }
    }
}
