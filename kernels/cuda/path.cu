// A path from predecessors: from its end on, by one thread, without the source. `found`: room for
// all vertices.

#include "common.cuh"

extern "C" __global__ void path(const ID *predecessor, ID source, ID target, ID *found,
                                uint64 *length) {
    uint64 size = 0;
    for (ID v = target; v != source; v = predecessor[v])
        found[size++] = v;
    *length = size;
}
