// Trimming: vertices that nothing leads to any more, or that lead nowhere any more, are taken away
// level by level from both ends of a graph at once, each edge being read once or, between the two
// ends, twice.
//
// Where a graph is deep a level has few vertices and takes what its reads take one after another:
// of a piece of a row, of the neighbours, of what is left of these, of the rows of those that are
// free now. So rows are listed in pieces that a warp reads at once, and one word says of a vertex
// what is left at either end: of two ends that come to it one takes it.

#include "degree_lists.cuh"

static_assert(TRIM_PIECE < 256, "a word keeps the edges of a piece in 8 bits");

// One direction: who is behind a vertex along it. Of what is left of these one takes `gone`.
struct End {
    const OFFSET *offsets;
    const ID *neighbours;
    uint64 gone;
};

// How many are left before a vertex and behind it, in the halves of a word; 0 on one side: it was
// taken from there.
__device__ __forceinline__ bool is_left(uint64 both) {
    return (uint32)both != 0 && both >> 32 != 0;
}

// Whether it was the last one: the vertex is free, and was not taken from the other end.
__device__ __forceinline__ bool frees(uint64 both, uint64 gone) {
    return is_left(both) && !is_left(both - gone);
}

// Pieces of rows, the first edge and how many: those of one end from the front of an array, those
// of the other from its back.
struct Pieces {
    uint64 *words;
    uint64 size;

    __device__ __forceinline__ uint64 &at(uint32 end, uint64 i) const {
        return words[end == 0 ? i : size - 1 - i];
    }

    __device__ __forceinline__ void put(uint32 end, uint64 i, uint64 row, uint64 degree,
                                        uint64 number) const {
        uint64 skip = number * TRIM_PIECE, rest = degree - skip;
        at(end, i + number) = (row + skip) << 8 | (rest < TRIM_PIECE ? rest : TRIM_PIECE);
    }
};

// Lists the rows of the wanted vertices behind the `first` pieces; all lanes have to call it.
template <int NUMBER>
__device__ __forceinline__ void append_rows(const bool (&wanted)[NUMBER], const ID (&v)[NUMBER],
                                            const OFFSET *offsets, Pieces pieces, uint32 end,
                                            uint64 first, uint64 *appended) {
    uint64 row[NUMBER], degree[NUMBER], number = 0;
#pragma unroll
    for (int j = 0; j < NUMBER; ++j) {
        row[j] = wanted[j] ? offsets[v[j]] : 0;
        degree[j] = wanted[j] ? offsets[v[j] + 1] - row[j] : 0;
        number += (degree[j] + TRIM_PIECE - 1) / TRIM_PIECE;
    }
    uint64 place = first + warp_places(number, appended);
#pragma unroll
    for (int j = 0; j < NUMBER; ++j) {
        if (degree[j] > 0)
            pieces.put(end, place, row[j], degree[j], 0);
        for (uint32 votes = __ballot_sync(FULL_WARP, degree[j] > TRIM_PIECE); votes != 0;
             votes &= votes - 1) {
            int owner = __ffs(votes) - 1;
            uint64 from = __shfl_sync(FULL_WARP, row[j], owner);
            uint64 edges = __shfl_sync(FULL_WARP, degree[j], owner);
            uint64 there = __shfl_sync(FULL_WARP, place, owner);
            for (uint64 i = 1 + lane(); i * TRIM_PIECE < edges; i += WARP)
                pieces.put(end, there, from, edges, i);
        }
        place += (degree[j] + TRIM_PIECE - 1) / TRIM_PIECE;
    }
}

