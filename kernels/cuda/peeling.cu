// Core numbers by peeling, all of it in one launch: take away vertices of degree k, for k = 0, 1, 2
// ..
//
// degree: neighbours of a vertex that are not peeled yet, but never less than the k at which it is
// peeled itself: so of a peeled vertex its core number.
//
// A superstep ends with one grid barrier, after which all blocks read the same `Step` and decide
// the same; three of them take turns as in bfs.cu.
//
//   SCAN  over the vertices that are left: those of degree k are listed, those of more are kept,
//   and
//         the smallest of these is the next k there can be.
//   PEEL  the listed vertices leave: their neighbours lose one, and the ones that come down to k
//   are
//         listed for the next superstep. A row is read once, and nothing below k is counted down.
//
// When all that are left have degree k they are done, and the rows of the densest core are not
// read. With TIERED rows beyond those on the device are read where they lie, over the link.

#include "degree_lists.cuh"
#include "neighbours.cuh"
#include "runs.cuh"

using Degree = OFFSET;

#ifdef TIERED
using Neighbours = InTiers;
#else
using Neighbours = OnDevice;
#endif

enum Action : uint32 { SCAN, PEEL, STOP };

struct Step {
    Counts appended;
    uint64 found, kept; // by a scan
    uint64 smallest;    // degree above k that was seen, as ~degree: zero is none
};

struct Peeling {
    Slice slice;
    uint64 k, left; // vertices that may be left
    uint64 smallest;
    uint64 rounds; // values of k for which there were vertices
    uint32 step, action, list, listed;
};

struct State {
    uint64 barrier;
    uint64 read, far; // edges, and those of them on the host
    Runs runs;
    Step steps[3];
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

__device__ __forceinline__ uint64 smaller(uint64 a, uint64 b) { return b < a ? b : a; }

// Lists the vertices of degree k (of k at most, where `up_to`) and keeps those of more.
__device__ uint64 scan(const OFFSET *offsets, const Degree *degree, const Peeling &peeling,
                       bool up_to, const ID *list, ID *next_list, Step *step, Appender &appender,
                       ID *slots) {
    WarpBuffer kept(slots + warp_in_block() * HELD, &step->kept, next_list);
    uint64 smallest = ~0ull, k = peeling.k;
    uint32 found = 0;
    uint64 warp = (uint64)warp_in_block() * gridDim.x + blockIdx.x;
    for (uint64 i = warp * WARP; i < peeling.left; i += num_warps() * WARP) {
        uint64 mine = i + lane();
        bool left = mine < peeling.left;
        ID v = !left ? 0 : peeling.listed ? list[mine] : (ID)mine;
        uint64 d = left ? degree[v] : 0;
        bool now = left && (d == k || (up_to && d < k)); // less: peeled before
        OFFSET edges = now ? offsets[v + 1] - offsets[v] : 0;
        appender.append(now, v, edges);
        found += now;
        kept.append(left && d > k, v);
        if (left && d > k)
            smallest = smaller(smallest, d);
    }
    kept.flush();
    appender.flush();
    found = warp_sum(found);
    if (lane() == 0 && found > 0)
        atomicAdd(&step->found, (uint64)found);
    return smallest;
}

// Takes the listed vertices away.
__device__ uint64 peel(const OFFSET *offsets, const Neighbours &neighbours, const Worklists &lists,
                       const Peeling &peeling, Degree *degree, Appender &appender, uint64 &read,
                       uint64 &far) {
    uint64 smallest = ~0ull;
    Degree k = (Degree)peeling.k;
    for_edges(lists, peeling.slice, offsets, [&](ID, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        bool down[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            down[j] = j * step < left;
            v[j] = down[j] ? neighbours[edge + j * step] : 0;
            read += down[j];
            far += down[j] && neighbours.is_far(edge + j * step);
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j) // most are peeled, and need no atomic
            down[j] = down[j] && degree[v[j]] > k;
        bool any = false;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (down[j]) {
                // Only neighbours that were not peeled count a vertex down, each once: it never
                // comes below zero, even while others put back what they took too much.
                Degree old = atomicAdd(degree + v[j], ~(Degree)0);
                down[j] = old == k + 1;
                if (old <= k)
                    atomicAdd(degree + v[j], (Degree)1);
                else if (!down[j])
                    smallest = smaller(smallest, old - 1);
            }
            any = any || down[j];
        }
        if (!__any_sync(FULL_WARP, any))
            return;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            appender.append(down[j], v[j], down[j] ? offsets[v[j] + 1] - offsets[v[j]] : (OFFSET)0);
    });
    appender.flush();
    return smallest;
}

