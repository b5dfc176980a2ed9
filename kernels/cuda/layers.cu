// Monotone programs over edges by layers: passes over stretches of edges, improved where they stand
// [1].
//
// Computes  state[v] = the better of what it was and the messages along the edges of a stretch
// whose
//           sources have improved since the last pass over it.
// Launch    one pass_over a pass; passes are numbered from 2, and are queued blind: a pass over a
//           stretch that has nothing to send returns at once.
// Encoding  stamp[v]: the pass in which v's value has last improved; stretch_stamp: of the sources
// in
//           a stretch the last; 1 at the start. A source whose value is written and not yet its
//           stamp is taken by the next pass, as the stamp it gets is that of this one.
// [1] Zhu et al. WolfPath: accelerating iterative traversing-based graph processing algorithms on
//     GPU. Int. J. Parallel Programming 2018.

#include "improve.cuh"

// All members have 8 bytes: engine/gpu/layered.py has the same struct.
struct Layers {
    const ID *sources, *neighbours; // where edge 0 would be
    const int32 *level;             // of a vertex
    const int32 *first, *last;      // stretches in which a level's edges are; none: last < first
    uint32 *stamp, *stretch_stamp;
    uint8 *late;
    uint64 *control; // integers overflowed; edges and passes that were gone over
    PRIORITY cutoff;
};

__device__ __forceinline__ bool may_improve(const Layers &layers, ID v, VALUE message, VALUE old) {
    if (better(message, old))
        return true;
    return MAY_BE_LATE && message == identity() && old == identity() && !fresh(layers.late + v);
}

// The edges `lo` to `hi`, of those that have improved in pass `since` or later.
extern "C" __global__ void __launch_bounds__(256)
    pass_over(Run run, Layers layers, uint64 lo, uint64 hi, uint64 stretch, uint32 now,
              uint32 since) {
    if (fresh(layers.stretch_stamp + stretch) < since || fresh(layers.control))
        return;
    VALUE *first = first_field(run);
    for (uint64 e = lo + thread_rank(); e < hi; e += num_threads()) {
        ID u = layers.sources[e], v = layers.neighbours[e];
        if (fresh(layers.stamp + u) < since)
            continue;
        MESSAGE message;
        if (!message_from(run, fresh(first + u), u, v, (OFFSET)e, message)) {
            layers.control[0] = 1;
            continue;
        }
        if (!may_improve(layers, v, message, fresh(first + v)) ||
            priority_of(run, message) > layers.cutoff)
            continue;
        VALUE old = improve(first + v, message);
        if (!may_improve(layers, v, message, old))
            continue;
        if (MAY_BE_LATE && message == identity())
            layers.late[v] = 1;
        if (!sends_next(run, v, old, message))
            continue;
        layers.stamp[v] = now;
        int32 level = layers.level[v];
        for (int32 i = layers.first[level]; i <= layers.last[level]; i++)
            if (fresh(layers.stretch_stamp + i) != now)
                layers.stretch_stamp[i] = now;
    }
    if (thread_rank() == 0) {
        layers.control[1] += hi - lo;
        layers.control[2] += 1;
    }
}
