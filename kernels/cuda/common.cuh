// What all kernels share: integer types, ranks, warp and block collectives, atomics, the grid
// barrier. Sizes that nothing here defines stand in kernels/sizes.py: the host reckons with them,
// too.
//
// No header of the toolkit is included, so that NVRTC alone compiles every kernel.

using int8 = signed char;
using int16 = short;
using int32 = int;
using int64 = long long;
using uint8 = unsigned char;
using uint16 = unsigned short;
using uint32 = unsigned int;
using uint64 = unsigned long long;
static_assert(sizeof(int64) == 8 && sizeof(int32) == 4, "widths");

// Whether kernels note what they did, for the report; 0 is to measure what that costs.
#ifndef REPORTS
#define REPORTS 1
#endif

constexpr uint32 FULL_WARP = 0xffffffffu;

// ---- ranks

__device__ __forceinline__ uint32 lane() { return threadIdx.x & (WARP - 1); }

__device__ __forceinline__ uint32 warp_in_block() { return threadIdx.x / WARP; }

__device__ __forceinline__ uint64 thread_rank() {
    return (uint64)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ uint64 num_threads() { return (uint64)gridDim.x * blockDim.x; }

__device__ __forceinline__ uint64 warp_rank() { return thread_rank() / WARP; }

__device__ __forceinline__ uint64 num_warps() { return num_threads() / WARP; }

// The lanes below this one.
__device__ __forceinline__ uint32 lower_lanes() { return (1u << lane()) - 1; }

template <typename T, typename U> struct Same {
    static constexpr bool value = false;
};
template <typename T> struct Same<T, T> {
    static constexpr bool value = true;
};

// ---- combining: add, smaller, larger

struct Add {
    template <typename T> __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};

struct Smaller {
    template <typename T> __device__ __forceinline__ T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};

struct Larger {
    template <typename T> __device__ __forceinline__ T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};

struct Later {
    template <typename T> __device__ __forceinline__ T operator()(T, T b) const { return b; }
};

// ---- warps: every lane of a full warp has to call these

// All lanes get the combination of all lanes' values, always in the same order.
template <typename T, typename Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine) {
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        value = combine(value, __shfl_xor_sync(FULL_WARP, value, offset));
    return value;
}

template <typename T> __device__ __forceinline__ T warp_sum(T value) {
#if __CUDA_ARCH__ >= 800
    if constexpr (Same<T, uint32>::value)
        return __reduce_add_sync(FULL_WARP, value);
#endif
    return warp_reduce(value, Add());
}

template <typename T> __device__ __forceinline__ T warp_min(T value) {
    return warp_reduce(value, Smaller());
}

template <typename T> __device__ __forceinline__ T warp_max(T value) {
#if __CUDA_ARCH__ >= 800
    if constexpr (Same<T, uint32>::value)
        return __reduce_max_sync(FULL_WARP, value);
#endif
    return warp_reduce(value, Larger());
}

// All lanes get the bits of all lanes.
__device__ __forceinline__ uint64 warp_or(uint64 bits) {
#if __CUDA_ARCH__ >= 800
    uint32 low = __reduce_or_sync(FULL_WARP, (uint32)bits);
    return low | (uint64)__reduce_or_sync(FULL_WARP, (uint32)(bits >> 32)) << 32;
#else
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        bits |= __shfl_xor_sync(FULL_WARP, bits, offset);
    return bits;
#endif
}

// Sum of the values of the lanes below, and of this one.
template <typename T> __device__ __forceinline__ T warp_inclusive_scan(T value) {
    for (int offset = 1; offset < WARP; offset *= 2) {
        T below = __shfl_up_sync(FULL_WARP, value, offset);
        if (lane() >= offset)
            value += below;
    }
    return value;
}

// Appends `value` of the lanes for which `wanted` holds to `queue`, with one atomic a warp.
template <typename T>
__device__ __forceinline__ void warp_append(bool wanted, T value, T *queue, uint32 *size) {
    uint32 votes = __ballot_sync(FULL_WARP, wanted);
    if (votes == 0)
        return;
    uint32 first = 0;
    if (lane() == 0)
        first = atomicAdd(size, __popc(votes));
    first = __shfl_sync(FULL_WARP, first, 0);
    if (wanted)
        queue[first + __popc(votes & lower_lanes())] = value;
}

