// Launches: their memory, faults, and the end.
#include "runtime.hpp"
#include <csignal>
#include <ctime>
#include <mutex>
#include <sys/mman.h>

static std::mutex pools_lock;
static std::vector<Pool *> pools;

extern "C" u64 emu_nanoseconds() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000ull + t.tv_nsec;
}

extern "C" unsigned emu_shared_place(unsigned *top, unsigned size, unsigned align) {
    unsigned a = align < 16 ? 16 : align;
    unsigned at = __atomic_fetch_add(top, ((size + a - 1) / a + 1) * a + 32, __ATOMIC_SEQ_CST);
    at = (at + a - 1) / a * a;
    if (at + size > STATIC)
        fail("too much static shared memory");
    return at;
}

static struct sigaction before;
static void on_signal(int number, siginfo_t *info, void *context) {
    if (G && emu_cur && !G->handling) {
        G->handling = true;
        char text[120];
        snprintf(text, sizeof text, "illegal memory access at %p", info->si_addr);
        if (!G->failed) {
            snprintf(G->error, G->error_size, "%s (block %u, thread %u)", text, emu_cur->bid.x,
                     emu_cur->tid.x);
            G->failed = true;
        }
        siglongjmp(G->jump, 1);
    }
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else {
        signal(number, SIG_DFL);
        raise(number);
    }
}
static bool signals() {
    struct sigaction now;
    sigaction(SIGSEGV, nullptr, &now);
    if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_signal) {
        before = now;
        struct sigaction mine = {};
        mine.sa_sigaction = on_signal;
        mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(SIGSEGV, &mine, nullptr);
    }
    stack_t old;
    sigaltstack(nullptr, &old);
    if (old.ss_flags & SS_DISABLE) {
        if (!P->signals)
            P->signals =
                mmap(nullptr, 64 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack_t made = {};
        made.ss_size = 64 << 10;
        made.ss_sp = P->signals;
        sigaltstack(&made, nullptr);
        return true;
    }
    return false;
}

// 0, or 1 with a text in `error`.
extern "C" int emu_launch(void (*call)(void **), void **args, const unsigned *sizes,
                          unsigned resident, u64 shared_static, u64 shared_dynamic, u64 seed,
                          char *error, u64 error_size) {
    Grid grid = {};
    grid.call = call;
    grid.args = args;
    grid.grid = {sizes[0], sizes[1], sizes[2]};
    grid.block = {sizes[3], sizes[4], sizes[5]};
    grid.blocks = (u64)sizes[0] * sizes[1] * sizes[2];
    grid.threads = sizes[3] * sizes[4] * sizes[5];
    grid.shared_static = shared_static;
    grid.shared_dynamic = shared_dynamic;
    grid.error = error;
    grid.error_size = error_size;
    grid.seed = seed;
    grid.resident = resident < grid.blocks ? resident : (u32)grid.blocks;
    grid.live_blocks = grid.blocks;
    if (grid.threads == 0 || grid.threads > 1024) {
        snprintf(error, error_size, "a block of %u threads", grid.threads);
        return 1;
    }
    if (grid.shared_static > STATIC || shared_dynamic + 64 > STATIC) {
        snprintf(error, error_size, "too much shared memory");
        return 1;
    }
    Pool *outer_pool = P;
    {
        std::lock_guard<std::mutex> held(pools_lock);
        if (pools.empty())
            P = new Pool();
        else {
            P = pools.back();
            pools.pop_back();
        }
    }
    bool signals_made = signals();
    Grid *outer = G;
    EmuThread *outer_thread = emu_cur;
    G = &grid;
    for (u32 i = 0; i < grid.resident; ++i) {
        if (P->blocks.empty()) {
            EmuBlock *b = new EmuBlock();
            b->threads = (EmuThread *)calloc(1024, sizeof(EmuThread));
            b->memory = (char *)mmap(nullptr, BLOCK_MEMORY, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            P->blocks.push_back(b);
        }
        grid.slots.push_back(P->blocks.back());
        P->blocks.pop_back();
        grid.slots.back()->live = 0;
    }
    used_stacks.clear();
    if (sigsetjmp(grid.jump, 1) == 0) {
        for (u32 i = 0; i < grid.resident; ++i)
            start_block(i, grid.next_block++);
        emu_cur = nullptr;
        emu_budget = 4096;
        EmuThread *t = pick();
        prepare(t);
        t->warp->unstarted &= ~(1u << t->lane);
        begun_on = new_stack();
        emu_swap(&G->host_sp, fresh_context(begun_on));
    }
    emu_cur = outer_thread;
    G = outer;
    for (void *s : used_stacks)
        P->stacks.push_back(s);
    used_stacks.clear();
    for (EmuBlock *b : grid.slots)
        P->blocks.push_back(b);
    if (signals_made) {
        stack_t none = {};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }
    {
        std::lock_guard<std::mutex> held(pools_lock);
        pools.push_back(P);
    }
    P = outer_pool;
    return grid.failed ? 1 : 0;
}
