// program_ranks.cu: the end of a superstep of a vertex program on several ranks.
//
// Computes  what finish of program.cu does, from the counts and aggregates of all ranks.
// Launch    of one block each. A superstep: the kernels of program.cu up to apply, tell, an
//           all-gather of Told, hear. An aggregate that names others: aggregate of program.cu,
//           tell_one, an all-gather, hear_one.
// Encoding  every rank puts the same numbers together in the same order, so all of them come to the
//           same bits, and stop in the same superstep.
// Macros    as program.cu, but that CHECKS_JOINED says of sums of integers whether they are watched
//           for overflow.

#include "program_steps.cuh"

// What a rank tells of itself.
struct Told {
    int64 active, edges, read, bad;
    Aggregate aggregates[NUM_AGGREGATES > 0 ? NUM_AGGREGATES : 1];
};

// An aggregate, as the host describes it.
struct Description {
    int64 kind; // enum Kind
    int64 real; // of floats
    int64 when; // of WHEN_...
};
constexpr int64 WHEN_APPLIED = 1, WHEN_NEXT = 2; // taken with apply: for now, for what comes next

// One aggregate of all ranks.
template <typename T, int KIND>
__device__ Aggregate joined_as(const Told *every, int64 size, int64 which) {
    typedef Total<T, KIND> Sum;
    Sum total;
    for (int64 rank = 0; rank < size; rank++) {
        const Aggregate &own = every[rank].aggregates[which];
        total.bad |= own.bad != 0;
        if (!own.count)
            continue;
        total.count = 1;
        total.value =
            Sum::combined(total.value, Same<T, int64>::value ? (T)own.whole : (T)own.real);
        if (Sum::SHADOWED)
            total.shadow += own.real;
    }
    // As where the blocks of one rank are put together.
    if (Sum::SHADOWED && CHECKS_JOINED)
        total.bad |= !(fabs((double)total.value - total.shadow) <= 4611686018427387904.0);
    Aggregate made;
    total.keep(made);
    return made;
}

template <typename T>
__device__ Aggregate joined_of(int64 kind, const Told *every, int64 size, int64 which) {
    if (kind == KIND_SUM)
        return joined_as<T, KIND_SUM>(every, size, which);
    if (kind == KIND_MIN)
        return joined_as<T, KIND_MIN>(every, size, which);
    return joined_as<T, KIND_MAX>(every, size, which);
}

__device__ Aggregate joined(const Description &of, const Told *every, int64 size, int64 which) {
    return of.real ? joined_of<double>(of.kind, every, size, which)
                   : joined_of<int64>(of.kind, every, size, which);
}

// Every thread of the block calls it.
__device__ void hear_aggregates(const Run &run, const Description *descriptions, int64 when,
                                const Told *every, int64 size) {
    for (int64 i = threadIdx.x; i < NUM_AGGREGATES; i += blockDim.x)
        if (descriptions[i].when == when)
            run.aggregates[i] = joined(descriptions[i], every, size, i);
    __syncthreads();
}

// What apply has counted and taken along.
extern "C" __global__ void __launch_bounds__(256) tell(Run run, Partial *partials, Told *told) {
    RunControl *control = run.control;
    if (control->done)
        return;
    run.aggregates = told->aggregates;
    Totals::fold(run, partials);
    NextTotals::fold(run, partials);
    if (threadIdx.x == 0) {
        told->active = control->next_active;
        told->edges = control->next_edges;
        told->read = control->read;
        told->bad = control->bad;
    }
}

// The superstep ends. With `commits` the aggregates that apply took are known already; without
// `stops` those of the next superstep come later, by `hear_next`.
extern "C" __global__ void __launch_bounds__(256)
    hear(Run run, Partial *partials, Advance *log, int64 num_edges, int64 dense, int64 sparse,
         const Description *descriptions, const Told *every, int64 size, int64 commits,
         int64 stops) {
    RunControl *control = run.control;
    if (control->done)
        return;
    if (!commits)
        hear_aggregates(run, descriptions, WHEN_APPLIED, every, size);
    if (threadIdx.x == 0) {
        int64 active = 0, edges = 0, read = 0, bad = 0;
        for (int64 rank = 0; rank < size; rank++) {
            active += every[rank].active;
            edges += every[rank].edges;
            read += every[rank].read;
            bad |= every[rank].bad;
        }
        control->next_active = active;
        control->next_edges = edges;
        control->read = read;
        control->bad = bad;
    }
    __syncthreads();
    finish_superstep(run, partials, log, num_edges, dense, sparse, NUM_AGGREGATES, 0, 0);
    __syncthreads();
    if (stops && !fresh(&control->done))
        hear_aggregates(run, descriptions, WHEN_NEXT, every, size);
}

// The aggregates that apply took, where others name them.
extern "C" __global__ void __launch_bounds__(256)
    hear_applied(Run run, const Description *descriptions, const Told *every, int64 size) {
    if (!run.control->done)
        hear_aggregates(run, descriptions, WHEN_APPLIED, every, size);
}

// Those of the superstep that begins, where the host has looked between the two.
extern "C" __global__ void __launch_bounds__(256)
    hear_next(Run run, const Description *descriptions, const Told *every, int64 size) {
    if (!run.control->done && run.control->completed > 0)
        hear_aggregates(run, descriptions, WHEN_NEXT, every, size);
}

extern "C" __global__ void __launch_bounds__(256)
    tell_one(Run run, int64 which, Partial *partials, Told *told) {
    if (run.control->done)
        return;
    run.aggregates = told->aggregates;
    fold_one(run, which, partials);
}

extern "C" __global__ void hear_one(Run run, int64 which, const Description *descriptions,
                                    const Told *every, int64 size) {
    if (!run.control->done && threadIdx.x == 0)
        run.aggregates[which] = joined(descriptions[which], every, size, which);
}

// What vertices begin .. end - 1 send, in the order of their degrees: a rank's own vertices and its
// ghosts are each in that order, and blocks of sources are to be of those with most edges first.
extern "C" __global__ void order_emitted(Run run, const MESSAGE *emitted, const ID *places,
                                         MESSAGE *ordered, uint64 begin, uint64 end) {
    if (run.control->done)
        return;
    for (uint64 v = begin + thread_rank(); v < end; v += num_threads())
        ordered[places[v]] = emitted[v];
}

// The same of ghosts whose values have come by themselves: `places` are of these.
extern "C" __global__ void order_ahead(Run run, const MESSAGE *values, const ID *places,
                                       uint64 number, MESSAGE *ordered) {
    if (run.control->done)
        return;
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        ordered[places[i]] = values[i];
}
