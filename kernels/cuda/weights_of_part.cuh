// Weights of edges that come in parts: each in a word with the edge's other end, from which
// WEIGHT_IN takes it, or in a column, which is null where all weigh 1.

#pragma once

#include "edges_of_part.cuh"

__device__ __forceinline__ bool has_weights(const WEIGHT *weight) {
    return PACKED || weight != nullptr;
}

__device__ __forceinline__ WEIGHT weight_of(const Part &part, const WEIGHT *weight, uint64 edge) {
#if PACKED
    return WEIGHT_IN(part.neighbours[edge]);
#else
    return weight[edge];
#endif
}
