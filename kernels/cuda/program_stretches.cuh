// Stretches of edges that are read as they lie, without lists: where all vertices send, or most.
//
// Macros  WORD_BITS: of an edge's word, where these stand one after the other; else 0. Then there
//         is room up to a multiple of TAKEN edges.

// Edges that a warp takes at once.
constexpr int TAKEN = 4 * WARP, WARPFULS = TAKEN / WARP;

// Edges that are gone along as they lie, whoever sends.
struct Stretch {
    const OFFSET *offsets; // of rows
    const uint8 *words;    // where edge 0 would be
    int64 from, to;

    // In how many pieces of `size` edges, which begin at multiples of that.
    __device__ __forceinline__ uint64 pieces(uint64 size) const {
        return from < to ? ((uint64)to + size - 1) / size - (uint64)from / size : 0;
    }
};

#if WORD_BITS

// Words of WORD_BITS bits each: a lane's of edges first + lane, and on in steps of a warp.
__device__ __forceinline__ void read_group(const Stretch &stretch, uint64 first, uint64, uint64,
                                           WORD *found) {
    constexpr int FOURS = TAKEN / 32 * WORD_BITS; // of bytes
    __shared__ uint32 held[256 / WARP][FOURS + 2];
    uint32 *fours = held[warp_in_block()];
    const uint32 *given = (const uint32 *)stretch.words + first / 32 * WORD_BITS;
    __syncwarp(); // who has read what was there before
#pragma unroll
    for (int i = 0; i < FOURS; i += WARP)
        if (i + lane() < FOURS)
            fours[i + lane()] = given[i + lane()];
    __syncwarp();
#pragma unroll
    for (int part = 0; part < WARPFULS; part++) {
        uint32 bit = (part * WARP + lane()) * WORD_BITS, shift = bit % 32;
        const uint32 *at = fours + bit / 32;
        uint64 word = (at[0] | (uint64)at[1] << 32) >> shift;
        if (WORD_BITS > 33 && shift + WORD_BITS > 64) // up to 33 bits are in two words, wherever
            word |= (uint64)at[2] << (64 - shift);
        found[part] = (WORD)(word & (((uint64)1 << WORD_BITS) - 1));
    }
}

#else

__device__ __forceinline__ void read_group(const Stretch &stretch, uint64 first, uint64 begin,
                                           uint64 end, WORD *found) {
#pragma unroll
    for (int part = 0; part < WARPFULS; part++) {
        uint64 e = first + part * WARP + lane();
        found[part] = e >= begin && e < end ? ((const WORD *)stretch.words)[e] : 0;
    }
}

#endif

// The last row from `row` on that begins at an edge or before. By whole warps, of which each lane
// looks at another place.
__device__ __forceinline__ uint64 last_begun(const OFFSET *offsets, uint64 n, uint64 row,
                                             uint64 edge) {
    for (uint64 end = n; end - row > 1;) {
        uint64 step = (end - row + WARP - 1) / WARP, at = row + (lane() + 1) * step;
        bool before = at < end && offsets[at] <= edge;
        row += __popc(__ballot_sync(FULL_WARP, before)) * step;
        end = row + step < end ? row + step : end;
    }
    return row;
}

// Where a row ends: of the 32 from `row` on a lane's own.
__device__ __forceinline__ uint64 end_of_own(const OFFSET *offsets, uint64 n, uint64 row) {
    uint64 own = row + lane() + 1;
    return offsets[own < n ? own : n];
}

// Calls `edge(u, v, e)` for each edge of a piece. By a warp, which reads whole lines, each once
// whatever rows it is of, and looks up the rows of 32 edges in the ends of 32 rows.
template <typename Edge>
__device__ __forceinline__ bool for_piece(const Stretch &stretch, uint64 n, uint64 size,
                                          uint64 number, Edge edge) {
    uint64 begin = ((uint64)stretch.from / size + number) * size, end = begin + size;
    begin = begin < (uint64)stretch.from ? stretch.from : begin;
    end = end < (uint64)stretch.to ? end : stretch.to;
    uint64 row = last_begun(stretch.offsets, n, 0, begin);
    uint64 ends = end_of_own(stretch.offsets, n, row);
    bool good = true;
    for (uint64 first = begin / TAKEN * TAKEN; first < end; first += TAKEN) {
        WORD words[WARPFULS];
        read_group(stretch, first, begin, end, words);
#pragma unroll
        for (int part = 0; part < WARPFULS; part++) {
            uint64 base = first + part * WARP, e = base + lane();
            bool waits = e >= begin && e < end;
            while (true) {
                uint32 behind = 0; // rows that end before e
#pragma unroll
                for (int half = WARP / 2; half > 0; half /= 2)
                    if (__shfl_sync(FULL_WARP, ends, behind + half - 1) <= e)
                        behind += half;
                behind += __shfl_sync(FULL_WARP, ends, behind) <= e;
                if (waits && behind < WARP) {
                    WORD word = words[part];
                    good &= edge((ID)(row + behind), end_of(word), edge_of(word, (OFFSET)e));
                    waits = false;
                }
                uint32 votes = __ballot_sync(FULL_WARP, waits);
                if (votes == 0)
                    break;
                uint64 next = base + __ffs(votes) - 1;
                row += WARP;
                ends = end_of_own(stretch.offsets, n, row);
                if (__shfl_sync(FULL_WARP, ends, WARP - 1) <= next) { // many rows without edges
                    row = last_begun(stretch.offsets, n, row, next);
                    ends = end_of_own(stretch.offsets, n, row);
                }
            }
        }
    }
    return good;
}

// Two stretches, of which one lies elsewhere and is slower: their pieces take turns, so that the
// link is at work all the time. Calls `held` and `brought` for their edges.
template <typename Held, typename Brought>
__device__ __forceinline__ void for_stretches(const Run &run, const Stretch &resident,
                                              const Stretch &others, uint64 size, Held held,
                                              Brought brought) {
    RunControl *control = run.control;
    if (control->done)
        return;
    uint64 n = run.num_vertices, kept = resident.pieces(size), all = kept + others.pieces(size);
    bool good = true;
    for (uint64 i = warp_rank(); i < all; i += num_warps()) {
        uint64 before = i * (all - kept) / all; // of the others
        if ((i + 1) * (all - kept) / all > before)
            good &= for_piece(others, n, size, before, brought);
        else
            good &= for_piece(resident, n, size, i - before, held);
    }
    if (!good)
        control->bad = BAD_COMPUTE;
}

// All vertices send.
extern "C" __global__ void __launch_bounds__(256)
    push_all(Run here, Stretch resident, Run there, Stretch brought, const MESSAGE *emitted,
             MESSAGE *messages, uint8 *received, int64 size) {
    for_stretches(here, resident, brought, size, Send{here, emitted, messages, received},
                  Send{there, emitted, messages, received});
}

struct SendActive {
    Send send;
    const uint8 *active;

    __device__ __forceinline__ bool operator()(ID u, ID v, EDGE e) const {
        return !active[u] || send(u, v, e);
    }
};

// The active vertices do. Edges of the others are read as well.
extern "C" __global__ void __launch_bounds__(256)
    push_in_order(Run here, Stretch resident, Run there, Stretch brought, const MESSAGE *emitted,
                  MESSAGE *messages, uint8 *received, int64 size, const uint8 *active) {
    for_stretches(here, resident, brought, size,
                  SendActive{{here, emitted, messages, received}, active},
                  SendActive{{there, emitted, messages, received}, active});
}
