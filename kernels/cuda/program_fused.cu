// program_fused.cu: many supersteps of a vertex program in a launch.
//
// Computes  what program.cu does, by the same functions, with a barrier of the grid where one
// kernel
//           ends there and the next begins.
// Launch    cooperative. push_run and pull_run in turn ("selective"): each goes on until the run is
//           over or the other's direction comes, and returns at once if it begins with that, so
//           both are queued blind; or everything ("all"). At most `most` supersteps a launch, so
//           that none is without an end.
// Encoding  the barrier is any number of launches old: each round leaves its lower bits zero.
// Macros    as program.cu; ALL: which of the two.

// Messages, values and flags change during a launch, for which the read-only cache is not made.
#define __ldg(place) (*(place))

#include "program_pull.cuh"
#include "program_push.cuh"

#include "program_steps.cuh"

#include "program_filter.cuh"

struct Fused {
    MESSAGE *emitted;    // null: there are none of its own
    const MESSAGE *sent; // what vertices send: `emitted`, or a field
    MESSAGE *messages;
    uint8 *received, *marked, *reached, *active;
    Partial *partials;
    Advance *log;
    int64 num_edges, dense, sparse, num_aggregates;
    const int64 *alone; // aggregates that are taken one by one: before compute, then after apply
    int64 alone_before, alone_after;
    int64 most; // supersteps of a launch
    GridBarrier *barrier;
};

__device__ __forceinline__ void aggregates_alone(const Run &run, const Fused &fused,
                                                 const int64 *which, int64 number) {
    for (int64 i = 0; i < number; i++) {
        aggregate_one(run, which[i], fused.reached, fused.partials);
        grid_sync(fused.barrier);
        if (blockIdx.x == 0)
            fold_one(run, which[i], fused.partials);
        grid_sync(fused.barrier);
    }
}

template <typename Note>
__device__ __forceinline__ void apply_blocks(const Run &run, const Fused &fused, Note note) {
    Applied applied = {0, 0, true};
    uint64 blocks = run.control->blocks;
    for (uint64 block = blockIdx.x; block < blocks; block += gridDim.x)
        apply_block(run, fused.messages, fused.received, fused.reached, fused.active,
                    fused.partials, block, blocks, applied, note);
    count_applied(run.control, applied);
}

#if FILTERED

// The list of the vertices that were recorded, or are found by a scan.
__device__ __forceinline__ void make_list(const Run &run, const Filter &filter,
                                          const Fused &fused) {
    grid_sync(fused.barrier);
    filter_count(run.control, filter, fused.active, run.num_vertices);
    if (has_two_phases(run.control, filter)) {
        grid_sync(fused.barrier);
        filter_write(run.control, filter, fused.active, run.num_vertices);
    }
    grid_sync(fused.barrier);
}

#endif

__device__ __forceinline__ void apply_all(const Run &run, const Push &push, const Filter &filter,
                                          const Fused &fused) {
#if FILTERED && !FILTERABLE
    Recorder recorder = {filter, run.control, 0};
    apply_blocks(run, fused, NoteActive{recorder});
    recorder.end();
    make_list(run, filter, fused);
    list_noted(run.control, push, filter);
#else
    apply_blocks(run, fused, NotNoted());
#endif
}

// Edges and apply of a superstep that pushes.
__device__ __forceinline__ void step_by_push(const Run &run, const Push &push, const Filter &filter,
                                             const Fused &fused) {
    RunControl *control = run.control;
    constexpr bool filtered = FILTERED && FILTERABLE;
    if (EMITS && fused.emitted && !filtered)
        emit_all(run, fused.active, fused.emitted);
    bool ready = control->ready;
    if (!ready)
        frontier(run, push, filter, fused.active);
    if (!ready || (EMITS && !filtered))
        grid_sync(fused.barrier);
#if FILTERED && FILTERABLE
    push_recorded(run, push, filter, fused.messages, fused.received, fused.reached, fused.active);
    make_list(run, filter, fused);
    apply_listed(run, push, filter, fused.messages, fused.received, fused.reached, fused.active);
#else
    if (!for_edges(control, push, Send{run, fused.sent, fused.messages, fused.received}))
        control->bad = BAD_COMPUTE;
    grid_sync(fused.barrier);
    apply_all(run, push, filter, fused);
#endif
}

