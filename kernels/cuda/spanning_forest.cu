// Minimum spanning forest by Boruvka's rounds, all of them in one launch.
//
// Vertices are places in the order of the user's ids, and edges a list of their two ends, the
// smaller first. Of the edges that leave a component the lightest is taken, of those of one weight
// the one of smallest ends: that is one edge, so no cycle comes about, and the forest does not
// depend on the order of the work.
//
//   least  weight of the lightest edge that leaves a component, as a number that is ordered alike.
//   best   its ends, 32 bits each.
//
// A round goes over the edges that are left twice: once for `best` among those of the least weight,
// and, when components have been joined, once to drop the edges within them and to find the next
// least weights.

#include "degree_lists.cuh"
#include "runs.cuh"

struct State {
    uint64 barrier;
    uint64 edges, taken; // listed, and in the forest
    uint64 kept[3];      // edges left after a round, taking turns
    Counts appended;
    Runs runs;
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

constexpr uint64 TOP = 1ull << 63;

template <typename T> constexpr bool is_float() {
    return Same<T, float>::value || Same<T, double>::value;
}

// A number that is larger where the weight is, and back.
__device__ __forceinline__ uint64 ordered(WEIGHT weight) {
    if constexpr (is_float<WEIGHT>()) {
        uint64 bits = bits_as<uint64>((double)weight + 0.0); // no zero is below zero
        return bits & TOP ? ~bits : bits | TOP;
    } else if constexpr (Same<WEIGHT, uint64>::value) {
        return weight;
    } else {
        return (uint64)(int64)weight ^ TOP;
    }
}

__device__ __forceinline__ WEIGHT weight_of(uint64 order) {
    if constexpr (is_float<WEIGHT>())
        return (WEIGHT)bits_as<double>(order & TOP ? order ^ TOP : ~order);
    else if constexpr (Same<WEIGHT, uint64>::value)
        return order;
    else
        return (WEIGHT)(int64)(order ^ TOP);
}

// Lists the edges; of an undirected graph each once. `weight` and `rank` are null where all weigh
// the same, and where the dense order is the users'.
extern "C" __global__ void __launch_bounds__(512, 2)
    list_edges(const OFFSET *offsets, const ID *neighbours, const WEIGHT *weight, uint64 n,
               const RANK *rank, uint32 directed, ID *queue, ID *piece_row, uint32 *piece,
               uint32 medium, uint32 large, uint32 *low, uint32 *high, WEIGHT *weights,
               State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    if (blockIdx.x == 0 && threadIdx.x == 0)
        start_runs(&state->runs);
    {
        Appender appender(lists, Slice{}, &state->appended, slots);
        for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
            uint64 v = first + lane();
            appender.append(v < n, (ID)v, v < n ? offsets[v + 1] - offsets[v] : (OFFSET)0);
        }
        appender.flush();
    }
    grid_sync((GridBarrier *)&state->barrier);
    Slice slice = {};
    slice.count = fresh_counts(&state->appended);
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        bool wanted[BATCH];
        uint64 number = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            wanted[j] = j * step < left;
            v[j] = wanted[j] ? neighbours[edge + j * step] : 0;
            wanted[j] = wanted[j] && (directed ? v[j] != u : u < v[j]);
            number += wanted[j];
        }
        uint64 place = warp_places(number, &state->edges);
        uint32 mine = number == 0 ? 0 : rank == nullptr ? (uint32)u : (uint32)rank[u];
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (!wanted[j])
                continue;
            uint32 other = rank == nullptr ? (uint32)v[j] : (uint32)rank[v[j]];
            low[place] = mine < other ? mine : other;
            high[place] = mine < other ? other : mine;
            if (weight != nullptr)
                weights[place] = weight[edge + j * step];
            ++place;
        }
    });
}

struct Edges {
    const uint32 *low, *high;
    const WEIGHT *weight; // null: all weigh the same
    const OFFSET *left;   // which there still are; null: all
    uint64 number;

    __device__ __forceinline__ uint64 at(uint64 i) const { return left == nullptr ? i : left[i]; }

    __device__ __forceinline__ uint64 order(uint64 edge) const {
        return ordered(weight == nullptr ? (WEIGHT)0 : weight[edge]);
    }
};

