// Worklists of a part of the edges, those that are at hand, and rounds over this part alone.
//
// In rounds active[v] is WAITS until v has sent along all its edges, which the last part does that
// has any of them; where a row is cut, that is known at the end of the round, and till then v takes
// no message and its flag is SENT.
//
// A local round is a superstep of those vertices that have all of their edges in the part [1]. They
// send and take messages as long as there are any active among them. Messages to others wait, and
// so does what others send: of a row that is cut each part gets the same.
// [1] Sabet, Zhao, Gupta. Subway: minimizing data transfer during out-of-GPU-memory graph
// processing. EuroSys 2020.

// None is listed. One block.
extern "C" __global__ void begin_part(Run run) {
    RunControl *control = run.control;
    if (threadIdx.x == 0)
        control->small = control->medium = control->chunks = 0;
}

// The active vertices that have edges between push.from and push.to.
extern "C" __global__ void __launch_bounds__(256)
    list_part(Run run, Push push, const uint8 *active) {
    RunControl *control = run.control;
    if (control->done)
        return;
    uint64 n = run.num_vertices, first = upper_bound(push.offsets, n + 1, (OFFSET)push.from) - 1;
    for (uint64 base = first + warp_rank() * WARP; base < n; base += num_threads()) {
        if (push.offsets[base] >= (OFFSET)push.to)
            return; // the whole warp, and rows only go on from there
        uint64 v = base + lane();
        int64 length = 0;
        if (v < n && active[v] && row_begin(push, v) < row_end(push, v))
            length = row_end(push, v) - row_begin(push, v);
        sort_in(control, push, (ID)v, length);
    }
}

// Messages that the host has sent along edges of its own come to those that are here.
extern "C" __global__ void __launch_bounds__(256)
    take_sent(Run run, const MESSAGE *sent, const uint8 *got, MESSAGE *messages, uint8 *received) {
    if (run.control->done)
        return;
    for (uint64 v = thread_rank(); v < (uint64)run.num_vertices; v += num_threads())
        if (NEEDS_RECEIVED ? got[v] != 0 : sent[v] != identity())
            send_to(messages, received, v, sent[v]);
}

// Of the rounds over a part.
struct Local {
    int64 active;  // vertices that send in the next one
    int64 settled; // there is none
    int64 rounds, edges;
    int64 due, next; // edges of those that are active so far; of those that send in the next round
    int64 barrier;
};

constexpr uint8 WAITS = 1, SENT = 2;

struct RowsWait {
    const OFFSET *offsets;
    const uint8 *active;

    __device__ __forceinline__ bool operator()(uint64 v) const {
        return active[v] == WAITS && offsets[v] < offsets[v + 1];
    }
};

// None is listed, and rounds over a part begin. One block.
extern "C" __global__ void begin_rounds(Run run, Local *local) {
    RunControl *control = run.control;
    if (threadIdx.x == 0) {
        control->small = control->medium = control->chunks = 0;
        local->active = local->settled = local->due = local->next = 0;
    }
}

__device__ __forceinline__ bool is_whole(const Push &push, const OFFSET *offsets, uint64 v) {
    OFFSET begin = push.offsets[v], end = push.offsets[v + 1];
    return begin < end && begin >= (OFFSET)push.from && end <= (OFFSET)push.to &&
           end - begin == offsets[v + 1] - offsets[v];
}

// Calls `each(v, whole)` for the vertices from the first that has an edge in the part to the last,
// by whole warps; `offsets` are of the rows as they are in the graph.
template <typename Each>
__device__ __forceinline__ void for_rows(const Run &run, const Push &push, const OFFSET *offsets,
                                         Each each) {
    uint64 n = run.num_vertices, first = upper_bound(push.offsets, n + 1, (OFFSET)push.from) - 1;
    for (uint64 base = first + warp_rank() * WARP; base < n; base += num_threads()) {
        if (push.offsets[base] >= (OFFSET)push.to)
            return; // the whole warp, and rows only go on from there
        uint64 v = base + lane();
        each(v, v < n && is_whole(push, offsets, v));
    }
}

// Those that have anything to send along the part.
extern "C" __global__ void __launch_bounds__(256)
    list_waiting(Run run, Push push, const OFFSET *offsets, uint8 *active) {
    if (run.control->done)
        return;
    for_rows(run, push, offsets, [&](uint64 v, bool whole) {
        int64 length = 0;
        if (v < (uint64)run.num_vertices && active[v] && row_begin(push, v) < row_end(push, v)) {
            length = row_end(push, v) - row_begin(push, v);
            active[v] = whole ? 0 : SENT;
        }
        sort_in(run.control, push, (ID)v, length);
    });
}

// Lists the vertices of the part that send. What each sends along all its edges goes to `emitted`,
// unless that is null.
__device__ __forceinline__ void list_all_whole(const Run &run, const Push &push,
                                               const OFFSET *offsets, uint8 *active,
                                               MESSAGE *emitted) {
    bool good = true;
    for_rows(run, push, offsets, [&](uint64 v, bool whole) {
        int64 length = 0;
        if (whole && active[v]) {
            length = row_end(push, v) - row_begin(push, v);
            active[v] = 0;
            if (EMITS && emitted != nullptr)
                good &= message(run, v, v, 0, emitted[v]);
        }
        sort_in(run.control, push, (ID)v, length);
    });
    if (!good)
        run.control->bad |= BAD_COMPUTE;
}

