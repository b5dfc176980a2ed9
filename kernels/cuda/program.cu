// program.cu: the supersteps of a vertex program.
//
// Computes  messages[v] = combine over edges u -> v of active u of message(u, v, e), then
//           apply, who is active, aggregates, whether to stop.
// Launch    start_fields once a field; then each superstep: [emit] [frontier, push or notify]
//           [pull] apply finish, and aggregate + fold for an aggregate that names others. With a
//           filter, if FILTERABLE, for a superstep that pushes: push_filtered count_filtered
//           write_filtered apply_filtered for push and apply; else for apply: apply_noted
//           count_filtered write_filtered list_filtered. All of them return at once when
//           `control->done`, so a batch of supersteps is queued blind; those of a direction that
//           the superstep does not take return as well. program_fused.cu has the same in fewer
//           launches.
// Encoding  messages[v] == identity() and received[v] == 0: none came. Between supersteps all are
//           so (apply leaves them so), unless OVERWRITES, when pull writes every row with edges.
// Why       Rows go by length to a thread, a group of lanes, a warp or a block, the longest first,
//           all in one launch. A row's owner combines in registers and writes once: no atomics,
//           and sums that are the same bits every time.
// Macros    EVERY: all vertices send in every superstep. EMITS: a vertex sends the same along all
//           edges, which is in `emitted`. NEEDS_RECEIVED. SUM_CHECKED: integer sums are watched for
//           overflow. MESSAGE_LEAST, MESSAGE_MOST: range of a sum, CHECKS_AGGREGATES. FILTERED,
//           FILTERABLE: see program_filter.cuh. ATOMIC: every edge combines by an atomic.
//           SHARDS: pull_shards takes the place of pull and join. TIERED: the edges of a superstep
//           come in parts, each by list_part and push. TAIL: changes may be pushed:
//           find_changes choose_tail list_active push_changes before pull, settle after it.

#include "program_pull.cuh"
#include "program_push.cuh"

#include "program_steps.cuh"

#include "program_filter.cuh"

// ---- values at the start

extern "C" __global__ void start_fields(Run run, int64 which, void *out) {
    bool good = true;
    for (uint64 v = thread_rank(); v < (uint64)run.num_vertices; v += num_threads())
        good &= start_value(run, which, v, out);
    if (!good)
        run.control->bad = BAD_COMPUTE;
}

// The clock of the run starts. One block.
extern "C" __global__ void begin(Run run) {
    if (threadIdx.x == 0)
        run.control->began = nanoseconds();
}

// ---- edges

// `filtered`: supersteps that push send without it.
extern "C" __global__ void emit(Run run, const uint8 *active, MESSAGE *emitted, int64 filtered) {
    const RunControl *control = run.control;
    if (!control->done && !(filtered && control->direction == BY_PUSH))
        emit_all(run, active, emitted);
}

extern "C" __global__ void list_active(Run run, Push push, Filter filter, const uint8 *active) {
    const RunControl *control = run.control;
    if (!control->done && control->direction != BY_PULL && !control->ready)
        frontier(run, push, filter, active);
}

extern "C" __global__ void __launch_bounds__(256)
    push(Run run, Push push, const MESSAGE *emitted, MESSAGE *messages, uint8 *received) {
    RunControl *control = run.control;
    if (control->done || control->direction != BY_PUSH)
        return;
    if (!for_edges(control, push, Send{run, emitted, messages, received}))
        control->bad = BAD_COMPUTE;
}

#if TIERED
#include "program_stretches.cuh"
#include "program_tiers.cuh"
#endif

#if EMITS
#define PULL_BOUNDS __launch_bounds__(PULL_THREADS, 2048 / PULL_THREADS)
#else
#define PULL_BOUNDS __launch_bounds__(PULL_THREADS)
#endif

extern "C" __global__ void PULL_BOUNDS pull_all(Run run, Pull pull,
                                                const MESSAGE *__restrict__ emitted,
                                                MESSAGE *__restrict__ messages, uint8 *received) {
    pull_from_all<false>(run, pull, emitted, messages, received);
}

extern "C" __global__ void PULL_BOUNDS join_all(Run run, Pull pull,
                                                const MESSAGE *__restrict__ emitted,
                                                MESSAGE *__restrict__ messages, uint8 *received) {
    pull_from_all<true>(run, pull, emitted, messages, received);
}

extern "C" __global__ void PULL_BOUNDS pull_some(Run run, Pull pull,
                                                 const MESSAGE *__restrict__ emitted,
                                                 const uint8 *__restrict__ active, uint8 *marked,
                                                 MESSAGE *__restrict__ messages, uint8 *received) {
    pull_from_some<false>(run, pull, emitted, active, marked, messages, received);
}