// Room for `number` items of each lane behind the `size` that there are: where a lane's begin.
__device__ __forceinline__ uint64 warp_places(uint64 number, uint64 *size) {
    uint64 inclusive = warp_inclusive_scan(number), first = 0;
    if (lane() == WARP - 1 && inclusive > 0)
        first = atomicAdd(size, inclusive);
    return __shfl_sync(FULL_WARP, first, WARP - 1) + inclusive - number;
}

// ---- blocks: every thread of the block has to call these

// All threads get the combination of all threads' values, always in the same order.
template <typename T, typename Combine>
__device__ T block_reduce(T value, T identity, Combine combine) {
    __shared__ T held[WARP];
    value = warp_reduce(value, combine);
    __syncthreads(); // `held` may be in use by the call before
    if (lane() == 0)
        held[warp_in_block()] = value;
    __syncthreads();
    value = lane() < (blockDim.x + WARP - 1) / WARP ? held[lane()] : identity;
    return warp_reduce(value, combine);
}

template <typename T> __device__ T block_sum(T value) { return block_reduce(value, T(0), Add()); }

// Sum of the values of the threads below; `total` gets the block's.
template <typename T> __device__ T block_exclusive_scan(T value, T *total) {
    __shared__ T held[WARP];
    T inclusive = warp_inclusive_scan(value);
    __syncthreads();
    if (lane() == WARP - 1)
        held[warp_in_block()] = inclusive;
    __syncthreads();
    int warps = (blockDim.x + WARP - 1) / WARP;
    T sums = warp_inclusive_scan(lane() < warps ? held[lane()] : T(0));
    *total = __shfl_sync(FULL_WARP, sums, warps - 1);
    T before = warp_in_block() == 0 ? T(0) : __shfl_sync(FULL_WARP, sums, warp_in_block() - 1);
    return before + inclusive - value;
}

// ---- memory

// What another block may have changed during this launch.
template <typename T> __device__ __forceinline__ T fresh(const T *place) {
    return *(const volatile T *)place;
}

// Bits of a set: word i holds members 32 i .. 32 i + 31.
__device__ __forceinline__ bool has_bit(const uint32 *words, uint64 i) {
    return words[i / 32] >> (i % 32) & 1;
}

// Puts i into the set; whether it was not there.
__device__ __forceinline__ bool set_bit(uint32 *words, uint64 i) {
    uint32 bit = 1u << (i % 32);
    return !(fresh(words + i / 32) & bit) && !(atomicOr(words + i / 32, bit) & bit);
}

// First place of the ascending `values` that is larger than `key`.
template <typename T>
__device__ __forceinline__ uint64 upper_bound(const T *values, uint64 size, T key) {
    uint64 lo = 0;
    while (size > 0) {
        uint64 half = size / 2;
        if (values[lo + half] <= key) {
            lo += half + 1;
            size -= half + 1;
        } else {
            size = half;
        }
    }
    return lo;
}

// ---- atomics

template <int BYTES> struct Word;
template <> struct Word<1> {
    using type = uint8;
};
template <> struct Word<2> {
    using type = uint16;
};
template <> struct Word<4> {
    using type = uint32;
};
template <> struct Word<8> {
    using type = uint64;
};

template <typename To, typename From> __device__ __forceinline__ To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    union {
        From from;
        To to;
    } both;
    both.from = from;
    return both.to;
}

