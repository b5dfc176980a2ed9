// betweenness_levels.cu: Brandes' accumulation level by level, once a search has found the levels;
// of a whole graph, or on one of several ranks.
//
// Launch    a source: narrow, on ranks an exchange of levels, survey and begin. A level:
//           list_level, then pull_level or push_level, on ranks an exchange of border values before
//           or after, then count_level. Once over the levels away from the source, and once back,
//           from sums of zero and with finish_level.
// Encoding  on ranks vertices are local ids: own ones, then ghosts. level: edges from the source,
//           255 where there is no path; right for ghosts too, and 255 behind the last vertex, up to
//           a multiple of LOOKED_AT.
// Why       the edges between two levels are found from either end: from that whose vertices have
//           fewer edges, which are a fraction of those of both. On ranks what travels is one value
//           a border vertex: what ghosts have to give is sent there before, or what was summed up
//           for them is sent back after. Nobody looks up the level of a neighbour: no edge leads
//           further than one level on, so whoever pulls finds vertices that come before it in the
//           sweep, whose values it wants, or others, whose values are still zero; and a push gets
//           to vertices that come next, or to others, whose sums have been taken.

#include "degree_lists.cuh"

constexpr uint32 UNREACHED = 255, DEEPEST = 254; // the latter for all from there on
constexpr uint32 SIDE = 4;                       // levels that a lane reads at once
constexpr uint64 LOOKED_AT = SIDE * WARP;        // and a warp

// Of the vertices of each level.
struct Sums {
    uint64 vertices[UNREACHED + 1]; // own ones
    uint64 pulled[UNREACHED + 1];   // entries of rows
    uint64 pushed[UNREACHED + 1];
};

// Levels of a search as bytes.
extern "C" __global__ void __launch_bounds__(512)
    narrow(const int32 *found, uint64 owned, uint8 *level) {
    for (uint64 v = thread_rank(); v < owned; v += num_threads())
        level[v] = found[v] < 0 ? UNREACHED : found[v] < DEEPEST ? (uint8)found[v] : DEEPEST;
}

// What each level has; `all` is zero before. A row of SMALL entries or more is added by itself: the
// sum of a warp's others fits 32 bits.
extern "C" __global__ void __launch_bounds__(512)
    survey(const uint8 *level, uint64 n, uint64 owned, const OFFSET *pulled, const OFFSET *pushed,
           Sums *all) {
    constexpr OFFSET SMALL = 1u << 26;
    __shared__ Sums sums;
    uint64 *words = (uint64 *)&sums;
    for (uint32 i = threadIdx.x; i < sizeof(Sums) / sizeof(uint64); i += blockDim.x)
        words[i] = 0;
    __syncthreads();
    uint64 vertices = 0, pulls = 0, pushes = 0; // of the level lane()
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        uint32 at = v < n ? level[v] : UNREACHED;
        bool is = at != UNREACHED, is_own = is && v < owned;
        OFFSET pull = is_own ? pulled[v + 1] - pulled[v] : (OFFSET)0;
        OFFSET push = is ? pushed[v + 1] - pushed[v] : (OFFSET)0;
        if (pull >= SMALL) {
            atomicAdd(sums.pulled + at, (uint64)pull);
            pull = 0;
        }
        if (push >= SMALL) {
            atomicAdd(sums.pushed + at, (uint64)push);
            push = 0;
        }
        for (uint32 left = __ballot_sync(FULL_WARP, is); left != 0;) {
            uint32 one = __shfl_sync(FULL_WARP, at, __ffs(left) - 1);
            bool mine = at == one;
            left &= ~__ballot_sync(FULL_WARP, mine);
            uint32 number = __popc(__ballot_sync(FULL_WARP, mine && is_own));
            uint32 pull_sum = warp_sum(mine ? (uint32)pull : 0u);
            uint32 push_sum = warp_sum(mine ? (uint32)push : 0u);
            if (one < WARP && lane() == one) {
                vertices += number;
                pulls += pull_sum;
                pushes += push_sum;
            } else if (one >= WARP && lane() == 0) {
                atomicAdd(sums.vertices + one, (uint64)number);
                atomicAdd(sums.pulled + one, (uint64)pull_sum);
                atomicAdd(sums.pushed + one, (uint64)push_sum);
            }
        }
    }
    atomicAdd(sums.vertices + lane(), vertices);
    atomicAdd(sums.pulled + lane(), pulls);
    atomicAdd(sums.pushed + lane(), pushes);
    __syncthreads();
    for (uint32 i = threadIdx.x; i < sizeof(Sums) / sizeof(uint64); i += blockDim.x)
        if (words[i] > 0)
            atomicAdd((uint64 *)all + i, words[i]);
}

