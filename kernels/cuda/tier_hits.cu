// Sums over neighbours for hubs and authorities, over edges that come in parts.
//
// Computes  along edges u -> v   to_authorities  authority[v] += weight * hub[u]
//                                to_hubs         hub[u] += weight * authority[v]
// Launch    either for each part, all vertices active; sums are 0 before.
// Why       Both go along rows by source, so that one direction of the edges is enough. A lane adds
//           up what it has of a row before it tells others.

#include "weights_of_part.cuh"

__device__ __forceinline__ double times(const Part &part, const WEIGHT *weight, uint64 e,
                                        double value) {
    return has_weights(weight) ? (double)weight_of(part, weight, e) * value : value;
}

extern "C" __global__ void __launch_bounds__(256)
    to_authorities(Part part, const WEIGHT *weight, const double *hub, double *authority,
                   uint64 *read) {
    count_read(for_places(part,
                          [&](ID u, uint64 e) {
                              atomicAdd(authority + end_of(part, e),
                                        times(part, weight, e, hub[u]));
                          }),
               read);
}

extern "C" __global__ void __launch_bounds__(256)
    to_hubs(Part part, const WEIGHT *weight, const double *authority, double *hub, uint64 *read) {
    ID row = 0;
    double sum = 0;
    uint64 mine = for_places(part, [&](ID u, uint64 e) {
        if (u != row) {
            if (sum != 0)
                atomicAdd(hub + row, sum);
            row = u;
            sum = 0;
        }
        sum += times(part, weight, e, authority[end_of(part, e)]);
    });
    if (sum != 0)
        atomicAdd(hub + row, sum);
    count_read(mine, read);
}
