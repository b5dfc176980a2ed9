// near_far_ranks.cu: the ghosts of a rank that send next, as their owners have told them something.
//
// Encoding  ghosts are the vertices from run.num_owned on. told[i], told_late[i]: of the i-th, what
// it
//           sent last, or had at the start. late: as in near_far.cuh.

#include "common.cuh"

extern "C" __global__ void arrived(Run run, VALUE *told, const uint8 *late, uint8 *told_late,
                                   ID *list, uint64 *number) {
    uint64 owned = run.num_owned;
    for (uint64 v = owned + thread_rank(); v < (uint64)run.num_vertices; v += num_threads()) {
        VALUE now = first_field(run)[v], was = told[v - owned];
        bool reached = HAS_REACHED && late[v] && !told_late[v - owned];
        bool same = now == was || (now != now && was != was); // NaN is told once
        if (same && !reached)
            continue;
        told[v - owned] = now;
        if (reached)
            told_late[v - owned] = 1;
        if (sends_next(run, v, was, now))
            list[atomic_add(number, (uint64)1)] = (ID)v;
    }
}