extern "C" __global__ void __launch_bounds__(256)
    list_whole(Run run, Push push, const OFFSET *offsets, uint8 *active, const Local *local) {
    if (!run.control->done && !local->settled)
        list_all_whole(run, push, offsets, active, nullptr);
}

extern "C" __global__ void __launch_bounds__(256)
    emit_whole(Run run, Push push, const OFFSET *offsets, const uint8 *active, const Local *local,
               MESSAGE *emitted) {
    if (run.control->done || local->settled)
        return;
    bool good = true;
    for_rows(run, push, offsets, [&](uint64 v, bool whole) {
        if (whole && active[v])
            good &= message(run, v, v, 0, emitted[v]);
    });
    if (!good)
        run.control->bad |= BAD_COMPUTE;
}

// The vertices of the part take what has been sent to them.
__device__ __forceinline__ void apply_all_whole(const Run &run, const Push &push,
                                                const OFFSET *offsets, MESSAGE *messages,
                                                uint8 *received, uint8 *reached, uint8 *active,
                                                Local *local) {
    Totals totals; // those that count are taken when all vertices apply
    NextTotals next;
    Applied applied = {0, 0, true};
    for_rows(run, push, offsets, [&](uint64 v, bool whole) {
        if (whole)
            apply_one(run, v, run.control->superstep, messages, received, reached, active, totals,
                      next, applied, NotNoted(), RowsWait{offsets, active});
    });
    applied.active = warp_sum(applied.active);
    applied.edges = warp_sum(applied.edges);
    if (lane() == 0 && applied.active) {
        atomic_add(&local->active, applied.active);
        atomic_add(&local->edges, applied.edges);
        atomic_add(&local->due, applied.edges);
    }
    if (!applied.good)
        atomicOr((uint64 *)&run.control->bad, (uint64)BAD_APPLY);
}

extern "C" __global__ void __launch_bounds__(256)
    apply_whole(Run run, Push push, const OFFSET *offsets, MESSAGE *messages, uint8 *received,
                uint8 *reached, uint8 *active, Local *local) {
    if (!run.control->done && !local->settled)
        apply_all_whole(run, push, offsets, messages, received, reached, active, local);
}

// By one thread.
__device__ __forceinline__ void settle_round(const RunControl *control, Local *local) {
    local->rounds += 1;
    local->settled = local->active == 0 || control->bad != 0 || control->done != 0;
    local->active = 0;
    local->next = local->due;
    local->due = 0;
}

// Ends a round. One thread.
extern "C" __global__ void settle_part(Run run, Local *local) {
    if (threadIdx.x == 0 && !local->settled)
        settle_round(run.control, local);
}

// Rounds that have at most `most_edges`, one after another: starting kernels would take longer than
// their work. At most `most`, so that the run can be interrupted. Cooperative.
extern "C" __global__ void __launch_bounds__(256)
    small_rounds(Run run, Push push, const OFFSET *offsets, MESSAGE *emitted, MESSAGE *messages,
                 uint8 *received, uint8 *reached, uint8 *active, Local *local, int64 emits,
                 int64 most_edges, int64 most) {
    RunControl *control = run.control;
    GridBarrier *barrier = (GridBarrier *)&local->barrier;
    bool leads = thread_rank() == 0;
    for (int64 round = 0; round < most; round++) {
        if (control->done || fresh(&local->settled) || fresh(&local->next) > most_edges)
            return;       // all blocks: these change between two barriers that are behind
        if (round == 0) { // what was listed last has been gone along
            if (leads)
                control->small = control->medium = control->chunks = 0;
            grid_sync(barrier);
        }
        list_all_whole(run, push, offsets, active, emits ? emitted : nullptr);
        grid_sync(barrier);
        if (!for_edges(control, push, Send{run, emitted, messages, received}))
            control->bad = BAD_COMPUTE;
        grid_sync(barrier);
        apply_all_whole(run, push, offsets, messages, received, reached, active, local);
        grid_sync(barrier);
        if (leads) {
            control->small = control->medium = control->chunks = 0;
            settle_round(control, local);
        }
        grid_sync(barrier);
    }
}

// All take their messages but row `cut`, which has sent a part of what it has. Of programs without
// aggregates.
extern "C" __global__ void __launch_bounds__(256)
    apply_between(Run run, MESSAGE *messages, uint8 *received, uint8 *reached, uint8 *active,
                  const OFFSET *offsets, int64 cut) {
    if (run.control->done)
        return;
    Totals totals;
    NextTotals next;
    Applied applied = {0, 0, true};
    for (uint64 v = thread_rank(); v < (uint64)run.num_owned; v += num_threads())
        if ((int64)v != cut)
            apply_one(run, v, run.control->superstep, messages, received, reached, active, totals,
                      next, applied, NotNoted(), RowsWait{offsets, active});
    if (!applied.good)
        atomicOr((uint64 *)&run.control->bad, (uint64)BAD_APPLY);
}

// Ends a round, as `apply` a superstep. `control->blocks` blocks.
extern "C" __global__ void __launch_bounds__(256)
    apply_round(Run run, MESSAGE *messages, uint8 *received, uint8 *reached, uint8 *active,
                Partial *partials, const OFFSET *offsets) {
    RunControl *control = run.control;
    if (control->done)
        return;
    Applied applied = {0, 0, true};
    apply_block(run, messages, received, reached, active, partials, blockIdx.x, gridDim.x, applied,
                NotNoted(), RowsWait{offsets, active});
    count_applied(control, applied);
}
