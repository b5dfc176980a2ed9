// What a kernel did, for the report: a row for each run of supersteps in one direction, read by the
// host once at the end.

#include "common.cuh"

constexpr int MOST_RUNS = 32;

struct Run {
    uint64 direction, supersteps, frontier, edges, nanoseconds;
};

struct Runs {
    uint64 number, time;
    Run run[MOST_RUNS];
};

__device__ __forceinline__ uint64 nanoseconds() {
    uint64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// What many supersteps are noted in lies in shared memory, whose reads nobody waits long for; at
// the end it is copied to where the host looks. By all threads of a block.
__device__ __forceinline__ void clear_runs(Runs *runs) {
    for (uint32 i = threadIdx.x; i < sizeof(Runs) / sizeof(uint64); i += blockDim.x)
        ((uint64 *)runs)[i] = 0;
}

__device__ __forceinline__ void copy_runs(Runs *to, const Runs *from) {
    for (uint32 i = threadIdx.x; i < sizeof(Runs) / sizeof(uint64); i += blockDim.x)
        ((uint64 *)to)[i] = ((const uint64 *)from)[i];
}

// By one thread of the grid, before the first superstep.
__device__ __forceinline__ void start_runs(Runs *runs) { runs->time = nanoseconds(); }

// By that thread, after supersteps in a direction; `frontier`: of the first of them. When there are
// no rows left the last one takes it.
__device__ __forceinline__ void note_run(Runs *runs, uint32 direction, uint64 supersteps,
                                         uint64 frontier, uint64 edges) {
    if (!REPORTS) {
        runs->number = 1; // the host knows of one
        runs->run[0].direction = direction;
        return;
    }
    uint64 last = runs->number - 1, now = nanoseconds();
    if (runs->number == 0 || (runs->run[last].direction != direction && runs->number < MOST_RUNS)) {
        last = runs->number++;
        runs->run[last].direction = direction;
        runs->run[last].frontier = frontier;
    }
    runs->run[last].supersteps += supersteps;
    runs->run[last].edges += edges;
    runs->run[last].nanoseconds += now - runs->time;
    runs->time = now;
}
