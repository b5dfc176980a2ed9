// betweenness_levels.cu: Brandes' accumulation level by level, once searches have found the levels;
// a batch of sources at once, of a whole graph, or on one of several ranks.
//
// Launch    narrow for each source, on ranks an exchange of levels; then for all of a batch begin
// and
//           survey. A point, which is the end of a level of all of them: turn, on ranks an exchange
//           of border values and turn for those that have waited for it, then pull_level and
//           push_level, which lead to the next one. Once over the levels away from the sources, and
//           once back, from sums of zero.
// Encoding  arrays of a source stand behind those of the one before. On ranks vertices are local
// ids:
//           own ones, then ghosts. level: edges from the source, 255 where there is no path; right
//           for ghosts too, and 255 behind the last vertex, up to a multiple of LOOKED_AT.
// Why       the edges between two levels are found from either end: from that whose vertices have
//           fewer edges, which are a fraction of those of both. On ranks what travels is one value
//           a border vertex: what ghosts have to give is sent there before, or what was summed up
//           for them is sent back after. Nobody looks up the level of a neighbour: no edge leads
//           further than one level on, so whoever pulls finds vertices that come before it in the
//           sweep, whose values it wants, or others, whose values are still zero; and a push gets
//           to vertices that come next, or to others, whose sums have been taken. Small levels take
//           as long as a launch, so those of a batch share one.

#include "degree_lists.cuh"

constexpr uint32 UNREACHED = 255, DEEPEST = 254; // the latter for all from there on
constexpr uint32 SIDE = sizeof(uint4);           // levels that a lane reads at once
static_assert(LOOKED_AT == SIDE * WARP, "a warp reads them at once");
constexpr uint32 ROUNDS = SIDE, TOGETHER = 4; // of a vertex a lane, of which some are under way

// Of the vertices of each level.
struct Sums {
    uint64 vertices[UNREACHED + 1]; // own ones
    uint64 pulled[UNREACHED + 1];   // entries of rows
    uint64 pushed[UNREACHED + 1];
};

// Rows of own vertices, or of all.
struct Rows {
    const OFFSET *offsets;
    const ID *neighbours;
    uint64 number;
};

// The first source's arrays.
struct Given {
    uint8 *level;
    uint64 stride; // of the levels of a source
    uint64 n, owned;
    double *paths; // number of shortest paths
    double *share; // what each of them hands back
    double *sums;  // of either
    double *through;
    ID *queue, *piece_row;
    uint32 *piece;
    uint64 pieces, medium, large;
    Rows rows[4]; // of which own vertices pull, by which all push; and so against the direction
    uint64 *infinite;

    __device__ __forceinline__ Worklists lists(uint64 source) const {
        return {queue + source * n,      piece_row + source * pieces,
                piece + source * pieces, n,
                (uint32)medium,          (uint32)large};
    }
};

// What a source has to do at a point.
struct Step {
    int32 finished; // level whose values are made of its sums; negative: none
    int32 listed;   // level whose rows the next edges are; negative: none
    uint32 rows;    // which of `Given`
    uint32 pushes;
    uint64 late; // waits for what ghosts have to give
    double more; // that vertices of the level have been passed through
};

// Levels of a search as bytes.
extern "C" __global__ void __launch_bounds__(512)
    narrow(const int32 *found, uint64 owned, uint8 *level) {
    for (uint64 v = thread_rank(); v < owned; v += num_threads())
        level[v] = found[v] < 0 ? UNREACHED : found[v] < DEEPEST ? (uint8)found[v] : DEEPEST;
}

