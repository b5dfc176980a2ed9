// What a kernel source sees instead of CUDA: one OS thread runs all threads of a launch as fibers.
#pragma once
typedef unsigned long emu_size_t;
typedef unsigned long size_t;
struct dim3 {
    unsigned x, y, z;
};
struct uint3 {
    unsigned x, y, z;
};
struct EmuBlock;
struct EmuWarp;
struct EmuThread {
    uint3 tid, bid;
    dim3 bdim, gdim;
    char *shared;  // static shared memory of the block
    char *dynamic; // dynamic shared memory of the block
    void *sp;
    EmuBlock *block;
    EmuWarp *warp;
    unsigned lane, arg, mask;
    int kind;
    unsigned long long val, res;
    const char *where;
    int line;
};
extern "C" {
extern __thread EmuThread *emu_cur __attribute__((tls_model("initial-exec")));
extern __thread int emu_budget __attribute__((tls_model("initial-exec")));
unsigned long long emu_warp(int kind, unsigned mask, unsigned long long value, unsigned arg);
int emu_barrier(int kind, int predicate);
void emu_yield();   // of a thread that waits for another one
void emu_preempt(); // when the budget is spent
unsigned long long emu_nanoseconds();
unsigned emu_shared_place(unsigned *top, unsigned size, unsigned align);
void emu_fail(const char *what);
int printf(const char *, ...);
}
#define threadIdx (emu_cur->tid)
#define blockIdx (emu_cur->bid)
#define blockDim (emu_cur->bdim)
#define gridDim (emu_cur->gdim)
#define warpSize 32
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __CUDA_ARCH__ 900
#define __CUDACC__ 1
#define __align__(n) __attribute__((aligned(n)))
#define __constant__ static
#define EMU_EXPORT __attribute__((visibility("default")))
#define EMU_INLINE static inline __attribute__((always_inline, unused))

extern "C" {
EMU_EXPORT unsigned emu_shared_top = 0;
}

EMU_INLINE void emu_point() {
    if (--emu_budget < 0)
        emu_preempt();
}

#ifdef EMU_SEEDED
#define EMU_AFTER(value) (emu_after(value))
template <typename T> EMU_INLINE T emu_after(T v) {
    emu_point();
    return v;
}
#else
#define EMU_AFTER(value) (value)
#endif
enum {
    EMU_SHFL = 1,
    EMU_BALLOT,
    EMU_SYNCWARP,
    EMU_ADD,
    EMU_MIN,
    EMU_MAX,
    EMU_OR,
    EMU_AND,
    EMU_XOR,
    EMU_MINS,
    EMU_MAXS,
    EMU_MATCH_ANY,
    EMU_MATCH_ALL,
    EMU_ACTIVE
};

template <typename T> EMU_INLINE unsigned long long emu_bits(T v) {
    static_assert(sizeof(T) <= 8, "at most 8 bytes");
    unsigned long long b = 0;
    __builtin_memcpy(&b, &v, sizeof(T));
    return b;
}
template <typename T> EMU_INLINE T emu_value(unsigned long long b) {
    T v;
    __builtin_memcpy(&v, &b, sizeof(T));
    return v;
}
EMU_INLINE unsigned emu_lane() { return emu_cur->lane; }
template <typename T> EMU_INLINE T __shfl_sync(unsigned m, T v, int src, int w = 32) {
    unsigned l = emu_lane();
    return emu_value<T>(emu_warp(EMU_SHFL, m, emu_bits(v), (l & ~(w - 1)) | (src & (w - 1))));
}
template <typename T> EMU_INLINE T __shfl_xor_sync(unsigned m, T v, int x, int w = 32) {
    unsigned l = emu_lane(), s = l ^ x;
    if (s >= ((l & ~(w - 1)) + w))
        s = l;
    return emu_value<T>(emu_warp(EMU_SHFL, m, emu_bits(v), s));
}
template <typename T> EMU_INLINE T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32) {
    unsigned l = emu_lane(), b = l & ~(w - 1);
    return emu_value<T>(emu_warp(EMU_SHFL, m, emu_bits(v), l - b >= d ? l - d : l));
}
template <typename T> EMU_INLINE T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32) {
    unsigned l = emu_lane(), b = l & ~(w - 1);
    return emu_value<T>(emu_warp(EMU_SHFL, m, emu_bits(v), l + d < b + w ? l + d : l));
}
EMU_INLINE unsigned __ballot_sync(unsigned m, int p) {
    return (unsigned)emu_warp(EMU_BALLOT, m, p != 0, 0);
}
EMU_INLINE int __any_sync(unsigned m, int p) { return emu_warp(EMU_BALLOT, m, p != 0, 0) != 0; }
EMU_INLINE int __all_sync(unsigned m, int p) { return emu_warp(EMU_BALLOT, m, p == 0, 0) == 0; }
EMU_INLINE void __syncwarp(unsigned m = 0xffffffffu) { emu_warp(EMU_SYNCWARP, m, 0, 0); }
EMU_INLINE unsigned __activemask() {
    return (unsigned)emu_warp(EMU_ACTIVE, 1u << emu_lane(), 0, 0);
}
#define EMU_REDUCE(NAME, KIND)                                                                     \
    EMU_INLINE unsigned NAME(unsigned m, unsigned v) { return (unsigned)emu_warp(KIND, m, v, 0); }
