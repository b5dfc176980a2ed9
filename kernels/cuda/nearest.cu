// The nearest of some targets for every vertex: one superstep of labels that go against the edges.
//
// Computes  the labels of vertices anew from those of the vertices that their edges lead to, and
//           from their own; as kernels/cpu/nearest.py, which says what labels are
// Launch    `mark`, which finds the vertices to look at from those whose labels have changed, then
//           `improve` for these; the host writes the new labels where they are others
// Why       A warp takes a row. Labels are chosen one after the other, each by a pass over the
//           row, so that any number of them takes no registers.

#include "common.cuh"

constexpr int64 LARGEST = 0x7fffffffffffffff;

// `weight` null: all are 1. `far` and `who` have `k` labels of each vertex.
struct Labels {
    const OFFSET *offsets;
    const ID *neighbours;
    const WEIGHT *weight;
    const DISTANCE *far;
    const int64 *who;
    uint64 k;
};

struct Label {
    DISTANCE far;
    int64 who; // -1: none

    __device__ __forceinline__ bool before(const Label &other) const {
        if (who < 0 || other.who < 0)
            return who >= 0;
        return far < other.far || (far == other.far && who < other.who);
    }
};

__device__ __forceinline__ Label first_of_warp(Label mine) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        Label other;
        other.far = __shfl_xor_sync(FULL_WARP, mine.far, offset);
        other.who = __shfl_xor_sync(FULL_WARP, mine.who, offset);
        if (other.before(mine))
            mine = other;
    }
    return mine;
}

__device__ __forceinline__ bool is_among(const int64 *chosen, uint64 number, int64 who) {
    for (uint64 i = 0; i < number; ++i)
        if (fresh(chosen + i) == who)
            return true;
    return false;
}

// The labels of `from`, an edge of a length away: the first that is before `best` and is not chosen
// yet takes its place.
__device__ __forceinline__ void offer(const Labels &labels, uint64 from, DISTANCE length,
                                      DISTANCE most, const int64 *chosen, uint64 number,
                                      Label *best, uint32 *overflows) {
    for (uint64 slot = 0; slot < labels.k; ++slot) {
        Label label = {labels.far[from * labels.k + slot], labels.who[from * labels.k + slot]};
        if (label.who < 0)
            return;
        if constexpr (Same<DISTANCE, int64>::value) {
            if (length > LARGEST - label.far) {
                *overflows = 1;
                return;
            }
        }
        label.far += length;
        if (label.far > most || (best->who >= 0 && label.far > best->far))
            return;
        if (label.before(*best) && !is_among(chosen, number, label.who))
            *best = label;
    }
}

// Sets `due` of those that have an edge to one of some vertices; `offsets`, `neighbours`: rows of
// the vertices that edges come from.
extern "C" __global__ void mark(const OFFSET *offsets, const ID *neighbours, const int64 *some,
                                uint64 number, bool *due) {
    for (uint64 i = warp_rank(); i < number; i += num_warps()) {
        uint64 end = offsets[some[i] + 1];
        for (uint64 e = offsets[some[i]] + lane(); e < end; e += WARP)
            due[neighbours[e]] = true;
    }
}

// Writes the labels of some vertices as they are now, and whether they are others than before.
extern "C" __global__ void improve(const Labels labels, const int64 *some, uint64 number,
                                   DISTANCE most, DISTANCE *far, int64 *who, bool *changed,
                                   uint32 *overflows) {
    for (uint64 i = warp_rank(); i < number; i += num_warps()) {
        uint64 v = some[i], end = labels.offsets[v + 1];
        int64 *chosen = who + i * labels.k;
        bool differs = false;
        for (uint64 slot = 0; slot < labels.k; ++slot) {
            Label best = {0, -1};
            if (lane() == 0)
                offer(labels, v, 0, most, chosen, slot, &best, overflows);
            for (uint64 e = labels.offsets[v] + lane(); e < end; e += WARP) {
                DISTANCE length = labels.weight == nullptr ? 1 : (DISTANCE)labels.weight[e];
                offer(labels, labels.neighbours[e], length, most, chosen, slot, &best, overflows);
            }
            best = first_of_warp(best);
            if (lane() == 0) {
                far[i * labels.k + slot] = best.far;
                chosen[slot] = best.who;
            }
            uint64 old = v * labels.k + slot;
            differs |=
                best.who != labels.who[old] || (best.who >= 0 && best.far != labels.far[old]);
            __syncwarp();
        }
        if (lane() == 0)
            changed[i] = differs;
    }
}
