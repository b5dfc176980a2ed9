// Pull by shards: a block adds up in shared memory what comes to a run of destinations.
//
// Threads take consecutive edges, whatever row these are of, and add to one of the copies of their
// destination's sum, so that those of a hub do not wait for each other. The copies are then added
// to each other. A shard of many edges is the work of several blocks, which add to the messages.

#include "program_send.cuh"

constexpr int SHARD_UNROLL = 4; // edges that a thread has on their way at once

// See shards.cu and engine/gpu/shards.py.
struct Shards {
    const OFFSET *offsets;
    const ID *neighbours;
    const uint16 *place;      // of each edge: its destination, counted from the shard's first
    const ID *first;          // vertex of each shard, and the end
    const uint32 *copies;     // of each sum, log2
    const uint32 *item_shard; // an item is a shard, or a part of it
    const OFFSET *item_begin; // its first edge
    uint64 begin, end;        // items of this launch
    uint64 most;              // edges of an item
};

// The accumulators of a block; as many as fit. Zero is what stands for no message of a sum.
struct ShardSums {
    MESSAGE *sums;
    uint32 vertices, copies; // log2

    __device__ __forceinline__ void clear() const {
        for (uint32 i = threadIdx.x; i < vertices << copies; i += blockDim.x)
            sums[i] = 0;
        __syncthreads();
    }

    // Copies are added to each other by halves.
    __device__ __forceinline__ void merge() const {
        __syncthreads();
        for (uint32 left = copies; left > 0; left--) {
            uint32 half = left - 1;
            for (uint32 i = threadIdx.x; i < vertices << half; i += blockDim.x) {
                MESSAGE *sum = sums + ((i >> half) << copies) + (i & ((1u << half) - 1));
                sum[0] = added(sum[0], sum[1u << half]);
            }
            __syncthreads();
        }
    }

    __device__ __forceinline__ MESSAGE of(uint32 vertex) const { return sums[vertex << copies]; }
};

// The edges begin .. end - 1 of a shard. FROM_ALL: everybody sends.
template <bool FROM_ALL>
__device__ __forceinline__ bool
add_edges(const Run &run, const Shards &shards, const ShardSums &sums, uint64 first, uint64 begin,
          uint64 end, const MESSAGE *emitted, const uint8 *active, uint8 *received) {
    bool good = true;
    uint32 copy = threadIdx.x & ((1u << sums.copies) - 1);
    for (uint64 base = begin + threadIdx.x; base < end; base += SHARD_UNROLL * blockDim.x) {
        ID u[SHARD_UNROLL];
        uint32 place[SHARD_UNROLL];
        bool taken[SHARD_UNROLL];
        MESSAGE m[SHARD_UNROLL];
#pragma unroll
        for (int k = 0; k < SHARD_UNROLL; k++) {
            uint64 e = base + k * blockDim.x;
            taken[k] = e < end;
            u[k] = taken[k] ? __ldcs(shards.neighbours + e) : 0;
            place[k] = taken[k] ? __ldcs(shards.place + e) : 0;
        }
        if (!FROM_ALL) {
#pragma unroll
            for (int k = 0; k < SHARD_UNROLL; k++)
                taken[k] = taken[k] && __ldg(active + u[k]);
        }
#pragma unroll
        for (int k = 0; k < SHARD_UNROLL; k++) {
            m[k] = 0;
            if (taken[k]) {
#if EMITS
                m[k] = __ldg(emitted + u[k]);
#else
                good &= message(run, u[k], first + place[k], base + k * blockDim.x, m[k]);
#endif
            }
        }
#pragma unroll
        for (int k = 0; k < SHARD_UNROLL; k++) {
            if (!taken[k])
                continue;
            atomic_add(sums.sums + (place[k] << sums.copies) + copy, m[k]);
            if (NEEDS_RECEIVED && !received[first + place[k]])
                received[first + place[k]] = 1;
        }
    }
    return good;
}

// A block an item.
extern "C" __global__ void PULL_BOUNDS pull_shards(Run run, Shards shards,
                                                   const MESSAGE *__restrict__ emitted,
                                                   const uint8 *__restrict__ active,
                                                   MESSAGE *messages, uint8 *received) {
    extern __shared__ double shared_sums[];
    RunControl *control = run.control;
    if (control->done)
        return;
    bool all = EVERY || control->num_active == run.graph_vertices, good = true;
    for (uint64 item = shards.begin + blockIdx.x; item < shards.end; item += gridDim.x) {
        uint32 shard = shards.item_shard[item];
        uint64 first = shards.first[shard], next = shards.first[shard + 1];
        uint64 begin = shards.item_begin[item], end = shards.offsets[next];
        bool alone = end - shards.offsets[first] <= shards.most;
        end = end - begin < shards.most ? end : begin + shards.most;
        ShardSums sums = {(MESSAGE *)shared_sums, (uint32)(next - first), shards.copies[shard]};
        sums.clear();
        good &=
            all ? add_edges<true>(run, shards, sums, first, begin, end, emitted, active, received)
                : add_edges<false>(run, shards, sums, first, begin, end, emitted, active, received);
        sums.merge();
        for (uint32 i = threadIdx.x; i < sums.vertices; i += blockDim.x) {
            MESSAGE sum = sums.of(i);
            if (alone)
                messages[first + i] = sum;
            else if (sum != MESSAGE(0))
                atomic_add(messages + first + i, sum);
        }
        __syncthreads();
    }
    if (!good)
        control->bad = BAD_COMPUTE;
}