// What is known after a superstep, and what comes next. By one thread of each block.
__device__ void advance(Peeling &peeling, State *state, bool once, bool writes) {
    const volatile Step &step = state->steps[peeling.step % 3];
    uint64 found = step.found, kept = step.kept, smallest = ~step.smallest;
    peeling.slice.advance({step.appended.small, step.appended.medium, step.appended.pieces});
    ++peeling.step;
    if (writes)
        state->steps[(peeling.step + 1) % 3] = Step{};
    bool next_k = peeling.slice.empty();
    if (peeling.action == SCAN) {
        peeling.rounds += found > 0;
        peeling.left = kept;
        peeling.list ^= 1;
        peeling.listed = 1;
        peeling.smallest = smallest;
        if (kept == 0) {
            peeling.action = STOP;
            return;
        }
    } else {
        peeling.smallest = smaller(peeling.smallest, smallest);
    }
    // `smallest` may be of a vertex that was peeled meanwhile. Then the scan finds nothing, and
    // knows the next k exactly.
    peeling.action = !next_k ? PEEL : once ? STOP : SCAN;
    if (next_k)
        peeling.k = peeling.smallest;
}

// With `once` all vertices of degree k at most are peeled, and no more: those that are left have
// more. `alive`: two lists of n.
extern "C" __global__ void __launch_bounds__(512, 2)
    peeling(const OFFSET *offsets, Neighbours neighbours, uint64 n, Degree *degree, uint64 k,
            uint32 once, ID *alive, ID *queue, ID *piece_row, uint32 *piece, uint32 medium,
            uint32 large, State *state) {
    __shared__ ID slots[MOST_WARPS * 3 * HELD];
    __shared__ Peeling peeling;
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        degree[v] = offsets[v + 1] - offsets[v];
    if (threadIdx.x == 0) {
        peeling = Peeling{};
        peeling.k = k;
        peeling.left = n;
        peeling.action = SCAN;
    }
    if (leads)
        start_runs(&state->runs);
    uint64 read = 0, far = 0;
    grid_sync(barrier);
    while (peeling.action != STOP) {
        Step *step = state->steps + peeling.step % 3;
        Appender appender(lists, peeling.slice, &step->appended, slots);
        ID *list = alive + peeling.list * n, *next_list = alive + (1 - peeling.list) * n;
        uint64 smallest =
            peeling.action == SCAN
                ? scan(offsets, degree, peeling, once, list, next_list, step, appender,
                       slots + MOST_WARPS * 2 * HELD)
                : peel(offsets, neighbours, lists, peeling, degree, appender, read, far);
        smallest = warp_min(smallest);
        if (lane() == 0 && smallest != ~0ull)
            atomic_max(&step->smallest, ~smallest);
        grid_sync(barrier);
        if (threadIdx.x == 0)
            advance(peeling, state, once, leads);
        __syncthreads();
    }
    read = warp_sum(read);
    far = warp_sum(far);
    if (lane() == 0 && read > 0)
        atomicAdd(&state->read, read);
    if (lane() == 0 && far > 0)
        atomicAdd(&state->far, far);
    grid_sync(barrier);
    if (leads)
        note_run(&state->runs, 0, peeling.rounds, n, fresh(&state->read));
}
