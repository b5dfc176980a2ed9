// Random walks, one thread each; the same as of kernels/cpu/walks.py, which says what is drawn
// when.
//
// Sums of weights are made one after the other, so that they are those of the CPU to the last bit.

#include "draws.cuh"

enum Purpose : uint64 { RESTART = 0, EDGE = 1, ACCEPT = 2 };

struct Rows {
    const OFFSET *offsets;
    const ID *neighbours; // numbers, ascending within a row
    const double *before; // sums of weights within a row; null: all edges are alike
    const ID *place;      // row of each vertex; null: its number

    __device__ __forceinline__ void bounds(ID vertex, int64 *begin, int64 *end) const {
        ID row = place ? place[vertex] : vertex;
        *begin = (int64)offsets[row];
        *end = (int64)offsets[row + 1];
    }

    __device__ __forceinline__ bool has(ID vertex, ID other) const {
        int64 begin, end;
        bounds(vertex, &begin, &end);
        uint64 found = upper_bound(neighbours + begin, (uint64)(end - begin), other);
        return found > 0 && neighbours[begin + found - 1] == other;
    }
};

extern "C" __global__ void add_up(const OFFSET *offsets, uint64 n, const double *weight,
                                  double *before) {
    for (uint64 row = thread_rank(); row < n; row += num_threads()) {
        double total = 0.0;
        for (OFFSET e = offsets[row]; e < offsets[row + 1]; e++) {
            total += weight[e];
            before[e] = total;
        }
    }
}

__device__ __forceinline__ uint64 counter_of(uint64 step, uint64 tries, Purpose purpose) {
    return (step << 32) | (tries << 2) | purpose;
}

// `path`: length + 1 vertices a walk, the first of which is there. `made`: gets how many come then.
// `p`, `q`: 1 / p and 1 / q of node2vec.
extern "C" __global__ void walk(Rows rows, const int64 *walks, uint64 number, ID *path, int64 *made,
                                uint64 length, uint64 seed, double p, double q, double restart) {
    bool turns = p != 1.0 || q != 1.0;
    double most = fmax(p, fmax(1.0, q));
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        uint64 key = key_of(seed, (uint64)walks[i]), step = 0, tries = 0;
        ID *mine = path + i * (length + 1), at = mine[0], old = 0;
        bool has_old = false;
        while (step < length) {
            if (restart > 0.0 && tries == 0 && drawn(key, counter_of(step, 0, RESTART)) < restart) {
                at = mine[0];
                has_old = false;
                mine[++step] = at;
                continue;
            }
            int64 begin, end;
            rows.bounds(at, &begin, &end);
            int64 edge =
                edge_of(drawn(key, counter_of(step, tries, EDGE)), begin, end, rows.before);
            if (edge < 0)
                break;
            ID then = rows.neighbours[edge];
            if (turns && has_old && rows.neighbours[begin] != rows.neighbours[end - 1]) {
                double limit = most * drawn(key, counter_of(step, tries, ACCEPT));
                bool accepted = limit < p;
                if (then != old) {
                    accepted = limit < fmin(1.0, q);
                    if (!accepted && limit < fmax(1.0, q))
                        accepted = limit < (rows.has(old, then) ? 1.0 : q);
                }
                if (!accepted) {
                    tries++;
                    continue;
                }
            }
            old = at;
            at = then;
            has_old = true;
            tries = 0;
            mine[++step] = at;
        }
        made[i] = (int64)step;
    }
}
