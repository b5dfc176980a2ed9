// Counters of balls that grow by a step, for HyperBall.
//
// Computes  the larger of each register of a vertex and of its neighbours, of those that have just
//           changed; where that makes another counter, the size that it stands for (Ertl 2017) and
//           what this adds to the sums of distances
// Launch    `short_rows`, then `long_rows`; for each step
// Why       Lanes side by side read one counter side by side, 16 registers each. Sums over
// registers
//           are of integers, so that sizes are the same whoever adds them up.

#include "common.cuh"

struct alignas(16) Registers {
    uint32 words[4];

    // Ranks have no high bit, so that no byte borrows from the next one.
    __device__ __forceinline__ void unite(const Registers &other) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            uint32 a = words[i], b = other.words[i];
            uint32 larger = (((a | 0x80808080u) - b) >> 7 & 0x01010101u) * 255;
            words[i] = (a & larger) | (b & ~larger);
        }
    }

    __device__ __forceinline__ bool differs(const Registers &other) const {
        uint32 bits = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            bits |= words[i] ^ other.words[i];
        return bits != 0;
    }
};

// What is known of a counter, by some of its registers.
struct Seen {
    uint64 whole; // of 2^-rank, times 2^MOST_RANK
    uint32 empty; // registers of rank 0
    uint32 differs;

    __device__ __forceinline__ void take(const Registers &registers, bool differs_here) {
        differs |= differs_here;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            for (int byte = 0; byte < 4; ++byte) {
                uint32 rank = registers.words[i] >> 8 * byte & 255;
                empty += rank == 0;
                whole += rank == 0 ? 0 : 1ull << (MOST_RANK - rank);
            }
        }
    }

    // What `lanes` of a warp have seen, a power of 2.
    __device__ __forceinline__ void add_lanes(uint32 lanes) {
        for (uint32 bit = 1; bit < lanes; bit *= 2) {
            whole += __shfl_xor_sync(FULL_WARP, whole, bit);
            empty += __shfl_xor_sync(FULL_WARP, empty, bit);
            differs |= __shfl_xor_sync(FULL_WARP, differs, bit);
        }
    }

    // How many things a counter of so many registers has counted.
    __device__ double estimate(double size) const {
        double x = empty / size, sigma = x, y = 1, before = -1;
        while (sigma != before) {
            x *= x;
            before = sigma;
            sigma += x * y;
            y += y;
        }
        double inverse = (double)whole / (double)(1ull << MOST_RANK);
        return 0.72134752044448170368 * size * size / (size * sigma + inverse);
    }
};

// `registers`, `grown` : counters before and after, of `width` times 16 registers. Before, one of
// `grown` is that of `registers` unless the vertex has just changed. `balls` : of 6 a vertex, as in
// engine/contract_distances.py. `lanes` take a counter, a power of 2.
struct Job {
    const OFFSET *offsets;
    const ID *neighbours;
    const Registers *registers;
    Registers *grown;
    const uint8 *changed;
    uint8 *changes;
    double *balls;
    uint64 *count;
    uint64 width, lanes, step;

    // A part of a counter, united with those of every so many one of some edges.
    __device__ __forceinline__ Registers united(Registers mine, uint64 e, uint64 end, uint64 by,
                                                uint64 part) const {
        for (; e < end; e += by) {
            ID u = neighbours[e];
            if (changed[u])
                mine.unite(registers[u * width + part]);
        }
        return mine;
    }

    // Keep a part of a counter.
    __device__ __forceinline__ void keep(uint64 v, uint64 part, const Registers &mine,
                                         Seen &seen) const {
        bool differs = mine.differs(registers[v * width + part]);
        if (differs || changed[v])
            grown[v * width + part] = mine;
        seen.take(mine, differs);
    }

    // Note the size of a ball; by one thread.
    __device__ __forceinline__ void note(uint64 v, const Seen &seen) const {
        changes[v] = seen.differs != 0;
        if (seen.differs == 0)
            return;
        double size = seen.estimate((double)(width * sizeof(Registers)));
        double *ball = balls + v * 6, hops = (double)step, more = size - ball[0];
        double varies = more * (size + ball[0]);
        ball[0] = size;
        ball[1] += more * hops;
        ball[2] += more / hops;
        ball[3] += varies * hops;
        ball[4] += varies * (hops * hops);
        ball[5] += varies / (hops * hops);
        atomicAdd(count, 1ull);
    }
};

extern "C" __global__ void __launch_bounds__(BLOCK) short_rows(const Job job, uint64 n) {
    uint32 lanes = (uint32)job.lanes, in_group = lane() % lanes;
    uint64 groups = WARP / lanes;
    for (uint64 first = warp_rank() * groups; first < n; first += num_warps() * groups) {
        uint64 v = first + lane() / lanes;
        uint64 begin = v < n ? job.offsets[v] : 0, end = v < n ? job.offsets[v + 1] : 0;
        bool here = v < n && end - begin < LONG;
        Seen seen = {};
        for (uint64 part = in_group; here && part < job.width; part += lanes) {
            Registers mine = job.registers[v * job.width + part];
            job.keep(v, part, job.united(mine, begin, end, 1, part), seen);
        }
        seen.add_lanes(lanes);
        if (here && in_group == 0)
            job.note(v, seen);
    }
}

// A block takes a row of `longs`; groups of lanes take edges of it, and the first one what all
// have.
extern "C" __global__ void __launch_bounds__(BLOCK)
    long_rows(const Job job, const ID *longs, uint64 size) {
    __shared__ Registers parts[BLOCK];
    uint32 lanes = (uint32)job.lanes, in_group = threadIdx.x % lanes, group = threadIdx.x / lanes;
    for (uint64 i = blockIdx.x; i < size; i += gridDim.x) {
        uint64 v = longs[i];
        Seen seen = {};
        for (uint64 part = in_group; part < job.width; part += lanes) {
            Registers mine = job.registers[v * job.width + part];
            parts[threadIdx.x] =
                job.united(mine, job.offsets[v] + group, job.offsets[v + 1], BLOCK / lanes, part);
            __syncthreads();
            if (group == 0) {
                for (uint32 other = in_group; other < BLOCK; other += lanes)
                    mine.unite(parts[other]);
                job.keep(v, part, mine, seen);
            }
            __syncthreads();
        }
        if (threadIdx.x < WARP) {
            seen.add_lanes(lanes);
            if (threadIdx.x == 0)
                job.note(v, seen);
        }
    }
}
