// What kernels of vertex programs share. The text that a program is lowered to
// (engine/cuda/glue.py) comes after this and before the kernels. It defines
//     VALUE, MESSAGE, PRIORITY          types in which first field and messages are stored
//     Run                               the program's arrays and constants
//     New                               new values of the fields that change
//     identity() better(a, b)           what stands for no message, which of two is kept
//     message(...) message_from(...)    along an edge; false: integer overflow
//     apply_vertex(...) active_vertex(...) sends_next(...) priority(...) start_value(...)
//     Totals, NextTotals                aggregates that apply takes along
// and is read with macros COMBINE_<one of MIN, MAX, SUM, ANY>, HAS_REACHED and those of program.cu.

#include "common.cuh"

// Of a superstep.
constexpr int64 BY_PULL = 0, BY_NOTIFY = 1, BY_PUSH = 2;

// Of a run; the host reads it after a batch of supersteps.
struct RunControl {
    int64 superstep;                // the current one, from 1
    int64 limit;                    // most supersteps; -1: any number
    int64 num_active, active_edges; // who sends in it
    int64 next_active, next_edges;  // who sends in the next one: apply counts
    int64 completed;                // supersteps
    int64 done;                     // all kernels return at once
    int64 stopped;                  // stop said so
    int64 bad;                      // overflow, of BAD_...
    int64 direction;                // of the superstep
    int64 read;                     // edges that it has looked at
    int64 log_size;
    int64 began;                  // nanoseconds
    int64 blocks;                 // of the kernels that take aggregates
    uint32 small, medium, chunks; // lengths of the lists of active vertices
    uint32 ready;                 // they were made by the superstep before: see program_filter.cuh
    uint32 listed, spilled;       // lengths of its lists of vertices that got a message
    int64 overflow, overflows;    // a bin was full; supersteps in which one was
    int64 batched, batch;         // edges of the next superstep's list of edges, of this one's
};

constexpr int64 BAD_COMPUTE = 1, BAD_APPLY = 2;

// What a superstep did; the last one of the log also stands for all that come later.
struct Advance {
    int64 direction, supersteps, frontier, edges, nanoseconds;
};
constexpr int LOG_SIZE = 1024;

// ---- aggregates

// Value of one: `whole` of integers, else `real`.
struct Aggregate {
    int64 whole;
    double real;
    int64 count; // vertices; without any there is no value
    int64 bad;
};

// The same of one block.
typedef Aggregate Partial;

// Blocks that aggregates are taken in, at most. How many follows from the number of vertices alone,
// so that sums come out the same on every device; a launch of fewer takes them in turn.
constexpr int BLOCKS = 2048;

enum Kind { KIND_SUM, KIND_MIN, KIND_MAX };

template <typename T> __device__ __forceinline__ T lowest();
template <> __device__ __forceinline__ int64 lowest<int64>() { return -9223372036854775807LL - 1; }
template <> __device__ __forceinline__ double lowest<double>() {
    return -__longlong_as_double(0x7ff0000000000000);
}
template <typename T> __device__ __forceinline__ T highest();
template <> __device__ __forceinline__ int64 highest<int64>() { return 9223372036854775807LL; }
template <> __device__ __forceinline__ double highest<double>() {
    return __longlong_as_double(0x7ff0000000000000);
}

// Integers wrap around, which C++ leaves undefined for signed ones.
template <typename T> __device__ __forceinline__ T added(T a, T b) { return a + b; }
template <> __device__ __forceinline__ int64 added(int64 a, int64 b) {
    return (int64)((uint64)a + (uint64)b);
}
template <> __device__ __forceinline__ int32 added(int32 a, int32 b) {
    return (int32)((uint32)a + (uint32)b);
}

struct Added {
    template <typename T> __device__ __forceinline__ T operator()(T a, T b) const {
        return added(a, b);
    }
};

