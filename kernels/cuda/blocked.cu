// blocked.cu: sorts the edges of an adjacency by blocks of sources, for program_blocked.cu.
//
// Computes  count_near: how many edges of each row are from the first `block` sources.
//           cut_chunks: runs of at most `most` quads and `rows` rows, as long as they go, from each
//           stretch of quads on; a longer row is alone.
//           write_near: their quads. write_far: the quads of the others; how many far values a
//           chunk has; of each tile its first value and how many quads, by block of sources, then
//           by chunk; for each far value the source it is of, counted from its block's first.
// Launch    count_near: a thread a row. cut_chunks: a thread a stretch. The others: a block a chunk
// at a time; write_far with room
//           in shared memory for a number a block of sources.
// Why       A chunk's edges are counted by their block of sources in shared memory, and then
// placed:
//           one look at each edge, where a sort of all of them has several.

#include "common.cuh"

#include "blocked.cuh"

extern "C" __global__ void __launch_bounds__(256)
    count_near(const OFFSET *offsets, const ID *neighbours, uint64 n, uint64 block, OFFSET *near) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        uint64 begin = offsets[v], length = offsets[v + 1] - begin;
        // Neighbours ascend.
        near[v] = (OFFSET)upper_bound(neighbours + begin, length, (ID)(block - 1));
    }
}

// `first`: quad of each row, and the end. `slots`: of a stretch, for the first rows of its chunks.
extern "C" __global__ void __launch_bounds__(256)
    cut_chunks(const OFFSET *first, uint64 n, uint64 stretches, uint64 stretch, uint64 most,
               uint64 rows, uint64 slots, uint64 *row, uint32 *number) {
    uint64 s = thread_rank();
    if (s >= stretches)
        return;
    auto from = [&](uint64 which) { // the first row that begins in a stretch or after it
        return which == 0 ? 0 : upper_bound(first, n, (OFFSET)(which * stretch - 1));
    };
    uint64 end = s + 1 < stretches ? from(s + 1) : n;
    uint32 chunks = 0;
    for (uint64 v = from(s); v < end;) {
        row[s * slots + chunks++] = v;
        uint64 size = upper_bound(first + v, n + 1 - v, (OFFSET)(first[v] + most)) - 1;
        size = size < 1 ? 1 : size < rows ? size : rows;
        v += size;
    }
    number[s] = chunks;
}

// The edges of a chunk's rows, a quad a thread: take(quad, edge, left) with the first edge of a
// quad and how many of its row are left from there on.
template <typename Take>
__device__ __forceinline__ void for_quads(const Chunk &chunk, const Quads &quads,
                                          const OFFSET *offsets, const OFFSET *near, bool far,
                                          Take take) {
    for (uint64 q = chunk.begin + threadIdx.x; q < chunk.end; q += blockDim.x) {
        uint64 v = chunk.row + upper_bound(quads.first + chunk.row, chunk.rows + 1, (OFFSET)q) - 1;
        uint64 begin = offsets[v] + (far ? near[v] : 0);
        uint64 end = far ? (uint64)offsets[v + 1] : begin + near[v];
        uint64 edge = begin + (q - quads.first[v]) * QUAD;
        take(q, edge, end - edge);
    }
}

// `none`: the place of a zero.
extern "C" __global__ void __launch_bounds__(BLOCKED_THREADS)
    write_near(const Chunk *chunks, uint64 num_chunks, Quads quads, const OFFSET *offsets,
               const ID *neighbours, const OFFSET *near, uint64 none) {
    for (uint64 c = blockIdx.x; c < num_chunks; c += gridDim.x)
        for_quads(chunks[c], quads, offsets, near, false, [&](uint64 q, uint64 edge, uint64 left) {
            uint64 quad = 0;
            for (int k = 0; k < QUAD; k++)
                quad |= ((uint64)k < left ? (uint64)neighbours[edge + k] : none) << (16 * k);
            quads.quads[q] = quad;
        });
}

// `sources`: number of blocks of sources, of `block` each.
extern "C" __global__ void __launch_bounds__(BLOCKED_THREADS)
    write_far(Chunk *chunks, uint64 num_chunks, Quads quads, const OFFSET *offsets,
              const ID *neighbours, const OFFSET *near, uint64 none, uint64 block, uint64 sources,
              OFFSET *tile_first, uint32 *tile_quads, uint16 *source) {
    extern __shared__ uint32 places[];
    for (uint64 c = blockIdx.x; c < num_chunks; c += gridDim.x) {
        Chunk chunk = chunks[c];
        for (uint64 s = threadIdx.x; s < sources; s += blockDim.x)
            places[s] = 0;
        __syncthreads();
        for_quads(chunk, quads, offsets, near, true, [&](uint64, uint64 edge, uint64 left) {
            for (uint64 k = 0; k < QUAD && k < left; k++)
                atomicAdd(places + neighbours[edge + k] / block, 1u);
        });
        __syncthreads();
        uint32 before = 0;
        for (uint64 base = 0; base < sources; base += blockDim.x) {
            uint64 s = base + threadIdx.x;
            uint32 taken = s < sources ? (places[s] + QUAD - 1) / QUAD : 0, all;
            uint32 first = before + block_exclusive_scan(taken, &all);
            before += all;
            if (s < sources) {
                places[s] = QUAD * first;
                tile_first[s * num_chunks + c] = (OFFSET)(chunk.first_value + QUAD * first);
                tile_quads[s * num_chunks + c] = taken;
            }
        }
        if (threadIdx.x == 0)
            chunks[c].values = QUAD * before;
        __syncthreads();
        for_quads(chunk, quads, offsets, near, true, [&](uint64 q, uint64 edge, uint64 left) {
            uint64 quad = 0;
            for (int k = 0; k < QUAD; k++) {
                uint64 place = none;
                if ((uint64)k < left) {
                    uint64 u = neighbours[edge + k];
                    place = atomicAdd(places + u / block, 1u);
                    source[chunk.first_value + place] = (uint16)(u % block);
                }
                quad |= place << (16 * k);
            }
            quads.quads[q] = quad;
        });
        __syncthreads();
    }
}
