// What the files of the runtime share: the threads of a launch, their warps and blocks, and the
// launch itself.
#pragma once
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
typedef unsigned long long u64;
typedef uint32_t u32;
struct dim3 {
    unsigned x, y, z;
};
struct uint3 {
    unsigned x, y, z;
};
struct EmuBlock;
struct EmuWarp;
struct EmuThread { // as in device.hpp
    uint3 tid, bid;
    dim3 bdim, gdim;
    char *shared, *dynamic;
    void *sp;
    EmuBlock *block;
    EmuWarp *warp;
    unsigned lane, arg, mask;
    int kind;
    u64 val, res;
    const char *where;
    int line;
};
enum {
    SHFL = 1,
    BALLOT,
    SYNCWARP,
    ADD,
    MIN,
    MAX,
    OR,
    AND,
    XOR,
    MINS,
    MAXS,
    MATCH_ANY,
    MATCH_ALL,
    ACTIVE
};

struct EmuWarp {
    EmuThread *first;
    EmuBlock *block;
    u32 index, lanes;              // lanes that exist
    u32 ready, unstarted, yielded; // yielded: runnable, but waits for another one
    u32 arrived;                   // at a warp operation
    u32 at_barrier, done;
};
struct EmuBlock {
    EmuWarp warps[32];
    u32 num_warps, ready_warps, yielded_warps;
    u32 live, arrived;
    int barrier_kind;
    u32 predicate, result;
    u64 number;
    EmuThread *threads;
    char *memory; // shared
};

#pragma GCC visibility push(default)
extern "C" {
extern __thread EmuThread *emu_cur; // the thread that runs
extern __thread int emu_budget;     // how often it may go on where another could run
void emu_fail(const char *what);
u64 emu_warp(int kind, unsigned mask, u64 value, unsigned arg);
int emu_barrier(int kind, int predicate);
void emu_yield();
void emu_preempt();
u64 emu_nanoseconds();
unsigned emu_shared_place(unsigned *top, unsigned size, unsigned align);
int emu_launch(void (*call)(void **), void **args, const unsigned *sizes, unsigned resident,
               u64 shared_static, u64 shared_dynamic, u64 seed, char *error, u64 error_size);
}
#pragma GCC visibility pop

constexpr size_t STACK = 64 << 10;
constexpr size_t BLOCK_MEMORY = 1 << 20, STATIC = 512 << 10; // where static shared memory begins
struct Grid {
    void (*call)(void **);
    void **args;
    dim3 grid, block;
    u64 blocks, next_block, live_blocks;
    u32 threads, resident;
    size_t shared_static, shared_dynamic;
    std::vector<EmuBlock *> slots; // resident blocks
    u32 at;                        // the block that runs
    std::vector<void *> stacks;    // free ones
    std::vector<char *> regions;
    void *host_sp;
    u64 seed;
    bool failed, handling;
    char *error;
    size_t error_size;
    sigjmp_buf jump;
    u64 switches;
};
// What a launch takes, and leaves for the next one of any thread.
struct Pool {
    std::vector<void *> stacks;
    std::vector<EmuBlock *> blocks;
    void *signals = nullptr;
};
extern __thread Grid *G; // the launch of this thread of the operating system
extern __thread Pool *P;
extern thread_local std::vector<void *> used_stacks; // all that this launch has taken
extern __thread void *begun_on;                      // the stack of the fiber that is to begin

// fibers.cpp: who runs next
extern "C" void emu_swap(void **from, void *to);
void *new_stack();
void *fresh_context(void *top);
[[noreturn]] void fail(const std::string &what);
void start_block(u32 slot, u64 number);
EmuThread *pick();
void run_other();
// operations.cpp: warps and barriers
void complete(EmuWarp *w, u32 group, u32 waits);
void release_barrier(EmuBlock *b);

inline u64 rnd() {
    u64 &s = G->seed;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s;
}

inline void set_ready(EmuWarp *w, u32 lanes) {
    w->ready |= lanes;
    if (w->ready)
        w->block->ready_warps |= 1u << w->index;
}

inline void prepare(EmuThread *t) {
    emu_cur = t;
    if (G->seed)
        emu_budget = (int)(rnd() % 24);
    else if (emu_budget < 64)
        emu_budget = 4096;
}
