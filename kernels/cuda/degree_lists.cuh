// Worklists by degree: rows of few edges go to threads, longer ones to warps, long ones to blocks
// in pieces, so that one hub is the work of the whole grid.
//
// A vertex enters the lists at most once in a run, so they only grow: one array of n ids holds the
// short rows from its front and the longer ones from its back, and a superstep's work is a slice.

#include "common.cuh"

constexpr int MOST_WARPS = 512 / WARP; // of a block
constexpr int HELD = 2 * WARP;         // ids that a warp holds back before it appends them

struct Worklists {
    ID *queue;     // n
    ID *piece_row; // of all pieces of long rows
    uint32 *piece; // its number within the row
    uint64 n;
    uint32 medium; // edges from which a row goes to a warp
    uint32 large;  // and from which it goes to blocks
};

// What was appended in a superstep.
struct Counts {
    uint64 small, medium, pieces;
};

__device__ __forceinline__ Counts fresh_counts(const Counts *counts) {
    return {fresh(&counts->small), fresh(&counts->medium), fresh(&counts->pieces)};
}

// A superstep's part of the lists: where it starts, and how much of each there is.
struct Slice {
    Counts first, count;

    // Goes on to what was appended behind it.
    __device__ __forceinline__ void advance(Counts appended) {
        first.small += count.small;
        first.medium += count.medium;
        first.pieces += count.pieces;
        count = appended;
    }

    __device__ __forceinline__ bool empty() const {
        return count.small == 0 && count.medium == 0 && count.pieces == 0;
    }
};

// Not inlined, like all that is seldom done: the loops around it are left small.
__device__ __noinline__ void append_held(const ID *slots, uint32 held, uint64 *size, ID *start,
                                         int64 step) {
    __syncwarp();
    uint64 first = 0;
    if (lane() == 0)
        first = atomicAdd(size, (uint64)held);
    first = __shfl_sync(FULL_WARP, first, 0);
    for (uint32 i = lane(); i < held; i += WARP)
        start[(int64)(first + i) * step] = slots[i];
    __syncwarp();
}

// Appends to an array, a bufferful of a warp at a time: an atomic for every vertex on one counter
// would take longer than the search. All lanes of the warp have to call its functions.
struct WarpBuffer {
    ID *slots;    // HELD of them, in shared memory, of this warp alone
    uint64 *size; // what was appended
    ID *start;    // where the first one goes
    int64 step;   // 1, or -1 for an array that grows downwards
    uint32 held = 0;

    __device__ __forceinline__ WarpBuffer(ID *slots, uint64 *size, ID *start, int64 step = 1)
        : slots(slots), size(size), start(start), step(step) {}

    __device__ __forceinline__ void append(bool wanted, ID v) {
        uint32 votes = __ballot_sync(FULL_WARP, wanted);
        if (votes == 0)
            return;
        if (held + __popc(votes) > HELD)
            flush();
        if (wanted)
            slots[held + __popc(votes & lower_lanes())] = v;
        held += __popc(votes);
    }

    __device__ __forceinline__ void flush() {
        if (held > 0)
            append_held(slots, held, size, start, step);
        held = 0;
    }
};

// The pieces of the long rows of some of a warp's lanes.
__device__ __noinline__ void append_pieces(uint32 votes, ID v, OFFSET degree, uint64 *size,
                                           ID *piece_row, uint32 *piece) {
    for (; votes != 0; votes &= votes - 1) {
        int owner = __ffs(votes) - 1;
        ID row = __shfl_sync(FULL_WARP, v, owner);
        OFFSET edges = __shfl_sync(FULL_WARP, degree, owner);
        uint64 pieces = ((uint64)edges + PIECE - 1) / PIECE, first = 0;
        if (lane() == 0)
            first = atomicAdd(size, pieces);
        first = __shfl_sync(FULL_WARP, first, 0);
        for (uint64 i = lane(); i < pieces; i += WARP) {
            piece_row[first + i] = row;
            piece[first + i] = (uint32)i;
        }
    }
}

// A warp's end of the lists. `slice` is the one that is worked on; what is appended comes behind
// it.
struct Appender {
    uint32 least_medium, least_large;
    WarpBuffer small, medium;
    uint64 *pieces;
    ID *piece_row;
    uint32 *piece;

    // `appended`: global, of the superstep. `slots`: 2 HELD ids of shared memory for each warp.
    __device__ __forceinline__ Appender(const Worklists &lists, const Slice &slice,
                                        Counts *appended, ID *slots)
        : least_medium(lists.medium), least_large(lists.large),
          small(slots + warp_in_block() * 2 * HELD, &appended->small,
                lists.queue + slice.first.small + slice.count.small),
          medium(slots + warp_in_block() * 2 * HELD + HELD, &appended->medium,
                 lists.queue + (lists.n - 1 - slice.first.medium - slice.count.medium), -1),
          pieces(&appended->pieces),
          piece_row(lists.piece_row + slice.first.pieces + slice.count.pieces),
          piece(lists.piece + slice.first.pieces + slice.count.pieces) {}

    // Puts a vertex with this many edges into its list; all lanes of the warp have to call it.
    __device__ __forceinline__ void append(bool wanted, ID v, OFFSET degree) {
        wanted = wanted && degree > 0; // a row without edges is no work
        small.append(wanted && degree < least_medium, v);
        bool longer = wanted && degree >= least_medium;
        if (!__any_sync(FULL_WARP, longer))
            return;
        medium.append(longer && degree < least_large, v);
        uint32 votes = __ballot_sync(FULL_WARP, longer && degree >= least_large);
        if (votes != 0)
            append_pieces(votes, v, degree, pieces, piece_row, piece);
    }

