// Jaccard coefficients over symmetric rows, ascending, without repeats and self-loops.
//
//   of_pairs  looks the neighbours of the vertex that has fewer up among those of the other: a pair
//             is a warp's, and a block's where both have many.
//   walks     keys of pairs of vertices, once for every neighbour that they have in common; equal
//             ones are counted after sorting.

#include "degree_lists.cuh"
#include "runs.cuh"

// Neighbours of both from which a pair is a block's.
constexpr uint32 LARGE = 2048;

struct State {
    uint64 barrier;
    uint64 read;
    Runs runs;
    uint64 larges; // pairs that are left for blocks
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// The rows of a pair, the shorter one first.
struct Both {
    const ID *row, *other;
    OFFSET size, others;

    __device__ __forceinline__ Both(const OFFSET *offsets, const ID *neighbours, ID u, ID v) {
        size = offsets[u + 1] - offsets[u];
        others = offsets[v + 1] - offsets[v];
        row = neighbours + offsets[u];
        other = neighbours + offsets[v];
        if (size > others) {
            const ID *longer = row;
            row = other;
            other = longer;
            OFFSET most = size;
            size = others;
            others = most;
        }
    }

    // Of a member's part of the shorter row, how many the longer one has.
    __device__ __forceinline__ uint64 common(uint32 member, uint32 members) const {
        uint64 found = 0;
        for (uint64 i = member; i < size; i += members) {
            ID wanted = row[i];
            uint64 place = upper_bound(other, others, wanted);
            found += place > 0 && other[place - 1] == wanted;
        }
        return found;
    }

    __device__ __forceinline__ double coefficient(uint64 both) const {
        uint64 either = (uint64)size + others - both;
        return either > 0 ? (double)both / (double)either : 0.0;
    }
};

// `left`: room for a number a pair.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    of_pairs(const OFFSET *offsets, const ID *neighbours, const ID *first, const ID *second,
             uint64 pairs, uint64 *left, double *values, State *state) {
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (leads)
        start_runs(&state->runs);
    uint64 read = 0;
    for (uint64 i = warp_rank(); i < pairs; i += num_warps()) {
        Both both(offsets, neighbours, first[i], second[i]);
        read += lane() == 0 ? (uint64)both.size : 0;
        if (both.size >= LARGE) {
            if (lane() == 0)
                left[atomicAdd(&state->larges, 1ull)] = i;
            continue;
        }
        uint64 found = warp_sum(both.common(lane(), WARP));
        if (lane() == 0)
            values[i] = both.coefficient(found);
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(&state->read, read);
    grid_sync((GridBarrier *)&state->barrier);
    uint64 larges = fresh(&state->larges);
    for (uint64 j = blockIdx.x; j < larges; j += gridDim.x) {
        uint64 i = fresh(left + j);
        Both both(offsets, neighbours, first[i], second[i]);
        uint64 found = block_sum(both.common(threadIdx.x, BLOCK));
        if (threadIdx.x == 0)
            values[i] = both.coefficient(found);
    }
    grid_sync((GridBarrier *)&state->barrier);
    if (leads)
        note_run(&state->runs, 0, 1, pairs, fresh(&state->read));
}

// Of the vertices `order[begin]` to `order[end - 1]`, whose edges begin at `starts[begin]` .. in
// their order: a key (place in `order`, rank of another) for every walk of two edges to one of a
// later rank, or where `every` to any other. A warp takes an edge. `amount`, if any: what the
// vertex in the middle counts, which goes to `sums`; those of 0 are passed over.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    walks(const OFFSET *offsets, const ID *neighbours, const ID *order, const ID *rank,
          const uint64 *starts, uint64 begin, uint64 end, uint32 bits, uint32 every,
          const uint64 *amount, uint64 *keys, uint64 *sums, uint64 *size) {
    for (uint64 edge = starts[begin] + warp_rank(); edge < starts[end]; edge += num_warps()) {
        uint64 place = begin + upper_bound(starts + begin + 1, end - begin, edge);
        ID v = order[place];
        ID u = neighbours[offsets[v] + (edge - starts[place])];
        uint64 more = amount ? amount[u] : 1;
        if (more == 0)
            continue;
        uint64 own = rank[v];
        OFFSET stop = offsets[u + 1];
        for (OFFSET e = offsets[u]; e < stop;) {
            uint32 here = stop - e < WARP ? (uint32)(stop - e) : WARP;
            uint64 other = lane() < here ? rank[neighbours[e + lane()]] : own;
            bool taken = every ? other != own : other > own;
            uint64 at = warp_places(taken, size);
            if (taken) {
                keys[at] = place << bits | other;
                if (amount)
                    sums[at] = more;
            }
            e += here;
        }
    }
}

// The pairs of sorted keys, each of which begins at its place in `starts` and ends where the next
// one does, and their coefficients; a thread a pair.
extern "C" __global__ void coefficients(const uint64 *keys, const uint64 *starts, uint64 pairs,
                                        uint32 bits, const ID *order, const OFFSET *offsets,
                                        ID *first, ID *second, double *values) {
    for (uint64 i = thread_rank(); i < pairs; i += num_threads()) {
        uint64 key = keys[starts[i]], both = starts[i + 1] - starts[i];
        ID u = order[key >> bits], v = order[key & (((uint64)1 << bits) - 1)];
        uint64 degrees = (uint64)(offsets[u + 1] - offsets[u]) + (offsets[v + 1] - offsets[v]);
        first[i] = u;
        second[i] = v;
        values[i] = (double)both / (double)(degrees - both);
    }
}
