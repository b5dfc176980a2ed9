// What threads of a warp and of a block do together.
#include "runtime.hpp"

void release_barrier(EmuBlock *b) {
    b->result = b->predicate;
    b->arrived = 0;
    b->predicate = 0;
    for (u32 i = 0; i < b->num_warps; ++i) {
        EmuWarp *w = b->warps + i;
        u32 at = w->at_barrier;
        w->at_barrier = 0;
        set_ready(w, at);
    }
}

void complete(EmuWarp *w, u32 group, u32 waits) {
    EmuThread *ts = w->first;
    int kind = ts[__builtin_ctz(group)].kind;
    u32 mask = ts[__builtin_ctz(group)].mask;
    u64 sum = 0;
    bool start = true;
    for (u32 m = group; m; m &= m - 1) {
        EmuThread &t = ts[__builtin_ctz(m)];
        if (t.kind != kind || t.mask != mask) {
            char text[160];
            snprintf(
                text, sizeof text,
                "lanes of a warp are at different operations: kinds %d and %d, masks %08x and %08x",
                kind, t.kind, mask, t.mask);
            fail(text);
        }
        u32 v = (u32)t.val;
        switch (kind) {
        case BALLOT:
            sum |= (u64)(t.val != 0) << t.lane;
            break;
        case ADD:
            sum = (u32)(sum + v);
            break;
        case MIN:
            sum = start || v < sum ? v : sum;
            break;
        case MAX:
            sum = start || v > sum ? v : sum;
            break;
        case MINS:
            sum = start || (int)v < (int)(u32)sum ? v : sum;
            break;
        case MAXS:
            sum = start || (int)v > (int)(u32)sum ? v : sum;
            break;
        case OR:
            sum |= v;
            break;
        case AND:
            sum = start ? v : sum & v;
            break;
        case XOR:
            sum ^= v;
            break;
        case MATCH_ALL:
            if (start)
                sum = group;
            else if (t.val != ts[__builtin_ctz(group)].val)
                sum = 0;
            break;
        }
        start = false;
    }
    for (u32 m = group; m; m &= m - 1) {
        EmuThread &t = ts[__builtin_ctz(m)];
        if (kind == SHFL) {
            if (!(group >> (t.arg & 31) & 1)) { // undefined: never what was wanted
                t.res = 0xDBDBDBDBDBDBDBDBull;
            } else
                t.res = ts[t.arg & 31].val;
        } else if (kind == MATCH_ANY) {
            u32 same = 0;
            for (u32 k = group; k; k &= k - 1)
                if (ts[__builtin_ctz(k)].val == t.val)
                    same |= k & -k;
            t.res = same;
        } else
            t.res = sum;
    }
    w->arrived &= ~group;
    set_ready(w, waits);
}

extern "C" u64 emu_warp(int kind, unsigned mask, u64 value, unsigned arg) {
    EmuThread *t = emu_cur;
    EmuWarp *w = t->warp;
    if (kind == ACTIVE)
        return 1u << t->lane;
    u32 bit = 1u << t->lane;
    if (!(mask & bit))
        fail("a lane calls a warp operation whose mask it is not in");
    t->kind = kind;
    t->mask = mask;
    t->val = value;
    t->arg = arg;
    w->arrived |= bit;
    u32 need = mask & ~w->done;
    if ((w->arrived & need) == need) {
        if (G->seed && (rnd() & 3) == 0) {
            complete(w, need, need);
            run_other();
        } else
            complete(w, need, need & ~bit);
    } else
        run_other();
    return t->res;
}

extern "C" int emu_barrier(int kind, int predicate) {
    EmuThread *t = emu_cur;
    EmuBlock *b = t->block;
    if (b->arrived == 0) {
        b->barrier_kind = kind;
        b->predicate = 0;
    } else if (b->barrier_kind != kind)
        fail("threads of a block are at different kinds of __syncthreads");
    if (kind == 3)
        b->predicate += predicate;
    else
        b->predicate |= (u32)predicate;
    ++b->arrived;
    if (b->arrived == b->live) {
        release_barrier(b);
        if (G->seed) {
            set_ready(t->warp, 1u << t->lane);
            run_other();
        }
    } else {
        t->warp->at_barrier |= 1u << t->lane;
        run_other();
    }
    return (int)b->result;
}
