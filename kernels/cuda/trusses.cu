// Trusses over symmetric rows, ascending, without repeats and self-loops: edges in few triangles
// are taken away.
//
// An edge leads from `low` to `high`, the smaller of its ends and the other one, and edges are
// numbered in the order of both. Both directions of it, its arcs, are in the rows, and `number`
// says which edge each is of.
//
//   count_after  edges of which each vertex is the low end.
//   number_arcs  the edge of each arc, and the ends of each edge.
//   supports     triangles that each edge is in. A warp takes an edge.
//   peel         takes the edges of the smallest support away, those that come down to it after
//                them, and so on: one launch a level, a round between two barriers.

#include "common.cuh"

enum EdgeState : uint8 { LEFT, NOW, GONE };

struct Rows {
    const OFFSET *offsets;
    const ID *neighbours;
    const OFFSET *number;

    __device__ __forceinline__ OFFSET length(ID v) const { return offsets[v + 1] - offsets[v]; }
};

// Arcs that lead to vertices which do not come after v.
__device__ __forceinline__ OFFSET not_after(const OFFSET *offsets, const ID *neighbours, ID v) {
    return upper_bound(neighbours + offsets[v], offsets[v + 1] - offsets[v], v);
}

extern "C" __global__ void count_after(const OFFSET *offsets, const ID *neighbours, uint64 n,
                                       OFFSET *after) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        after[v] = offsets[v + 1] - offsets[v] - not_after(offsets, neighbours, (ID)v);
}

// `starts`: the number of the first edge of which each vertex is the low end.
extern "C" __global__ void number_arcs(const OFFSET *offsets, const ID *neighbours, uint64 n,
                                       uint64 arcs, const OFFSET *starts, OFFSET *number, ID *low,
                                       ID *high) {
    for (uint64 arc = thread_rank(); arc < arcs; arc += num_threads()) {
        ID u = (ID)upper_bound(offsets + 1, n, (OFFSET)arc), v = neighbours[arc];
        OFFSET place = arc - offsets[u];
        ID from = u;
        if (v < u) {
            from = v;
            place = upper_bound(neighbours + offsets[v], offsets[v + 1] - offsets[v], u) - 1;
        }
        OFFSET edge = starts[from] + place - not_after(offsets, neighbours, from);
        number[arc] = edge;
        if (u < v) {
            low[edge] = u;
            high[edge] = v;
        }
    }
}

// Calls `visit` with the two other edges of each triangle of an edge, by one of the lanes, which
// share the shorter row of both ends. `state`: edges that are gone are in no triangle; null: all
// are left. Returns this lane's arcs read.
template <typename Visit>
__device__ __forceinline__ uint64 for_triangles(const Rows &rows, ID a, ID b, const uint8 *state,
                                                Visit visit) {
    if (rows.length(a) > rows.length(b)) {
        ID other = a;
        a = b;
        b = other;
    }
    OFFSET start = rows.offsets[b], size = rows.length(b), stop = rows.offsets[a + 1];
    uint64 read = 0;
    for (OFFSET arc = rows.offsets[a] + lane(); arc < stop; arc += WARP) {
        OFFSET first = rows.number[arc];
        ++read;
        if (state != nullptr && fresh(state + first) == GONE)
            continue;
        ID wanted = rows.neighbours[arc];
        uint64 place = upper_bound(rows.neighbours + start, size, wanted);
        if (place == 0 || rows.neighbours[start + place - 1] != wanted)
            continue;
        OFFSET second = rows.number[start + place - 1];
        if (state == nullptr || fresh(state + second) != GONE)
            visit(first, second);
    }
    return read;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    supports(const OFFSET *offsets, const ID *neighbours, const OFFSET *number, const ID *low,
             const ID *high, uint64 edges, uint32 *support, uint64 *counts) {
    Rows rows = {offsets, neighbours, number};
    uint64 read = 0;
    for (uint64 e = warp_rank(); e < edges; e += num_warps()) {
        uint32 found = 0;
        read += for_triangles(rows, low[e], high[e], nullptr, [&](OFFSET, OFFSET) { ++found; });
        found = warp_sum(found);
        if (lane() == 0)
            support[e] = found;
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(counts, read);
}

// `now`: `size` edges of support `level`, whose state is NOW. `next`: room for all edges.
// `counts`: arcs read and rounds, which are added to; then three zeros, edges that come next.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    peel(const OFFSET *offsets, const ID *neighbours, const OFFSET *number, const ID *low,
         const ID *high, uint32 level, OFFSET *now, OFFSET *next, uint64 size, uint8 *state,
         uint32 *support, uint64 *counts, GridBarrier *barrier) {
    Rows rows = {offsets, neighbours, number};
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    uint64 read = 0, rounds = 0;
    for (; size > 0; ++rounds) {
        uint64 *found = counts + 2 + rounds % 3;
        if (leads)
            counts[2 + (rounds + 1) % 3] = 0;
        auto bring_down = [&](OFFSET edge) {
            if (fresh(support + edge) <= level)
                return;
            uint32 old = atomicAdd(support + edge, ~0u);
            if (old == level + 1)
                next[atomicAdd(found, 1ull)] = edge;
            else if (old <= level) // another had brought it down meanwhile
                atomicAdd(support + edge, 1u);
        };
        for (uint64 i = warp_rank(); i < size; i += num_warps()) {
            OFFSET e = fresh(now + i);
            read += for_triangles(rows, low[e], high[e], state, [&](OFFSET f, OFFSET g) {
                bool first = fresh(state + f) == LEFT, second = fresh(state + g) == LEFT;
                // Of two edges that go in one round the one with the smaller number counts.
                if (first && (second || e < g))
                    bring_down(f);
                if (second && (first || e < f))
                    bring_down(g);
            });
        }
        grid_sync(barrier);
        uint64 more = fresh(found);
        for (uint64 i = thread_rank(); i < size; i += num_threads())
            state[fresh(now + i)] = GONE;
        for (uint64 i = thread_rank(); i < more; i += num_threads())
            state[fresh(next + i)] = NOW;
        grid_sync(barrier);
        OFFSET *list = now;
        now = next;
        next = list;
        size = more;
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(counts, read);
    if (leads) {
        counts[1] += rounds;
        counts[2] = counts[3] = counts[4] = 0;
    }
}

// Edges get the end first that comes first in the user's order, and keys that are in the order of
// both.
extern "C" __global__ void keys_of_edges(const ID *rank, uint64 edges, ID *low, ID *high,
                                         uint64 *keys) {
    for (uint64 i = thread_rank(); i < edges; i += num_threads()) {
        ID first = low[i], second = high[i];
        if (rank[second] < rank[first]) {
            low[i] = second;
            high[i] = first;
            first = low[i], second = high[i];
        }
        keys[i] = (uint64)rank[first] << 32 | (uint64)rank[second];
    }
}
