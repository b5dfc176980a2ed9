// Values of monotone programs, improved where they stand.

#if !HAS_PRIORITY
typedef int64 PRIORITY;
#endif

// Vertices without a value hold the identity. Where a real value may equal it, `late` tells which.
#define MAY_BE_LATE (HAS_REACHED && !NARROW)

__device__ __forceinline__ PRIORITY priority_of(const Run &run, VALUE value) {
#if HAS_PRIORITY
    return priority(run, value);
#else
    return 0;
#endif
}

// Puts `value` in place of a worse one; what was there before.
__device__ __forceinline__ VALUE improve(VALUE *place, VALUE value) {
    if constexpr (has_atomic_order<VALUE>()) {
        return COMBINE_MIN ? atomic_min(place, value) : atomic_max(place, value);
    } else {
        // Floats of one sign are ordered as their bits; a negative zero is none of either.
        using Bits = typename Word<sizeof(VALUE)>::type;
        VALUE seen = fresh(place);
        if (!better(value, seen))
            return seen;
        value += 0;
        Bits bits = bits_as<Bits>(value), old;
        if constexpr (sizeof(VALUE) == 4) {
            if (value < 0)
                old = COMBINE_MIN ? atomicMax((uint32 *)place, bits)
                                  : atomicMin((uint32 *)place, bits);
            else
                old = COMBINE_MIN ? atomicMin((int32 *)place, (int32)bits)
                                  : atomicMax((int32 *)place, (int32)bits);
        } else {
            if (value < 0)
                old = COMBINE_MIN ? atomicMax((uint64 *)place, bits)
                                  : atomicMin((uint64 *)place, bits);
            else
                old = COMBINE_MIN ? atomicMin((int64 *)place, (int64)bits)
                                  : atomicMax((int64 *)place, (int64)bits);
        }
        return bits_as<VALUE>(old);
    }
}
