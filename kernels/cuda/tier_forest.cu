// Lists edges that come in parts, for spanning_forest.cu.
//
// Computes  low, high, weights[i] = ends of an edge, by their ranks, the smaller first, and its
//           weight; self-loops are left out, and undirected edges are listed from one end.
// Launch    list_part for each part, all vertices active. `number` is what is listed.

#include "weights_of_part.cuh"

extern "C" __global__ void __launch_bounds__(256)
    list_part(Part part, const WEIGHT *weight, const RANK *rank, uint32 directed, uint32 *low,
              uint32 *high, WEIGHT *weights, uint64 *number) {
    for_places(part, [&](ID u, uint64 e) {
        ID v = end_of(part, e);
        if (directed ? v == u : v <= u)
            return;
        // Those who are here at the same time take their places together.
        uint32 here = __activemask(), first = __ffs(here) - 1;
        uint64 place = 0;
        if (lane() == first)
            place = atomicAdd(number, (uint64)__popc(here));
        place = __shfl_sync(here, place, first) + __popc(here & lower_lanes());
        uint32 a = rank == nullptr ? (uint32)u : (uint32)rank[u];
        uint32 b = rank == nullptr ? (uint32)v : (uint32)rank[v];
        low[place] = a < b ? a : b;
        high[place] = a < b ? b : a;
        if (has_weights(weight))
            weights[place] = weight_of(part, weight, e);
    });
}