// For each component the ends of the edge that it takes.
__device__ void choose(const Edges &edges, const uint32 *component, const uint64 *least,
                       uint64 *best) {
    for (uint64 i = thread_rank(); i < edges.number; i += num_threads()) {
        uint64 edge = edges.at(i), order = edges.order(edge);
        uint32 low = edges.low[edge], high = edges.high[edge];
        uint64 ends = (uint64)low << 32 | high;
        uint32 a = component[low], b = component[high];
        if (least[a] == order)
            atomic_min(best + a, ends);
        if (least[b] == order)
            atomic_min(best + b, ends);
    }
}

// Hangs components onto those that their edges lead to, and takes the edges. Where two take the
// same one, the smaller stays.
__device__ void hook(uint64 n, const uint32 *component, const uint64 *least, const uint64 *best,
                     uint32 *parent, uint32 *taken_low, uint32 *taken_high, WEIGHT *taken_weight,
                     State *state) {
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        uint64 ends = v < n ? best[v] : ~0ull;
        bool takes = ends != ~0ull;
        if (takes) {
            uint32 a = component[ends >> 32], b = component[(uint32)ends];
            uint32 other = a == v ? b : a;
            takes = best[other] != ends || other < v;
            if (takes)
                parent[v] = other;
        }
        uint64 place = warp_places(takes, &state->taken);
        if (takes) {
            taken_low[place] = (uint32)(ends >> 32);
            taken_high[place] = (uint32)ends;
            taken_weight[place] = weight_of(least[v]);
        }
    }
}

// The root of a tree, for which paths are made shorter: others go along them too.
__device__ __forceinline__ uint32 root_of(uint32 *parent, uint32 v) {
    uint32 up = fresh(parent + v);
    while (true) {
        uint32 top = fresh(parent + up);
        if (top == up)
            return up;
        parent[v] = top;
        v = up;
        up = top;
    }
}

// Weights of the lightest edges of components; with `kept` of those edges only that join two, which
// are listed there.
__device__ void lightest(const Edges &edges, const uint32 *component, uint64 *least, OFFSET *kept,
                         uint64 *size) {
    for (uint64 first = warp_rank() * WARP; first < edges.number; first += num_warps() * WARP) {
        uint64 i = first + lane(), edge = 0;
        bool joins = i < edges.number;
        if (joins) {
            edge = edges.at(i);
            uint32 a = component[edges.low[edge]], b = component[edges.high[edge]];
            joins = a != b;
            if (joins) {
                uint64 order = edges.order(edge);
                atomic_min(least + a, order);
                atomic_min(least + b, order);
            }
        }
        if (kept == nullptr)
            continue;
        uint64 place = warp_places(joins, size);
        if (joins)
            kept[place] = (OFFSET)edge;
    }
}

// `left`: two lists of all edges. The edges of the forest go to `taken_*`, n of each.
extern "C" __global__ void __launch_bounds__(512, 2)
    spanning_forest(uint64 n, const uint32 *low, const uint32 *high, const WEIGHT *weights,
                    OFFSET *left, uint64 *least, uint64 *best, uint32 *component, uint32 *parent,
                    uint32 *taken_low, uint32 *taken_high, WEIGHT *taken_weight, State *state) {
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (leads && state->runs.time == 0) // edges were listed otherwise
        start_runs(&state->runs);
    uint64 listed = state->edges;
    Edges edges = {low, high, weights, nullptr, listed};
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        component[v] = parent[v] = (uint32)v;
        least[v] = best[v] = ~0ull;
    }
    grid_sync(barrier);
    lightest(edges, component, least, nullptr, nullptr);
    grid_sync(barrier);
    for (uint32 round = 0; edges.number > 0; ++round) {
        choose(edges, component, least, best);
        grid_sync(barrier);
        hook(n, component, least, best, parent, taken_low, taken_high, taken_weight, state);
        if (leads)
            state->kept[(round + 1) % 3] = 0;
        grid_sync(barrier);
        for (uint64 v = thread_rank(); v < n; v += num_threads()) {
            component[v] = root_of(parent, component[v]);
            least[v] = best[v] = ~0ull;
        }
        grid_sync(barrier);
        OFFSET *kept = left + round % 2 * listed;
        lightest(edges, component, least, kept, state->kept + round % 3);
        grid_sync(barrier);
        if (leads)
            note_run(&state->runs, 0, 1, n, edges.number);
        edges.left = kept;
        edges.number = fresh(state->kept + round % 3);
    }
}
