// Frontiers of few edges, which a kernel goes on from without the host: rows are read where they
// lie.

#pragma once

#include "neighbours.cuh"

// The frontier of a level: its vertices, their edges, and how many have few of them and how many
// have many, which are in lists as far as these are long enough.
struct Frontier {
    uint64 size, edges, few, many;
};

struct Edges {
    const OFFSET *offsets;
    InTiers neighbours;
    uint64 n;
};

// Levels of a launch at most: one of very many can be interrupted.
constexpr uint64 MOST_CREPT = 65536;

// A frontier that `creep` takes: rows up to FEW edges, which are a warp's each, and longer ones, of
// which each is all warps'.
constexpr uint64 MOST_MANY = 1024, FEW = 1024;

// Of a level and the next: room for `most` rows of few edges, then for those of many.
struct Lists {
    ID *rows;
    uint64 most;

    __device__ __forceinline__ ID *few(uint64 depth) const {
        return rows + depth % 2 * (most + MOST_MANY);
    }

    __device__ __forceinline__ ID *many(uint64 depth) const { return few(depth) + most; }
};

// Appends to a list for which it may be too long. By whole warps.
__device__ __forceinline__ void append_some(bool wanted, ID v, uint64 *listed, ID *list,
                                            uint64 most) {
    uint32 votes = __ballot_sync(FULL_WARP, wanted);
    if (votes == 0)
        return;
    uint64 first = 0;
    if (lane() == 0)
        first = atomicAdd(listed, (uint64)__popc(votes));
    first = __shfl_sync(FULL_WARP, first, 0) + __popc(votes & lower_lanes());
    if (wanted && first < most)
        list[first] = v;
}

__device__ __forceinline__ void append_row(bool wanted, ID v, uint64 length, Frontier *step,
                                           const Lists &lists, uint64 depth) {
    append_some(wanted && length <= FEW, v, &step->few, lists.few(depth), lists.most);
    append_some(wanted && length > FEW, v, &step->many, lists.many(depth), MOST_MANY);
}

__device__ __forceinline__ void add_block(uint64 *sum, uint64 mine) {
    mine = block_sum(mine);
    if (threadIdx.x == 0 && mine > 0)
        atomicAdd(sum, mine);
}

// What a kernel has gone along: the level where it stopped, and the vertices of that; of this
// thread edges, and those of them on the host; of all vertices that sent.
struct Crept {
    uint64 depth, size, edges, behind, vertices;
};

// Lanes that a row has where rows have half as many edges on average, so that a warp takes several:
// warps ask for places in a list one by one, and those that ask at once wait for each other.
constexpr uint32 SHARED = 8;

// Goes on from a level to the next, up to `last`, as long as there are vertices and these have
// fewer than `few` edges. row(u, depth) gives what is called with each neighbour of u, and says
// whether that is of the next level. `steps`: three, of levels in turn. Cooperative.
template <typename Row>
__device__ __forceinline__ Crept creep_on(const Edges &edges, Frontier *steps, GridBarrier *barrier,
                                          const Lists &lists, uint64 first, uint64 last, uint64 few,
                                          Row row) {
    Crept crept = {first, fresh(&steps[first % 3].size), 0, 0, 0};
    for (;; ++crept.depth) {
        const uint64 depth = crept.depth;
        Frontier *step = steps + depth % 3, *next = steps + (depth + 1) % 3;
        uint64 num_few = fresh(&step->few), num_many = fresh(&step->many);
        uint64 num_edges = fresh(&step->edges);
        if (depth > first)
            crept.size = num_few + num_many;
        if (crept.size == 0 || num_few > lists.most || num_many > MOST_MANY || num_edges >= few ||
            depth >= last || depth - first >= MOST_CREPT)
            return crept;
        if (thread_rank() == 0)
            steps[(depth + 2) % 3] = Frontier{};
        const ID *rows = lists.few(depth), *long_rows = lists.many(depth);
        crept.vertices += crept.size;
        uint64 sent = 0;
        auto visit = [&](bool is_edge, uint64 e, auto &take) { // a warp
            bool taken = false;
            ID v = 0;
            if (is_edge) {
                v = edges.neighbours[e];
                crept.edges += 1;
                crept.behind += edges.neighbours.is_far(e);
                taken = take(v);
            }
            uint64 degree = taken ? edges.offsets[v + 1] - edges.offsets[v] : 0;
            sent += degree;
            append_row(taken, v, degree, next, lists, depth + 1);
        };
        // A row but for its first edges: a warp, of so many.
        auto along = [&](ID u, OFFSET skipped, uint64 at, uint64 of) {
            OFFSET begin = edges.offsets[u] + skipped, end = edges.offsets[u + 1];
            auto take = row(u, depth);
            // Whole lines of the link.
            for (uint64 base = begin - begin % WARP + at * WARP; base < end; base += of * WARP)
                visit(base + lane() >= begin && base + lane() < end, base + lane(), take);
        };
        if (num_edges <= num_few * (SHARED / 2)) {
            constexpr uint32 ROWS = WARP / SHARED;
            const uint32 mine = lane() / SHARED, at = lane() % SHARED;
            for (uint64 i = warp_rank() * ROWS; i < num_few; i += num_warps() * ROWS) {
                bool is_row = i + mine < num_few;
                ID u = is_row ? rows[i + mine] : 0;
                OFFSET begin = is_row ? edges.offsets[u] : 0;
                OFFSET end = is_row ? edges.offsets[u + 1] : 0;
                auto take = row(u, depth);
                visit(begin + at < end, begin + at, take);
                bool longer = at == 0 && begin + SHARED < end;
                for (uint32 votes = __ballot_sync(FULL_WARP, longer); votes; votes &= votes - 1)
                    along(__shfl_sync(FULL_WARP, u, __ffs(votes) - 1), SHARED, 0, 1);
            }
        } else {
            for (uint64 i = warp_rank(); i < num_few; i += num_warps())
                along(rows[i], 0, 0, 1);
        }
        for (uint64 i = 0; i < num_many; ++i)
            along(long_rows[i], 0, warp_rank(), num_warps());
        add_block(&next->edges, sent);
        grid_sync(barrier);
    }
}
