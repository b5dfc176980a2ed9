// Louvain: vertices move to the neighbouring community by which modularity gains most.
//
// In a step the vertices of one class decide, all by what the step before left; then they move, and
// those that have a neighbour in another community now are looked at again. After a round, a step
// for each class, modularity says whether it was worth it: it ends with the best that there was.
// All steps of a level in one launch.
//
//   weigh     loops and degree of every vertex.
//   total     degree of every community.
//   move      a level.
//   measure   what the modularity of some communities is made of.
//   crossing  keys of the edges between communities, to be sorted, and what they weigh.
//   crossing_of  the same of some edges, of rows in another order.
//   row_starts  where keys of some communities begin.
//   smallest  the smallest rank of each community.

#include "communities.cuh"

// A move has to gain more than this part of the vertex's degree.
constexpr double LEAST_GAIN = 1e-10;

// Modularity that a round has to gain for another one.
constexpr double LEAST_ROUND = 1e-4;

struct Round {
    uint64 moved;
    uint64 within;  // weight of edges within communities, or what it gains, modulo 2**64
    uint64 squares; // of the communities' parts of the whole, in 2**-62
};

struct State {
    uint64 barrier;
    double modularity;
    uint64 edges;
    Runs runs;
    Step steps[3]; // taking turns as in bfs.cu
    Round rounds[3];
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// `loops` and `degree` are zero before. A loop counts so many times, as often as it is in its row.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    weigh(const OFFSET *offsets, const ID *neighbours, const SUM *weight, uint64 n, SUM times,
          SUM *loops, SUM *degree) {
    Graph graph = {offsets, neighbours, weight, loops, degree, nullptr, n};
    ID row = 0;
    SUM within = 0, all = 0;
    auto give = [&]() {
        if (within > 0)
            atomicAdd(loops + row, within);
        if (all > 0)
            atomicAdd(degree + row, all);
        within = all = 0;
    };
    for_all_edges(graph, [&](ID v, ID u, SUM w) {
        if (v != row)
            give();
        row = v;
        bool loop = u == v;
        w *= loop ? times : (SUM)1;
        all += w;
        within += loop ? w : 0;
    });
    give();
}

// `totals` is zero before.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    total(const ID *community, const SUM *degree, uint64 n, SUM *totals) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        if (degree[v] > 0)
            atomicAdd(totals + community[v], degree[v]);
}

// Adds to a round: the weight within communities, or what it gains, and the squares.
__device__ __forceinline__ void add_to_round(uint64 within, uint64 n, const SUM *totals,
                                             double total, Round *round) {
    uint64 squares = 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        double part = (double)totals[v] / total;
        squares += (uint64)(part * part * 0x1p62);
    }
    within = warp_sum(within);
    squares = warp_sum(squares);
    if (lane() == 0) {
        atomicAdd(&round->within, within);
        atomicAdd(&round->squares, squares);
    }
}

// Adds to the round what modularity is made of, of all edges.
__device__ __noinline__ void add_modularity(const Graph &graph, const ID *community,
                                            const SUM *totals, double total, Round *round) {
    uint64 within = 0;
    for_all_edges(graph, [&](ID v, ID u, SUM w) {
        within += u != v && community[u] == community[v] ? w : 0;
    });
    for (uint64 v = thread_rank(); v < graph.n; v += num_threads())
        within += graph.loops[v];
    add_to_round(within, graph.n, totals, total, round);
}

__device__ __forceinline__ double modularity_of(uint64 within, const Round *round, double total,
                                                double resolution) {
    double expected = __dmul_rn(resolution, (double)fresh(&round->squares) * 0x1p-62);
    return __dsub_rn((double)within / total, expected);
}

// `round` is zero before.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    measure(const OFFSET *offsets, const ID *neighbours, const SUM *weight, const SUM *loops,
            uint64 n, double total, const ID *community, const SUM *totals, Round *round) {
    Graph graph = {offsets, neighbours, weight, loops, nullptr, nullptr, n};
    add_modularity(graph, community, totals, total, round);
}

// What a vertex weighs labels by; all of it is the same for the whole step.
struct Moving {
    const ID *community;
    const SUM *totals;
    double scale;
    uint64 salt;
    uint32 turn;

