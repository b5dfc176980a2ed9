// Fibers: a thread of a launch is a stack of its own; one of them runs, and gives way to another
// where it waits.
#include "runtime.hpp"
#include <sys/mman.h>

extern "C" {
__thread EmuThread *emu_cur = nullptr;
__thread int emu_budget = 0;
}
__thread Grid *G = nullptr;
__thread Pool *P = nullptr;
thread_local std::vector<void *> used_stacks;
__thread void *begun_on;

asm(R"(
.text
.globl emu_swap
.hidden emu_swap
.type emu_swap,@function
emu_swap:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emu_swap,.-emu_swap
)");

static void fiber();

void *new_stack() {
    if (G->stacks.empty()) {
        if (P->stacks.empty()) {
            const int n = 64;
            char *m = (char *)mmap(nullptr, n * STACK, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (m == MAP_FAILED) {
                fprintf(stderr, "emu: no stacks\n");
                abort();
            }
            for (int i = n - 1; i >= 0; --i) {
                mprotect(m + i * STACK, 4096, PROT_NONE); // an overflow is seen
                P->stacks.push_back(m + (i + 1) * STACK - (i % 61) * 192 - 64);
            }
        }
        G->stacks.push_back(P->stacks.back());
        used_stacks.push_back(P->stacks.back());
        P->stacks.pop_back();
    }
    void *s = G->stacks.back();
    G->stacks.pop_back();
    return s;
}

void *fresh_context(void *top) {
    void **sp = (void **)((uintptr_t)top & ~(uintptr_t)15);
    *--sp = nullptr; // alignment, and no return address
    *--sp = (void *)fiber;
    for (int i = 0; i < 6; ++i)
        *--sp = nullptr;
    return sp;
}

void fail(const std::string &what) {
    if (!G->failed) {
        EmuThread *t = emu_cur;
        char where[128] = "";
        if (t)
            snprintf(where, sizeof where, " (block %u, thread %u)", t->bid.x, t->tid.x);
        snprintf(G->error, G->error_size, "%s%s", what.c_str(), where);
        G->failed = true;
    }
    siglongjmp(G->jump, 1);
}
extern "C" void emu_fail(const char *what) { fail(what); }

void start_block(u32 slot, u64 number) {
    EmuBlock *b = G->slots[slot];
    b->number = number;
    u32 n = G->threads;
    b->num_warps = (n + 31) / 32;
    b->ready_warps = b->yielded_warps = 0;
    b->live = n;
    b->arrived = 0;
    memset(b->memory, 0xCD, G->shared_dynamic + 64);
    memset(b->memory + STATIC, 0xCD, G->shared_static);
    uint3 bid = {(unsigned)(number % G->grid.x), (unsigned)(number / G->grid.x % G->grid.y),
                 (unsigned)(number / G->grid.x / G->grid.y)};
    for (u32 i = 0; i < n; ++i) {
        EmuThread *t = b->threads + i;
        t->tid = {i % G->block.x, i / G->block.x % G->block.y, i / G->block.x / G->block.y};
        t->bid = bid;
        t->bdim = G->block;
        t->gdim = G->grid;
        t->shared = b->memory + STATIC;
        t->dynamic = b->memory;
        t->sp = nullptr;
        t->block = b;
        t->warp = b->warps + i / 32;
        t->lane = i % 32;
    }
    for (u32 i = 0; i < b->num_warps; ++i) {
        EmuWarp *w = b->warps + i;
        u32 left = n - 32 * i;
        w->lanes = left >= 32 ? ~0u : (1u << left) - 1;
        w->first = b->threads + 32 * i;
        w->block = b;
        w->index = i;
        w->ready = 0;
        w->unstarted = w->lanes;
        w->yielded = w->arrived = w->at_barrier = 0;
        w->done = ~w->lanes;
        set_ready(w, w->lanes);
    }
}

static inline u32 pick_bit(u32 mask, u32 after) { // the first from `after` on, around
    u32 high = mask & (~0u << (after & 31));
    return (u32)__builtin_ctz(high ? high : mask);
}

static std::string stuck() {
    std::string text = "deadlock: all threads wait.";
    for (EmuBlock *b : G->slots) {
        if (!b || !b->live)
            continue;
        u32 bar = 0, warp = 0;
        for (u32 i = 0; i < b->num_warps; ++i)
            bar += __builtin_popcount(b->warps[i].at_barrier),
                warp += __builtin_popcount(b->warps[i].arrived);
        char line[200];
        snprintf(line, sizeof line,
                 " block %llu: %u live, %u at __syncthreads, %u at warp operations;", b->number,
                 b->live, bar, warp);
        text += line;
        for (u32 i = 0; i < b->num_warps && text.size() < 600; ++i)
            if (b->warps[i].arrived) {
                snprintf(line, sizeof line,
                         " warp %u: arrived %08x done %08x barrier %08x kind %d;", i,
                         b->warps[i].arrived, b->warps[i].done, b->warps[i].at_barrier,
                         b->warps[i].first[__builtin_ctz(b->warps[i].arrived)].kind);
                text += line;
            }
        if (text.size() > 700)
            break;
    }
    return text;
}

// A thread that can run; null at the end of the launch.
EmuThread *pick() {
    u32 from_warp = 0, from_lane = 0;
    bool rand = G->seed != 0;
    if (emu_cur && emu_cur->block == G->slots[G->at] && !rand) {
        from_warp = emu_cur->warp->index;
        from_lane = emu_cur->lane + 1;
    } else if (rand) {
        u64 r = rnd();
        if ((r & 63) == 0)
            G->at = (r >> 8) % G->slots.size();
        from_warp = r >> 32 & 31;
        from_lane = r >> 40 & 31;
        if (emu_cur && (r >> 48 & 3))
            from_warp = emu_cur->warp->index; // mostly the same warp
    }
    while (true) {
        u32 n = (u32)G->slots.size();
        for (u32 i = 0; i < n; ++i) {
            u32 at = G->at + i;
            if (at >= n)
                at -= n;
            EmuBlock *b = G->slots[at];
            if (!b->ready_warps)
                continue;
            if (i) {
                G->at = at;
                if (!rand)
                    from_warp = from_lane = 0;
            }
            u32 wi = pick_bit(b->ready_warps, from_warp);
            EmuWarp *w = b->warps + wi;
            u32 lane = pick_bit(w->ready, wi == from_warp || rand ? from_lane : 0);
            w->ready &= ~(1u << lane);
            if (!w->ready)
                b->ready_warps &= ~(1u << wi);
            return w->first + lane;
        }
        // None is ready. A new block in the place of one that has ended?
        for (u32 i = 0; i < n; ++i)
            if (!G->slots[i]->live && G->next_block < G->blocks) {
                start_block(i, G->next_block++);
                G->at = i;
                from_warp = from_lane = 0;
                goto again;
            }
        {
            bool any = false;
            for (EmuBlock *b : G->slots) {
                if (!b->yielded_warps)
                    continue;
                any = true;
                for (u32 m = b->yielded_warps; m; m &= m - 1) {
                    EmuWarp *w = b->warps + __builtin_ctz(m);
                    u32 y = w->yielded;
                    w->yielded = 0;
                    set_ready(w, y);
                }
                b->yielded_warps = 0;
            }
            if (!any) {
                if (G->live_blocks == 0 && G->next_block == G->blocks)
                    return nullptr;
                fail(stuck());
            }
        }
    again:;
    }
}

void run_other() { // the current thread waits
    EmuThread *me = emu_cur, *t;
    EmuWarp *mine = me->warp;
    if (mine->ready && !G->seed) { // the next lane of the same warp
        u32 lane = pick_bit(mine->ready, me->lane + 1);
        mine->ready &= ~(1u << lane);
        if (!mine->ready)
            mine->block->ready_warps &= ~(1u << mine->index);
        t = mine->first + lane;
    } else
        t = pick();
    if (t == me) {
        prepare(t);
        return;
    }
    prepare(t);
    u32 bit = 1u << t->lane;
    if (t->warp->unstarted & bit) {
        t->warp->unstarted &= ~bit;
        begun_on = new_stack();
        t->sp = fresh_context(begun_on);
    }
    ++G->switches;
    emu_swap(&me->sp, t->sp);
}

static void ended(EmuThread *t) {
    EmuWarp *w = t->warp;
    EmuBlock *b = t->block;
    w->done |= 1u << t->lane;
    --b->live;
    for (u32 left = w->arrived; left;) { // who waits for this lane?
        u32 l = __builtin_ctz(left), need = w->first[l].mask & ~w->done;
        if ((w->arrived & need) == need)
            complete(w, need, need);
        left &= ~w->first[l].mask;
    }
    if (b->live == 0)
        --G->live_blocks;
    else if (b->arrived == b->live)
        release_barrier(b);
}

static void fiber() {
    void *own = begun_on;
    while (true) {
        EmuThread *t = emu_cur;
        G->call(G->args);
        ended(t);
        EmuThread *next = pick();
        if (!next) {
            void *dead;
            emu_swap(&dead, G->host_sp);
        }
        prepare(next);
        u32 bit = 1u << next->lane;
        if (next->warp->unstarted & bit) { // on this stack
            next->warp->unstarted &= ~bit;
            continue;
        }
        G->stacks.push_back(own); // free once it is left, and taken by nobody before
        ++G->switches;
        void *dead;
        emu_swap(&dead, next->sp);
    }
}

extern "C" void emu_yield() {
    EmuThread *t = emu_cur;
    t->warp->yielded |= 1u << t->lane;
    t->block->yielded_warps |= 1u << t->warp->index;
    run_other();
}

extern "C" void emu_preempt() {
    if (G->seed) {
        EmuThread *t = emu_cur;
        set_ready(t->warp, 1u << t->lane);
        run_other();
        emu_budget = (int)(rnd() % 24);
    } else {
        emu_budget = 4096;
        emu_yield();
    }
}
