// Push of a search from up to 64 sources: the frontier gives its bits to its out-neighbours.

#include "degree_lists.cuh"

// Searches of a sweep: the bits of a word.
constexpr uint32 MOST_SEARCHES = 64;

struct Step {
    uint64 found, edges; // vertices that got bits, and their out-edges
    uint64 active;       // bits that they got
    uint64 missing;      // not 0: a search lacked a target before the level
    uint64 read;
    Counts pushed, pulled;          // lists of rows
    uint64 edges_of[MOST_SEARCHES]; // out of the frontier of each search, before a level that may
                                    // be pulled
};

// What a thread found in a level.
struct Found {
    uint64 vertices = 0; // that are not counted by their list
    uint64 edges = 0, active = 0, read = 0;

    __device__ void add_to(Step *step) {
        vertices = warp_sum(vertices);
        edges = warp_sum(edges);
        active = warp_or(active);
        read = warp_sum(read);
        if (lane() == 0 && read > 0) {
            atomicAdd(&step->edges, edges);
            atomicAdd(&step->found, vertices);
            atomicAdd(&step->read, read);
            if (active & ~fresh(&step->active))
                atomicOr(&step->active, active);
        }
    }
};

struct Words {
    uint64 *seen, *visit, *next;
};

// Gives the bits of `mask`. Lists the vertices that got bits.
__device__ void push(const OFFSET *offsets, const ID *neighbours, const Worklists &lists,
                     const Slice &slice, const Words &words, uint64 mask, ID *list, uint64 *listed,
                     ID *slots, Found &all) {
    WarpBuffer got(slots + warp_in_block() * HELD, listed, list);
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        uint64 bits[BATCH];
        uint64 given = left > 0 ? words.visit[u] & mask : 0, any = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            bool there = j * step < left;
            v[j] = there ? neighbours[edge + j * step] : 0;
            bits[j] = there ? given : 0;
            all.read += there;
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (bits[j] != 0)
                bits[j] &= ~words.seen[v[j]];
            any |= bits[j];
        }
        if (!__any_sync(FULL_WARP, any != 0))
            return;
        all.active |= any;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            bool first = false;
            // Most bits come more than once: a read is cheaper than an atomic.
            if (bits[j] != 0 && (bits[j] & ~fresh(words.next + v[j])) != 0)
                first = atomicOr(words.next + v[j], bits[j]) == 0;
            if (first)
                all.edges += offsets[v[j] + 1] - offsets[v[j]];
            got.append(first, v[j]);
        }
    });
    got.flush();
}
