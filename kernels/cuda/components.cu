// Connected components by linking trees (Afforest), all of it in one launch.
//
// Every vertex first hangs below its first neighbour, if that is the smaller one: a store, not an
// atomic, as nobody links yet. Where most vertices are in one tree then, it need not be left again
// when every edge is seen from both ends: its vertices are skipped, and on skewed graphs that is
// nearly all of them. Else a second neighbour of each is linked before. So the cost is a few passes
// over the vertices, with a sector of each row.

#include "components.cuh"
#include "degree_lists.cuh"
#include "members.cuh"
#include "runs.cuh"

// OWN_ALONE: neighbours from n on are left out: they are vertices of other ranks, and stand behind
// the others in their rows.
#ifndef OWN_ALONE
#define OWN_ALONE 0
#endif

constexpr uint64 HUBS = 16; // of so many vertices one is taken for a hub

struct State {
    uint64 barrier;
    uint64 giant;    // root of what is probably the largest tree
    uint64 most, of; // samples in it, and all of vertices with neighbours that are linked
    uint64 read;
    Runs runs;
    Counts appended[2]; // of rows by source, of rows by destination
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// With OWN_ALONE, of each vertex: `beyond`, its first neighbour if that is another rank's, else the
// vertex itself; `inside`, a bit: whether it is in the tree of the giant.
struct Alone {
    ID *beyond;
    uint32 *inside;
};

// Each vertex below its first neighbour, if that is smaller: how many edges were read.
__device__ __forceinline__ uint64 seed(const OFFSET *offsets, const ID *neighbours, uint64 n,
                                       ID *parent, Alone alone) {
    uint64 read = 0;
    for (uint64 begin = thread_rank(); begin < n; begin += AT_ONCE * num_threads()) {
        OFFSET start[AT_ONCE], end[AT_ONCE];
        ID first[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = begin + j * num_threads();
            start[j] = end[j] = 0;
            if (v < n)
                start[j] = offsets[v], end[j] = offsets[v + 1];
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j)
            first[j] = start[j] < end[j] ? neighbours[start[j]] : ~(ID)0;
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = begin + j * num_threads();
            if (v >= n)
                continue;
            parent[v] = first[j] < v ? first[j] : (ID)v;
            if (OWN_ALONE)
                alone.beyond[v] = start[j] < end[j] && first[j] >= n ? first[j] : (ID)v;
            read += start[j] < end[j];
        }
    }
    return read;
}

// Links the first two edges of each row; after `seed` the first one is linked seldom.
__device__ uint64 link_second(const OFFSET *offsets, const ID *neighbours, uint64 n, ID *parent) {
    uint64 read = 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        OFFSET start = offsets[v], end = offsets[v + 1];
        for (int j = 0; j < 2 && start + j < end; ++j) {
            ID other = neighbours[start + j];
            if ((j > 0 || other > v) && (!OWN_ALONE || other < n))
                link(parent, (ID)v, other);
            read += j;
        }
    }
    return read;
}

// Rows whose first edges were linked before: none, the one to a smaller vertex by `seed`, or two.
enum Linked { NO_EDGE, ONE_EDGE, TWO_EDGES };

