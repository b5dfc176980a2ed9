// Number of shortest paths over finished breadth-first levels and edges that come in parts.
//
// count: int64 or double, 1 at the source, else 0. A level after the other: find_level, then a
// count_part for each part adds the counts of its vertices to those of their out-neighbours that
// are of the next; or (`pulls`, where rows are in-edges too), of the rows of the next level, those
// of the neighbours that are of this one. `overflow` becomes 1 where one does not fit.
// Levels of few edges: begin_level and list_level list the vertices of one, and creep_counts goes
// on from it, level after level, reading rows where they lie, up to one of many edges or the last.

#include "path_counts.cuh"
#include "tier_frontier.cuh"
#include "tier_levels.cuh"

extern "C" __global__ void __launch_bounds__(256)
    count_part(Part part, const int32 *level, int32 depth, uint32 pulls, COUNT *count,
               uint64 *overflow, uint64 *read) {
    bool bad = false;
    int32 other = pulls ? depth : depth + 1;
    uint64 mine = for_part(part, [&](ID u, ID v) {
        bool first;
        if (level[v] == other)
            bad |= pulls ? add(count + u, count[v], first) : add(count + v, count[u], first);
    });
    count_read(mine, read);
    if (bad)
        *overflow = 1;
}

// The host reads the first words: the level that is next, what `overflow` is above, edges that were
// gone along, and those of them on the host.
struct Walk {
    uint64 depth, overflow, walked, behind;
    Frontier steps[3]; // of levels in turn
    uint64 barrier;
};
static_assert(sizeof(Walk) <= 256, "what the host allocates");

// One thread.
extern "C" __global__ void begin_level(Walk *walk, uint64 depth) {
    if (threadIdx.x > 0)
        return;
    walk->depth = depth;
    walk->steps[depth % 3] = walk->steps[(depth + 1) % 3] = Frontier{};
}

extern "C" __global__ void __launch_bounds__(256)
    list_level(Edges edges, const int32 *level, Walk *walk, Lists lists) {
    uint64 depth = walk->depth, size = 0, sent = 0;
    Frontier *step = walk->steps + depth % 3;
    for (uint64 base = warp_rank() * WARP; base < edges.n; base += num_warps() * WARP) {
        uint64 v = base + lane();
        bool in = v < edges.n && level[v] == (int32)depth;
        uint64 length = in ? edges.offsets[v + 1] - edges.offsets[v] : 0;
        if (__any_sync(FULL_WARP, in && fresh(&step->few) <= lists.most)) // else there are too many
            append_row(in, (ID)v, length, step, lists, depth);
        size += in;
        sent += length;
    }
    add_block(&step->size, size);
    add_block(&step->edges, sent);
}

// Level after level before `last`, as long as these have fewer than `few` edges. Cooperative.
extern "C" __global__ void __launch_bounds__(256)
    creep_counts(Edges edges, const int32 *level, COUNT *count, Walk *walk, Lists lists,
                 uint64 last, uint64 few) {
    bool bad = false;
    GridBarrier *barrier = (GridBarrier *)&walk->barrier;
    Crept crept = creep_on(edges, walk->steps, barrier, lists, fresh(&walk->depth), last, few,
                           [&](ID u, uint64 depth) {
                               COUNT paths = fresh(count + u);
                               return [=, &bad](ID v) {
                                   bool reached = false;
                                   if (level[v] == (int32)depth + 1)
                                       bad |= add(count + v, paths, reached);
                                   return reached;
                               };
                           });
    add_block(&walk->walked, crept.edges);
    add_block(&walk->behind, crept.behind);
    if (bad)
        walk->overflow = 1;
    if (thread_rank() == 0)
        walk->depth = crept.depth;
}
