// The edges of active vertices in a part of all edges, the part that is at hand.
//
// A warp takes CHUNK edges, whatever rows they are of, 32 at a time from a multiple of 32: whole
// lines of the link, where they lie in host memory. Those of other vertices are not read.

#include "row_of.cuh"

constexpr uint32 CHUNK = 1024;

struct Part {
    const OFFSET *offsets; // rows, of which the part may begin and end within
    const ID *neighbours;  // where edge 0 would be
    uint64 n, from, to;    // vertices; edges of the part
    const uint8 *active;
};

// Calls `edge(u, v)` for each of them; how many this thread had.
template <typename Edge> __device__ __forceinline__ uint64 for_part(const Part &part, Edge edge) {
    uint64 read = 0, first = part.from / WARP * WARP;
    for (uint64 chunk = first + warp_rank() * CHUNK; chunk < part.to;
         chunk += num_warps() * CHUNK) {
        uint64 end = chunk + CHUNK < part.to ? chunk + CHUNK : part.to;
        RowOf row_of = {part.offsets, part.n, 0, false};
        for (uint64 e = chunk + lane(); e < end; e += WARP) {
            if (e < part.from)
                continue;
            uint64 u = row_of(e);
            if (!part.active[u])
                continue;
            edge((ID)u, part.neighbours[e]);
            ++read;
        }
    }
    return read;
}

__device__ __forceinline__ void count_read(uint64 mine, uint64 *read) {
    mine = warp_sum(mine);
    if (lane() == 0 && mine > 0)
        atomicAdd(read, mine);
}