EMU_REDUCE(__reduce_add_sync, EMU_ADD)
EMU_REDUCE(__reduce_min_sync, EMU_MIN)
EMU_REDUCE(__reduce_max_sync, EMU_MAX)
EMU_REDUCE(__reduce_or_sync, EMU_OR)
EMU_REDUCE(__reduce_and_sync, EMU_AND)
EMU_REDUCE(__reduce_xor_sync, EMU_XOR)
EMU_INLINE int __reduce_add_sync(unsigned m, int v) {
    return (int)emu_warp(EMU_ADD, m, (unsigned)v, 0);
}
EMU_INLINE int __reduce_min_sync(unsigned m, int v) {
    return (int)emu_warp(EMU_MINS, m, (unsigned)v, 0);
}
EMU_INLINE int __reduce_max_sync(unsigned m, int v) {
    return (int)emu_warp(EMU_MAXS, m, (unsigned)v, 0);
}
template <typename T> EMU_INLINE unsigned __match_any_sync(unsigned m, T v) {
    return (unsigned)emu_warp(EMU_MATCH_ANY, m, emu_bits(v), 0);
}
template <typename T> EMU_INLINE unsigned __match_all_sync(unsigned m, T v, int *p) {
    unsigned r = (unsigned)emu_warp(EMU_MATCH_ALL, m, emu_bits(v), 0);
    *p = r != 0;
    return r;
}
EMU_INLINE void __syncthreads() { emu_barrier(0, 0); }
EMU_INLINE int __syncthreads_or(int p) { return emu_barrier(1, p != 0) != 0; }
EMU_INLINE int __syncthreads_and(int p) { return emu_barrier(2, p == 0) == 0; }
EMU_INLINE int __syncthreads_count(int p) { return emu_barrier(3, p != 0); }
EMU_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMU_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMU_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMU_INLINE void __nanosleep(unsigned) { emu_yield(); }
EMU_INLINE long long clock64() { return (long long)emu_nanoseconds(); }
EMU_INLINE void __trap() { emu_fail("__trap()"); }
#define assert(x) ((x) ? (void)0 : emu_fail("assert: " #x))

