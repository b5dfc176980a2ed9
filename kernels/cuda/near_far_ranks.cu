// near_far_ranks.cu: what the ranks of a run in near-far order tell each other after a stretch, and
// how far the next one goes.
//
// Launch    a stretch: near_far, an exchange of the border's values, arrived, tell, an all-gather
// of
//           Told, next_stretch. What is queued behind the last one does nothing.
// Encoding  ghosts are the vertices from run.num_owned on. told[i], told_late[i]: of the i-th, what
//           it sent last, or had at the start. late: as in near_far.cuh.
// Choice    all ranks put the same numbers together, and so go on to the same priority.

#include "near_far.cuh"

// What a rank tells. All members have 8 bytes, here and below: engine/device_ranks/near_far.py has
// the same structs.
struct Told {
    uint64 pending; // vertices that are to send
    uint64 arrivals;
    uint64 edges;      // read in the stretch
    uint64 unfinished; // by a launch that has been long enough
    uint64 failed;     // an integer has overflowed, and the run does not go on
    int64 least;       // key of the least priority of those that are to send
};

// The same on all ranks, but for `edges`.
struct Agreed {
    uint64 over;
    uint64 exchanges;
    uint64 buckets; // in a stretch
    PRIORITY until;
    uint64 edges; // that were told of
    // Settings
    uint64 ordered;
    PRIORITY delta; // the width of a bucket
    PRIORITY lowest, highest;
    uint64 few_edges, few_edges_a_value, widest;
    uint64 steps; // of a launch
};

// The ghosts that send next, as their owners have told them something, come into the far set.
extern "C" __global__ void arrived(Run run, Lists lists, VALUE *told, uint8 *told_late) {
    uint64 owned = run.num_owned;
    Control *control = lists.control;
    for (uint64 v = owned + thread_rank(); v < (uint64)run.num_vertices; v += num_threads()) {
        VALUE now = first_field(run)[v], was = told[v - owned];
        bool reached = HAS_REACHED && lists.late[v] && !told_late[v - owned];
        bool same = now == was || (now != now && was != was); // NaN is told once
        if (same && !reached)
            continue;
        told[v - owned] = now;
        if (reached)
            told_late[v - owned] = 1;
        if (!sends_next(run, v, was, now))
            continue;
        atomic_add(&control->arrivals, (uint64)1);
        atomicMin(&control->least_arrival, order_key(priority_of(run, now)));
        if (!set_bit(lists.far_set, v))
            continue;
        atomic_add(&control->came, (uint64)1);
        uint64 place = atomic_add(&control->far, (uint64)1);
        if (control->far_listed && place < lists.far_capacity)
            lists.far[control->far_parity][place] = (ID)v;
    }
}

// By one thread.
extern "C" __global__ void tell(Lists lists, const Agreed *agreed, Told *told) {
    const Control &c = *lists.control;
    told->unfinished = c.phase != DONE;
    told->failed = c.failed && !lists.goes_on;
    told->pending = c.far + told->unfinished;
    told->arrivals = c.arrivals;
    told->edges = c.all_edges - agreed->edges;
    told->least = MOST;
    if (c.far > c.came)
        told->least = c.least;
    if (c.arrivals > 0 && c.least_arrival < told->least)
        told->least = c.least_arrival;
}

// How far the next stretch goes.
__device__ void choose_until(Agreed &agreed, uint64 size, uint64 arrivals, uint64 edges,
                             int64 least) {
    if (agreed.until == agreed.lowest)
        agreed.buckets = 1; // the first stretch has found the least priority there is
    else if (edges < agreed.few_edges * size)
        agreed.buckets = 2 * agreed.buckets < agreed.widest ? 2 * agreed.buckets : agreed.widest;
    else if (edges < agreed.few_edges_a_value * arrivals || edges > 4 * agreed.few_edges * size)
        agreed.buckets = agreed.buckets > 1 ? agreed.buckets / 2 : 1;
    PRIORITY most = agreed.highest / (PRIORITY)agreed.buckets;
    PRIORITY width = agreed.delta > most ? agreed.highest : (PRIORITY)agreed.buckets * agreed.delta;
    agreed.until = least == MOST ? agreed.highest : raised(from_order_key(least), width);
}

// By one thread.
extern "C" __global__ void next_stretch(Lists lists, const Told *every, uint64 size,
                                        Agreed *agreed) {
    if (agreed->over)
        return;
    Control &c = *lists.control;
    Told all = {0, 0, 0, 0, 0, MOST};
    for (uint64 rank = 0; rank < size; ++rank) {
        all.pending += every[rank].pending;
        all.arrivals += every[rank].arrivals;
        all.edges += every[rank].edges;
        all.unfinished += every[rank].unfinished;
        all.failed += every[rank].failed;
        if (every[rank].least < all.least)
            all.least = every[rank].least;
    }
    ++agreed->exchanges;
    agreed->edges = c.all_edges;
    c.came = 0;
    lists.barrier[0] = lists.barrier[1] = 0;
    if (all.pending == 0 || all.failed > 0) {
        agreed->over = 1;
        return;
    }
    bool listed = c.far_listed && c.far <= lists.far_capacity;
    if (all.unfinished > 0) { // all others wait
        if (c.phase == SPLIT && !listed)
            c.phase = SCAN;
        c.far_listed = listed;
        c.steps_left = agreed->steps;
        return;
    }
    if (agreed->ordered)
        choose_until(*agreed, size, all.arrivals, all.edges, all.least);
    if (c.far == 0)
        return;
    c.until = agreed->until;
    if (c.arrivals > 0) {
        PRIORITY near = raised(from_order_key(c.least_arrival), c.delta);
        if (near < c.limit)
            c.limit = near;
    }
    c.arrivals = 0;
    c.phase = listed ? SPLIT : SCAN;
    c.far_listed = listed;
    c.alone = listed && c.far <= lists.alone_list;
    c.relist = c.far <= lists.far_capacity / 2;
    c.least = c.least_arrival = MOST;
    c.steps_left = agreed->steps;
}
