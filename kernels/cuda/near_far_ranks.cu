// near_far_ranks.cu: the ghosts of a rank that send next, as their owners have told them something,
// come into the far set.
//
// Encoding  ghosts are the vertices from run.num_owned on. told[i], told_late[i]: of the i-th, what
// it
//           sent last, or had at the start. late: as in near_far.cuh.

#include "near_far.cuh"

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
        uint64 place = atomic_add(&control->far, (uint64)1);
        if (control->far_listed && place < lists.far_capacity)
            lists.far[control->far_parity][place] = (ID)v;
    }
}
