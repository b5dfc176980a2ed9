// Label propagation: all vertices take, at the same time, the label that most of their neighbours
// have, of several the smallest. All supersteps in one launch.
//
// The labels of a vertex's neighbours are counted in a hash table in shared memory: a block's where
// there are many, else a warp's part of it. Whoever is free takes the next vertex. Labels that do
// not all fit are counted in several passes over the row, each for the labels of one residue of
// their hash; how many it takes is tried, as labels become fewer from superstep to superstep.

#include "degree_lists.cuh"
#include "runs.cuh"

constexpr int SLOTS = sizeof(ID) == 8 ? 2048 : 4096; // of a block's table
constexpr int WARP_SLOTS = SLOTS / (BLOCK / WARP);
constexpr ID NOBODY = ~(ID)0;

// Neighbours that a thread counts at once: those of a block fit half of its table.
constexpr int VOTES = SLOTS / 2 / BLOCK;

// Neighbours from which a vertex is a block's: a warp's part of the table is half full with less.
constexpr uint32 LARGE = WARP_SLOTS / 2;

struct Step {
    uint64 small, large; // vertices that were taken
    uint64 changed;
};

struct State {
    uint64 barrier;
    uint64 supersteps;
    uint64 smalls, larges; // vertices with neighbours
    uint64 edges;          // of them
    Runs runs;
    Step steps[3]; // taking turns as in bfs.cu
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// Rows by source, and by destination: these are null where they are the same.
struct Graph {
    const OFFSET *offsets;
    const ID *neighbours;
    const OFFSET *into_offsets;
    const ID *into_neighbours;
};

// The edges of a vertex, those of both rows one after another.
struct Row {
    const ID *out, *into;
    OFFSET outs, size;

    __device__ __forceinline__ Row(const Graph &graph, ID v)
        : out(graph.neighbours + graph.offsets[v]), into(nullptr),
          outs(graph.offsets[v + 1] - graph.offsets[v]), size(outs) {
        if (graph.into_offsets != nullptr) {
            into = graph.into_neighbours + graph.into_offsets[v];
            size += graph.into_offsets[v + 1] - graph.into_offsets[v];
        }
    }

    __device__ __forceinline__ ID operator[](OFFSET i) const {
        return i < outs ? out[i] : into[i - outs];
    }
};

// A label and how many have it.
struct Vote {
    ID label;
    uint32 count;

    // Which of two is taken.
    __device__ __forceinline__ Vote or_better(Vote other) const {
        bool worse =
            other.count > count || (other.count == count && count > 0 && other.label < label);
        return worse ? other : *this;
    }
};

__device__ __forceinline__ Vote best_of_warp(Vote best) {
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        best = best.or_better({__shfl_xor_sync(FULL_WARP, best.label, offset),
                               __shfl_xor_sync(FULL_WARP, best.count, offset)});
    return best;
}

__device__ __forceinline__ uint32 hash_of(ID label) {
    return (uint32)(label ^ (uint64)label >> 32) * 0x9e3779b1u;
}

// Labels and their counts in shared memory. The slots after the one that a label falls to are tried
// in order.
struct Table {
    ID *label;
    uint32 *count;
    uint32 slots, shift; // a power of two, and what it takes to bring 32 bits down to it

    // Room for twice so many labels, if there is.
    __device__ __forceinline__ void resize(uint64 size, uint32 most) {
        slots = 2 * WARP;
        shift = 26;
        for (; slots < 2 * size && slots < most; slots *= 2)
            --shift;
    }

