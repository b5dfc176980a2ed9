// Connected components by linking trees (Afforest), all of it in one launch.
//
// Two neighbours of each vertex are linked first. What is then the largest tree need not be left
// again when every edge is seen from both ends: its vertices are skipped, and on skewed graphs that
// is nearly all of them. So the cost is a few passes over the vertices, with a sector of each row.

#include "components.cuh"
#include "degree_lists.cuh"
#include "members.cuh"
#include "runs.cuh"

// OWN_ALONE: neighbours from n on are left out: they are vertices of other ranks, and stand behind
// the others in their rows.
#ifndef OWN_ALONE
#define OWN_ALONE 0
#endif

constexpr int ROUNDS = 2; // neighbours of each vertex that are linked first

struct State {
    uint64 barrier;
    uint64 giant; // root of what is probably the largest tree
    uint64 read;
    Runs runs;
    Counts appended[2]; // of rows by source, of rows by destination
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// Links all edges of the vertices outside the tree of `giant` but for the first `skip` of each row.
__device__ uint64 link_rest(const OFFSET *offsets, const ID *neighbours, const Worklists &lists,
                            Counts *appended, ID *slots, OFFSET skip, ID giant, bool skips,
                            ID *parent, GridBarrier *barrier) {
    uint64 read = 0;
    {
        Appender appender(lists, Slice{}, appended, slots);
        for (uint64 first = warp_rank() * WARP; first < lists.n; first += num_warps() * WARP) {
            uint64 v = first + lane();
            OFFSET degree = 0;
            if (v < lists.n && (!skips || parent[v] != giant))
                degree = offsets[v + 1] - offsets[v];
            if (degree > skip)
                read += degree - skip;
            appender.append(degree > skip, (ID)v, degree);
        }
        appender.flush();
    }
    grid_sync(barrier);
    Slice slice = {};
    slice.count.small = fresh(&appended->small);
    slice.count.medium = fresh(&appended->medium);
    slice.count.pieces = fresh(&appended->pieces);
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
    // What was linked before is linked again: seldom, and it does no harm.
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            if (j * step < left) {
                ID v = neighbours[edge + j * step];
                if (!OWN_ALONE || v < lists.n)
                    link(parent, u, v);
            }
    });
    grid_sync(barrier);
    return read;
}

// `both`: every edge is seen from both ends: into_offsets are given, or the rows are symmetric and
// into_offsets null. `holder` and `rank` are null when the order of the dense ids is the users'.
extern "C" __global__ void __launch_bounds__(512, 3)
    components(const OFFSET *offsets, const ID *neighbours, const OFFSET *into_offsets,
               const ID *into_neighbours, uint64 n, uint32 both, const RANK *rank, ID *queue,
               ID *piece_row, uint32 *piece, uint32 medium, uint32 large, ID *parent, ID *holder,
               State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (leads)
        start_runs(&state->runs);
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        parent[v] = (ID)v;
    grid_sync(barrier);
    uint64 read = 0;
    for (OFFSET place = 0; place < ROUNDS; ++place) {
        for (uint64 v = thread_rank(); v < n; v += num_threads()) {
            OFFSET start = offsets[v], end = offsets[v + 1];
            if (end - start > place) {
                ID other = neighbours[start + place];
                if (!OWN_ALONE || other < n)
                    link(parent, (ID)v, other);
                ++read;
            }
        }
        grid_sync(barrier);
        compress(parent, n);
        grid_sync(barrier);
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(&state->read, read);
    if (blockIdx.x == 0) {
        ID giant = most_frequent(parent, n);
        if (threadIdx.x == 0)
            state->giant = giant;
    }
    grid_sync(barrier);
    ID giant = (ID)fresh(&state->giant);
    uint64 sampled = fresh(&state->read);
    if (leads)
        note_run(&state->runs, 0, 1, n, sampled);
    read = link_rest(offsets, neighbours, lists, state->appended, slots, ROUNDS, giant, both,
                     parent, barrier);
    if (into_offsets != nullptr)
        read += link_rest(into_offsets, into_neighbours, lists, state->appended + 1, slots, 0,
                          giant, both, parent, barrier);
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(&state->read, read);
    compress(parent, n);
    if (holder != nullptr)
        for (uint64 v = thread_rank(); v < n; v += num_threads())
            holder[v] = (ID)v;
    grid_sync(barrier);
    if (leads)
        note_run(&state->runs, 1, 1, n, fresh(&state->read) - sampled);
    if (holder == nullptr)
        return;
    smallest_members(parent, n, Order{rank}, giant, holder);
    grid_sync(barrier);
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        parent[v] = holder[parent[v]];
}