// Compare and swap on 1, 2, 4 or 8 bytes; the smaller ones through the word that they lie in.
template <typename W>
__device__ __forceinline__ W compare_and_swap(W *place, W expected, W desired) {
    if constexpr (sizeof(W) == 8) {
        return atomicCAS((uint64 *)place, expected, desired);
    } else if constexpr (sizeof(W) == 4) {
        return atomicCAS((uint32 *)place, expected, desired);
    } else {
        uint32 *word = (uint32 *)((uint64)place & ~3ull);
        uint32 shift = 8 * ((uint64)place & 3);
        uint32 mask = (sizeof(W) == 1 ? 0xffu : 0xffffu) << shift;
        uint32 old = fresh(word);
        while ((W)((old & mask) >> shift) == expected) {
            uint32 seen = atomicCAS(word, old, (old & ~mask) | ((uint32)desired << shift));
            if (seen == old)
                return expected;
            old = seen;
        }
        return (W)((old & mask) >> shift);
    }
}

// Combines `value` into `*place`, with LOOKS only where that changes it; what was there before.
template <bool LOOKS = true, typename T, typename Combine>
__device__ __forceinline__ T atomic_combine(T *place, T value, Combine combine) {
    using W = typename Word<sizeof(T)>::type;
    W old = fresh((W *)place);
    while (true) {
        T before = bits_as<T>(old), after = combine(before, value);
        if (LOOKS && bits_as<W>(after) == old)
            return before;
        W seen = compare_and_swap((W *)place, old, bits_as<W>(after));
        if (seen == old)
            return before;
        old = seen;
    }
}

// Types for which the hardware has an atomic minimum and maximum.
template <typename T> constexpr bool has_atomic_order() {
    return Same<T, int32>::value || Same<T, uint32>::value || Same<T, int64>::value ||
           Same<T, uint64>::value;
}

// With a read first (LOOKS): most values improve nothing, and a read is cheaper than an atomic.
// What was there before.
template <bool LOOKS = true, typename T>
__device__ __forceinline__ T atomic_min(T *place, T value) {
    if constexpr (has_atomic_order<T>()) {
        T seen = value;
        if (LOOKS && !(value < (seen = fresh(place))))
            return seen;
        return atomicMin(place, value);
    } else {
        return atomic_combine<LOOKS>(place, value, Smaller());
    }
}

template <bool LOOKS = true, typename T>
__device__ __forceinline__ T atomic_max(T *place, T value) {
    if constexpr (has_atomic_order<T>()) {
        T seen = value;
        if (LOOKS && !((seen = fresh(place)) < value))
            return seen;
        return atomicMax(place, value);
    } else {
        return atomic_combine<LOOKS>(place, value, Larger());
    }
}

template <typename T> __device__ __forceinline__ T atomic_add(T *place, T value) {
    if constexpr (Same<T, int64>::value)
        return (int64)atomicAdd((uint64 *)place, (uint64)value);
    else if constexpr (sizeof(T) >= 4)
        return atomicAdd(place, value);
    else
        return atomic_combine(place, value, Add());
}

// ---- the grid barrier

// One word, zero at the launch. Block 0 adds what makes the sum of a round turn the highest bit,
// the others add one: nothing is ever reset. All blocks have to be resident, which a cooperative
// launch sees to.
using GridBarrier = uint32;

__device__ __forceinline__ uint32 load_acquire(const uint32 *place) {
    uint32 value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
    return value;
}

// Blocks that work together: which of them this one is, and how many they are.
struct BlockTeam {
    uint32 rank, size;

    __device__ __forceinline__ uint64 thread() const {
        return (uint64)rank * blockDim.x + threadIdx.x;
    }

    __device__ __forceinline__ uint64 threads() const { return (uint64)size * blockDim.x; }
};

__device__ __forceinline__ BlockTeam whole_grid() { return {blockIdx.x, gridDim.x}; }

// What any thread of the team wrote before is seen by all its threads after.
__device__ __forceinline__ void team_sync(GridBarrier *barrier, BlockTeam team) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        uint32 share = team.rank == 0 ? 0x80000000u - (team.size - 1) : 1;
        uint32 old = atomicAdd(barrier, share);
        while (((old ^ load_acquire(barrier)) & 0x80000000u) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

// What any thread wrote before is seen by all threads after.
__device__ __forceinline__ void grid_sync(GridBarrier *barrier) {
    team_sync(barrier, whole_grid());
}
