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

// `path`: room for length + 1 vertices a walk. `made`: gets how many there are.
// `p`, `q`: 1 / p and 1 / q of node2vec.
extern "C" __global__ void walk(Rows rows, const int64 *walks, const int64 *starts, uint64 number,
                                ID *path, uint64 *made, uint64 length, uint64 seed, double p,
                                double q, double restart) {
    bool turns = p != 1.0 || q != 1.0;
    double most = fmax(p, fmax(1.0, q));
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        uint64 key = key_of(seed, (uint64)walks[i]), step = 0, tries = 0;
        ID *mine = path + i * (length + 1), at = (ID)starts[i], old = 0;
        bool has_old = false;
        mine[0] = at;
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
        made[i] = step + 1;
    }
}

// The rows of walks, one after another: those of walk i from ends[i] on.
extern "C" __global__ void trails(const int64 *walks, const uint64 *ends, uint64 number,
                                  uint64 length, const ID *path, int64 *walk, int32 *step,
                                  ID *vertex) {
    for (uint64 at = thread_rank(); at < number * (length + 1); at += num_threads()) {
        uint64 i = at / (length + 1), place = ends[i] + at % (length + 1);
        if (place < ends[i + 1]) {
            walk[place] = walks[i];
            step[place] = (int32)(at % (length + 1));
            vertex[place] = path[at];
        }
    }
}
