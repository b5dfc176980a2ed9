// Leiden's refinement: parts of communities that are well connected, each found by joining
// vertices.
//
// Every vertex is a part at first. In a step the vertices of one class that are still alone, and
// well connected to their community, choose the part of it that is so too by which they gain most;
// not those whose founder is alone and may leave in the same step, so that every part stays
// connected. A step for each class.
//
//   cuts       weight from every vertex to the rest of its community.
//   refine     the steps, in one launch.
//   connected  what is joined by edges within communities.

#include "communities.cuh"

struct State {
    uint64 barrier;
    uint64 changed[3]; // taking turns
    Runs runs;
    Step steps[3];
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// `cut`, by own labels, is zero before.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    cuts(const OFFSET *offsets, const ID *neighbours, const SUM *weight, const ID *rank, uint64 n,
         const ID *community, SUM *cut) {
    Graph graph = {offsets, neighbours, weight, nullptr, nullptr, rank, n};
    ID row = 0;
    SUM all = 0;
    for_all_edges(graph, [&](ID v, ID u, SUM w) {
        if (v != row && all > 0) {
            atomicAdd(cut + graph.label(row), all);
            all = 0;
        }
        row = v;
        all += u != v && community[u] == community[v] ? w : 0;
    });
    if (all > 0)
        atomicAdd(cut + graph.label(row), all);
}

// Parts, by the label of the vertex that each began with.
struct Parts {
    SUM *degree;
    SUM *cut; // weight to the rest of the community
    uint8 *alone;

    // Whether as much as could be expected leads to the rest of a community of this degree.
    __device__ __forceinline__ bool well_connected(ID part, double scale, SUM total) const {
        double expected =
            __dmul_rn(__dmul_rn(scale, (double)degree[part]), (double)(total - degree[part]));
        return (double)cut[part] >= expected;
    }
};

// `part`: own labels at first; `part_degree` the degree of each. `joined`: zeros.
extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    refine(const OFFSET *offsets, const ID *neighbours, const SUM *weight, const SUM *degree,
           const ID *rank, uint64 n, double scale, uint64 salt, ID *far_label, SUM *far_sum,
           uint32 far_slots, const ID *community, const SUM *totals, ID *todo, ID *found, ID *part,
           SUM *part_degree, SUM *cut, uint8 *alone, uint8 *joined, State *state) {
    __shared__ ID label[SLOTS];
    __shared__ SUM sum[SLOTS];
    __shared__ Choice choices[BLOCK / WARP];
    __shared__ SUM stays[BLOCK / WARP];
    __shared__ uint32 taken;
    Graph graph = {offsets, neighbours, weight, nullptr, degree, rank, n};
    Parts parts = {part_degree, cut, alone};
    BlockRoom room = {label,
                      sum,
                      far_label + (uint64)blockIdx.x * far_slots,
                      far_sum + (uint64)blockIdx.x * far_slots,
                      far_slots,
                      &taken,
                      choices,
                      stays};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    uint32 first = warp_in_block() * WARP_SLOTS;
    for (uint32 turn = 0; turn < CLASSES; ++turn) {
        Step *step = state->steps + turn % 3;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            state->steps[(turn + 1) % 3] = Step{};
        list_class(
            graph, turn, salt, todo, label, step,
            [&](ID v) {
                ID own = graph.label(v);
                return alone[own] && cut[own] > 0 &&
                       parts.well_connected(own, scale, totals[community[v]]);
            },
            [](ID) {});
        grid_sync(barrier);
        if (!step->any())
            continue;
        auto destination = [&](ID v, auto choose) {
            ID own = graph.label(v), within = community[v];
            double scaled = __dmul_rn(scale, (double)degree[v]);
            Found best = choose(
                own,
                [&](ID u) {
                    ID to = part[u];
                    bool may_leave = alone[to] && class_of(to, salt) == turn;
                    return u == v || community[u] != within || may_leave ? NOBODY : to;
                },
                [&](ID to, SUM edges) {
                    bool well = parts.well_connected(to, scale, totals[within]);
                    return well ? gain_of(edges, scaled, part_degree[to]) : -1.0;
                });
            return best.best.gain >= 0 ? best.best.label : NOBODY;
        };
        for_listed(
            todo, n, step,
            [&](uint64 place, ID v) {
                ID to = destination(v, [&](ID own, auto label_of, auto rate) {
                    return choice_of_block(graph, v, own, room, turn == 0, label_of, rate);
                });
                if (threadIdx.x == 0)
                    found[place] = to;
            },
            [&](uint64 place, ID v) {
                ID to = destination(v, [&](ID own, auto label_of, auto rate) {
                    return choice_of_warp(graph, v, own, label + first, sum + first, label_of,
                                          rate);
                });
                if (lane() == 0)
                    found[place] = to;
            });
        grid_sync(barrier);
        uint64 now = 0;
        for_each_listed(todo, n, step, [&](uint64 place, ID v) {
            ID own = graph.label(v), to = found[place];
            if (to == NOBODY)
                return;
            ++now;
            part[v] = to;
            joined[v] = (uint8)(turn + 1);
            alone[own] = 0;
            alone[to] = 0;
            atomicAdd(part_degree + to, degree[v]);
            part_degree[own] = 0;
        });
        step->add_moved(now);
        grid_sync(barrier);
        if (!step->any_moved())
            continue;
        // What was between a part and those who joined it is within it now, what is between those
        // who joined it never was outside, and the rest of theirs is.
        for_listed_sums(
            graph, todo, step, [&](uint64 place) { return found[place] != NOBODY; },
            [&](uint64 place, ID v, OFFSET edge) {
                ID u = neighbours[edge];
                if (u == v || community[u] != community[v])
                    return (SUM)0;
                if (part[u] != found[place])
                    return graph.weight_of(edge);
                return joined[u] == turn + 1 ? (SUM)0 : (SUM)0 - graph.weight_of(edge);
            },
            [&](uint64 place, SUM change) { atomicAdd(cut + found[place], change); });
        grid_sync(barrier);
    }
}

// `root[v]`: the smallest vertex that v is joined to within its community by edges with a weight.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    connected(const OFFSET *offsets, const ID *neighbours, const SUM *weight, uint64 n,
              const ID *community, ID *root, State *state) {
    Graph graph = {offsets, neighbours, weight, nullptr, nullptr, nullptr, n};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        root[v] = (ID)v;
    grid_sync(barrier);
    for (uint64 sweep = 0;; ++sweep) {
        bool changed = false;
        if (blockIdx.x == 0 && threadIdx.x == 0)
            state->changed[(sweep + 1) % 3] = 0;
        for_all_edges(graph, [&](ID v, ID u, SUM w) {
            if (u == v || community[u] != community[v] || w == 0)
                return;
            ID low = fresh(root + u), high = fresh(root + v);
            if (low >= high)
                return;
            atomic_min(root + high, low);
            atomic_min(root + v, low);
            changed = true;
        });
        if (__any_sync(FULL_WARP, changed) && lane() == 0)
            atomicAdd(&state->changed[sweep % 3], 1ull);
        grid_sync(barrier);
        for (uint64 v = thread_rank(); v < n; v += num_threads()) {
            ID low = fresh(root + v);
            while (fresh(root + low) < low)
                low = fresh(root + low);
            root[v] = low;
        }
        grid_sync(barrier);
        if (fresh(&state->changed[sweep % 3]) == 0)
            break;
    }
}
