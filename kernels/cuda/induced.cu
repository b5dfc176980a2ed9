// Edges of which both ends are chosen, in the order of the rows.
//
// A warp takes CHUNK edges, whatever rows they are of. `count_chosen` tells how many of each chunk
// are chosen; the host adds them up to where each chunk's begin; `write_chosen` writes them there.
// So they come out in order, without atomics.

#include "row_of.cuh"

struct Rows {
    const OFFSET *offsets;
    const ID *neighbours;
    const ID *ids;        // of the rows' vertices; null: the rows' numbers
    const ID *rank;       // compared where `once`; null: ids are
    const uint32 *inside; // bits of vertices; null: all are
    uint64 n;
    uint64 num_edges;
    uint32 once; // only edges of which the first end's rank is not above the second's
};

// Calls `each(chosen, row's vertex, neighbour, edge)` for all edges of a chunk, all lanes of the
// warp at once.
template <typename Each>
__device__ __forceinline__ void for_chunk(const Rows &rows, uint64 chunk, Each each) {
    uint64 begin = chunk * CHUNK, end = begin + CHUNK;
    end = end < rows.num_edges ? end : rows.num_edges;
    RowOf row_of = {rows.offsets, rows.n, 0, false};
    for (uint64 base = begin; base < end; base += WARP) {
        uint64 edge = base + lane();
        bool there = edge < end;
        ID v = 0, u = 0;
        if (there) {
            uint64 row = row_of(edge);
            v = rows.ids ? rows.ids[row] : (ID)row;
            u = rows.neighbours[edge];
        }
        bool chosen =
            there && (!rows.inside || (has_bit(rows.inside, v) && has_bit(rows.inside, u)));
        if (chosen && rows.once)
            chosen = rows.rank ? rows.rank[v] <= rows.rank[u] : v <= u;
        each(chosen, v, u, edge);
    }
}

extern "C" __global__ void __launch_bounds__(256) count_chosen(Rows rows, uint32 *counts) {
    for (uint64 chunk = warp_rank(); chunk * CHUNK < rows.num_edges; chunk += num_warps()) {
        uint32 chosen = 0;
        for_chunk(rows, chunk, [&](bool is, ID, ID, uint64) { chosen += is; });
        chosen = warp_sum(chosen);
        if (lane() == 0)
            counts[chunk] = chosen;
    }
}

// `ends`: chosen edges up to the end of each chunk. `edges`: null, or gets the edges' places.
extern "C" __global__ void __launch_bounds__(256)
    write_chosen(Rows rows, const uint64 *ends, ID *source, ID *destination, OFFSET *edges) {
    for (uint64 chunk = warp_rank(); chunk * CHUNK < rows.num_edges; chunk += num_warps()) {
        uint64 place = chunk == 0 ? 0 : ends[chunk - 1];
        for_chunk(rows, chunk, [&](bool is, ID v, ID u, uint64 edge) {
            uint32 those = __ballot_sync(FULL_WARP, is);
            if (is) {
                uint64 mine = place + __popc(those & lower_lanes());
                source[mine] = v;
                destination[mine] = u;
                if (edges)
                    edges[mine] = (OFFSET)edge;
            }
            place += __popc(those);
        });
    }
}
