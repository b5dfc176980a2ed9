// Triangles whose highest vertex is a hub, by rows of bits.
//
// Hubs are a few thousand vertices of the highest degrees, and a row of bits says which of them are
// neighbours of a vertex and higher. The hubs that an edge of `up` has in both rows close triangles
// with it: a warp reads 128 neighbours of each lane's at a time, where looking them up in a table
// (triangles.cu) takes a read each. How many edges a hub is found at is counted in bits, too: the
// lanes' words are added up in planes, of which plane i has bit i of the counts of 32 hubs.
//
//   draw   sets the bits of the rows.
//   count  a warp takes a vertex, and one after another the rows of its higher neighbours, four at
//   a
//          time: two of their words and one of a plane make one of the plane and one of the next.

#include "common.cuh"

constexpr int SIDE = 4;             // words of a read, and rows at a time
constexpr int READS = WORDS / SIDE; // of a lane, for a row
constexpr int PLANES = 8;
constexpr int MOST = (1 << PLANES) - 1 - SIDE; // rows, before counts may overflow
constexpr uint32 NO_ROW = ~0u;

// Where the bit of a hub is: neighbouring hubs are in different lanes.
struct Place {
    uint32 word, bit;

    __device__ __forceinline__ explicit Place(uint32 hub) {
        uint32 in_lane = hub / WARP % WORDS;
        word = (in_lane / SIDE * WARP + hub % WARP) * SIDE + in_lane % SIDE;
        bit = 1u << hub / WARP / WORDS;
    }
};

// `holders`: the vertices that have a row of bits, their hubs are `up[begins[v]]` to `up[ends[v]]`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    draw(const ID *holders, uint64 number, const OFFSET *begins, const OFFSET *ends, const ID *up,
         const uint32 *hub, uint32 *bits) {
    for (uint64 i = warp_rank(); i < number; i += num_warps()) {
        ID v = holders[i];
        for (OFFSET e = begins[v] + lane(); e < ends[v]; e += WARP) {
            Place place(hub[up[e]]);
            atomicOr(bits + i * WARP * WORDS + place.word, place.bit);
        }
    }
}

struct Words {
    uint32 word[WORDS];

    __device__ __forceinline__ void read(const uint4 *row) {
#pragma unroll
        for (int i = 0; i < READS; ++i) {
            uint4 four = row[i * WARP + lane()];
            word[i * SIDE] = four.x;
            word[i * SIDE + 1] = four.y;
            word[i * SIDE + 2] = four.z;
            word[i * SIDE + 3] = four.w;
        }
    }
};

// Adds two words to one of a plane; what goes to the next plane.
__device__ __forceinline__ uint32 add(uint32 &plane, uint32 a, uint32 b) {
    uint32 carry = (plane & a) | (plane & b) | (a & b);
    plane ^= a ^ b;
    return carry;
}

struct Counts {
    uint32 plane[PLANES][WORDS];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < PLANES; ++i)
#pragma unroll
            for (int k = 0; k < WORDS; ++k)
                plane[i][k] = 0;
    }

    __device__ __forceinline__ void take(const Words rows[SIDE]) {
#pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            uint32 first = add(plane[0][k], rows[0].word[k], rows[1].word[k]);
            uint32 second = add(plane[0][k], rows[2].word[k], rows[3].word[k]);
            uint32 carry = add(plane[1][k], first, second);
#pragma unroll
            for (int i = 2; i < PLANES; ++i) {
                uint32 next = plane[i][k] & carry;
                plane[i][k] ^= carry;
                carry = next;
            }
        }
    }

    __device__ __forceinline__ void give(const ID *hubs, int64 *found) const {
#pragma unroll
        for (int k = 0; k < WORDS; ++k) {
            uint32 some = 0;
#pragma unroll
            for (int i = 0; i < PLANES; ++i)
                some |= plane[i][k];
            while (some != 0) {
                uint32 bit = __ffs(some) - 1, count = 0;
                some &= some - 1;
#pragma unroll
                for (int i = 0; i < PLANES; ++i)
                    count += (plane[i][k] >> bit & 1) << i;
                ID hub = hubs[(bit * WORDS + k) * WARP + lane()];
                atomicAdd((uint64 *)found + hub, (uint64)count);
            }
        }
    }
};

// `row_of`: the row of bits of each vertex, if it has one. `up_offsets`, `up`: all higher
// neighbours. `next`, `pairs`: 0 before.
extern "C" __global__ void __launch_bounds__(BLOCK)
    count(const ID *holders, uint64 number, const uint32 *row_of, const uint4 *bits, const ID *hubs,
          const OFFSET *up_offsets, const ID *up, int64 *found, uint64 *next, uint64 *pairs) {
    constexpr uint64 ROW = WARP * READS;
    uint64 seen = 0;
    while (true) {
        uint64 i = 0;
        if (lane() == 0)
            i = atomicAdd(next, 1ull);
        i = __shfl_sync(FULL_WARP, i, 0);
        if (i >= number)
            break;
        ID u = holders[i];
        OFFSET end = up_offsets[u + 1];
        Words own;
        own.read(bits + i * ROW);
        Counts counts;
        counts.clear();
        uint64 at_u = 0;
        int taken = 0;
        for (OFFSET base = up_offsets[u]; base < end; base += WARP) {
            ID v = base + lane() < end ? up[base + lane()] : 0;
            uint32 row = base + lane() < end ? row_of[v] : NO_ROW, at_v = 0;
            uint32 left = __ballot_sync(FULL_WARP, row != NO_ROW);
            seen += lane() == 0 ? __popc(left) : 0;
            while (left != 0) {
                Words both[SIDE];
                int who[SIDE];
#pragma unroll
                for (int j = 0; j < SIDE; ++j) {
                    who[j] = left != 0 ? __ffs(left) - 1 : -1;
                    left &= left - 1;
                    uint32 theirs = __shfl_sync(FULL_WARP, row, who[j] < 0 ? 0 : who[j]);
                    if (who[j] >= 0)
                        both[j].read(bits + theirs * ROW);
                }
#pragma unroll
                for (int j = 0; j < SIDE; ++j) {
                    uint32 common = 0;
#pragma unroll
                    for (int k = 0; k < WORDS; ++k) {
                        both[j].word[k] = who[j] < 0 ? 0 : both[j].word[k] & own.word[k];
                        common += __popc(both[j].word[k]);
                    }
                    at_u += common;
                    common = warp_sum(common);
                    at_v = lane() == who[j] ? common : at_v;
                }
                counts.take(both);
                taken += SIDE;
                if (taken > MOST) {
                    counts.give(hubs, found);
                    counts.clear();
                    taken = 0;
                }
            }
            if (at_v > 0)
                atomicAdd((uint64 *)found + v, (uint64)at_v);
        }
        counts.give(hubs, found);
        at_u = warp_sum(at_u);
        if (lane() == 0 && at_u > 0)
            atomicAdd((uint64 *)found + u, at_u);
    }
    if (lane() == 0 && seen > 0)
        atomicAdd(pairs, seen);
}