// The same where rows pull: all, or those that are told to.
__device__ __forceinline__ void step_by_pull(const Run &run, const Run &sender, const Pull &pull,
                                             const Push &push, const Filter &filter,
                                             const Fused &fused) {
    RunControl *control = run.control;
    bool notifies = !EVERY && control->direction == BY_NOTIFY;
    bool all = EVERY || (!notifies && control->num_active == run.graph_vertices);
    if (EMITS && fused.emitted)
        emit_all(run, fused.active, fused.emitted);
    if (notifies) {
        if (!control->ready) {
            frontier(sender, push, filter, fused.active);
            grid_sync(fused.barrier);
        }
        for_edges(control, push, Notify{fused.marked});
    }
    grid_sync(fused.barrier);
    uint8 *those = notifies ? fused.marked : nullptr;
    if (all)
        pull_rows<false, false>(run, pull, fused.sent, nullptr, nullptr, fused.messages,
                                fused.received);
    else
        pull_rows<true, false>(run, pull, fused.sent, fused.active, those, fused.messages,
                               fused.received);
    grid_sync(fused.barrier);
    if (pull.num_long) {
        if (all)
            pull_rows<false, true>(run, pull, fused.sent, nullptr, nullptr, fused.messages,
                                   fused.received);
        else
            pull_rows<true, true>(run, pull, fused.sent, fused.active, those, fused.messages,
                                  fused.received);
        grid_sync(fused.barrier);
    }
    apply_all(run, push, filter, fused);
}

// Supersteps until the run is over, or one comes in a direction that is not this launch's.
template <bool PUSHES, bool PULLS>
__device__ __forceinline__ void supersteps(const Run &gather, const Run &send, const Pull &pull,
                                           const Push &push, const Filter &filter,
                                           const Fused &fused) {
    RunControl *control = gather.control;
    for (int64 i = 0; i < fused.most; i++) {
        bool by_push = control->direction == BY_PUSH;
        if (control->done || !(by_push ? PUSHES : PULLS) || lacks_room(control, filter))
            return;
        const Run &run = PULLS ? gather : send;
        aggregates_alone(run, fused, fused.alone, fused.alone_before);
        if (PUSHES && by_push)
            step_by_push(send, push, filter, fused);
        else if (PULLS)
            step_by_pull(gather, send, pull, push, filter, fused);
        grid_sync(fused.barrier);
        if (fused.alone_after) {
            if (blockIdx.x == 0)
                Totals::fold(run, fused.partials);
            grid_sync(fused.barrier);
            aggregates_alone(run, fused, fused.alone + fused.alone_before, fused.alone_after);
            commit_all(run);
            grid_sync(fused.barrier);
        }
        if (blockIdx.x == 0)
            finish_superstep(run, fused.partials, fused.log, fused.num_edges, fused.dense,
                             fused.sparse, fused.num_aggregates, !fused.alone_after, 1);
        grid_sync(fused.barrier);
    }
}

#if ALL

extern "C" __global__ void __launch_bounds__(256)
    everything(Run gather, Run send, Pull pull, Push push, Filter filter, Fused fused) {
    supersteps<true, true>(gather, send, pull, push, filter, fused);
}

#else

extern "C" __global__ void __launch_bounds__(256)
    push_run(Run gather, Run send, Pull pull, Push push, Filter filter, Fused fused) {
    supersteps<true, false>(gather, send, pull, push, filter, fused);
}

extern "C" __global__ void __launch_bounds__(256)
    pull_run(Run gather, Run send, Pull pull, Push push, Filter filter, Fused fused) {
    supersteps<false, true>(gather, send, pull, push, filter, fused);
}

#endif