EMU_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
EMU_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
EMU_INLINE int __ffs(int x) { return __builtin_ffs(x); }
EMU_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
EMU_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
EMU_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
EMU_INLINE unsigned __brev(unsigned x) {
    unsigned r = 0;
    for (int i = 0; i < 32; ++i)
        r |= (x >> i & 1) << (31 - i);
    return r;
}
EMU_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
EMU_INLINE unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
EMU_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return (unsigned)((((unsigned long long)hi << 32 | lo) << (s & 31)) >> 32);
}
EMU_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
    return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31));
}
template <typename T> EMU_INLINE T __ldg(const T *p) { return *p; }
template <typename T> EMU_INLINE T __ldcs(const T *p) { return *p; }
template <typename T> EMU_INLINE T __ldcg(const T *p) { return *(const volatile T *)p; }
template <typename T> EMU_INLINE T __ldca(const T *p) { return *p; }
template <typename T> EMU_INLINE T __ldlu(const T *p) { return *p; }
template <typename T> EMU_INLINE T __ldcv(const T *p) {
    emu_point();
    return *(const volatile T *)p;
}
template <typename T, typename U> EMU_INLINE void __stcs(T *p, U v) { *p = (T)v; }
template <typename T, typename U> EMU_INLINE void __stcg(T *p, U v) { *p = (T)v; }
template <typename T, typename U> EMU_INLINE void __stwt(T *p, U v) { *(volatile T *)p = (T)v; }
EMU_INLINE double __dmul_rn(double a, double b) { return a * b; }
EMU_INLINE double __dadd_rn(double a, double b) { return a + b; }
EMU_INLINE double __dsub_rn(double a, double b) { return a - b; }
EMU_INLINE double __ddiv_rn(double a, double b) { return a / b; }
EMU_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
EMU_INLINE float __fmul_rn(float a, float b) { return a * b; }
EMU_INLINE float __fadd_rn(float a, float b) { return a + b; }
EMU_INLINE float __fsub_rn(float a, float b) { return a - b; }
EMU_INLINE float __fdiv_rn(float a, float b) { return a / b; }
EMU_INLINE double __longlong_as_double(long long x) {
    return emu_value<double>((unsigned long long)x);
}
EMU_INLINE long long __double_as_longlong(double x) { return (long long)emu_bits(x); }
EMU_INLINE float __int_as_float(int x) { return emu_value<float>((unsigned)x); }
EMU_INLINE int __float_as_int(float x) { return (int)emu_bits(x); }
EMU_INLINE float __uint_as_float(unsigned x) { return emu_value<float>(x); }
EMU_INLINE unsigned __float_as_uint(float x) { return (unsigned)emu_bits(x); }
extern "C" {
double fabs(double) noexcept;
float fabsf(float) noexcept;
double sqrt(double) noexcept;
float sqrtf(float) noexcept;
double rint(double) noexcept;
float rintf(float) noexcept;
double floor(double) noexcept;
double ceil(double) noexcept;
double fmin(double, double) noexcept;
double fmax(double, double) noexcept;
float fminf(float, float) noexcept;
float fmaxf(float, float) noexcept;
double pow(double, double) noexcept;
double exp(double) noexcept;
double exp2(double) noexcept;
double log(double) noexcept;
double log2(double) noexcept;
double ldexp(double, int) noexcept;
double round(double) noexcept;
double trunc(double) noexcept;
float floorf(float) noexcept;
float ceilf(float) noexcept;
}
EMU_INLINE long long llrint(double x) { return __builtin_llrint(x); }
EMU_INLINE long long __double2ll_rn(double x) { return __builtin_llrint(x); }
EMU_INLINE long long __double2ll_rd(double x) { return (long long)__builtin_floor(x); }
EMU_INLINE bool isnan(double x) { return __builtin_isnan(x); }
EMU_INLINE bool isinf(double x) { return __builtin_isinf(x); }
EMU_INLINE bool isfinite(double x) { return __builtin_isfinite(x); }
EMU_INLINE float __frcp_rn(float x) { return 1 / x; }
EMU_INLINE double __drcp_rn(double x) { return 1 / x; }
template <typename T> EMU_INLINE T min(T a, T b) { return b < a ? b : a; }
template <typename T> EMU_INLINE T max(T a, T b) { return a < b ? b : a; }