// What each level has; `all` is zero before. Each block works for one source. A row of SMALL
// entries or more is added by itself: the sum of a warp's others fits 32 bits.
extern "C" __global__ void __launch_bounds__(512)
    survey(Given given, uint64 sources, uint64 against, Sums *all) {
    constexpr OFFSET SMALL = 1u << 26;
    __shared__ Sums sums;
    uint64 *words = (uint64 *)&sums;
    for (uint32 i = threadIdx.x; i < sizeof(Sums) / sizeof(uint64); i += blockDim.x)
        words[i] = 0;
    __syncthreads();
    uint32 source = blockIdx.x % (uint32)sources;
    BlockTeam team = {blockIdx.x / (uint32)sources, (gridDim.x - source - 1) / (uint32)sources + 1};
    const uint8 *level = given.level + source * given.stride;
    const OFFSET *pulled = given.rows[2 * against].offsets;
    const OFFSET *pushed = given.rows[2 * against + 1].offsets;
    uint64 n = given.n, owned = given.owned;
    uint64 vertices = 0, pulls = 0, pushes = 0; // of the level lane()
    for (uint64 first = team.thread() / WARP * WARP; first < n; first += team.threads()) {
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
            atomicAdd((uint64 *)(all + source) + i, words[i]);
}

// One path leads to a source; of ghosts it is written too.
extern "C" __global__ void __launch_bounds__(512) begin(Given given, uint64 sources) {
    for (uint64 source = 0; source < sources; ++source) {
        const uint8 *level = given.level + source * given.stride;
        double *paths = given.paths + source * given.n;
        for (uint64 v = thread_rank(); v < given.n; v += num_threads())
            paths[v] = level[v] == 0;
    }
}

// A bit for each byte of four words that is `wanted`.
__device__ __forceinline__ uint32 bytes_that_are(uint4 words, int32 wanted) {
    if (wanted < 0)
        return 0;
    uint32 each[4] = {words.x, words.y, words.z, words.w}, bits = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        uint32 differs = each[j] ^ (uint32)wanted * 0x01010101u;
        // The highest bit of each byte that does not differ; then these side by side.
        uint32 same = ~(((differs & 0x7f7f7f7fu) + 0x7f7f7f7fu) | differs | 0x7f7f7f7fu);
        bits |= ((same >> 7) * 0x01020408u >> 24 & 0xf) << 4 * j;
    }
    return bits;
}

// Levels of LOOKED_AT vertices, from one that is the same for all lanes on: who is of a level that
// ends, and who is listed.
struct Looked {
    uint32 bits; // of both, one above the other, of SIDE vertices a lane
    uint32 votes;

    __device__ __forceinline__ Looked(const uint8 *level, const Step &step) {
        uint4 words = ((const uint4 *)level)[lane()];
        bits = bytes_that_are(words, step.finished) | bytes_that_are(words, step.listed) << SIDE;
        votes = __ballot_sync(FULL_WARP, bits != 0);
    }

    // Whether there is any in a round, and in the TOGETHER rounds from it on.
    __device__ __forceinline__ bool any(uint32 round) const {
        return votes >> (WARP / SIDE) * round & ((1u << TOGETHER * (WARP / SIDE)) - 1);
    }

    // Of the lane's vertex in a round: bit 0 ends, bit SIDE is listed.
    __device__ __forceinline__ uint32 of(uint32 round) const {
        return __shfl_sync(FULL_WARP, bits, WARP / SIDE * round + lane() / SIDE) >> lane() % SIDE;
    }
};

// Paths to own vertices of a level, of their sums. Or, on the way back, what each path to one hands
// back to the vertex before it, and what all paths leave there: its sum is what it got back.
__device__ __forceinline__ void finish(const Given &given, const Step &step, bool back, uint64 v,
                                       uint64 i, double sum, double number) {
    if (!back) {
        if (sum - sum != 0)
            *given.infinite = 1;
        given.paths[i] = sum;
        return;
    }
    double got = step.finished > 0 ? sum : 0;
    given.share[i] = 1 / number + got;
    double more = number * got + step.more;
    if (more > 0)
        atomicAdd(given.through + v, more); // other sources may be at it
}

// Appends vertices from `base` on: lane i has bits of those of the round i.
__device__ __forceinline__ void append_rounds(uint32 bits, uint64 base, uint64 *size, ID *start,
                                              int64 step) {
    uint32 votes = __ballot_sync(FULL_WARP, bits != 0);
    if (votes == 0)
        return;
    uint32 number = __popc(bits), behind = warp_inclusive_scan(number);
    uint64 first = 0;
    if (lane() == WARP - 1)
        first = atomicAdd(size, (uint64)behind);
    first = __shfl_sync(FULL_WARP, first, WARP - 1);
    for (; votes != 0; votes &= votes - 1) {
        int round = __ffs(votes) - 1;
        uint32 those = __shfl_sync(FULL_WARP, bits, round);
        uint64 place =
            first + __shfl_sync(FULL_WARP, behind - number, round) + __popc(those & lower_lanes());
        if (those >> lane() & 1)
            start[(int64)place * step] = (ID)(base + (uint64)round * WARP + lane());
    }
}

