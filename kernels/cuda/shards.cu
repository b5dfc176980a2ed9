// shards.cu: cuts the destinations of an adjacency into shards, for program_shards.cuh.
//
// Computes  cut_shards: from each multiple of `stretch` vertices on, the longest runs of
//           destinations whose sums, in as many copies as their mean degree asks for, fit a block's
//           shared memory. place_edges: where each edge's destination stands in its shard.
// Launch    cut_shards: a block a stretch. place_edges: a block an item.
// Why       A shard's end follows from its beginning, so a stretch is cut one shard after another;
//           the threads of a block try as many ends at once.

#include "common.cuh"

constexpr int MOST_COPIES = 5; // log2
constexpr uint64 MOST_PLACES = 65536;

// log2 of the copies of each sum, 2^(ceil(log2(edges / vertices) - 1/2)) of at least one and at
// most a warp's lanes; or `fixed` if that is not negative.
__device__ __forceinline__ uint32 copies_of(uint64 vertices, uint64 edges, int64 fixed) {
    if (fixed >= 0)
        return (uint32)fixed;
    uint32 copies = 0;
    while (copies < MOST_COPIES &&
           (double)edges > 1.4142135623730951 * (double)(vertices << copies))
        copies += 1;
    return copies;
}

// `slots`: of a stretch, for the first vertices of its shards and their copies.
extern "C" __global__ void __launch_bounds__(1024)
    cut_shards(const OFFSET *offsets, uint64 n, uint64 stretch, uint64 capacity, int64 fixed,
               uint64 slots, ID *first, uint32 *copies, uint32 *number) {
    __shared__ uint32 fitting;
    uint64 begin = blockIdx.x * stretch, end = begin + stretch < n ? begin + stretch : n;
    uint32 shards = 0;
    while (begin < end) {
        uint64 size = 0;
        for (bool full = false; !full;) {
            uint64 tried = size + threadIdx.x + 1;
            bool fits = tried <= end - begin && tried <= MOST_PLACES;
            if (fits) {
                uint64 edges = offsets[begin + tried] - offsets[begin];
                fits = tried << copies_of(tried, edges, fixed) <= capacity;
            }
            if (threadIdx.x == 0)
                fitting = blockDim.x;
            __syncthreads();
            if (!fits)
                atomicMin(&fitting, threadIdx.x);
            __syncthreads();
            size += fitting;
            full = fitting < blockDim.x;
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            uint64 edges = offsets[begin + size] - offsets[begin];
            first[blockIdx.x * slots + shards] = (ID)begin;
            copies[blockIdx.x * slots + shards] = copies_of(size, edges, fixed);
        }
        shards += 1;
        begin += size;
    }
    if (threadIdx.x == 0)
        number[blockIdx.x] = shards;
}

extern "C" __global__ void __launch_bounds__(256)
    place_edges(const OFFSET *offsets, const ID *first, const uint32 *item_shard,
                const OFFSET *item_begin, uint64 items, uint64 most, uint16 *place) {
    for (uint64 item = blockIdx.x; item < items; item += gridDim.x) {
        uint64 from = first[item_shard[item]], to = first[item_shard[item] + 1];
        uint64 begin = item_begin[item], end = offsets[to];
        end = end - begin < most ? end : begin + most;
        for (uint64 e = begin + threadIdx.x; e < end; e += blockDim.x)
            place[e] = (uint16)(upper_bound(offsets + from, to - from + 1, (OFFSET)e) - 1);
    }
}