// One path leads to the source; of ghosts it is written too.
extern "C" __global__ void __launch_bounds__(512)
    begin(const uint8 *level, uint64 n, double *paths, double *share, double *sums) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        paths[v] = level[v] == 0;
        share[v] = 0;
        sums[v] = 0;
    }
}

// Those of the first `number` vertices that are of a level, into lists that are empty.
extern "C" __global__ void __launch_bounds__(512)
    list_level(const OFFSET *offsets, uint64 number, const uint8 *level, uint64 depth, ID *queue,
               ID *piece_row, uint32 *piece, uint64 n, uint32 medium, uint32 large,
               Counts *counts) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    Appender appender(lists, Slice{}, counts, slots);
    uint32 wanted_bytes = (uint32)depth * 0x01010101u;
    for (uint64 base = warp_rank() * LOOKED_AT; base < number; base += num_warps() * LOOKED_AT) {
        uint32 differs = ((const uint32 *)(level + base))[lane()] ^ wanted_bytes, bits = 0;
#pragma unroll
        for (uint32 j = 0; j < SIDE; ++j)
            bits |= (uint32)((differs >> 8 * j & 0xff) == 0) << j;
        uint32 votes = __ballot_sync(FULL_WARP, bits != 0);
        // Vertices that stand side by side are appended together.
        for (uint32 first = 0; first < WARP && votes >> first != 0; first += WARP / SIDE) {
            uint32 word = __shfl_sync(FULL_WARP, bits, first + lane() / SIDE);
            uint64 v = base + first * SIDE + lane();
            bool wanted = (word >> lane() % SIDE & 1) && v < number;
            appender.append(wanted, (ID)v, wanted ? offsets[v + 1] - offsets[v] : (OFFSET)0);
        }
    }
    appender.flush();
}

// Adds to each vertex that is listed the values of its neighbours.
extern "C" __global__ void __launch_bounds__(512, 2)
    pull_level(const OFFSET *offsets, const ID *neighbours, const double *values, double *sums,
               ID *queue, ID *piece_row, uint32 *piece, uint64 n, uint32 medium, uint32 large,
               const Counts *counts) {
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    Slice slice = {};
    slice.count = *counts;
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        double total = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            v[j] = j * step < left ? neighbours[edge + j * step] : 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            total += j * step < left ? values[v[j]] : 0;
        if (step == WARP)
            total = warp_sum(total);
        if (total > 0 && (step != WARP || lane() == 0))
            atomicAdd(sums + u, total);
    });
}

// Adds to their neighbours the values of the vertices that are listed.
extern "C" __global__ void __launch_bounds__(512, 2)
    push_level(const OFFSET *offsets, const ID *neighbours, const double *values, double *sums,
               ID *queue, ID *piece_row, uint32 *piece, uint64 n, uint32 medium, uint32 large,
               const Counts *counts) {
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    Slice slice = {};
    slice.count = *counts;
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        double value = left > 0 ? values[u] : 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            v[j] = j * step < left ? neighbours[edge + j * step] : 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            if (j * step < left)
                atomicAdd(sums + v[j], value);
    });
}

// Paths to own vertices of a level; `infinite` gets whether a number of them is.
extern "C" __global__ void __launch_bounds__(512)
    count_level(const uint8 *level, uint64 owned, uint64 depth, const double *sums, double *paths,
                uint64 *infinite) {
    for (uint64 v = thread_rank(); v < owned; v += num_threads()) {
        if (level[v] != depth)
            continue;
        double number = sums[v];
        if (number - number != 0)
            *infinite = 1;
        paths[v] = number;
    }
}

// What each path to an own vertex of a level hands back to the vertex before it, and what all paths
// leave there: its sum is what it got back. `ends` is added to the latter.
extern "C" __global__ void __launch_bounds__(512)
    finish_level(const uint8 *level, uint64 owned, uint64 depth, double ends, const double *paths,
                 const double *sums, double *share, double *through) {
    for (uint64 v = thread_rank(); v < owned; v += num_threads()) {
        if (level[v] != depth)
            continue;
        double number = paths[v], got = depth > 0 ? sums[v] : 0;
        share[v] = 1 / number + got;
        double more = number * got + ends;
        if (more > 0)
            through[v] += more;
    }
}