extern "C" __global__ void PULL_BOUNDS join_some(Run run, Pull pull,
                                                 const MESSAGE *__restrict__ emitted,
                                                 const uint8 *__restrict__ active, uint8 *marked,
                                                 MESSAGE *__restrict__ messages, uint8 *received) {
    pull_from_some<true>(run, pull, emitted, active, marked, messages, received);
}

#if SHARDS
#include "program_shards.cuh"
#endif

#if TAIL
#include "program_tail.cuh"
#endif

// Marks the rows that `pull_some` is to look at.
extern "C" __global__ void __launch_bounds__(256) notify(Run run, Push push, uint8 *marked) {
    const RunControl *control = run.control;
    if (!control->done && control->direction == BY_NOTIFY)
        for_edges(control, push, Notify{marked});
}

#if FILTERED

// Whether the superstep's vertices are listed by the filter.
__device__ __forceinline__ bool filters(const RunControl *control) {
    return !control->done && (!FILTERABLE || control->direction == BY_PUSH);
}

// `blocks` of all three: as of what records.
extern "C" __global__ void __launch_bounds__(256)
    count_filtered(Run run, Filter filter, const uint8 *active) {
    if (filters(run.control))
        filter_count(run.control, filter, active, run.num_vertices);
}

extern "C" __global__ void __launch_bounds__(256)
    write_filtered(Run run, Filter filter, const uint8 *active) {
    if (filters(run.control) && has_two_phases(run.control, filter))
        filter_write(run.control, filter, active, run.num_vertices);
}

#if FILTERABLE

extern "C" __global__ void __launch_bounds__(256)
    push_filtered(Run run, Push push, Filter filter, MESSAGE *messages, uint8 *received,
                  const uint8 *reached, uint8 *active) {
    if (filters(run.control))
        push_recorded(run, push, filter, messages, received, reached, active);
}

extern "C" __global__ void __launch_bounds__(256)
    apply_filtered(Run run, Push push, Filter filter, MESSAGE *messages, uint8 *received,
                   uint8 *reached, uint8 *active) {
    if (filters(run.control))
        apply_listed(run, push, filter, messages, received, reached, active);
}

#else

// `control->blocks` blocks, as of apply.
extern "C" __global__ void __launch_bounds__(256)
    apply_noted(Run run, Filter filter, MESSAGE *messages, uint8 *received, uint8 *reached,
                uint8 *active, Partial *partials) {
    RunControl *control = run.control;
    if (control->done)
        return;
    Applied applied = {0, 0, true};
    Recorder recorder = {filter, control, 0};
    apply_block(run, messages, received, reached, active, partials, blockIdx.x, gridDim.x, applied,
                NoteActive{recorder});
    recorder.end();
    count_applied(control, applied);
}

extern "C" __global__ void __launch_bounds__(256) list_filtered(Run run, Push push, Filter filter) {
    if (filters(run.control))
        list_noted(run.control, push, filter);
}

#endif
#endif

// ---- vertices

// `filtered`: supersteps that push have done it. `control->blocks` blocks.
extern "C" __global__ void __launch_bounds__(256)
    apply(Run run, MESSAGE *messages, uint8 *received, uint8 *reached, uint8 *active,
          Partial *partials, int64 filtered) {
    RunControl *control = run.control;
    if (control->done || (filtered && control->direction == BY_PUSH))
        return;
    Applied applied = {0, 0, true};
    apply_block(run, messages, received, reached, active, partials, blockIdx.x, gridDim.x, applied,
                NotNoted());
    count_applied(control, applied);
}

extern "C" __global__ void __launch_bounds__(256)
    aggregate(Run run, int64 which, const uint8 *reached, Partial *partials) {
    if (!run.control->done)
        aggregate_one(run, which, reached, partials);
}

// One block.
extern "C" __global__ void __launch_bounds__(256) fold(Run run, int64 which, Partial *partials) {
    if (!run.control->done)
        fold_one(run, which, partials);
}

// Puts together what apply took along. One block.
extern "C" __global__ void __launch_bounds__(256) fold_applied(Run run, Partial *partials) {
    if (!run.control->done)
        Totals::fold(run, partials);
}

extern "C" __global__ void commit(Run run) {
    if (!run.control->done)
        commit_all(run);
}

// The aggregates before this superstep, as apply of the last one took them along; where the host
// looks between the two. One block.
extern "C" __global__ void __launch_bounds__(256) fold_next(Run run, Partial *partials) {
    if (!run.control->done && run.control->completed > 0)
        NextTotals::fold(run, partials);
}

// One block.
extern "C" __global__ void __launch_bounds__(256)
    finish(Run run, Partial *partials, Advance *log, int64 num_edges, int64 dense, int64 sparse,
           int64 num_aggregates, int64 folds, int64 folds_next) {
    if (!run.control->done)
        finish_superstep(run, partials, log, num_edges, dense, sparse, num_aggregates, folds,
                         folds_next);
}
