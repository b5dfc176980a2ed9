// Strongly connected components by colours, over edges that come in parts.
//
// Encoding  done[v]: the component of v is known. colour[v]: highest number that leads to v of the
//           vertices that are left; own[v]: that of v. `due`: who tells others next.
// Launch    degree_part and trim_part over who is due; then, until all are done, colour_part over
//           who is due until none is; back_part over who waits, until none comes.

#include "edges_of_part.cuh"

// Edges that lead to a vertex from another one.
extern "C" __global__ void __launch_bounds__(256)
    degree_part(Part part, OFFSET *degree, uint64 *read) {
    count_read(for_part(part,
                        [&](ID u, ID v) {
                            if (u != v)
                                atomic_add(degree + v, (OFFSET)1);
                        }),
               read);
}

// Those to whom no edge is left that leads from another go as well, next.
extern "C" __global__ void __launch_bounds__(256)
    trim_part(Part part, OFFSET *degree, uint8 *due, uint64 *read) {
    count_read(for_part(part,
                        [&](ID u, ID v) {
                            if (u != v && atomic_add(degree + v, (OFFSET) ~(OFFSET)0) == 1)
                                due[v] = 1;
                        }),
               read);
}

extern "C" __global__ void __launch_bounds__(256)
    colour_part(Part part, const uint8 *done, ID *colour, uint8 *due, uint64 *read) {
    count_read(for_part(part,
                        [&](ID u, ID v) {
                            ID mine = fresh(colour + u);
                            if (!done[v] && fresh(colour + v) < mine &&
                                atomic_max(colour + v, mine) < mine)
                                due[v] = 1;
                        }),
               read);
}

// Who leads to one that was found, of the same colour, is found.
extern "C" __global__ void __launch_bounds__(256)
    back_part(Part part, const uint8 *done, const ID *colour, uint8 *found, uint32 *came,
              uint64 *read) {
    count_read(for_part(part,
                        [&](ID u, ID v) {
                            if (!done[v] && fresh(found + v) && colour[v] == colour[u] &&
                                !fresh(found + u)) {
                                found[u] = 1;
                                *came = 1;
                            }
                        }),
               read);
}
