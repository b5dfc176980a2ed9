// program.cu: the supersteps of a vertex program.
//
// Computes  messages[v] = combine over edges u -> v of active u of message(u, v, e), then
//           apply, who is active, aggregates, whether to stop.
// Launch    start_fields once a field; then each superstep: [emit] [frontier, push or notify]
// [pull]
//           apply finish, and aggregate + fold for an aggregate that names others. All of them
//           return at once when `control->done`, so a batch of supersteps is queued blind; those of
//           a direction that the superstep does not take return as well.
// Encoding  messages[v] == identity() and received[v] == 0: none came. Between supersteps all are
//           so (apply leaves them so), unless EVERY, when pull writes every row that has an edge.
// Why       Rows go by length to a thread, a group of lanes, a warp or a block, the longest first,
//           all in one launch. A row's owner combines in registers and writes once: no atomics,
//           and sums that are the same bits every time.
// Macros    EVERY: all vertices send in every superstep. EMITS: a vertex sends the same along all
//           edges, which is in `emitted`. NEEDS_RECEIVED. SUM_CHECKED: integer sums are watched for
//           overflow. MESSAGE_LEAST, MESSAGE_MOST: range of a sum, CHECKS_AGGREGATES.

// ---- values at the start

extern "C" __global__ void start_fields(Run run, int64 which, void *out) {
    bool good = true;
    for (uint64 v = thread_rank(); v < (uint64)run.num_vertices; v += num_threads())
        good &= start_value(run, which, v, out);
    if (!good)
        run.control->bad = BAD_COMPUTE;
}

// What an active vertex sends along all its edges. One without edges is not asked: it might divide
// by their number.
extern "C" __global__ void emit(Run run, const uint8 *active, MESSAGE *emitted) {
    if (run.control->done)
        return;
    bool good = true;
    for (uint64 u = thread_rank(); u < (uint64)run.num_vertices; u += num_threads())
        if ((EVERY || active[u]) && run.degree[u] > 0)
            good &= message(run, u, u, 0, emitted[u]);
    if (!good)
        run.control->bad |= BAD_COMPUTE;
}

// The clock of the run starts. One block.
extern "C" __global__ void begin(Run run) {
    if (threadIdx.x == 0)
        run.control->began = nanoseconds();
}

#include "program_pull.cuh"
#include "program_push.cuh"

// ---- vertices

extern "C" __global__ void __launch_bounds__(256)
    apply(Run run, MESSAGE *messages, uint8 *received, uint8 *reached, uint8 *active,
          Partial *partials) {
    RunControl *control = run.control;
    if (control->done)
        return;
    Totals totals;
    NextTotals next;
    int64 superstep = control->superstep, count = 0, edges = 0;
    bool good = true;
    for (uint64 v = thread_rank(); v < (uint64)run.num_vertices; v += num_threads()) {
        bool r = NEEDS_RECEIVED && received[v];
        MESSAGE m = messages[v];
        if (!EVERY && r)
            received[v] = 0;
        if (!EVERY && m != identity())
            messages[v] = identity();
        bool had = !HAS_REACHED || reached[v];
        if (!had && !r)
            continue; // it was not active either
        New made;
        good &= apply_vertex(run, v, m, r, had, made);
        bool a = EVERY || !had || active_vertex(run, v, m, r, made);
        if (!EVERY) {
            active[v] = a;
            if (HAS_REACHED && !had)
                reached[v] = 1;
            if (a) {
                count += 1;
                edges += run.degree[v];
            }
        }
        totals.template add<false>(run, v, made, superstep);
        next.template add<true>(run, v, made, superstep + 1);
        store_made(run, v, made);
    }
    totals.store(partials);
    next.store(partials);
    if (!EVERY) {
        count = block_sum(count);
        edges = block_sum(edges);
        if (threadIdx.x == 0 && count) {
            atomic_add(&control->next_active, count);
            atomic_add(&control->next_edges, edges);
        }
    }
    if (__syncthreads_or(!good) && threadIdx.x == 0)
        atomicOr((uint64 *)&control->bad, (uint64)BAD_APPLY);
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

// The new values become the old ones, where both were needed.
extern "C" __global__ void commit(Run run) {
    if (run.control->done)
        return;
    for (uint64 v = thread_rank(); v < (uint64)run.num_vertices; v += num_threads())
        store_old(run, v, made_values(run, v));
}

// The aggregates before this superstep, as apply of the last one took them along; where the host
// looks between the two. One block.
extern "C" __global__ void __launch_bounds__(256) fold_next(Run run, Partial *partials) {
    if (!run.control->done && run.control->superstep > 1)
        NextTotals::fold(run, partials);
}

// Ends the superstep. The next one goes in direction `dense` where active vertices send over more
// than half of the edges, else `sparse`. One block.
extern "C" __global__ void __launch_bounds__(256)
    finish(Run run, Partial *partials, Advance *log, int64 num_edges, int64 dense, int64 sparse,
           int64 num_aggregates, int64 folds, int64 folds_next) {
    RunControl *control = run.control;
    if (control->done)
        return;
    if (folds)
        Totals::fold(run, partials);
    if (threadIdx.x == 0) {
        int64 now = nanoseconds();
        int64 direction = control->direction;
        int64 last = control->log_size - 1;
        if (control->log_size < LOG_SIZE) {
            last = control->log_size++;
            log[last] = {direction, 0, control->num_active, 0, 0};
        }
        log[last].supersteps += 1;
        log[last].edges += direction == BY_PULL   ? num_edges
                           : direction == BY_PUSH ? control->active_edges
                                                  : control->read;
        log[last].nanoseconds += now - control->began;
        control->began = now;
        control->read = 0;
        control->small = control->medium = control->chunks = 0;
        bool bad = control->bad;
        for (int64 i = 0; i < num_aggregates; i++)
            bad |= run.aggregates[i].bad != 0;
        control->completed = control->superstep;
        if (!EVERY) {
            control->num_active = control->next_active;
            control->active_edges = control->next_edges;
            control->next_active = control->next_edges = 0;
            control->direction = 2 * control->active_edges > num_edges ? dense : sparse;
        }
        control->stopped = !bad && stop_now(run);
        control->done = bad || control->stopped || control->num_active == 0 ||
                        control->superstep == control->limit;
        if (!control->done)
            control->superstep += 1;
    }
    __syncthreads();
    if (folds_next && !fresh(&control->done))
        NextTotals::fold(run, partials);
}