// An aggregate as it grows; T is int64 or double.
template <typename T, int KIND> struct Total {
    T value;
    double shadow; // of a sum of integers, to find overflow
    int32 count;
    bool bad;

    __device__ __forceinline__ Total() : value(none()), shadow(0), count(0), bad(false) {}

    static __device__ __forceinline__ T none() {
        return KIND == KIND_SUM ? T(0) : KIND == KIND_MIN ? highest<T>() : lowest<T>();
    }

    static __device__ __forceinline__ T combined(T a, T b) {
        if (KIND == KIND_SUM)
            return added(a, b);
        return KIND == KIND_MIN ? (b < a ? b : a) : (a < b ? b : a);
    }

    struct Combine {
        __device__ __forceinline__ T operator()(T a, T b) const { return combined(a, b); }
    };

    static constexpr bool SHADOWED = KIND == KIND_SUM && Same<T, int64>::value;

    __device__ __forceinline__ void add(T x) {
        value = combined(value, x);
        if (SHADOWED)
            shadow += (double)x;
        count = 1;
    }

    // Every thread of the block calls it; thread 0 gets the block's.
    __device__ __forceinline__ void reduce() {
        value = block_reduce(value, none(), Combine());
        if (SHADOWED)
            shadow = block_sum(shadow);
        count = __syncthreads_or(count);
        bad = __syncthreads_or(bad);
    }

    __device__ __forceinline__ void store(Partial *partial) {
        reduce();
        if (threadIdx.x == 0)
            keep(*partial);
    }

    __device__ __forceinline__ void keep(Aggregate &into) const {
        into.whole = (int64)(Same<T, int64>::value ? value : T(0));
        into.real = Same<T, int64>::value ? shadow : (double)value;
        into.count = count != 0;
        into.bad = bad;
    }

    // One block puts all blocks' together, in an order that is always the same.
    static __device__ __forceinline__ void fold(const Partial *partials, uint32 blocks,
                                                Aggregate *into, bool checked) {
        Total total;
        for (uint32 block = threadIdx.x; block < blocks; block += blockDim.x) {
            const Partial &partial = partials[block];
            total.bad |= partial.bad != 0;
            if (!partial.count)
                continue;
            total.count = 1;
            total.value =
                combined(total.value, Same<T, int64>::value ? (T)partial.whole : (T)partial.real);
            if (SHADOWED)
                total.shadow += partial.real;
        }
        total.reduce();
        // Wrapping around moves a sum by 2**64, rounding by far less than 2**62.
        if (SHADOWED && checked)
            total.bad |= !(fabs((double)total.value - total.shadow) <= 4611686018427387904.0);
        if (threadIdx.x == 0)
            total.keep(*into);
        __syncthreads();
    }
};

// A kernel's work where one aggregate is taken alone.
template <typename Totals, typename Run>
__device__ void aggregate_all(const Run &run, const uint8 *reached, Partial *partials) {
    uint64 n = run.num_owned, blocks = run.control->blocks;
    for (uint64 block = blockIdx.x; block < blocks; block += gridDim.x) {
        Totals totals;
        for (uint64 v = block * blockDim.x + threadIdx.x; v < n; v += blocks * blockDim.x) {
            if (HAS_REACHED && !reached[v])
                continue;
            auto old = old_values(run, v);
            totals.template add<false>(run, v, old, Totals::AFTER ? made_values(run, v) : old,
                                       run.control->superstep);
        }
        totals.store(partials + block);
    }
}

// ---- edges

// As they stand in rows: the other end, or with what an edge carries one word, of which the end is
// the lowest PACKED bits (engine/cuda/packing.py). The program's functions are given `edge_of`.
#if PACKED
typedef WORD EDGE;
#else
typedef OFFSET EDGE;
#endif

__device__ __forceinline__ ID end_of(WORD word) {
    return PACKED ? (ID)(word & (((WORD)1 << PACKED) - 1)) : (ID)word;
}

__device__ __forceinline__ EDGE edge_of(WORD word, OFFSET place) {
    return PACKED ? (EDGE)word : (EDGE)place;
}

// ---- messages

// Whether `a` is kept when `b` comes.
template <typename T> __device__ __forceinline__ bool better(T a, T b) {
    return COMBINE_MAX ? a > b : a < b;
}

__device__ __forceinline__ int64 nanoseconds() {
    uint64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return (int64)now;
}