    // Counts a label; whether it is new in the table.
    __device__ __forceinline__ bool add(ID value) {
        uint32 slot = hash_of(value) >> shift;
        while (true) {
            ID seen = fresh(label + slot);
            if (seen == NOBODY)
                seen = compare_and_swap(label + slot, NOBODY, value);
            if (seen == NOBODY || seen == value) {
                atomicAdd(count + slot, 1);
                return seen == NOBODY;
            }
            slot = (slot + 1) & (slots - 1);
        }
    }
};

// The best label of a member's slots after counting all neighbours but v itself, of `passes`
// passes, a power of two, those of one. `taken`: slots, where they may not suffice; when they do
// not it comes to more than half of them, and not all are counted.
template <typename Sync>
__device__ __forceinline__ Vote count_votes(ID v, const Row &row, const ID *labels, Table &table,
                                            uint32 passes, uint32 pass, uint32 *taken,
                                            uint32 member, uint32 members, Sync sync) {
    for (uint32 i = member; i < table.slots; i += members) {
        table.label[i] = NOBODY;
        table.count[i] = 0;
    }
    if (taken != nullptr && member == 0)
        *taken = 0;
    sync();
    for (uint64 first = member; first < row.size; first += (uint64)members * VOTES) {
        // What all add after they have looked fits the other half.
        if (taken != nullptr && fresh(taken) >= table.slots / 2)
            break;
        ID u[VOTES], label[VOTES];
#pragma unroll
        for (int j = 0; j < VOTES; ++j)
            u[j] = first + j * members < row.size ? row[(OFFSET)(first + j * members)] : v;
#pragma unroll
        for (int j = 0; j < VOTES; ++j)
            label[j] = u[j] == v ? 0 : labels[u[j]];
#pragma unroll
        for (int j = 0; j < VOTES; ++j) {
            uint32 hash = hash_of(label[j]);
            if (u[j] == v || ((hash ^ hash >> 16) & (passes - 1)) != pass)
                continue; // a self-loop is no vote
            if (table.add(label[j]) && taken != nullptr)
                atomicAdd(taken, 1);
        }
    }
    sync();
    Vote best = {0, 0};
    for (uint32 i = member; i < table.slots; i += members)
        if (table.count[i] > 0)
            best = best.or_better({table.label[i], table.count[i]});
    return best;
}

// By a block; all its threads get the label.
__device__ Vote vote_of_block(ID v, const Row &row, const ID *labels, Table table, bool distinct,
                              uint32 *taken, Vote *votes) {
    table.resize(row.size, SLOTS);
    bool fits = 2 * row.size <= table.slots;
    uint32 passes = 1;
    while (distinct && !fits && row.size / passes > SLOTS / 8 * 3)
        passes *= 2;
    Vote best = {0, 0};
    for (uint32 pass = 0; pass < passes;) {
        Vote mine = count_votes(v, row, labels, table, passes, pass, fits ? nullptr : taken,
                                threadIdx.x, BLOCK, []() { __syncthreads(); });
        bool all = fits || *taken < table.slots / 2;
        __syncthreads();
        if (all) {
            best = best.or_better(mine);
            ++pass;
        } else {
            best = {0, 0};
            passes *= 2;
            pass = 0;
        }
    }
    best = best_of_warp(best);
    if (lane() == 0)
        votes[warp_in_block()] = best;
    __syncthreads();
    for (uint32 i = 0; i < BLOCK / WARP; ++i)
        best = best.or_better(votes[i]);
    __syncthreads();
    return best;
}

// The least label of the neighbours that a member has of v, where all labels are different and no
// neighbour is repeated: the label that is taken. `simple` becomes false where one may be.
__device__ __forceinline__ ID least_label(ID v, const Row &row, const ID *labels, uint32 member,
                                          uint32 members, bool &simple) {
    ID least = NOBODY;
    for (uint64 i = member; i < row.outs; i += members) {
        ID u = row.out[i];
        simple = simple && (i == 0 || row.out[i - 1] < u);
        ID label = u == v ? NOBODY : labels[u];
        least = label < least ? label : least;
    }
    return least;
}

// Lists the vertices from `from` to before `to` that have neighbours: those of few from the front,
// the others from the back.
__device__ void list_rows(const Graph &graph, uint64 from, uint64 to, ID *todo, ID *slots,
                          State *state) {
    ID *mine = slots + warp_in_block() * 2 * HELD;
    WarpBuffer smalls(mine, &state->smalls, todo);
    WarpBuffer larges(mine + HELD, &state->larges, todo + (to - from - 1), -1);
    uint64 edges = 0;
    for (uint64 first = from + warp_rank() * WARP; first < to; first += num_warps() * WARP) {
        uint64 v = first + lane();
        OFFSET size = v < to ? Row(graph, (ID)v).size : (OFFSET)0;
        edges += size;
        smalls.append(size > 0 && size < LARGE, (ID)v);
        larges.append(size >= LARGE, (ID)v);
    }
    smalls.flush();
    larges.flush();
    edges = warp_sum(edges);
    if (lane() == 0 && edges > 0)
        atomicAdd(&state->edges, edges);
}

// Of a block, in shared memory.
struct Ballots {
    ID label[SLOTS];
    uint32 count[SLOTS];
    Vote votes[BLOCK / WARP];
    uint64 next_large;
    uint32 taken;
};

// The vertices that are listed, of which there is room for `room`, take their labels; how many of
// them this thread has seen change. `distinct`: all labels are different.
__device__ __forceinline__ uint64 vote(const Graph &graph, const ID *todo, uint64 room,
                                       uint64 smalls, uint64 larges, Step *step, const ID *before,
                                       ID *after, bool distinct, Ballots &ballots) {
    uint64 changed = 0;
    while (true) {
        if (threadIdx.x == 0)
            ballots.next_large = atomicAdd(&step->large, 1ull);
        __syncthreads();
        uint64 i = ballots.next_large;
        __syncthreads();
        if (i >= larges)
            break;
        ID v = todo[room - 1 - i];
        Row row(graph, v);
        Vote best = {NOBODY, 0};
        bool simple = distinct && row.into == nullptr;
        if (simple)
            best.label = least_label(v, row, before, threadIdx.x, BLOCK, simple);
        if (__syncthreads_and(simple)) {
            best.label = block_reduce(best.label, NOBODY, Smaller());
            best.count = best.label != NOBODY;
        } else {
            best = vote_of_block(v, row, before, Table{ballots.label, ballots.count, 0, 0},
                                 distinct, &ballots.taken, ballots.votes);
        }
        if (threadIdx.x == 0) {
            ID own = before[v], found = best.count > 0 ? best.label : own;
            after[v] = found;
            changed += found != own;
        }
    }
    uint32 first = warp_in_block() * WARP_SLOTS;
    while (true) {
        uint64 i = 0;
        if (lane() == 0)
            i = atomicAdd(&step->small, 1ull);
        i = __shfl_sync(FULL_WARP, i, 0);
        if (i >= smalls)
            break;
        ID v = todo[i];
        Row row(graph, v);
        Vote best = {NOBODY, 0};
        bool simple = distinct && row.into == nullptr;
        if (simple)
            best.label = least_label(v, row, before, lane(), WARP, simple);
        if (__all_sync(FULL_WARP, simple)) {
            best.label = warp_min(best.label);
            best.count = best.label != NOBODY;
        } else {
            Table table = {ballots.label + first, ballots.count + first, 0, 0};
            table.resize(row.size, WARP_SLOTS);
            best = best_of_warp(count_votes(v, row, before, table, 1, 0, nullptr, lane(), WARP,
                                            []() { __syncwarp(); }));
        }
        if (lane() == 0) {
            ID own = before[v], found = best.count > 0 ? best.label : own;
            after[v] = found;
            changed += found != own;
        }
        __syncwarp();
    }
    return changed;
}

__device__ __forceinline__ void add_changed(uint64 changed, uint64 *sum) {
    changed = warp_sum(changed);
    if (lane() == 0 && changed > 0)
        atomicAdd(sum, changed);
}

// `labels`: n at first, and room for as many again; after an odd number of supersteps they are
// there. `distinct`: all are different at first. Label propagation ends early when a superstep
// changes nothing.
extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    label_propagation(const OFFSET *offsets, const ID *neighbours, const OFFSET *into_offsets,
                      const ID *into_neighbours, uint64 n, uint64 supersteps, uint32 distinct,
                      ID *todo, ID *labels, State *state) {
    __shared__ Ballots ballots;
    Graph graph = {offsets, neighbours, into_offsets, into_neighbours};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (leads)
        start_runs(&state->runs);
    list_rows(graph, 0, n, todo, ballots.label, state);
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        labels[n + v] = labels[v];
    grid_sync(barrier);
    uint64 smalls = fresh(&state->smalls), larges = fresh(&state->larges);
    uint64 edges = fresh(&state->edges);
    for (uint64 superstep = 0; superstep < supersteps; ++superstep) {
        const ID *before = labels + superstep % 2 * n;
        ID *after = labels + (superstep + 1) % 2 * n;
        Step *step = state->steps + superstep % 3;
        add_changed(vote(graph, todo, n, smalls, larges, step, before, after,
                         distinct != 0 && superstep == 0, ballots),
                    &step->changed);
        if (leads)
            state->steps[(superstep + 1) % 3] = Step{};
        grid_sync(barrier);
        if (leads) {
            state->supersteps = superstep + 1;
            note_run(&state->runs, 0, 1, n, edges);
        }
        if (fresh(&step->changed) == 0)
            break;
    }
}

// One superstep of the vertices from `from` to before `to`, whose edges are at hand: `neighbours`
// are where those of edge 0 would be. `after` is as `before`; `distinct`: all labels are different.
extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    label_rows(const OFFSET *offsets, const ID *neighbours, const OFFSET *into_offsets,
               const ID *into_neighbours, uint64 from, uint64 to, ID *todo, const ID *before,
               ID *after, uint32 distinct, uint64 *changed, State *state) {
    __shared__ Ballots ballots;
    Graph graph = {offsets, neighbours, into_offsets, into_neighbours};
    list_rows(graph, from, to, todo, ballots.label, state);
    grid_sync((GridBarrier *)&state->barrier);
    uint64 smalls = fresh(&state->smalls), larges = fresh(&state->larges);
    add_changed(vote(graph, todo, to - from, smalls, larges, state->steps, before, after,
                     distinct != 0, ballots),
                changed);
}