    // The label that v goes to.
    template <typename Choose>
    __device__ __forceinline__ ID destination(const Graph &graph, ID v, Choose choose) const {
        ID own = community[v];
        SUM k = graph.degree[v];
        double scaled = __dmul_rn(scale, (double)k);
        bool single = totals[own] == k;
        Found found = choose(
            own,
            [&](ID u) {
                ID label = community[u];
                // Of two alone that would join each other at the same time one does.
                bool waits = single && label > own && totals[label] == graph.degree[u] &&
                             class_of(graph.label(u), salt) == turn;
                return u == v || waits ? NOBODY : label;
            },
            [&](ID label, SUM to) { return gain_of(to, scaled, totals[label]); });
        double stay = gain_of(found.stays, scaled, totals[own] - k);
        double most = __dadd_rn(stay, __dmul_rn(LEAST_GAIN, (double)k));
        ID to = own;
        if (found.best.gain > most) {
            to = found.best.label;
            most = found.best.gain;
        }
        ID alone = graph.label(v); // as a label, if nobody has it
        return most < 0 && totals[alone] == 0 ? alone : to;
    }
};

// `community`: labels at first, and at the end those of the last round; `best` those of the highest
// modularity. `active`: whether to look at a vertex, or FIXED. `was`: labels before the step, of
// those that moved in it.
extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    move(const OFFSET *offsets, const ID *neighbours, const SUM *weight, const SUM *loops,
         const SUM *degree, const ID *rank, uint64 n, double total, double resolution, uint64 salt,
         ID *far_label, SUM *far_sum, uint32 far_slots, uint8 *active, ID *todo, ID *found, ID *was,
         ID *community, ID *best, SUM *totals, State *state) {
    __shared__ ID label[SLOTS];
    __shared__ SUM sum[SLOTS];
    __shared__ Choice choices[BLOCK / WARP];
    __shared__ SUM stays[BLOCK / WARP];
    __shared__ uint32 taken;
    Graph graph = {offsets, neighbours, weight, loops, degree, rank, n};
    BlockRoom room = {label,
                      sum,
                      far_label + (uint64)blockIdx.x * far_slots,
                      far_sum + (uint64)blockIdx.x * far_slots,
                      far_slots,
                      &taken,
                      choices,
                      stays};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    uint32 first = warp_in_block() * WARP_SLOTS;
    if (leads)
        start_runs(&state->runs);
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        best[v] = community[v];
    add_modularity(graph, community, totals, total, &state->rounds[2]);
    grid_sync(barrier);
    uint64 within = fresh(&state->rounds[2].within);
    double reached = modularity_of(within, &state->rounds[2], total, resolution);
    uint64 step_number = 0, rounds = 0;
    bool goes_on = true;
    while (goes_on) {
        Round *round = state->rounds + rounds % 3;
        if (leads)
            state->rounds[(rounds + 1) % 3] = Round{};
        uint64 moved = 0, edges = 0, gained = 0;
        for (uint64 v = thread_rank(); v < n; v += num_threads())
            was[v] = NOBODY;
        Moving moving = {community, totals, resolution / total, mixed(salt + rounds), 0};
        for (; moving.turn < CLASSES; ++moving.turn) {
            Step *step = state->steps + step_number % 3;
            if (leads)
                state->steps[(step_number + 1) % 3] = Step{};
            edges += list_class(
                graph, moving.turn, moving.salt, todo, label, step,
                [&](ID v) {
                    bool is = active[v] == 1;
                    if (is)
                        active[v] = 0;
                    return is;
                },
                [&](ID v) { was[v] = NOBODY; });
            grid_sync(barrier);
            ++step_number;
            if (!step->any())
                continue;
            for_listed(
                todo, n, step,
                [&](uint64 place, ID v) {
                    ID to = moving.destination(graph, v, [&](ID own, auto label_of, auto rate) {
                        return choice_of_block(graph, v, own, room, rounds == 0, label_of, rate);
                    });
                    if (threadIdx.x == 0)
                        found[place] = to;
                },
                [&](uint64 place, ID v) {
                    ID to = moving.destination(graph, v, [&](ID own, auto label_of, auto rate) {
                        return choice_of_warp(graph, v, own, label + first, sum + first, label_of,
                                              rate);
                    });
                    if (lane() == 0)
                        found[place] = to;
                });
            grid_sync(barrier);
            uint64 now = 0;
            for_each_listed(todo, n, step, [&](uint64 place, ID v) {
                ID own = community[v], to = found[place];
                if (to == own) {
                    found[place] = NOBODY;
                    return;
                }
                atomicAdd(totals + own, (SUM)0 - degree[v]);
                atomicAdd(totals + to, degree[v]);
                community[v] = to;
                was[v] = own;
                ++now;
            });
            moved += now;
            step->add_moved(now);
            grid_sync(barrier);
            if (!step->any_moved())
                continue;
            for_listed_edges(
                graph, todo, step, [&](uint64 place) { return found[place] != NOBODY; },
                [&](uint64 place, ID v, OFFSET edge) {
                    ID u = neighbours[edge];
                    SUM w = graph.weight_of(edge);
                    if (u == v || w == 0)
                        return;
                    ID to = community[u], before = was[u];
                    bool stays = before == NOBODY;
                    uint64 gain = to == found[place] ? w : 0;
                    gain -= (stays ? to : before) == was[v] ? w : 0;
                    gained += stays ? 2 * gain : gain; // of the other direction, too
                    if (to != found[place] && active[u] == 0)
                        active[u] = 1;
                });
            grid_sync(barrier);
        }
        moved = warp_sum(moved);
        edges = warp_sum(edges);
        if (lane() == 0) {
            atomicAdd(&round->moved, moved);
            atomicAdd(&state->edges, edges);
        }
        add_to_round(gained, n, totals, total, round);
        grid_sync(barrier);
        within += fresh(&round->within);
        double now = modularity_of(within, round, total, resolution);
        goes_on = fresh(&round->moved) > 0 && now > reached + LEAST_ROUND;
        if (now > reached) {
            reached = now;
            for (uint64 v = thread_rank(); v < n; v += num_threads())
                best[v] = community[v];
        }
        ++rounds;
    }
    if (leads) {
        state->modularity = reached;
        note_run(&state->runs, 0, rounds, n, fresh(&state->edges));
    }
}

