// ranks.cu: values of own vertices that other ranks hold as ghosts, packed to be sent, and put
// where the ghosts are, vertex by vertex or as they have come.
//
// Macros    ID: of a vertex. VALUE: bytes of a value as an unsigned integer.

#include "common.cuh"

extern "C" __global__ void pack(const ID *vertices, uint64 number, const VALUE *values,
                                VALUE *packed) {
    const uint64 step = num_threads();
    for (uint64 i = thread_rank(); i < number; i += step * TOGETHER) {
        VALUE seen[TOGETHER];
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j)
            seen[j] = i + j * step < number ? values[vertices[i + j * step]] : (VALUE)0;
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j)
            if (i + j * step < number)
                packed[i + j * step] = seen[j];
    }
}

extern "C" __global__ void put(uint64 number, VALUE *values, const VALUE *packed) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        values[i] = packed[i];
}

extern "C" __global__ void unpack(const ID *vertices, uint64 number, VALUE *values,
                                  const VALUE *packed) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        values[vertices[i]] = packed[i];
}