// Ends a level of each source, and lists rows into lists that are empty; of those that are `late`,
// or of the others. A warp has one atomic for all that it appends of LOOKED_AT vertices.
extern "C" __global__ void __launch_bounds__(512, 2)
    turn(Given given, const Step *steps, Counts *counts, uint64 sources, uint32 back, uint32 late) {
    uint64 chunks = (given.n + LOOKED_AT - 1) / LOOKED_AT;
    for (uint64 task = warp_rank(); task < sources * chunks; task += num_warps()) {
        uint64 source = task % sources, base = task / sources * LOOKED_AT;
        Step step = steps[source];
        if (step.late != late || (step.finished < 0 && step.listed < 0))
            continue;
        Looked looked(given.level + source * given.stride + base, step);
        if (looked.votes == 0)
            continue;
        Rows rows = given.rows[step.rows];
        Worklists lists = given.lists(source);
        uint64 first = source * given.n;
        uint32 small = 0, medium = 0; // who is appended, of the round lane()
        for (uint32 round = 0; round < ROUNDS; round += TOGETHER) {
            if (!looked.any(round))
                continue;
            OFFSET degree[TOGETHER];
            double sum[TOGETHER], number[TOGETHER];
            bool ends[TOGETHER];
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) {
                uint64 v = base + (round + j) * WARP + lane();
                uint32 is = looked.of(round + j);
                ends[j] = (is & 1) && v < given.owned;
                bool wanted = (is >> SIDE & 1) && v < rows.number;
                degree[j] = wanted ? rows.offsets[v + 1] - rows.offsets[v] : (OFFSET)0;
                sum[j] = ends[j] ? given.sums[first + v] : 0;
                number[j] = ends[j] && back ? given.paths[first + v] : 0;
            }
#pragma unroll
            for (int j = 0; j < TOGETHER; ++j) {
                uint64 v = base + (round + j) * WARP + lane();
                if (ends[j])
                    finish(given, step, back, v, first + v, sum[j], number[j]);
                bool longer = degree[j] >= lists.medium;
                uint32 few = __ballot_sync(FULL_WARP, degree[j] > 0 && !longer);
                uint32 more = __ballot_sync(FULL_WARP, longer && degree[j] < lists.large);
                uint32 large = __ballot_sync(FULL_WARP, longer && degree[j] >= lists.large);
                if (large != 0)
                    append_pieces(large, (ID)v, degree[j], &counts[source].pieces, lists.piece_row,
                                  lists.piece);
                if (lane() == round + j) {
                    small = few;
                    medium = more;
                }
            }
        }
        append_rounds(small, base, &counts[source].small, lists.queue, 1);
        append_rounds(medium, base, &counts[source].medium, lists.queue + (lists.n - 1), -1);
    }
}

// Each vertex that is listed gets the values of its neighbours, for the sources that pull.
extern "C" __global__ void __launch_bounds__(512, 2)
    pull_level(Given given, const Step *steps, const Counts *counts, uint64 sources, uint32 back) {
    for (uint64 source = 0; source < sources; ++source) {
        Step one = steps[source];
        if (one.listed < 0 || one.pushes)
            continue;
        const OFFSET *offsets = given.rows[one.rows].offsets;
        const ID *neighbours = given.rows[one.rows].neighbours;
        const double *values = (back ? given.share : given.paths) + source * given.n;
        double *sums = given.sums + source * given.n, total = 0;
        Slice slice = {};
        slice.count = counts[source];
        auto visit = [&](ID, OFFSET edge, uint32 left, uint32 step) {
            ID v[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                v[j] = j * step < left ? neighbours[edge + j * step] : 0;
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                total += j * step < left ? values[v[j]] : 0;
        };
        auto done = [&](ID u, RowPart part) {
            double sum = part == OF_LANE ? total : warp_sum(total);
            total = 0;
            if (sum == 0 || (part != OF_LANE && lane() != 0))
                return;
            if (part == PIECE_OF_WARP)
                atomicAdd(sums + u, sum);
            else // nobody else has to do with it
                sums[u] = sum;
        };
        for_edges(given.lists(source), slice, offsets, visit, whole_grid(), done);
    }
}

// Adds to their neighbours the values of the vertices that are listed, for the sources that push.
extern "C" __global__ void __launch_bounds__(512, 2)
    push_level(Given given, const Step *steps, const Counts *counts, uint64 sources, uint32 back) {
    for (uint64 source = 0; source < sources; ++source) {
        Step one = steps[source];
        if (one.listed < 0 || !one.pushes)
            continue;
        const OFFSET *offsets = given.rows[one.rows].offsets;
        const ID *neighbours = given.rows[one.rows].neighbours;
        const double *values = (back ? given.share : given.paths) + source * given.n;
        double *sums = given.sums + source * given.n;
        Slice slice = {};
        slice.count = counts[source];
        for_edges(given.lists(source), slice, offsets,
                  [&](ID u, OFFSET edge, uint32 left, uint32 step) {
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
}
