// What array operations do, for whatever types a frame has, compiled once.
//
// Launch    a thread an element, unless something else is said
// Why       CuPy compiles each operation for each type at its first call.

#include "column.cuh"

// ---- elements

// places[order[i]] = i
extern "C" __global__ void invert(Column order, uint64 n, Output places) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        places.put(order[i], i);
}

// places[i] = i
extern "C" __global__ void count_up(uint64 n, Output places) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        places.put(i, i);
}

// Which values, integers with a sign, are 0 or more.
extern "C" __global__ void not_negative(Column values, uint64 n, uint8 *out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out[i] = (values[i] >> (8 * values.bytes - 1) & 1) == 0;
}

// Values in another type. Of integers the bit that is the sign is given, 0 of those that have none.
extern "C" __global__ void convert_integers(Column values, uint64 sign, uint64 n, Output out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out.put(i, (values[i] ^ sign) - sign);
}

extern "C" __global__ void integers_to_floats(Column values, uint64 sign, uint64 n, double *out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        uint64 value = (values[i] ^ sign) - sign;
        out[i] = sign != 0 ? (double)(int64)value : (double)value;
    }
}

extern "C" __global__ void widen_floats(const float *values, uint64 n, double *out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out[i] = values[i];
}

extern "C" __global__ void narrow_floats(const double *values, uint64 n, float *out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out[i] = (float)values[i];
}

// Floats that are not negative as integers, in units of a power of two.
extern "C" __global__ void whole(const double *values, int64 bits, uint64 n, Output out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out.put(i, (uint64)rint(ldexp(values[i], (int)bits)));
}

// Integers without a sign; of none they are taken from 0.
extern "C" __global__ void subtract(Column from, Column values, uint64 n, Output out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out.put(i, (from.values == 0 ? (uint64)0 : from[i]) - values[i]);
}

extern "C" __global__ void add(const uint64 *a, const uint64 *b, uint64 n, uint64 *out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out[i] = a[i] + b[i];
}

// out[i] = values[index[i]]
extern "C" __global__ void gather(Column values, Column index, uint64 n, Output out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out.put(i, values[index[i]]);
}

// out[index[i]] = values[i]
extern "C" __global__ void scatter(Column values, Column index, uint64 n, Output out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out.put(index[i], values[i]);
}

// How many of some ascending ids are less than a value, or as large at most where `too`. `sign` :
// the bit that says of ids, and of the value, that they are negative; 0 where none is.
__device__ __forceinline__ uint64 ids_below(Column ids, uint64 n, uint64 sign, uint64 value,
                                            bool too) {
    uint64 lo = 0, hi = n;
    while (lo < hi) {
        uint64 mid = lo + (hi - lo) / 2, id = ids[mid] ^ sign;
        if (id < (value ^ sign) || (too && id == (value ^ sign)))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// Where ascending ids have a value: from places[0] to places[1]. One thread.
extern "C" __global__ void find_id(Column ids, uint64 n, uint64 sign, uint64 value,
                                   uint64 *places) {
    for (int k = 0; k < 2; ++k)
        places[k] = ids_below(ids, n, sign, value, k == 1);
}

// Where ascending ids, each once, have values of their type; -1 where they do not.
extern "C" __global__ void find_ids(Column ids, uint64 n, uint64 sign, Column values, uint64 number,
                                    int64 *places) {
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        uint64 place = ids_below(ids, n, sign, values[i], false);
        places[i] = place < n && ids[place] == values[i] ? (int64)place : -1;
    }
}

// Which edges are the first of their row to their neighbour, where those of a row are in order: at
// first all that differ from the edge before, then those that begin a row.
extern "C" __global__ void mark_changes(Column neighbours, uint64 n, uint8 *first) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        first[i] = i == 0 || neighbours[i] != neighbours[i - 1];
}

extern "C" __global__ void mark_starts(Column offsets, uint64 num_rows, uint8 *first) {
    for (uint64 row = thread_rank(); row < num_rows; row += num_threads())
        if (offsets[row] != offsets[row + 1])
            first[offsets[row]] = 1;
}

// Which integers without a sign are so large, and less than `most`.
extern "C" __global__ void between(Column values, uint64 least, uint64 most, uint64 n,
                                   uint8 *mask) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        uint64 value = values[i];
        mask[i] = value >= least && value < most;
    }
}

