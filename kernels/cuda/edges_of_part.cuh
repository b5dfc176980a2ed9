// The edges of active vertices in a part of all edges, the part that is at hand.
//
// A warp takes CHUNK edges, whatever rows they are of, and goes over these rows 32 at a time: over
// the edges of all that are active as if they were one row, from a multiple of 32 on, so that these
// are whole lines of the link where they lie in host memory. Those of other vertices are not read,
// and cost no more than a look at their rows.

#include "common.cuh"

// Macros  PACKED, WORD: where an edge is a word with what it carries, its other end in the lowest
//         PACKED bits (engine/cuda/packing.py); else 0, and the end's own type.
#ifndef PACKED
#define PACKED 0
#define WORD ID
#endif

constexpr uint32 CHUNK = 1024;

struct Part {
    const OFFSET *offsets;  // rows, of which the part may begin and end within
    const WORD *neighbours; // where edge 0 would be
    uint64 n, from, to;     // vertices; edges of the part
    const uint8 *active;
};

__device__ __forceinline__ ID end_of(const Part &part, uint64 edge) {
    WORD word = part.neighbours[edge];
    return PACKED ? (ID)(word & (((WORD)1 << PACKED) - 1)) : (ID)word;
}

// The row of an edge, which is `row` or one behind it. By whole warps, of which each lane looks at
// another place.
__device__ __forceinline__ uint64 find_row(const Part &part, uint64 row, uint64 edge) {
    for (uint64 end = part.n; end - row > 1;) {
        uint64 step = (end - row + WARP - 1) / WARP, at = row + (lane() + 1) * step;
        bool before = at < end && part.offsets[at] <= edge;
        row += __popc(__ballot_sync(FULL_WARP, before)) * step;
        end = row + step < end ? row + step : end;
    }
    return row;
}

// Calls `edge(u, e)` for each of them, by its row and its place; how many this thread had.
template <typename Edge> __device__ __forceinline__ uint64 for_places(const Part &part, Edge edge) {
    uint64 read = 0, first = part.from / WARP * WARP;
    for (uint64 chunk = first + warp_rank() * CHUNK; chunk < part.to;
         chunk += num_warps() * CHUNK) {
        uint64 at = chunk < part.from ? part.from : chunk;
        const uint64 to = chunk + CHUNK < part.to ? chunk + CHUNK : part.to;
        for (uint64 row = find_row(part, 0, at); at < to; row += WARP) {
            uint64 u = row + lane(), begin = to, end = to;
            if (u < part.n) {
                begin = part.offsets[u] < at ? at : part.offsets[u];
                end = part.offsets[u + 1] < to ? part.offsets[u + 1] : to;
            }
            if (!__any_sync(FULL_WARP, begin < end)) { // many rows without edges may follow
                row = find_row(part, row, at) - WARP;
                continue;
            }
            uint32 size = begin < end && part.active[u] ? (uint32)(end - begin) : 0;
            at = __shfl_sync(FULL_WARP, end, WARP - 1);
            uint32 sending = __ballot_sync(FULL_WARP, size > 0);
            if (sending == 0)
                continue;
            uint32 behind = warp_inclusive_scan(size), start = behind - size;
            const uint32 total = __shfl_sync(FULL_WARP, behind, WARP - 1);
            const uint64 origin = begin - start; // may wrap around, and then back
            const uint32 skew = __shfl_sync(FULL_WARP, (uint32)begin, __ffs(sending) - 1) % WARP;
            for (uint32 base = 0; base < skew + total; base += WARP) {
                uint32 x = base + lane() - skew, owner = 0; // before the first it wraps around
#pragma unroll
                for (int half = WARP / 2; half > 0; half /= 2) // the last that is not behind x
                    if (__shfl_sync(FULL_WARP, start, owner + half) <= x)
                        owner += half;
                uint64 e = __shfl_sync(FULL_WARP, origin, owner) + x;
                if (x < total) {
                    edge((ID)(row + owner), e);
                    ++read;
                }
            }
        }
    }
    return read;
}

// Calls `edge(u, v)` for each of them, by its ends.
template <typename Edge> __device__ __forceinline__ uint64 for_part(const Part &part, Edge edge) {
    return for_places(part, [&](ID u, uint64 e) { edge(u, end_of(part, e)); });
}

__device__ __forceinline__ void count_read(uint64 mine, uint64 *read) {
    mine = warp_sum(mine);
    if (lane() == 0 && mine > 0)
        atomicAdd(read, mine);
}
