// ranks.cu: values of own vertices that other ranks hold as ghosts, packed to be sent, and put
// where the ghosts are.
//
// Macros    ID: of a vertex. VALUE: bytes of a value as an unsigned integer.

#include "common.cuh"

extern "C" __global__ void pack(const ID *vertices, uint64 number, const VALUE *values,
                                VALUE *packed) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        packed[i] = values[vertices[i]];
}

extern "C" __global__ void unpack(const ID *vertices, uint64 number, VALUE *values,
                                  const VALUE *packed) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        values[vertices[i]] = packed[i];
}
