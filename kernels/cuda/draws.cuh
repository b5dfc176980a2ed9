// Random numbers that are hashes of a counter, as in kernels/cpu/walks.py, bit for bit.

#pragma once

#include "common.cuh"

constexpr uint64 GOLDEN = 0x9E3779B97F4A7C15ull;

// The finisher of SplitMix64.
__device__ __forceinline__ uint64 mixed(uint64 x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// The key of a stream of random numbers.
__device__ __forceinline__ uint64 key_of(uint64 seed, uint64 number) {
    return mixed(seed + mixed((number + 1) * GOLDEN));
}

// Uniform in [0, 1), of 53 bits.
__device__ __forceinline__ double drawn(uint64 key, uint64 counter) {
    uint64 bits = mixed(key + mixed((counter + 1) * GOLDEN));
    return (double)(bits >> 11) * (1.0 / 9007199254740992.0);
}

// The edge of a row that a random number stands for; -1: there is none to go along.
//
// `before`: sums of weights within a row up to and with each edge; null: all edges are alike.
__device__ __forceinline__ int64 edge_of(double uniform, int64 lo, int64 hi, const double *before) {
    if (lo == hi)
        return -1;
    if (!before) {
        int64 edge = lo + (int64)(uniform * (double)(hi - lo));
        return edge < hi ? edge : hi - 1;
    }
    double total = before[hi - 1];
    if (!(total > 0.0))
        return -1;
    int64 edge = lo + (int64)upper_bound(before + lo, (uint64)(hi - lo), uniform * total);
    while (edge == hi || (edge > lo && before[edge] == before[edge - 1])) // rounded up
        edge--;
    return edge;
}
