// Depths of up to 64 searches at each vertex, on their way to an array of levels.
//
// Bit j of a depth is a bit of plane j, in the place of its search in a word: a level's vertices
// note theirs by one write of a word for each bit that is set in the depth, and not one for each
// search. At the end four depths at a time are taken out of the words and written, whole lines of
// each search. Those of sources, and those too large for the planes, are written to the levels
// there and then.

#include "common.cuh"

constexpr uint64 MOST_DEPTH = (1 << PLANES) - 1;

struct Depths {
    uint64 *planes; // PLANES, of `stride` words each
    int32 *level;   // of all searches, of `stride` each
    uint64 stride;

    // A vertex has been reached by these searches.
    __device__ __forceinline__ void note(uint64 v, uint64 bits, uint64 depth) const {
        if (depth == 0 || depth > MOST_DEPTH) {
            for (; bits != 0; bits &= bits - 1)
                level[(__ffsll(bits) - 1) * stride + v] = (int32)depth;
            return;
        }
#pragma unroll
        for (uint32 j = 0; j < PLANES; ++j)
            if (depth >> j & 1)
                planes[j * stride + v] |= bits;
    }

    // Before the first depth that needs one more plane; whether `depth` is that. By all threads.
    __device__ __forceinline__ bool widen(uint64 depth) const {
        if (depth > MOST_DEPTH || (depth & (depth - 1)) != 0)
            return false;
        uint64 *plane = planes + (__ffsll(depth) - 1) * stride;
        for (uint64 v = thread_rank(); v < stride; v += num_threads())
            plane[v] = 0;
        return true;
    }
};

// A quarter of what 32 searches have at a vertex: byte i is the depth of search 8 i + j, 255 where
// it has not come.
__device__ __forceinline__ uint32 four_depths(const uint32 *planes, uint32 seen, uint32 j) {
    constexpr uint32 ONES = 0x01010101;
    uint32 depths = (~seen >> j & ONES) * 255;
#pragma unroll
    for (uint32 i = 0; i < PLANES; ++i)
        depths |= (planes[i] >> j & ONES) << i;
    return depths;
}

// Levels of SIDE vertices from v on, -1 where not reached, but those that are there.
__device__ __forceinline__ void write_side(const uint64 *seen, const uint64 *planes, uint64 used,
                                           uint64 stride, uint32 searches, int32 *level, uint64 v) {
    uint64 reached[SIDE], word[SIDE][PLANES], there[SIDE], any = 0, several = 0;
#pragma unroll
    for (uint32 i = 0; i < SIDE; ++i) {
        reached[i] = seen[v + i];
        any |= reached[i];
    }
#pragma unroll
    for (uint32 i = 0; i < SIDE; ++i) {
        there[i] = reached[i];
#pragma unroll
        for (uint32 j = 0; j < PLANES; ++j) {
            word[i][j] = any != 0 && j < used ? planes[j * stride + v + i] : 0;
            there[i] &= ~word[i][j];
        }
        several |= there[i];
    }
#pragma unroll
    for (uint32 half = 0; half < 2; ++half) {
        for (uint32 j = 0; j < 8; ++j) {
            uint32 depths[SIDE];
#pragma unroll
            for (uint32 i = 0; i < SIDE; ++i) {
                uint32 halves[PLANES];
#pragma unroll
                for (uint32 k = 0; k < PLANES; ++k)
                    halves[k] = (uint32)(word[i][k] >> 32 * half);
                depths[i] = four_depths(halves, (uint32)(reached[i] >> 32 * half), j);
            }
#pragma unroll
            for (uint32 byte = 0; byte < 4; ++byte) {
                uint32 k = 32 * half + 8 * byte + j;
                if (k >= searches)
                    continue;
                int32 *place = level + k * stride + v, value[SIDE];
#pragma unroll
                for (uint32 i = 0; i < SIDE; ++i)
                    value[i] = (int8)(depths[i] >> 8 * byte);
                if (!(several >> k & 1)) {
                    __stcs((int4 *)place, make_int4(value[0], value[1], value[2], value[3]));
                    continue;
                }
#pragma unroll
                for (uint32 i = 0; i < SIDE; ++i)
                    if (!(there[i] >> k & 1))
                        place[i] = value[i];
            }
        }
    }
}

// Levels of all vertices, by all searches, but those that are there. `stride` is a multiple of
// SIDE; a thread for each SIDE of them. `used`: how many planes hold anything.
extern "C" __global__ void __launch_bounds__(256)
    write_levels(const uint64 *seen, const uint64 *planes, const uint64 *used, uint64 stride,
                 uint32 searches, int32 *level) {
    for (uint64 v = thread_rank() * SIDE; v < stride; v += num_threads() * SIDE)
        write_side(seen, planes, *used, stride, searches, level, v);
}