// `community[v]`, of so many bits, is the vertex that v becomes a part of.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    crossing(const OFFSET *offsets, const ID *neighbours, const SUM *weight, uint64 n,
             const ID *community, uint32 bits, uint64 *keys, SUM *weights, uint64 *size) {
    Graph graph = {offsets, neighbours, weight, nullptr, nullptr, nullptr, n};
    uint64 edges = graph.num_edges();
    for (uint64 first = warp_rank() * WARP; first < (edges + CHUNK - 1) / CHUNK;
         first += num_warps() * WARP) {
        uint64 begin = (first + lane()) * CHUNK, number = 0;
        RowOf row_of = {offsets, n, 0, false};
        uint64 key[CHUNK];
#pragma unroll
        for (uint32 j = 0; j < CHUNK; ++j) {
            uint64 from = 0, to = 0;
            if (begin + j < edges) {
                from = community[row_of(begin + j)];
                to = community[neighbours[begin + j]];
            }
            bool crosses = from != to && graph.weight_of((OFFSET)(begin + j)) > 0;
            key[j] = crosses ? from << bits | to : 0; // of two different ones: not 0
            number += crosses;
        }
        uint64 place = warp_places(number, size);
#pragma unroll
        for (uint32 j = 0; j < CHUNK; ++j) {
            if (key[j] == 0)
                continue;
            keys[place] = key[j];
            if (weight != nullptr)
                weights[place] = weight[begin + j];
            ++place;
        }
    }
}

// Of rows in an order, which end at `ends` one behind another: edges `low` to `high`.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    crossing_of(const OFFSET *offsets, const ID *neighbours, const SUM *weight, const int64 *order,
                const uint64 *ends, uint64 n, uint64 low, uint64 high, const ID *community,
                uint32 bits, uint64 *keys, SUM *weights, uint64 *size) {
    for (uint64 first = low + warp_rank() * WARP; first < high; first += num_warps() * WARP) {
        uint64 i = first + lane(), from = 0, to = 0;
        SUM w = 0;
        if (i < high) {
            uint64 row = upper_bound(ends + 1, n, i);
            ID v = (ID)order[row];
            uint64 edge = offsets[v] + (i - ends[row]);
            from = community[v];
            to = community[neighbours[edge]];
            w = weight == nullptr ? (SUM)1 : weight[edge];
        }
        bool crosses = from != to && w > 0;
        uint64 place = warp_places(crosses, size);
        if (crosses) {
            keys[place] = from << bits | to;
            weights[place] = w;
        }
    }
}

// Where the sorted keys begin of communities from `first` on, behind so many others.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    row_starts(const uint64 *keys, uint64 size, uint32 bits, uint64 first, uint64 number,
               uint64 before, uint64 *starts) {
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        uint64 below = first + i == 0 ? 0 : upper_bound(keys, size, ((first + i) << bits) - 1);
        starts[first + i] = before + below;
    }
}

// `smallest` is no rank before.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    smallest(const ID *community, const ID *rank, uint64 n, ID *smallest) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        atomic_min(smallest + community[v], rank == nullptr ? (ID)v : rank[v]);
}
