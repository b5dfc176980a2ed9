// Predecessors of a finished path search: of the neighbours that a vertex can have been reached
// from the preferred one, by a rule that does not depend on how the search went.
//
// predecessor: dense id; a vertex's own id means that it has none (yet). Of those that fit the one
// of highest degree, then of smallest rank is taken: an order without ties.
//
// When the dense ids stand in that order a vertex's first fitting neighbour is the best, and rows
// are left there: hubs first, so most first looks hit, and the pass costs about a sector a vertex.

#include "degree_lists.cuh"
#include "predecessors.cuh"
#include "runs.cuh"

// Edges of a row that one warp looks at; what is left goes to blocks in pieces.
constexpr uint32 WARP_LOOKS = 1024;

struct State {
    uint64 barrier;
    uint64 unordered; // not 0: dense ids do not stand in the order of preference
    uint64 without;   // reached vertices that have no predecessor, among them the source
    uint64 read;
    Runs runs;
    Counts appended[3]; // taking turns
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// The best of the lanes' candidates; `none` where a lane has none.
__device__ __forceinline__ ID best_of_warp(ID candidate, ID none, const Preference &preferred) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        ID other = __shfl_xor_sync(FULL_WARP, candidate, offset);
        if (other != none && (candidate == none || preferred(other, candidate)))
            candidate = other;
    }
    return candidate;
}

// Every vertex takes the best of its in-neighbours; rows too long for a warp are appended as
// pieces.
__device__ uint32 pull(const OFFSET *offsets, const ID *neighbours, uint64 n, const Paths &paths,
                       const Preference &preferred, bool ordered, ID *predecessor,
                       Appender &appender, uint64 &read) {
    uint32 without = 0;
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 here = first + lane();
        ID v = (ID)here, best = v;
        OFFSET start = 0, end = 0;
        bool reached = here < n && paths.reached[here];
        if (reached) {
            start = offsets[here];
            end = offsets[here + 1];
        }
        bool is_long;
        if (ordered) {
            OFFSET e = start;
            bool found = first_hit(v, e, end, WARP, WARP_LOOKS, read, [&](ID row, OFFSET at) {
                return paths.fits(neighbours[at], row, at);
            });
            if (found)
                best = neighbours[e];
            is_long = !found && e < end;
        } else {
            is_long = end - start > WARP_LOOKS;
            bool by_warp = !is_long && end - start >= WARP;
            if (!is_long && !by_warp) {
                for (OFFSET e = start; e < end; ++e) {
                    ID u = neighbours[e];
                    if (paths.fits(u, v, e) && (best == v || preferred(u, best)))
                        best = u;
                }
                read += end - start;
            }
            __syncwarp();
            uint32 votes = __ballot_sync(FULL_WARP, by_warp);
            for (; votes != 0; votes &= votes - 1) {
                int owner = __ffs(votes) - 1;
                OFFSET from = __shfl_sync(FULL_WARP, start, owner);
                OFFSET to = __shfl_sync(FULL_WARP, end, owner);
                ID row = __shfl_sync(FULL_WARP, v, owner), mine = row;
                for (OFFSET e = from; e < to; e += WARP) {
                    if (lane() < to - e) {
                        ID u = neighbours[e + lane()];
                        if (paths.fits(u, row, e + lane()) && (mine == row || preferred(u, mine)))
                            mine = u;
                    }
                }
                mine = best_of_warp(mine, row, preferred);
                if (lane() == owner) {
                    best = mine;
                    read += to - from;
                }
            }
        }
        if (here < n)
            predecessor[here] = best;
        without += reached && best == v && !is_long;
        uint32 votes = __ballot_sync(FULL_WARP, is_long);
        if (votes != 0)
            append_pieces(votes, v, end - start, appender.pieces, appender.piece_row,
                          appender.piece);
    }
    return without;
}

// Pieces of long rows: their vertices take the best of them all.
__device__ void pull_pieces(const Worklists &lists, const Slice &slice, const OFFSET *offsets,
                            const ID *neighbours, const Paths &paths, const Preference &preferred,
                            bool ordered, ID *predecessor, uint64 &read) {
    for_edges(lists, slice, offsets, [&](ID v, OFFSET edge, uint32 left, uint32 step) {
        // What is in order is no better than what another piece has found before.
        if (ordered) {
            ID first = __shfl_sync(FULL_WARP, left > 0 ? neighbours[edge] : v, 0);
            ID best = __shfl_sync(FULL_WARP, fresh(predecessor + v), 0);
            if (best != v && best < first)
                return;
        }
        ID mine = v;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (j * step < left) {
                ID u = neighbours[edge + j * step];
                ++read;
                if (paths.fits(u, v, edge + j * step) && (mine == v || preferred(u, mine)))
                    mine = u;
            }
        }
        if (!__any_sync(FULL_WARP, mine != v))
            return;
        mine = best_of_warp(mine, v, preferred);
        if (lane() == 0)
            offer(predecessor, v, mine, preferred);
    });
}

