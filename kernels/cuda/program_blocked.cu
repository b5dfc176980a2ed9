// program_blocked.cu: sums of a superstep in which all vertices send, each the same along all
// edges.
//
// Computes  messages[v] = sum over edges u -> v of emitted[u]
// Launch    sum_near send_far sum_far [join_far], in the place of pull and join of program.cu. Of
//           1,024 threads, sum_far of 512; the first three with shared memory for the values of a
//           block of sources, or of a chunk, and a zero; as many blocks as are resident.
// Encoding  see blocked.cuh.
// Why       A value that is looked up at random comes from the second-level cache in a sector of 32
//           bytes. Here memory is read and written in runs, and what is random stays in shared
//           memory: an edge whose source is of the first block, in falling order of degrees half of
//           all of them, takes 2 bytes; any other takes 12. Every row is added up in the same order
//           each time.
// Source    Beamer, Asanovic, Patterson, "Reducing PageRank communication via propagation
// blocking",
//           IPDPS 2017; Lakhotia, Kannan, Prasanna, "Accelerating PageRank using partition-centric
//           processing", USENIX ATC 2018.

#include "program_pull.cuh"

#include "blocked.cuh"

constexpr int TILE_UNROLL = 2; // quads that a lane sends at once

// See engine/gpu/blocked.py.
struct Blocked {
    Quads near, far;
    const Chunk *near_chunks, *far_chunks;
    uint64 num_near, num_far;
    uint64 block, none; // sources of a block; the place of a zero among the values of a chunk
    const OFFSET *tile_first;
    const uint32 *tile_quads;
    const uint64 *source_tiles; // the first of each block of sources, and the end
    const uint64 *tile_lanes;   // that send one, by block of sources: WARP or GROUP
    const uint64 *sender_tiles; // the first of each block of threads of send_far, and the end
    const uint16 *source;       // of each far value, within its block
    MESSAGE *values;            // the far ones, by chunk
    WIDE *sums;                 // of parts of long rows
    const uint64 *long_rows, *long_slots;
    uint64 num_long;
};

__device__ __forceinline__ void add_quad(RowValue &row, const MESSAGE *values, uint64 quad) {
    MESSAGE m[QUAD];
    bool taken[QUAD];
#pragma unroll
    for (int k = 0; k < QUAD; k++) {
        m[k] = values[place_in(quad, k)];
        taken[k] = true;
    }
    row.template add<QUAD, false>(m, taken);
}

// A lane's share of a row: quads `at`, `at` + `step`, ... below `end`, of which two are loaded
// ahead.
struct Share {
    OFFSET at, end;
    uint32 step;
    uint64 none; // a quad of zeros
    uint64 held[2];

    __device__ __forceinline__ void load(const uint64 *quads) {
        held[0] = at < end ? __ldcs(quads + at) : none;
        held[1] = at + step < end ? __ldcs(quads + at + step) : none;
    }

    __device__ __forceinline__ void add_to(RowValue &row, const MESSAGE *values,
                                           const uint64 *quads) {
        while (at < end) {
            uint64 first = held[0], second = held[1];
            at += 2 * step;
            load(quads);
            add_quad(row, values, first);
            add_quad(row, values, second);
        }
    }
};

// finish(v, sum, whether there are edges) for each row of a chunk, LANES lanes a row. While a row
// is added up the first quads of the group's next row are on their way, and the bounds of the one
// after that.
template <int LANES, typename Finish>
__device__ __forceinline__ void sum_short(const Chunk &chunk, const Quads &quads,
                                          const MESSAGE *values, uint64 none, Finish finish) {
    uint32 groups = blockDim.x / LANES, r = threadIdx.x / LANES, place = threadIdx.x % LANES;
    uint32 rounds = (chunk.rows + groups - 1) / groups;
    auto bounds = [&](uint32 which, OFFSET &begin, OFFSET &end) {
        begin = end = 0;
        if (which < chunk.rows)
            quads.bounds(chunk, chunk.row + which, begin, end);
    };
    OFFSET begin, end, next_begin, next_end;
    bounds(r, begin, end);
    bounds(r + groups, next_begin, next_end);
    Share share = {begin + place, end, LANES, none};
    share.load(quads.quads);
    for (uint32 round = 0; round < rounds; round++) {
        Share next = {next_begin + place, next_end, LANES, none};
        next.load(quads.quads);
        bool any = begin < end;
        begin = next_begin, end = next_end;
        bounds(r + 2 * groups, next_begin, next_end);
        RowValue row = RowValue::none();
        share.add_to(row, values, quads.quads);
        __syncwarp();
        row.template reduce<LANES>();
        if (place == 0 && r < chunk.rows)
            finish(chunk.row + r, row, any);
        r += groups;
        share = next;
    }
}

