// Counts of paths, int64 or double.

#include "common.cuh"

// Adds to a count; whether it does not fit. Counts are not negative, so the first sum beyond int64
// is.
__device__ __forceinline__ bool add(int64 *count, int64 paths, bool &first) {
    int64 old = atomic_add(count, paths);
    first = old == 0;
    return (int64)((uint64)old + (uint64)paths) < 0;
}

__device__ __forceinline__ bool add(double *count, double paths, bool &first) {
    first = atomic_add(count, paths) == 0;
    return false;
}
