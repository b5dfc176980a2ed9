// Number of shortest paths over finished breadth-first levels, all of it in one launch.
//
// count: int64 or double, 1 at the source. The vertices of a level add their counts to their
// out-neighbours of the next; the first to add lists the neighbour for the next superstep. So a
// level costs one grid barrier and its edges, and nothing has to be sorted by level before.

#include "degree_lists.cuh"
#include "path_counts.cuh"
#include "runs.cuh"

struct Step {
    Counts appended;
    uint64 overflow; // not 0: a count does not fit
};

struct State {
    uint64 barrier;
    uint64 overflow;
    uint64 read;
    Runs runs;
    Step steps[3]; // taking turns as in bfs.cu
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// `listed`: bits of the vertices that are in the lists. A count that overflows may become zero
// again.
extern "C" __global__ void __launch_bounds__(512, 2)
    path_counts(const OFFSET *offsets, const ID *neighbours, uint64 n, ID source,
                const int32 *level, COUNT *count, uint32 *listed, ID *queue, ID *piece_row,
                uint32 *piece, uint32 medium, uint32 large, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    __shared__ Slice slice;
    __shared__ uint32 stops;
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        count[v] = v == source;
    for (uint64 w = thread_rank(); w < (n + 31) / 32; w += num_threads())
        listed[w] = 0;
    if (leads)
        start_runs(&state->runs);
    if (threadIdx.x == 0)
        slice = Slice{};
    __syncthreads();
    if (blockIdx.x == 0 && warp_in_block() == 0) {
        Appender appender(lists, slice, &state->steps[0].appended, slots);
        appender.append(lane() == 0, source, offsets[source + 1] - offsets[source]);
        appender.flush();
    }
    uint64 read = 0;
    int32 depth = 0;
    while (true) { // each vertex enters the lists once
        grid_sync(barrier);
        if (threadIdx.x == 0) {
            const volatile Step &step = state->steps[depth % 3];
            slice.advance({step.appended.small, step.appended.medium, step.appended.pieces});
            stops = step.overflow != 0 || slice.empty();
            if (leads) {
                if (step.overflow != 0)
                    state->overflow = 1;
                state->steps[(depth + 2) % 3] = Step{};
            }
        }
        __syncthreads();
        if (stops)
            break;
        ++depth;
        Step *step = state->steps + depth % 3;
        Appender appender(lists, slice, &step->appended, slots);
        bool overflow = false;
        for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 stride) {
            ID v[BATCH];
            bool wanted[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                wanted[j] = j * stride < left;
                v[j] = wanted[j] ? neighbours[edge + j * stride] : 0;
                read += wanted[j];
            }
            bool any = false;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                wanted[j] = wanted[j] && level[v[j]] == depth;
                any = any || wanted[j];
            }
            if (!__any_sync(FULL_WARP, any))
                return;
            COUNT paths = any ? fresh(count + u) : (COUNT)0;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                bool first = false;
                if (wanted[j])
                    overflow |= add(count + v[j], paths, first);
                wanted[j] = first && set_bit(listed, v[j]);
            }
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                appender.append(wanted[j], v[j],
                                wanted[j] ? offsets[v[j] + 1] - offsets[v[j]] : (OFFSET)0);
        });
        appender.flush();
        if (overflow)
            step->overflow = 1;
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(&state->read, read);
    grid_sync(barrier);
    if (leads)
        note_run(&state->runs, 0, depth, 1, fresh(&state->read));
}