// The same of fewer rows than a block has warps, `lanes` lanes a row, which are several warps.
template <typename Finish>
__device__ __forceinline__ void sum_long(const Chunk &chunk, const Quads &quads,
                                         const MESSAGE *values, uint64 none, Finish finish) {
    __shared__ WIDE parts[WARP];
    uint32 lanes = chunk.lanes, r = threadIdx.x / lanes, warps = lanes / WARP;
    OFFSET begin = 0, end = 0;
    if (r < chunk.rows)
        quads.bounds(chunk, chunk.row + r, begin, end);
    Share share = {begin + threadIdx.x % lanes, end, lanes, none};
    share.load(quads.quads);
    RowValue row = RowValue::none();
    share.add_to(row, values, quads.quads);
    __syncwarp();
    row.template reduce<WARP>();
    __syncthreads(); // `parts` may be in use for the chunk before
    if (lane() == 0)
        parts[warp_in_block()] = row.best;
    __syncthreads();
    if (threadIdx.x % lanes == 0 && r < chunk.rows) {
        for (uint32 k = 1; k < warps; k++)
            row.best = added(row.best, parts[warp_in_block() + k]);
        finish(chunk.row + r, row, begin < end);
    }
}

template <typename Finish>
__device__ __forceinline__ void sum_rows(const Chunk &chunk, const Quads &quads,
                                         const MESSAGE *values, uint64 none, Finish finish) {
    uint64 zeros = none | none << 16 | none << 32 | none << 48;
    switch (chunk.lanes) {
    case 1:
        return sum_short<1>(chunk, quads, values, zeros, finish);
    case 2:
        return sum_short<2>(chunk, quads, values, zeros, finish);
    case 4:
        return sum_short<4>(chunk, quads, values, zeros, finish);
    case 8:
        return sum_short<8>(chunk, quads, values, zeros, finish);
    case 16:
        return sum_short<16>(chunk, quads, values, zeros, finish);
    case 32:
        return sum_short<32>(chunk, quads, values, zeros, finish);
    default:
        return sum_long(chunk, quads, values, zeros, finish);
    }
}

// 16 bytes, which a thread loads at once.
struct alignas(16) Line {
    uint64 words[2];
};

// `number` values into shared memory, with a zero at place `none`. `from` is the beginning of a
// line.
__device__ __forceinline__ void hold(MESSAGE *values, const MESSAGE *from, uint64 number,
                                     uint64 none) {
    constexpr int HELD = 8, OF_LINE = sizeof(Line) / sizeof(MESSAGE);
    uint64 lines = number / OF_LINE;
    const Line *source = (const Line *)from;
    for (uint64 base = threadIdx.x; base < lines; base += HELD * blockDim.x) {
        Line held[HELD];
#pragma unroll
        for (int k = 0; k < HELD; k++)
            if (base + k * blockDim.x < lines)
                held[k] = source[base + k * blockDim.x];
#pragma unroll
        for (int k = 0; k < HELD; k++)
            if (base + k * blockDim.x < lines)
                ((Line *)values)[base + k * blockDim.x] = held[k];
    }
    for (uint64 i = lines * OF_LINE + threadIdx.x; i < number; i += blockDim.x)
        values[i] = from[i];
    if (threadIdx.x == 0)
        values[none] = 0;
}

extern "C" __global__ void __launch_bounds__(BLOCKED_THREADS, 1)
    sum_near(Run run, Blocked blocked, const MESSAGE *__restrict__ emitted,
             MESSAGE *__restrict__ messages, uint8 *__restrict__ received) {
    extern __shared__ double shared_values[];
    MESSAGE *values = (MESSAGE *)shared_values;
    if (run.control->done)
        return;
    uint64 n = run.num_vertices;
    hold(values, emitted, n < blocked.block ? n : blocked.block, blocked.block);
    __syncthreads();
    for (uint64 c = blockIdx.x; c < blocked.num_near; c += gridDim.x)
        sum_rows(blocked.near_chunks[c], blocked.near, values, blocked.block,
                 [&](uint64 v, const RowValue &row, bool any) {
                     messages[v] = (MESSAGE)row.best;
                     if (NEEDS_RECEIVED)
                         received[v] = any;
                 });
}

// Four values, which a lane writes at once.
struct alignas(QUAD * sizeof(MESSAGE) < 16 ? QUAD * sizeof(MESSAGE) : 16) Four {
    MESSAGE values[QUAD];
};

// Where a tile's values go, how many quads they are, and the sources of a lane's first ones.
struct Tile {
    OFFSET to;
    uint32 quads;
    uint64 sources[TILE_UNROLL];

    __device__ __forceinline__ void find(const Blocked &blocked, OFFSET tile, OFFSET end) {
        to = tile < end ? blocked.tile_first[tile] : 0;
        quads = tile < end ? blocked.tile_quads[tile] : 0;
    }

    template <int LANES> __device__ __forceinline__ void load(const Blocked &blocked, uint32 from) {
        const uint64 *held = (const uint64 *)(blocked.source + to);
#pragma unroll
        for (int k = 0; k < TILE_UNROLL; k++)
            sources[k] = from + k * LANES < quads ? __ldcs(held + from + k * LANES) : 0;
    }

