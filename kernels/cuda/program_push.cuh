// Push: lists of the active vertices, whose edges are then looked at by a thread, a warp or, in
// chunks of long rows, a block each; atomics combine at the other end.

#include "program_send.cuh"

// The rows of an adjacency by source, and lists of active ones.
struct Push {
    const OFFSET *offsets;
    const WORD *neighbours;
    ID *small, *medium; // lists of as many entries as there are vertices
    ID *chunk_row;
    uint32 *chunk_number; // in its row
    int64 first, second;  // lengths from which a row is a warp's, a block's
#if TIERED
    int64 from, to; // the edges that are at hand
#endif
};

// TIERED: of a row only the edges between push.from and push.to are gone along. A warp's loads then
// begin where `WARP` ids in a row do, so that each takes whole lines of the link to the host [1].
// [1] Min et al. EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs. VLDB
// 2020.
__device__ __forceinline__ OFFSET row_begin(const Push &push, uint64 u) {
    OFFSET begin = push.offsets[u];
#if TIERED
    if (begin < (OFFSET)push.from)
        begin = (OFFSET)push.from;
#endif
    return begin;
}

__device__ __forceinline__ OFFSET row_end(const Push &push, uint64 u) {
    OFFSET end = push.offsets[u + 1];
#if TIERED
    if (end > (OFFSET)push.to)
        end = (OFFSET)push.to;
#endif
    return end;
}

// By how many edges a warp begins before the row.
__device__ __forceinline__ OFFSET skew(OFFSET begin) { return TIERED ? begin % WARP : 0; }

// Puts a vertex with this many edges into its list; all lanes of the warp have to call it.
__device__ __forceinline__ void sort_in(RunControl *control, const Push &push, ID v, int64 length) {
    bool large = length >= push.second;
    warp_append(length > 0 && length < push.first && !large, v, push.small, &control->small);
    warp_append(length >= push.first && !large, v, push.medium, &control->medium);
    if (length > 0 && large) {
        uint32 chunks = (uint32)((length + skew(row_begin(push, v)) + CHUNK - 1) / CHUNK);
        uint32 place = atomicAdd(&control->chunks, chunks);
        for (uint32 i = 0; i < chunks; i++) {
            push.chunk_row[place + i] = v;
            push.chunk_number[place + i] = i;
        }
    }
}

// Tells those that get a message.
struct Notify {
    uint8 *marked;

    __device__ __forceinline__ bool operator()(ID, ID v, EDGE) const {
        if (!marked[v])
            marked[v] = 1;
        return true;
    }
};

struct Send {
    const Run &run;
    const MESSAGE *emitted;
    MESSAGE *messages;
    uint8 *received;

    __device__ __forceinline__ bool operator()(ID u, ID v, EDGE e) const {
        MESSAGE m;
#if EMITS
        m = emitted[u];
#else
        if (!message(run, u, v, e, m))
            return false;
#endif
        send_to(messages, received, v, m);
        return true;
    }
};

template <typename Edge>
__device__ __forceinline__ bool go_along(const Push &push, ID u, OFFSET place, Edge edge) {
    WORD word = push.neighbours[place];
    return edge(u, end_of(word), edge_of(word, place));
}

// Calls `edge(u, v, e)` for every edge of the lists. The same edges whatever the grid.
template <typename Edge>
__device__ __forceinline__ bool for_edges(const RunControl *control, const Push &push, Edge edge) {
    bool good = true;
    for (uint32 i = blockIdx.x; i < control->chunks; i += gridDim.x) {
        ID u = push.chunk_row[i];
        OFFSET first = row_begin(push, u), begin = first - skew(first);
        begin += (OFFSET)push.chunk_number[i] * CHUNK;
        OFFSET left = row_end(push, u) - begin;
        for (OFFSET j = threadIdx.x; j < left && j < CHUNK; j += blockDim.x)
            if (!TIERED || begin + j >= first)
                good &= go_along(push, u, begin + j, edge);
    }
    for (uint64 i = warp_rank(); i < control->medium; i += num_warps()) {
        ID u = push.medium[i];
        OFFSET first = row_begin(push, u), begin = first - skew(first);
        OFFSET length = row_end(push, u) - begin;
        for (OFFSET j = lane(); j < length; j += WARP)
            if (!TIERED || begin + j >= first)
                good &= go_along(push, u, begin + j, edge);
    }
    for (uint64 i = thread_rank(); i < control->small; i += num_threads()) {
        ID u = push.small[i];
        OFFSET end = row_end(push, u);
        for (OFFSET e = row_begin(push, u); e < end; e++)
            good &= go_along(push, u, e, edge);
    }
    return good;
}