// Links all edges of the vertices outside the tree of `giant`, but of rows that were `linked` as a
// whole. Nobody links when it begins.
__device__ uint64 link_rest(const OFFSET *offsets, const ID *neighbours, const Worklists &lists,
                            Counts *appended, ID *slots, Linked linked, ID giant, bool skips,
                            ID *parent, Alone alone, GridBarrier *barrier) {
    uint64 read = 0;
    giant = root_of(parent, giant);
    {
        Appender appender(lists, Slice{}, appended, slots);
        // Who is inside is known by bits where vertices are linked alone.
        for_roots(parent, lists.n, OWN_ALONE ? giant : ~(ID)0,
                  [&](uint64 v, bool there, ID up, ID root) {
                      bool outside = there && root != giant;
                      if (OWN_ALONE) {
                          uint32 bits = __ballot_sync(FULL_WARP, there && !outside);
                          if (lane() == 0)
                              alone.inside[v / WARP] = bits;
                      }
                      OFFSET degree = 0;
                      if (there && (outside || !skips) && (!OWN_ALONE || alone.beyond[v] == v))
                          degree = offsets[v + 1] - offsets[v];
                      OFFSET skip = linked == ONE_EDGE ? up != v : linked == TWO_EDGES ? 2 : 0;
                      if (degree > skip)
                          read += degree - skip;
                      appender.append(degree > skip, (ID)v, degree);
                  });
        appender.flush();
    }
    grid_sync(barrier);
    Slice slice = {};
    slice.count = fresh_counts(appended);
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

// Shortens the ways of those that were outside the tree of `giant`; who is inside now. Of the
// others the root alone may have another one.
__device__ void shorten_outside(ID *parent, uint64 n, ID giant, uint32 *inside) {
    giant = root_of(parent, giant);
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint32 bits = inside[first / WARP];
        uint64 v = first + lane();
        bool joins = false;
        if (v < n && !(bits >> lane() & 1)) {
            ID up = parent[v], root = risen(parent, (ID)v, up, parent[up]);
            if (root != up)
                parent[v] = root;
            joins = root == giant;
        }
        uint32 joined = __ballot_sync(FULL_WARP, joins);
        if (lane() == 0 && joined != 0)
            inside[first / WARP] = bits | joined;
    }
}

// `both`: every edge is seen from both ends: into_offsets are given, or the rows are symmetric and
// into_offsets null. `holder`, `rank` and `firsts` are null when the order of the dense ids is the
// users'; firsts: the `number` vertices of smallest rank, ascending.
extern "C" __global__ void __launch_bounds__(512, 2)
    components(const OFFSET *offsets, const ID *neighbours, const OFFSET *into_offsets,
               const ID *into_neighbours, uint64 n, uint32 both, const RANK *rank, const ID *firsts,
               uint64 number, ID *queue, ID *piece_row, uint32 *piece, uint32 medium, uint32 large,
               ID *parent, ID *holder, ID *beyond, uint32 *inside, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    Alone alone = {beyond, inside};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (leads)
        start_runs(&state->runs);
    auto count = [&](uint64 read) {
        read = warp_sum(read);
        if (lane() == 0 && read > 0)
            atomicAdd(&state->read, read);
    };
    auto sample = [&]() {
        if (blockIdx.x > 0) {
            // Meanwhile the ways of vertices that many others hang below become short: where ids go
            // by falling degree, the first ones.
            compress(parent, n / HUBS, {blockIdx.x - 1, gridDim.x - 1});
        } else {
            auto counts = [&](ID v) { return !OWN_ALONE || alone.beyond[v] == v; };
            Frequent found = most_frequent(parent, n, counts);
            if (threadIdx.x == 0)
                state->giant = found.root, state->most = found.most, state->of = found.of;
        }
        grid_sync(barrier);
    };
    count(seed(offsets, neighbours, n, parent, alone));
    grid_sync(barrier);
    sample();
    Linked linked = ONE_EDGE;
    if (fresh(&state->most) * 4 < fresh(&state->of) * 3) {
        linked = TWO_EDGES;
        compress(parent, n);
        grid_sync(barrier);
        count(link_second(offsets, neighbours, n, parent));
        grid_sync(barrier);
        compress(parent, n);
        grid_sync(barrier);
        sample();
    }
    ID giant = (ID)fresh(&state->giant);
    uint64 sampled = fresh(&state->read);
    if (leads)
        note_run(&state->runs, 0, 1, n, sampled);
    count(link_rest(offsets, neighbours, lists, state->appended, slots, linked, giant, both, parent,
                    alone, barrier));
    if (into_offsets != nullptr)
        count(link_rest(into_offsets, into_neighbours, lists, state->appended + 1, slots, NO_EDGE,
                        giant, both, parent, alone, barrier));
    if (OWN_ALONE)
        shorten_outside(parent, n, giant, inside);
    else
        for_roots(parent, n, ~(ID)0, [&](uint64 v, bool there, ID, ID root) {
            if (there && holder != nullptr && root == v)
                holder[v] = root;
        });
    grid_sync(barrier);
    if (leads)
        note_run(&state->runs, 1, 1, n, fresh(&state->read) - sampled);
    if (holder == nullptr)
        return;
    smallest_members(parent, n, Order{rank}, firsts, number, giant, holder);
    grid_sync(barrier);
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        parent[v] = holder[parent[v]];
}
