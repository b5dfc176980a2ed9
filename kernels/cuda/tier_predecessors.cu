// Predecessors of a finished path search whose edges come in parts: vertices that were reached
// offer themselves along their out-edges.
//
// begin_offers, then an offer_part for each part, then count_without: how many reached vertices
// have none, among them the source. Where others have none either, all nearer neighbours reach them
// by edges that add nothing: begin_plateaus, then round after round a plateau_part for each part
// and next_round, until nobody is active: breadth-first from those that have one, and a vertex
// takes the best of the round before its own. Encoding  round[v]: of the plateau in which v got its
// predecessor, 0: before, NONE: not yet.

#include "edges_of_part.cuh"
#include "predecessors.cuh"

constexpr uint32 NONE = ~0u;

extern "C" __global__ void begin_offers(const bool *reached, uint64 n, ID *predecessor,
                                        uint8 *active) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        predecessor[v] = (ID)v;
        active[v] = reached[v];
    }
}

extern "C" __global__ void __launch_bounds__(256)
    offer_part(Part part, const WEIGHT *weight, const DIST *distance, const bool *reached,
               const OFFSET *offsets, const int64 *degree, const RANK *rank, ID *predecessor,
               uint64 *read) {
    Preference preferred = {offsets, degree, rank};
    Paths paths = {distance, reached, weight};
    uint64 mine = for_places(part, [&](ID u, uint64 e) {
        ID v = part.neighbours[e];
        if (paths.fits(u, v, (OFFSET)e))
            offer(predecessor, v, u, preferred);
    });
    count_read(mine, read);
}

extern "C" __global__ void count_without(const bool *reached, uint64 n, const ID *predecessor,
                                         uint64 *without) {
    uint64 mine = 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        mine += reached[v] && predecessor[v] == (ID)v;
    count_read(mine, without);
}

extern "C" __global__ void begin_plateaus(const bool *reached, uint64 n, uint64 source,
                                          const ID *predecessor, uint32 *round, uint8 *active) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        bool has = reached[v] && (predecessor[v] != (ID)v || v == source);
        round[v] = has ? 0 : NONE;
        active[v] = has;
    }
}

extern "C" __global__ void __launch_bounds__(256)
    plateau_part(Part part, const WEIGHT *weight, const DIST *distance, const bool *reached,
                 const OFFSET *offsets, const int64 *degree, const RANK *rank, ID *predecessor,
                 uint64 *read, uint32 *round, uint32 now) {
    Preference preferred = {offsets, degree, rank};
    Paths paths = {distance, reached, weight};
    uint64 mine = for_places(part, [&](ID u, uint64 e) {
        ID v = part.neighbours[e];
        DIST here = distance[u];
        if (!reached[v] || distance[v] != here || (DIST)(here + paths.length((OFFSET)e)) != here)
            return;
        uint32 old = atomicCAS(round + v, NONE, now);
        if (old == NONE || old == now)
            offer(predecessor, v, u, preferred);
    });
    count_read(mine, read);
}

extern "C" __global__ void next_round(const uint32 *round, uint64 n, uint32 now, uint8 *active,
                                      uint64 *number) {
    uint64 mine = 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        active[v] = round[v] == now;
        mine += active[v];
    }
    count_read(mine, number);
}