// Takes those at the end of some pieces, one a lane, away from their neighbours, and lists who is
// free then. `several`: whether any warp has more than one piece.
__device__ __forceinline__ void drop(const End &end, uint32 which, uint64 piece, bool several,
                                     uint64 *left, Pieces pieces, uint64 first, uint64 *appended,
                                     uint64 &read) {
    uint64 start = piece >> 8;
    uint32 length = (uint32)(piece & 255), behind = warp_inclusive_scan(length);
    uint32 before = behind - length, total = __shfl_sync(FULL_WARP, behind, WARP - 1);
    for (uint32 base = 0; base < total; base += TRIM_PIECE) {
        ID v[BATCH];
        uint64 both[BATCH];
        bool is_free[BATCH], any = false;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            uint32 i = base + j * WARP + lane(), owner = 0;
            for (uint32 step = several ? WARP / 2 : 0; step > 0; step /= 2)
                owner += __shfl_sync(FULL_WARP, before, owner + step) <= i ? step : 0;
            uint64 edge =
                __shfl_sync(FULL_WARP, start, owner) + i - __shfl_sync(FULL_WARP, before, owner);
            is_free[j] = i < total;
            v[j] = is_free[j] ? end.neighbours[edge] : 0;
            read += is_free[j];
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j) // under way together
            both[j] = is_free[j] ? atomicAdd(left + v[j], (uint64)0 - end.gone) : 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            is_free[j] = is_free[j] && frees(both[j], end.gone);
            any = any || is_free[j];
        }
        if (__any_sync(FULL_WARP, any))
            append_rows(is_free, v, end.offsets, pieces, which, first, appended);
    }
}

// Leaves those vertices `is_left` that lie on a cycle or between two, or that so many levels do not
// come to. `left`: a word a vertex. `pieces`: one a vertex, and one for each TRIM_PIECE edges of
// either direction. `counts`: of pieces, by end, taking turns; zeros.
__device__ void trim(const End (&ends)[2], uint64 n, uint64 *left, Pieces pieces,
                     uint64 (*counts)[3], uint32 most_levels, GridBarrier *barrier, uint32 &levels,
                     uint64 &read) {
    __shared__ uint64 first[2], count[2];
    __syncthreads();
    if (threadIdx.x < 2)
        first[threadIdx.x] = count[threadIdx.x] = 0;
    __syncthreads();
    for (uint64 base = warp_rank() * WARP; base < n; base += num_warps() * WARP) {
        ID v[1] = {(ID)(base + lane())};
        bool is = base + lane() < n;
        uint64 behind = is ? ends[0].offsets[v[0] + 1] - ends[0].offsets[v[0]] : 0;
        uint64 before = is ? ends[1].offsets[v[0] + 1] - ends[1].offsets[v[0]] : 0;
        if (is)
            left[v[0]] = before | behind << 32;
        bool begins[1] = {is && before == 0}, finishes[1] = {is && behind == 0};
        append_rows(begins, v, ends[0].offsets, pieces, 0, 0, counts[0]);
        append_rows(finishes, v, ends[1].offsets, pieces, 1, 0, counts[1]);
    }
    for (uint32 depth = 0;; ++depth) {
        grid_sync(barrier);
        if (threadIdx.x < 2) {
            uint64 *appended = counts[threadIdx.x];
            first[threadIdx.x] += count[threadIdx.x];
            count[threadIdx.x] = fresh(appended + depth % 3);
            if (blockIdx.x == 0)
                appended[(depth + 2) % 3] = 0;
        }
        __syncthreads();
        uint64 all = count[0] + count[1];
        if (all == 0 || depth == most_levels)
            return;
        ++levels;
        uint64 share = (all + num_warps() - 1) / num_warps(); // pieces of a warp at once
        share = share < WARP ? share : WARP;
        uint64 groups = (count[0] + share - 1) / share;
        all = groups + (count[1] + share - 1) / share;
        // Warps of different blocks take neighbouring pieces: few are spread over the device.
        for (uint64 group = (uint64)warp_in_block() * gridDim.x + blockIdx.x; group < all;
             group += num_warps()) {
            uint32 end = group >= groups;
            uint64 i = (group - (end ? groups : 0)) * share + lane();
            bool is = lane() < share && i < count[end];
            uint64 piece = is ? pieces.at(end, first[end] + i) : 0;
            drop(end ? ends[1] : ends[0], end, piece, share > 1, left, pieces,
                 first[end] + count[end], counts[end] + (depth + 1) % 3, read);
        }
    }
}
