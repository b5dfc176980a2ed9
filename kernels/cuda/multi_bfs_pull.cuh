// Pull of a search from up to 64 sources: vertices look for bits at their in-neighbours.
//
// Most rows need the first few edges only when most bits are there: after a pull, each vertex first
// looks at some by itself. Else a warp goes along a row until it has all, and blocks take what is
// left of very long ones.

#include "multi_bfs_push.cuh"

// In-neighbours that a vertex tries by itself.
constexpr uint32 TRIED = 1 + 2 * BATCH;

// Edges that a warp goes along before blocks take the rest of a row.
constexpr uint32 LONG = 2 * PIECE;

// Lists the pieces of a row behind its first LONG edges.
__device__ __noinline__ void append_rest(ID v, OFFSET degree, uint64 *size, ID *piece_row,
                                         uint32 *piece) {
    uint64 skipped = LONG / PIECE, pieces = ((uint64)degree + PIECE - 1) / PIECE - skipped;
    uint64 first = 0;
    if (lane() == 0)
        first = atomicAdd(size, pieces);
    first = __shfl_sync(FULL_WARP, first, 0);
    for (uint64 i = lane(); i < pieces; i += WARP) {
        piece_row[first + i] = v;
        piece[first + i] = (uint32)(skipped + i);
    }
}

// A vertex that alone is looked at by its warp or thread has got some bits.
__device__ __forceinline__ void note_pulled(ID v, uint64 bits, const OFFSET *out_offsets,
                                            const Words &words, Found &all) {
    if (bits == 0)
        return;
    uint64 before = words.next[v]; // pushed, or from its first neighbours
    words.next[v] = before | bits;
    all.active |= bits;
    if (before == 0) {
        ++all.vertices;
        all.edges += out_offsets[v + 1] - out_offsets[v];
    }
}

// Rows are gone along until they have all bits of `active`: short ones by a thread, others by a
// warp, which leaves what comes after LONG edges to `pull_pieces`.
__device__ void pull(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                     const Worklists &lists, const Counts &count, const Words &words, uint64 active,
                     uint64 *pieces, Found &all) {
    for (uint64 i = warp_rank(); i < count.medium; i += num_warps()) {
        ID v = lists.queue[lists.n - 1 - i];
        uint64 lacks = active & ~words.seen[v] & ~words.next[v], bits = 0;
        OFFSET begin = offsets[v], end = offsets[v + 1];
        OFFSET stop = end - begin > LONG ? begin + LONG : end;
        for (OFFSET e = begin; e < stop && bits != lacks; e += BATCH * WARP) {
            OFFSET left = stop - e;
            ID u[BATCH];
            uint64 got = 0;
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                u[j] = lane() + j * WARP < left ? neighbours[e + lane() + j * WARP] : v;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                bool there = lane() + j * WARP < left;
                got |= there ? words.visit[u[j]] : 0;
                all.read += there;
            }
            bits |= warp_or(got & lacks);
            if (left <= BATCH * WARP)
                break;
        }
        if (lane() == 0)
            note_pulled(v, bits, out_offsets, words, all);
        if (bits != lacks && stop < end)
            append_rest(v, end - begin, pieces, lists.piece_row, lists.piece);
    }
    for (uint64 i = thread_rank(); i < count.small; i += num_threads()) {
        ID v = lists.queue[i];
        uint64 lacks = active & ~words.seen[v] & ~words.next[v], bits = 0;
        OFFSET start = offsets[v];
        uint32 degree = (uint32)(offsets[v + 1] - start);
        for (uint32 k = 0; k < degree && bits != lacks; k += BATCH) {
            ID u[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                u[j] = k + j < degree ? neighbours[start + k + j] : v;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                bits |= k + j < degree ? words.visit[u[j]] & lacks : 0;
                all.read += k + j < degree;
            }
        }
        note_pulled(v, bits, out_offsets, words, all);
    }
}

// The rest of long rows, by whole blocks.
__device__ void pull_pieces(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                            const Worklists &lists, uint64 pieces, const Words &words,
                            uint64 active, Found &all) {
    Slice slice = {};
    slice.count.pieces = pieces;
    for_edges(lists, slice, offsets, [&](ID v, OFFSET edge, uint32 left, uint32 step) {
        uint64 lacks = active & ~words.seen[v] & ~fresh(words.next + v), bits = 0;
        if (!__any_sync(FULL_WARP, left > 0 && lacks != 0))
            return;
        ID u[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            u[j] = j * step < left ? neighbours[edge + j * step] : v;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            bits |= j * step < left ? words.visit[u[j]] & lacks : 0;
            all.read += j * step < left;
        }
        bits = warp_or(bits);
        if (bits == 0 || lane() != 0)
            return;
        all.active |= bits;
        if (atomicOr(words.next + v, bits) == 0) {
            ++all.vertices;
            all.edges += out_offsets[v + 1] - out_offsets[v];
        }
    });
}

// Lists the rows that a pull looks through for the bits of `active`, of which `next` has none.
// Where it `looks`, a vertex first tries some of its in-neighbours, those of the smallest ids.
__device__ void list_pulled(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                            uint64 n, const Words &words, uint64 active, bool looks,
                            Appender &appender, Found &all) {
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        uint64 lacks = v < n ? active & ~words.seen[v] : 0, bits = 0;
        OFFSET start = lacks != 0 ? offsets[v] : 0, end = lacks != 0 ? offsets[v + 1] : 0;
        if (looks && lacks != 0) {
            if (start < end) { // most need no more than one look
                bits = words.visit[neighbours[start]] & lacks;
                ++all.read;
            }
            for (uint32 k = 1; k < TRIED && k < end - start && bits != lacks; k += BATCH) {
                ID u[BATCH];
                uint64 got[BATCH];
#pragma unroll
                for (int j = 0; j < BATCH; ++j)
                    u[j] = k + j < end - start ? neighbours[start + k + j] : (ID)v;
#pragma unroll
                for (int j = 0; j < BATCH; ++j)
                    got[j] = k + j < end - start ? words.visit[u[j]] : 0;
#pragma unroll
                for (int j = 0; j < BATCH; ++j) {
                    bits |= got[j] & lacks;
                    all.read += k + j < end - start;
                }
            }
        }
        note_pulled((ID)v, bits, out_offsets, words, all);
        appender.append(bits != lacks, (ID)v, (OFFSET)(end - start));
    }
    appender.flush();
}