// With `pulls` the rows are in-edges, otherwise out-edges, along which vertices offer themselves.
extern "C" __global__ void __launch_bounds__(512, 2)
    predecessors(const OFFSET *offsets, const ID *neighbours, const WEIGHT *weight, uint64 n,
                 const DIST *distance, const bool *reached, const OFFSET *out_offsets,
                 const int64 *degree, const RANK *rank, uint32 pulls, ID *queue, ID *piece_row,
                 uint32 *piece, uint32 medium, uint32 large, ID *predecessor, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Preference preferred = {out_offsets, degree, rank};
    Paths paths = {distance, reached, weight};
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    Slice slice = {};
    uint64 read = 0;
    uint32 without = 0;
    if (leads)
        start_runs(&state->runs);
    if (pulls) {
        // Once one pair is out of order the others need no look.
        for (uint64 v = thread_rank(); v + 1 < n && !fresh(&state->unordered); v += num_threads())
            if (!preferred(v, v + 1))
                state->unordered = 1;
        grid_sync(barrier);
        bool ordered = fresh(&state->unordered) == 0;
        Appender appender(lists, slice, state->appended, slots);
        without =
            pull(offsets, neighbours, n, paths, preferred, ordered, predecessor, appender, read);
        grid_sync(barrier);
        slice.count.pieces = fresh(&state->appended[0].pieces);
        if (slice.count.pieces > 0) {
            pull_pieces(lists, slice, offsets, neighbours, paths, preferred, ordered, predecessor,
                        read);
            grid_sync(barrier);
            for (uint64 i = thread_rank(); i < slice.count.pieces; i += num_threads())
                if (piece[i] == 0 && fresh(predecessor + piece_row[i]) == piece_row[i])
                    ++without;
        }
    } else {
        Appender appender(lists, slice, state->appended, slots);
        for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
            uint64 u = first + lane();
            bool wanted = u < n && reached[u];
            if (u < n)
                predecessor[u] = (ID)u;
            OFFSET edges = wanted ? offsets[u + 1] - offsets[u] : 0;
            read += edges;
            appender.append(wanted, (ID)u, edges);
        }
        appender.flush();
        grid_sync(barrier);
        slice.count.small = fresh(&state->appended[0].small);
        slice.count.medium = fresh(&state->appended[0].medium);
        slice.count.pieces = fresh(&state->appended[0].pieces);
        for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                if (j * step < left) {
                    ID v = neighbours[edge + j * step];
                    if (paths.fits(u, v, edge + j * step))
                        offer(predecessor, v, u, preferred);
                }
            }
        });
        grid_sync(barrier);
        for (uint64 v = thread_rank(); v < n; v += num_threads())
            without += reached[v] && fresh(predecessor + v) == v;
    }
    read = warp_sum(read);
    without = warp_sum(without);
    if (lane() == 0 && read + without > 0) {
        atomicAdd(&state->read, read);
        atomicAdd(&state->without, (uint64)without);
    }
    grid_sync(barrier);
    if (leads)
        note_run(&state->runs, 0, 1, n, fresh(&state->read));
}

// Predecessors at a vertex's own distance, where no strictly nearer neighbour reaches it:
// breadth-first from all vertices that have one, along out-edges that add nothing. A vertex takes
// the best neighbour of the round before it. `round`: n numbers.
extern "C" __global__ void __launch_bounds__(512, 2)
    plateaus(const OFFSET *offsets, const ID *neighbours, const WEIGHT *weight, uint64 n, ID source,
             const DIST *distance, const bool *reached, const int64 *degree, const RANK *rank,
             ID *queue, ID *piece_row, uint32 *piece, uint32 medium, uint32 large, uint32 *round,
             ID *predecessor, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    constexpr uint32 NONE = ~0u;
    Preference preferred = {offsets, degree, rank};
    Paths paths = {distance, reached, weight};
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    Slice slice = {};
    uint64 read = 0;
    if (leads)
        start_runs(&state->runs);
    {
        Appender appender(lists, slice, state->appended, slots);
        for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
            uint64 v = first + lane();
            bool wanted = v < n && reached[v] && (predecessor[v] != v || v == source);
            if (v < n)
                round[v] = wanted ? 0 : NONE;
            appender.append(wanted, (ID)v, wanted ? offsets[v + 1] - offsets[v] : 0);
        }
        appender.flush();
    }
    uint32 rounds = 0;
    while (true) { // each vertex enters the lists once
        grid_sync(barrier);
        const volatile Counts &now = state->appended[rounds % 3];
        slice.advance({now.small, now.medium, now.pieces});
        if (slice.empty())
            break;
        ++rounds;
        Counts *next = state->appended + rounds % 3;
        if (leads)
            state->appended[(rounds + 1) % 3] = Counts{};
        Appender appender(lists, slice, next, slots);
        for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
            ID v[BATCH];
            bool won[BATCH];
            DIST here = distance[u];
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                OFFSET e = edge + j * step;
                won[j] = false;
                if (j * step < left) {
                    ++read;
                    v[j] = neighbours[e];
                    if (reached[v[j]] && distance[v[j]] == here &&
                        (DIST)(here + paths.length(e)) == here) {
                        uint32 old = atomicCAS(round + v[j], NONE, rounds);
                        won[j] = old == NONE;
                        if (won[j] || old == rounds)
                            offer(predecessor, v[j], u, preferred);
                    }
                }
            }
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                appender.append(won[j], v[j],
                                won[j] ? offsets[v[j] + 1] - offsets[v[j]] : (OFFSET)0);
        });
        appender.flush();
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(&state->read, read);
    grid_sync(barrier);
    if (leads)
        note_run(&state->runs, 0, rounds, 0, fresh(&state->read));
}