// Which integers are the same as others, or are not.
extern "C" __global__ void compare(Column a, Column b, uint64 same, uint64 n, uint8 *mask) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        mask[i] = (a[i] == b[i]) == (same != 0);
}

// Which segments have so many elements, fewer than `most`.
extern "C" __global__ void lengths_between(Column offsets, uint64 least, uint64 most, uint64 n,
                                           uint8 *mask) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        uint64 length = offsets[i + 1] - offsets[i];
        mask[i] = length >= least && length < most;
    }
}

// The segment that each element is in.
extern "C" __global__ void segments(Column offsets, uint64 num_segments, uint64 n, Output numbers) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        uint64 lo = 0, hi = num_segments; // the first that ends behind it
        while (lo < hi) {
            uint64 mid = lo + (hi - lo) / 2;
            if (offsets[mid + 1] <= i)
                lo = mid + 1;
            else
                hi = mid;
        }
        numbers.put(i, lo);
    }
}

// Every element gets the same bits.
extern "C" __global__ void fill(uint64 value, uint64 n, Output out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out.put(i, value);
}

// to[index[i]] gets the same bits
extern "C" __global__ void fill_some(uint64 value, Column index, uint64 n, Output to) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        to.put(index[i], value);
}

// to[index[i]] = from[index[i]]
extern "C" __global__ void copy_some(Column from, Column index, uint64 n, Output to) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        to.put(index[i], from[index[i]]);
}

// Marks besides those that there are: where values have other bits than `none`.
extern "C" __global__ void mark_others(Column values, uint64 none, uint64 n, uint8 *marks) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        if (values[i] != none)
            marks[i] = 1;
}

// Values where they are marked, 0 elsewhere.
extern "C" __global__ void keep_marked(Column values, const uint8 *marks, uint64 n, Output out) {
    for (uint64 i = thread_rank(); i < n; i += num_threads())
        out.put(i, marks[i] ? values[i] : (uint64)0);
}

// First place of ascending integers without a sign that is not below each value.
extern "C" __global__ void first_not_below(Column sorted, uint64 size, Column values, uint64 n,
                                           Output places) {
    for (uint64 i = thread_rank(); i < n; i += num_threads()) {
        uint64 lo = 0, hi = size, value = values[i];
        while (lo < hi) {
            uint64 mid = lo + (hi - lo) / 2;
            if (sorted[mid] < value)
                lo = mid + 1;
            else
                hi = mid;
        }
        places.put(i, lo);
    }
}

// ---- the places where a mask holds

// How many there are in each tile; a block of TILE threads a tile.
extern "C" __global__ void __launch_bounds__(TILE)
    count_marks(const uint8 *mask, uint64 n, uint64 *tiles) {
    for (uint64 tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        uint64 i = tile * TILE + threadIdx.x;
        uint32 found = block_sum((uint32)(i < n && mask[i] != 0));
        if (threadIdx.x == 0)
            tiles[tile] = found;
    }
}

// Each, behind those of the tiles before; behind the last one, how long the mask is.
extern "C" __global__ void __launch_bounds__(TILE)
    list_marks(const uint8 *mask, uint64 n, const uint64 *tiles, uint64 *places) {
    for (uint64 tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        uint64 i = tile * TILE + threadIdx.x;
        bool holds = i < n && mask[i] != 0;
        uint32 total;
        uint64 place = tiles[tile] + block_exclusive_scan((uint32)holds, &total);
        if (holds)
            places[place] = i;
        if (i == n - 1)
            places[place + holds] = n;
    }
}

// ---- running sums

// The sum of each tile of integers without a sign; a block of TILE threads a tile.
extern "C" __global__ void __launch_bounds__(TILE)
    add_tiles(Column lengths, uint64 n, uint64 *tiles) {
    for (uint64 tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        uint64 i = tile * TILE + threadIdx.x;
        uint64 sum = block_sum(i < n ? lengths[i] : (uint64)0);
        if (threadIdx.x == 0)
            tiles[tile] = sum;
    }
}

// The sum of those before each, and of all, behind those of the tiles before.
extern "C" __global__ void __launch_bounds__(TILE)
    place_lengths(Column lengths, uint64 n, const uint64 *tiles, Output places) {
    for (uint64 tile = blockIdx.x; tile * TILE < n; tile += gridDim.x) {
        uint64 i = tile * TILE + threadIdx.x, total;
        uint64 length = i < n ? lengths[i] : (uint64)0;
        uint64 place = tiles[tile] + block_exclusive_scan(length, &total);
        if (i < n)
            places.put(i, place);
        if (i == n - 1)
            places.put(n, place + length);
    }
}