// ---- atomics
template <typename T> struct EmuSame {
    using type = T;
};
template <typename T, typename F> EMU_INLINE T emu_rmw(T *p, F f) {
    emu_point();
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics of 4 or 8 bytes");
    if ((unsigned long)p % sizeof(T))
        emu_fail("misaligned atomic");
    if constexpr (sizeof(T) == 4) {
        unsigned old = __atomic_load_n((unsigned *)p, __ATOMIC_SEQ_CST);
        while (true) {
            T before = emu_value<T>(old), after = f(before);
            if (__atomic_compare_exchange_n((unsigned *)p, &old, (unsigned)emu_bits(after), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
                return EMU_AFTER(before);
        }
    } else {
        unsigned long long old = __atomic_load_n((unsigned long long *)p, __ATOMIC_SEQ_CST);
        while (true) {
            T before = emu_value<T>(old), after = f(before);
            if (__atomic_compare_exchange_n((unsigned long long *)p, &old, emu_bits(after), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
                return EMU_AFTER(before);
        }
    }
}
// Only the overloads that CUDA has.
#define EMU_ATOMIC(NAME, T, EXPR)                                                                  \
    EMU_INLINE T NAME(T *p, T v) {                                                                 \
        return emu_rmw(p, [&](T a) -> T { return EXPR; });                                         \
    }                                                                                              \
    EMU_INLINE T NAME##_block(T *p, T v) { return NAME(p, v); }                                    \
    EMU_INLINE T NAME##_system(T *p, T v) { return NAME(p, v); }
EMU_ATOMIC(atomicAdd, int, (int)((unsigned)a + (unsigned)v))
EMU_ATOMIC(atomicAdd, unsigned, a + v)
EMU_ATOMIC(atomicAdd, unsigned long long, a + v)
EMU_ATOMIC(atomicAdd, float, a + v)
EMU_ATOMIC(atomicAdd, double, a + v)
EMU_ATOMIC(atomicSub, int, (int)((unsigned)a - (unsigned)v))
EMU_ATOMIC(atomicSub, unsigned, a - v)
#define EMU_FOUR(NAME, EXPR)                                                                       \
    EMU_ATOMIC(NAME, int, EXPR)                                                                    \
    EMU_ATOMIC(NAME, unsigned, EXPR)                                                               \
    EMU_ATOMIC(NAME, long long, EXPR) EMU_ATOMIC(NAME, unsigned long long, EXPR)
EMU_FOUR(atomicMin, v < a ? v : a)
EMU_FOUR(atomicMax, a < v ? v : a)
EMU_FOUR(atomicOr, a | v)
EMU_FOUR(atomicAnd, (a & v))
EMU_FOUR(atomicXor, a ^ v)
EMU_ATOMIC(atomicExch, int, (void(a), v))
EMU_ATOMIC(atomicExch, unsigned, (void(a), v))
EMU_ATOMIC(atomicExch, unsigned long long, (void(a), v))
EMU_ATOMIC(atomicExch, float, (void(a), v))
EMU_INLINE unsigned atomicInc(unsigned *p, unsigned v) {
    return emu_rmw(p, [&](unsigned a) -> unsigned { return a >= v ? 0 : a + 1; });
}
#define EMU_CAS(T)                                                                                 \
    EMU_INLINE T atomicCAS(T *p, T c, T v) {                                                       \
        emu_point();                                                                               \
        if ((unsigned long)p % sizeof(T))                                                          \
            emu_fail("misaligned atomic");                                                         \
        __atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
        return EMU_AFTER(c);                                                                       \
    }                                                                                              \
    EMU_INLINE T atomicCAS_block(T *p, T c, T v) { return atomicCAS(p, c, v); }
EMU_CAS(int);
EMU_CAS(unsigned);
EMU_CAS(unsigned long long);
EMU_CAS(unsigned short);

// Loads that threads spin on.
template <typename T> EMU_INLINE T emu_spin_load(const T *p) {
    emu_yield();
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

template <typename T> struct EmuNoRef {
    using type = T;
};
template <typename T> struct EmuNoRef<T &> {
    using type = T;
};
template <typename T> using std_plain = typename EmuNoRef<T>::type;

// ---- calls of kernels by a list of pointers to the arguments
template <typename T> struct EmuPlain {
    using type = T;
};
template <typename T> struct EmuPlain<T &> {
    using type = T;
};
template <int... I> struct EmuIndices {};
template <int N, int... I> struct EmuMake : EmuMake<N - 1, N - 1, I...> {};
template <int... I> struct EmuMake<0, I...> {
    using type = EmuIndices<I...>;
};
template <typename... A, int... I>
EMU_INLINE void emu_apply(void (*f)(A...), void **a, EmuIndices<I...>) {
    f(*(typename EmuPlain<A>::type *)a[I]...);
}
template <typename... A> EMU_INLINE void emu_invoke(void (*f)(A...), void **a) {
    emu_apply(f, a, typename EmuMake<sizeof...(A)>::type());
}
template <typename... A> EMU_INLINE unsigned emu_sizes(void (*)(A...), unsigned *out) {
    unsigned sizes[sizeof...(A) + 1] = {(unsigned)sizeof(A)...};
    if (out)
        for (unsigned i = 0; i < sizeof...(A); ++i)
            out[i] = sizes[i];
    return sizeof...(A);
}
