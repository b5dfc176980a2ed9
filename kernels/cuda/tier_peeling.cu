// Core numbers by peeling, over edges that come in parts: who leaves tells its neighbours.
//
// Encoding  degree: as in peeling.cu.
// Launch    peel_part over who leaves at `level`.

#include "edges_of_part.cuh"

// Neighbours lose one, and those that come down to the level leave next.
extern "C" __global__ void __launch_bounds__(256)
    peel_part(Part part, uint32 *degree, uint32 level, uint8 *due, uint64 *read) {
    count_read(for_part(part,
                        [&](ID, ID v) {
                            if (fresh(degree + v) <= level)
                                return;
                            uint32 before = atomicSub(degree + v, 1u);
                            if (before == level + 1)
                                due[v] = 1;
                            else if (before <= level) // others were first
                                atomicAdd(degree + v, 1u);
                        }),
               read);
}
