// The other ends of edges, where they lie.

#pragma once

#include "common.cuh"

struct OnDevice {
    const ID *ends;

    __device__ __forceinline__ ID operator[](uint64 edge) const { return ends[edge]; }
    __device__ __forceinline__ bool is_far(uint64) const { return false; }
};

// On the device up to `resident`, and from there on in host memory, which is read over the link:
// where edge 0 would be.
struct InTiers {
    const ID *here, *there;
    uint64 resident;

    __device__ __forceinline__ ID operator[](uint64 edge) const {
        return (is_far(edge) ? there : here)[edge];
    }
    __device__ __forceinline__ bool is_far(uint64 edge) const { return edge >= resident; }
};
