// The active subgraph of edges that lie in host memory [1].
//
// Computes  count_active, scan_active, list_subgraph: the rows of those edges of active vertices
// that
//           do not lie on the device, as an adjacency of its own; part_bounds: how many of them
//           come before some edges. read_host: nothing, but at what rate a kernel reads host
//           memory.
// Encoding  `begin` has a row for every vertex, empty for one that is not active, so that what goes
//           along an adjacency goes along this. `vertex` and `start` are the rows that are not
//           empty, for the host, which gathers their edges.
// Launch    in this order; scan_active as one block. The first and the third on one and the same
//           grid: each block has a stretch of the vertices.
// [1] Sabet, Zhao, Gupta. Subway: minimizing data transfer during out-of-GPU-memory graph
// processing.
//     EuroSys 2020.

#include "common.cuh"

// Of vertices before, or of a block.
struct Counted {
    uint64 vertices, edges;
};

// Edges of an active vertex at `from` or behind.
__device__ __forceinline__ uint64 length_behind(const uint8 *active, const OFFSET *offsets,
                                                OFFSET from, uint64 v) {
    if (!active[v])
        return 0;
    OFFSET begin = offsets[v] < from ? from : offsets[v], end = offsets[v + 1];
    return begin < end ? end - begin : 0;
}

// Whole tiles of a block's threads.
__device__ __forceinline__ uint64 stretch(uint64 n) {
    uint64 tiles = (n + num_threads() - 1) / num_threads();
    return tiles * blockDim.x;
}

extern "C" __global__ void __launch_bounds__(256)
    count_active(const uint8 *active, const OFFSET *offsets, uint64 n, uint64 from,
                 Counted *counted) {
    uint64 span = stretch(n), begin = blockIdx.x * span, vertices = 0, edges = 0;
    for (uint64 v = begin + threadIdx.x; v < begin + span && v < n; v += blockDim.x) {
        uint64 length = length_behind(active, offsets, (OFFSET)from, v);
        vertices += length > 0;
        edges += length;
    }
    vertices = block_sum(vertices);
    edges = block_sum(edges);
    if (threadIdx.x == 0)
        counted[blockIdx.x] = {vertices, edges};
}

// Of blocks to those of the blocks before; all of them at the end. One block.
extern "C" __global__ void __launch_bounds__(1024) scan_active(Counted *counted, uint64 blocks) {
    Counted before = {0, 0};
    for (uint64 base = 0; base < blocks; base += blockDim.x) {
        uint64 block = base + threadIdx.x, vertices, edges;
        Counted own = block < blocks ? counted[block] : Counted{0, 0};
        uint64 v = block_exclusive_scan(own.vertices, &vertices);
        uint64 e = block_exclusive_scan(own.edges, &edges);
        if (block < blocks)
            counted[block] = {before.vertices + v, before.edges + e};
        before.vertices += vertices;
        before.edges += edges;
    }
    if (threadIdx.x == 0)
        counted[blocks] = before;
}

extern "C" __global__ void __launch_bounds__(256)
    list_subgraph(const uint8 *active, const OFFSET *offsets, uint64 n, uint64 from,
                  const Counted *counted, OFFSET *begin, ID *vertex, OFFSET *start) {
    uint64 span = stretch(n), first = blockIdx.x * span;
    Counted before = counted[blockIdx.x];
    for (uint64 base = first; base < first + span && base < n; base += blockDim.x) {
        uint64 v = base + threadIdx.x, vertices, edges;
        uint64 length = v < n ? length_behind(active, offsets, (OFFSET)from, v) : 0;
        uint64 i = block_exclusive_scan((uint64)(length > 0), &vertices);
        uint64 e = block_exclusive_scan(length, &edges);
        if (v < n)
            begin[v] = (OFFSET)(before.edges + e);
        if (length > 0) {
            vertex[before.vertices + i] = (ID)v;
            start[before.vertices + i] = (OFFSET)(before.edges + e);
        }
        before.vertices += vertices;
        before.edges += edges;
    }
    if (thread_rank() == 0) {
        begin[n] = (OFFSET)counted[gridDim.x].edges;
        start[counted[gridDim.x].vertices] = (OFFSET)counted[gridDim.x].edges;
    }
}

// Edges of the subgraph before each of `number` places among all edges, of which none is before
// `from`; `row` is the last one that begins there or before.
extern "C" __global__ void part_bounds(const OFFSET *offsets, const OFFSET *begin, uint64 from,
                                       const uint64 *place, const uint64 *row, uint64 number,
                                       uint64 n, uint64 *before) {
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        uint64 r = row[i], first = r < n ? offsets[r] : 0;
        before[i] = begin[r];
        if (r < n && begin[r] < begin[r + 1])
            before[i] += place[i] - (first < from ? from : first);
    }
}

// Reads `size` words in sequence.
extern "C" __global__ void read_host(const uint32 *words, uint64 size, uint32 *found) {
    uint32 all = 0;
    for (uint64 i = thread_rank(); i < size; i += num_threads())
        all |= words[i];
    if (all == 0xdeadbeef)
        *found = all; // so that the reads are not left out
}
