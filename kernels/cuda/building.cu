// A graph is built of columns on the device: vertices are numbered, edges become keys that are
// sorted, sorted keys become rows.
//
// Launch    a thread an element; `count_tiles` and `number_tiles` a block of TILE threads a tile
// Why       Each does in one pass what array operations do in several, and those would be compiled
//           one by one at a first call.

#include "column.cuh"

// ---- numbering

// How often each code occurs.
extern "C" __global__ void count_codes(Column codes, uint64 n, uint64 *counts) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        atomicAdd(counts + codes[i], (uint64)1);
}

// Codes that are a source, a destination or, where there are any, marked.
struct Codes {
    const uint64 *sources;
    const uint64 *destinations;
    const uint8 *marks;
    uint64 size;

    __device__ __forceinline__ bool occurs(uint64 code) const {
        return code < size &&
               (sources[code] != 0 || destinations[code] != 0 || (marks != 0 && marks[code] != 0));
    }
};

// How many codes of each tile occur.
extern "C" __global__ void __launch_bounds__(TILE) count_tiles(Codes codes, uint64 *tiles) {
    for (uint64 tile = blockIdx.x; tile * TILE < codes.size; tile += gridDim.x) {
        uint32 found = block_sum((uint32)codes.occurs(tile * TILE + threadIdx.x));
        if (threadIdx.x == 0)
            tiles[tile] = found;
    }
}

struct Numbered {
    Output table;    // number of each code that occurs
    Output ids;      // of each number, its code and `first`
    uint64 *sources; // how often each number is a source
    uint64 *destinations;
    uint64 first;
};

extern "C" __global__ void __launch_bounds__(TILE)
    number_tiles(Codes codes, const uint64 *tiles, Numbered made) {
    for (uint64 tile = blockIdx.x; tile * TILE < codes.size; tile += gridDim.x) {
        uint64 code = tile * TILE + threadIdx.x;
        bool occurs = codes.occurs(code);
        uint32 total;
        uint64 number = tiles[tile] + block_exclusive_scan((uint32)occurs, &total);
        if (!occurs)
            continue;
        made.table.put(code, number);
        made.ids.put(number, code + made.first);
        made.sources[number] = codes.sources[code];
        made.destinations[number] = codes.destinations[code];
    }
}

// Degrees with their sign turned, to be sorted by, and their squares.
extern "C" __global__ void square_degrees(const uint64 *sources, const uint64 *destinations,
                                          uint64 n, int64 *falling, double *squares) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        uint64 degree = sources[v] + destinations[v];
        falling[v] = -(int64)degree;
        squares[v] = (double)degree * (double)degree;
    }
}

// ---- edges

// Ends of edges, as codes that a table, where there is one, gives the vertices of.
struct Edges {
    Column rows;
    Column neighbours;
    Column table;

    __device__ __forceinline__ uint64 vertex(uint64 code) const {
        return table.values == 0 ? code : table[code];
    }
};

// How many of every `step`th edge join vertices whose numbers are at most `window` apart.
extern "C" __global__ void count_near(Edges edges, uint64 n, uint64 step, uint64 window,
                                      uint64 *near) {
    for (uint64 i = thread_rank(); i * step < n; i += num_threads()) {
        uint64 a = edges.vertex(edges.rows[i * step]), b = edges.vertex(edges.neighbours[i * step]);
        if ((a < b ? b - a : a - b) <= window)
            atomicAdd(near, (uint64)1);
    }
}

struct Layout {
    uint64 bits;   // of a neighbour
    uint64 below;  // of what is carried below it
    uint64 marked; // whether the lowest bit of a neighbour is `back`
    uint64 back;
};

// Keys of edges: row, neighbour, and what they carry in so many bits below. Where loops are counted
// they get the largest key.
extern "C" __global__ void edge_keys(Edges edges, Column carried, Layout layout, uint64 n,
                                     uint64 *keys, uint64 *loops) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        uint64 row = edges.vertex(edges.rows[i]), neighbour = edges.vertex(edges.neighbours[i]);
        if (loops != 0 && row == neighbour) {
            atomicAdd(loops, (uint64)1);
            keys[i] = ~(uint64)0;
            continue;
        }
        if (layout.marked)
            neighbour = neighbour << 1 | layout.back;
        uint64 key = row << layout.bits | neighbour;
        keys[i] = layout.below == 0 ? key : key << layout.below | carried[i];
    }
}

// Where each row begins in sorted keys, which have rows from so many bits on.
extern "C" __global__ void key_offsets(const uint64 *keys, uint64 n, uint64 shift, uint64 num_rows,
                                       Output offsets) {
    for (uint64 row = thread_rank(); row <= num_rows; row += num_threads()) {
        uint64 lo = 0, hi = n;
        while (lo < hi) {
            uint64 mid = lo + (hi - lo) / 2;
            if (keys[mid] >> shift < row)
                lo = mid + 1;
            else
                hi = mid;
        }
        offsets.put(row, lo);
    }
}

extern "C" __global__ void unpack_keys(const uint64 *keys, Layout layout, uint64 n,
                                       Output neighbours, Output carried) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        uint64 key = keys[i];
        neighbours.put(i, key >> layout.below & (((uint64)1 << layout.bits) - 1));
        if (layout.below != 0)
            carried.put(i, key & (((uint64)1 << layout.below) - 1));
    }
}