// How many are in the tiles before each; behind the last tile, in all. One block of TILE threads.
extern "C" __global__ void __launch_bounds__(TILE) sum_tiles(uint64 *tiles, uint64 n) {
    uint64 before = 0;
    for (uint64 first = 0; first < n; first += TILE) {
        uint64 i = first + threadIdx.x, total;
        uint64 below = block_exclusive_scan(i < n ? tiles[i] : (uint64)0, &total);
        if (i < n)
            tiles[i] = before + below;
        before += total;
    }
    if (threadIdx.x == 0)
        tiles[n] = before;
}

// ---- segments

// Numbers as integers without a sign, in the same order; and back.
struct Ordered {
    uint64 sign; // the bit that is the sign; 0: they have none
    uint64 real; // whether they are floats

    __device__ __forceinline__ uint64 to(uint64 bits) const {
        if (!real)
            return bits ^ sign;
        return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
    }

    __device__ __forceinline__ uint64 from(uint64 key) const {
        if (!real)
            return key ^ sign;
        return key & sign ? key ^ sign : ~key & (sign | (sign - 1));
    }
};

// The least or the largest element of each segment, none of which is empty; a warp a segment.
extern "C" __global__ void extremes(Column values, const uint64 *ends, uint64 n, uint64 most,
                                    Ordered ordered, Output out) {
    for (uint64 segment = warp_rank(); segment < n; segment += num_warps()) {
        uint64 first = ends[segment], end = ends[segment + 1];
        uint64 best = ordered.to(values[first]);
        for (uint64 i = first + lane(); i < end; i += WARP) {
            uint64 key = ordered.to(values[i]);
            best = most ? Larger()(best, key) : Smaller()(best, key);
        }
        best = most ? warp_max(best) : warp_min(best);
        if (lane() == 0)
            out.put(segment, ordered.from(best));
    }
}

constexpr uint64 LONG = 4096; // elements of a segment that all warps of a block add up together
constexpr uint32 WARPS = 8;

// Numbers as they are added up: as floats of 64 bits, or as integers.
struct Real {
    Column values;

    __device__ __forceinline__ double operator[](uint64 i) const {
        return values.bytes == 4 ? ((const float *)values.values)[i]
                                 : ((const double *)values.values)[i];
    }
};

struct Whole {
    Column values;
    uint64 sign;

    __device__ __forceinline__ int64 operator[](uint64 i) const {
        return (int64)((values[i] ^ sign) - sign);
    }
};

template <typename T, typename Values>
__device__ void sum_each(Values values, Column ends, uint64 n, T *sums) {
    for (uint64 base = (uint64)blockIdx.x * WARPS; base < n; base += (uint64)gridDim.x * WARPS) {
        uint64 segment = base + warp_in_block();
        uint64 first = segment < n ? ends[segment] : 0, end = segment < n ? ends[segment + 1] : 0;
        bool is_long = end - first > LONG;
        if (segment < n && !is_long) {
            T sum = 0;
            for (uint64 i = first + lane(); i < end; i += WARP)
                sum += values[i];
            sum = warp_sum(sum);
            if (lane() == 0)
                sums[segment] = sum;
        }
        if (block_sum((uint32)is_long) == 0)
            continue;
        for (segment = base; segment < n && segment < base + WARPS; ++segment) {
            first = ends[segment], end = ends[segment + 1];
            if (end - first <= LONG)
                continue;
            T sum = 0;
            for (uint64 i = first + threadIdx.x; i < end; i += blockDim.x)
                sum += values[i];
            sum = block_sum(sum);
            if (threadIdx.x == 0)
                sums[segment] = sum;
        }
    }
}

// The sum of each segment, in the same order each time; WARPS warps a block, a warp a segment.
extern "C" __global__ void __launch_bounds__(WARPS *WARP)
    sum_floats(Column values, Column ends, uint64 n, double *sums) {
    sum_each(Real{values}, ends, n, sums);
}

extern "C" __global__ void __launch_bounds__(WARPS *WARP)
    sum_integers(Column values, uint64 sign, Column ends, uint64 n, int64 *sums) {
    sum_each(Whole{values, sign}, ends, n, sums);
}
