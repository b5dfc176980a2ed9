// Samples of the edges of some rows, one thread each; the same as of
// kernels/cpu/neighbor_sample.py.

#include "draws.cuh"

// `edges` from starts[i] up to starts[i + 1] are drawn of the row of vertex[i], whose `begin` and
// `degree` are given. Without `replace` they are different ones: by Floyd's method, or by a pass
// over the row.
extern "C" __global__ void sample(const int64 *batch, const int64 *vertex, const int64 *begin,
                                  const int64 *degree, const int64 *starts, uint64 number,
                                  uint64 hop, uint64 replace, uint64 seed, int64 *edges) {
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        int64 first = begin[i], all = degree[i], some = starts[i + 1] - starts[i];
        int64 *mine = edges + starts[i];
        uint64 key = key_of(key_of(seed, (uint64)batch[i]), (uint64)vertex[i]), counter = hop << 32;
        if (!replace && some == all) {
            for (int64 j = 0; j < some; j++)
                mine[j] = first + j;
        } else if (replace) {
            for (int64 j = 0; j < some; j++) {
                int64 place = (int64)(drawn(key, counter + j) * (double)all);
                mine[j] = first + (place < all ? place : all - 1);
            }
        } else if (some * some <= 4 * all) {
            for (int64 j = 0; j < some; j++) {
                int64 last = all - some + j;
                int64 place = (int64)(drawn(key, counter + j) * (double)(last + 1));
                int64 edge = first + (place < last ? place : last);
                for (int64 k = 0; k < j; k++)
                    if (mine[k] == edge) {
                        edge = first + last;
                        break;
                    }
                mine[j] = edge;
            }
        } else {
            int64 taken = 0;
            for (int64 j = 0; j < all; j++)
                if (drawn(key, counter + j) * (double)(all - j) < (double)(some - taken))
                    mine[taken++] = first + j;
        }
    }
}