    // At the end of a superstep.
    __device__ __forceinline__ void flush() {
        small.flush();
        medium.flush();
    }
};

// A warp's part of one row: `visit` as in `for_edges`.
template <typename Visit>
__device__ __forceinline__ void for_row(ID row, OFFSET start, OFFSET end, Visit visit) {
    while (start < end) {
        OFFSET left = end - start;
        uint32 here = left < BATCH * WARP ? (uint32)left : BATCH * WARP;
        visit(row, (OFFSET)(start + lane()), lane() < here ? here - lane() : 0, WARP);
        if (left <= BATCH * WARP)
            return;
        start += BATCH * WARP;
    }
}

// Rows of few edges, one a lane. The lanes that have none give an empty row.
template <typename Visit>
__device__ __forceinline__ void for_short_rows(ID row, OFFSET start, uint32 degree, Visit visit) {
    uint32 most = warp_max(degree);
    for (uint32 k = 0; k < most; k += BATCH)
        visit(row, (OFFSET)(start + k), k < degree ? degree - k : 0, 1);
}

// Of a row: a warp's part of a piece, the whole as one of a warp, the whole as one of a lane.
enum RowPart { PIECE_OF_WARP, OF_WARP, OF_LANE };

struct Nothing {
    __device__ __forceinline__ void operator()(ID, RowPart) const {}
};

// Calls visit(row, edge, left, step) for all edges of the slice's rows, by all lanes of a warp
// together: a lane's edges are edge, edge + step .. for BATCH steps, but below edge + left; and, by
// all lanes too, done(row, part) behind the last ones of each part of a row. Lanes that have no row
// have visited no edge then. The blocks of the team share the work.
template <typename Visit, typename Done = Nothing>
__device__ __forceinline__ void for_edges(const Worklists &lists, const Slice &slice,
                                          const OFFSET *offsets, Visit visit,
                                          BlockTeam team = whole_grid(), Done done = Nothing()) {
    for (uint64 i = team.rank; i < slice.count.pieces; i += team.size) {
        ID row = lists.piece_row[slice.first.pieces + i];
        OFFSET end = offsets[row + 1];
        // Pieces lie within their row, so nothing wraps.
        OFFSET start = offsets[row] + (OFFSET)lists.piece[slice.first.pieces + i] * PIECE;
        if (end - start > PIECE)
            end = start + PIECE;
        OFFSET skip = warp_in_block() * BATCH * WARP;
        if (skip < end - start) {
            OFFSET left = end - start - skip;
            for_row(row, start + skip, left > BATCH * WARP ? start + skip + BATCH * WARP : end,
                    visit);
            done(row, PIECE_OF_WARP);
        }
    }
    // Warps of different blocks take neighbouring parts: a short list is spread over the device.
    uint64 warp = (uint64)warp_in_block() * team.size + team.rank, warps = team.threads() / WARP;
    for (uint64 i = warp; i < slice.count.medium; i += warps) {
        ID row = lists.queue[lists.n - 1 - slice.first.medium - i];
        for_row(row, offsets[row], offsets[row + 1], visit);
        done(row, OF_WARP);
    }
    for (uint64 i = warp * WARP; i < slice.count.small; i += warps * WARP) {
        ID row = 0;
        OFFSET start = 0;
        uint32 degree = 0;
        if (i + lane() < slice.count.small) {
            row = lists.queue[slice.first.small + i + lane()];
            start = offsets[row];
            degree = (uint32)(offsets[row + 1] - start);
        }
        for_short_rows(row, start, degree, visit);
        done(row, OF_LANE);
    }
}

// Looks that a lane makes on its own before the warp takes what is left of its row, if that is
// long.
constexpr uint32 ALONE = 1 + 2 * BATCH;

// Goes along a lane's edges, from `e` to `end`, until hit(row, edge) holds: whether it did, and `e`
// is then that edge. All lanes of the warp have to call it. Rows of less than `least_warp` edges
// stay with their lane; of longer ones the warp takes no more than `most` edges, a number that is
// the same for all lanes, and `e` is then where to go on.
template <typename Hit>
__device__ __forceinline__ bool first_hit(ID row, OFFSET &e, OFFSET end, uint32 least_warp,
                                          OFFSET most, uint64 &read, Hit hit) {
    OFFSET start = e;
    bool found = false;
    if (e < end) { // most rows need no more than one look
        found = hit(row, e);
        ++read;
        e += !found;
    }
    bool alone = end - start < least_warp;
    while (!found && e < end && (alone || e - start < ALONE)) {
        bool hits[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; ++j) // under way together
            hits[j] = j < end - e && hit(row, e + j);
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (!found && e < end) {
                found = hits[j];
                ++read;
                e += !found;
            }
        }
    }
    __syncwarp();
    uint32 votes = __ballot_sync(FULL_WARP, !found && e < end);
    for (; votes != 0; votes &= votes - 1) {
        int owner = __ffs(votes) - 1;
        OFFSET from = __shfl_sync(FULL_WARP, e, owner), to = __shfl_sync(FULL_WARP, end, owner);
        ID of = __shfl_sync(FULL_WARP, row, owner);
        OFFSET looks = 0;
        uint32 hits = 0;
        while (hits == 0 && from < to && looks < most) {
            OFFSET left = to - from;
            hits = __ballot_sync(FULL_WARP, lane() < left && hit(of, from + lane()));
            OFFSET step = hits != 0 ? __ffs(hits) - 1 : left < WARP ? left : WARP;
            from += step;
            looks += step;
        }
        if (lane() == owner) {
            e = from;
            found = hits != 0;
            read += looks + found;
        }
    }
    return found;
}
