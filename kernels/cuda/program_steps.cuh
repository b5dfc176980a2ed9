// A superstep but for its edges: device functions that kernels of one phase each call (program.cu),
// and those of many supersteps (program_fused.cu). The same result whatever the grid.

// Whether every superstep writes the messages of all rows that have edges, so that none is left
// from the one before.
constexpr bool OVERWRITES = EVERY && !ATOMIC && !SHARDS;

// What an active vertex sends along all its edges. One without edges is not asked: it might divide
// by their number.
__device__ __forceinline__ void emit_all(const Run &run, const uint8 *active, MESSAGE *emitted) {
    bool good = true;
    for (uint64 u = thread_rank(); u < (uint64)run.num_vertices; u += num_threads())
        if ((EVERY || active[u]) && run.degree[u] > 0)
            good &= message(run, u, u, 0, emitted[u]);
    if (!good)
        run.control->bad |= BAD_COMPUTE;
}

// Stands for who notes the vertices that are active next, where none does.
struct NotNoted {
    __device__ __forceinline__ void operator()(uint64) const {}
};

// What this block's vertices that are active next come to.
struct Applied {
    int64 active, edges;
    bool good;
};

// Stands for who has yet to send along its edges, where all have.
struct NoneWaits {
    __device__ __forceinline__ bool operator()(uint64) const { return false; }
};

// A vertex takes the message that came; where `waits(v)` it stays active.
template <typename Note, typename Waits = NoneWaits>
__device__ __forceinline__ void apply_one(const Run &run, uint64 v, int64 superstep,
                                          MESSAGE *messages, uint8 *received, uint8 *reached,
                                          uint8 *active, Totals &totals, NextTotals &next,
                                          Applied &applied, Note note, Waits waits = NoneWaits()) {
    bool r = NEEDS_RECEIVED && received[v];
    MESSAGE m = messages[v];
    if (!EVERY && r)
        received[v] = 0;
    if (!OVERWRITES && m != identity())
        messages[v] = identity();
    bool had = !HAS_REACHED || reached[v];
    if (!had && !r)
        return; // it was not active either
    // Early: a store that comes while the same line is still being loaded holds up the warp. Loaded
    // after the new value was computed, PageRank's took ten times as long.
    New old = old_values(run, v), made;
    applied.good &= apply_vertex(run, v, m, r, had, made);
    bool a = EVERY || !had || active_vertex(run, v, m, r, made);
    if (!EVERY) {
        a |= waits(v);
        active[v] = a;
        if (HAS_REACHED && !had)
            reached[v] = 1;
        if (a) {
            applied.active += 1;
            applied.edges += run.degree[v];
            note(v);
        }
    }
    totals.template add<false>(run, v, old, made, superstep);
    next.template add<true>(run, v, old, made, superstep + 1);
    store_made(run, v, made);
}

// The vertices of one of `blocks` blocks take the messages that came; who is active next, which is
// noted, and the aggregates that need no other.
template <typename Note, typename Waits = NoneWaits>
__device__ __forceinline__ void apply_block(const Run &given, MESSAGE *messages, uint8 *received,
                                            uint8 *reached, uint8 *active, Partial *partials,
                                            uint64 block, uint64 blocks, Applied &applied,
                                            Note note, Waits waits = NoneWaits()) {
    // Aggregates are read once, so that what follows from them alone is not computed for every
    // vertex.
    Aggregate aggregates[NUM_AGGREGATES + 1];
#pragma unroll
    for (int i = 0; i < NUM_AGGREGATES; i++)
        aggregates[i] = given.aggregates[i];
    Run run = given;
    run.aggregates = aggregates;
    int64 superstep = run.control->superstep;
    Totals totals;
    NextTotals next;
    for (uint64 v = block * blockDim.x + threadIdx.x; v < (uint64)run.num_owned;
         v += blocks * blockDim.x) {
        apply_one(run, v, superstep, messages, received, reached, active, totals, next, applied,
                  note, waits);
    }
    totals.store(partials + block);
    next.store(partials + block);
}

// Every thread of the block calls it.
__device__ __forceinline__ void count_applied(RunControl *control, Applied applied) {
    if (!EVERY) {
        applied.active = block_sum(applied.active);
        applied.edges = block_sum(applied.edges);
        if (threadIdx.x == 0 && applied.active) {
            atomic_add(&control->next_active, applied.active);
            atomic_add(&control->next_edges, applied.edges);
        }
    }
    if (__syncthreads_or(!applied.good) && threadIdx.x == 0)
        atomicOr((uint64 *)&control->bad, (uint64)BAD_APPLY);
}

// The new values become the old ones, where both were needed.
__device__ __forceinline__ void commit_all(const Run &run) {
    for (uint64 v = thread_rank(); v < (uint64)run.num_vertices; v += num_threads())
        store_old(run, v, made_values(run, v));
}

// The report's row of the superstep; the last one takes those for which there are none left.
__device__ __forceinline__ void note_superstep(RunControl *control, Advance *log, int64 num_edges) {
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
}

// Ends the superstep. The next one goes in direction `dense` where active vertices send over more
// than half of the edges, else `sparse`. One block.
__device__ __forceinline__ void finish_superstep(const Run &run, Partial *partials, Advance *log,
                                                 int64 num_edges, int64 dense, int64 sparse,
                                                 int64 num_aggregates, int64 folds,
                                                 int64 folds_next) {
    RunControl *control = run.control;
    if (folds)
        Totals::fold(run, partials);
    if (threadIdx.x == 0) {
        if (REPORTS)
            note_superstep(control, log, num_edges);
        control->read = 0;
        control->overflows += control->overflow;
        control->overflow = 0;
        control->listed = control->spilled = 0;
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
        if (!control->ready || control->direction == BY_PULL) {
            control->small = control->medium = control->chunks = control->ready = 0;
            control->batched = 0;
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