    template <int LANES>
    __device__ __forceinline__ void send(const Blocked &blocked, const MESSAGE *values,
                                         uint32 from) {
        Four *sent = (Four *)(blocked.values + to);
#pragma unroll
        for (int k = 0; k < TILE_UNROLL; k++)
            if (from + k * LANES < quads) {
                Four four;
#pragma unroll
                for (int i = 0; i < QUAD; i++)
                    four.values[i] = values[place_in(sources[k], i)];
                sent[from + k * LANES] = four;
            }
    }
};

// Tiles begin .. end - 1 of a block of sources, LANES lanes a tile. While one is sent the sources
// of the next are on their way, and where the one after that goes.
template <int LANES>
__device__ __forceinline__ void send_tiles(const Blocked &blocked, const MESSAGE *values,
                                           OFFSET begin, OFFSET end) {
    OFFSET step = blockDim.x / LANES, at = begin + threadIdx.x / LANES;
    uint32 place = threadIdx.x % LANES;
    Tile tile, next, later;
    tile.find(blocked, at, end);
    next.find(blocked, at + step, end);
    tile.load<LANES>(blocked, place);
    for (; at < end; at += step) {
        next.load<LANES>(blocked, place);
        later.find(blocked, at + 2 * step, end);
        tile.send<LANES>(blocked, values, place);
        for (uint32 from = place + TILE_UNROLL * LANES; from < tile.quads;
             from += TILE_UNROLL * LANES) {
            tile.load<LANES>(blocked, from);
            tile.send<LANES>(blocked, values, from);
        }
        tile = next;
        next.to = later.to, next.quads = later.quads;
    }
}

// The values of the other blocks of sources, to the chunks.
extern "C" __global__ void __launch_bounds__(BLOCKED_THREADS, 1)
    send_far(Run run, Blocked blocked, const MESSAGE *__restrict__ emitted, uint64 sources) {
    extern __shared__ double shared_values[];
    MESSAGE *values = (MESSAGE *)shared_values;
    if (run.control->done)
        return;
    uint64 n = run.num_vertices;
    uint64 tile = blocked.sender_tiles[blockIdx.x], end = blocked.sender_tiles[blockIdx.x + 1];
    uint64 s = tile < end ? upper_bound(blocked.source_tiles, sources + 1, tile) - 1 : 0;
    for (; tile < end; s++) {
        uint64 last = blocked.source_tiles[s + 1] < end ? blocked.source_tiles[s + 1] : end;
        if (tile >= last)
            continue; // a block without far edges
        uint64 first = s * blocked.block;
        __syncthreads();
        hold(values, emitted + first, n - first < blocked.block ? n - first : blocked.block,
             blocked.block);
        __syncthreads();
        if (blocked.tile_lanes[s] == WARP)
            send_tiles<WARP>(blocked, values, tile, last);
        else
            send_tiles<GROUP>(blocked, values, tile, last);
        tile = last;
    }
}

extern "C" __global__ void __launch_bounds__(FAR_THREADS, 2048 / BLOCKED_THREADS)
    sum_far(Run run, Blocked blocked, MESSAGE *__restrict__ messages,
            uint8 *__restrict__ received) {
    extern __shared__ double shared_values[];
    MESSAGE *values = (MESSAGE *)shared_values;
    if (run.control->done)
        return;
    for (uint64 c = blockIdx.x; c < blocked.num_far; c += gridDim.x) {
        Chunk chunk = blocked.far_chunks[c];
        __syncthreads();
        hold(values, blocked.values + chunk.first_value, chunk.values, blocked.none);
        __syncthreads();
        sum_rows(chunk, blocked.far, values, blocked.none,
                 [&](uint64 v, const RowValue &row, bool any) {
                     if (chunk.slot >= 0) {
                         blocked.sums[chunk.slot] = row.best;
                     } else if (any) {
                         messages[v] = (MESSAGE)added((WIDE)messages[v], row.best);
                         if (NEEDS_RECEIVED)
                             received[v] = 1;
                     }
                 });
    }
}

// Rows of more than one chunk, a warp each.
extern "C" __global__ void __launch_bounds__(BLOCKED_THREADS)
    join_far(Run run, Blocked blocked, MESSAGE *messages, uint8 *received) {
    if (run.control->done)
        return;
    for (uint64 i = warp_rank(); i < blocked.num_long; i += num_warps()) {
        uint64 v = blocked.long_rows[i];
        RowValue row = RowValue::none();
        for (uint64 p = blocked.long_slots[i] + lane(); p < blocked.long_slots[i + 1]; p += WARP)
            row.best = added(row.best, blocked.sums[p]);
        __syncwarp();
        row.template reduce<WARP>();
        if (lane() == 0) {
            messages[v] = (MESSAGE)added((WIDE)messages[v], row.best);
            if (NEEDS_RECEIVED)
                received[v] = 1;
        }
    }
}
