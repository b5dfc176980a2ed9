// Rows of edges, which a thread asks for in ascending order: most go on in the same row or a near
// one. Rows without edges may lie in between.

#include "common.cuh"

struct RowOf {
    const OFFSET *offsets;
    uint64 n;
    uint64 row;
    bool found; // a row, before

    __device__ __forceinline__ uint64 operator()(uint64 edge) {
        for (int k = 0; found && k < 4 && offsets[row + 1] <= edge; k++)
            row++;
        if (!found || offsets[row + 1] <= edge)
            row += upper_bound(offsets + row + 1, n - row, (OFFSET)edge);
        found = true;
        return row;
    }
};
