// Breadth-first searches from up to 64 sources at once, all of it in one launch (MS-BFS).
//
// A vertex has words with a bit for each search:
//
//   seen   which have reached it.
//   visit  which did in the last level: right at the vertices of the frontier, and before a pull at
//          all.
//   next   which reach it in this level; zero between levels.
//
// A level has two steps. The frontier gives its bits to its out-neighbours, or those that lack bits
// of searches that are still going on look for them at their in-neighbours until they have all.
// Then the bits are settled and the rows of the next level listed: going over the vertices that got
// some, or over all where these are many.
//
// Searches take turns at being many: in a level whose frontier has many edges, those searches that
// have few of them are pushed and the others pulled. If all were pulled, no vertex would have all
// its bits before the end of its row, as it would look for those of the few as well.
//
// Depths are kept in a binary way beside the words, and become levels at the end by a launch of
// `write_levels`.

#include "multi_bfs_depths.cuh"
#include "multi_bfs_pull.cuh"
#include "runs.cuh"

struct State {
    uint64 barrier;
    uint64 planes; // of the depths that are in use
    Runs runs;
    Step steps[3]; // taking turns as in bfs.cu
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

enum Way : uint32 { PUSH, PULL };
enum Pulls : uint32 { NEVER, CHOSEN, ALWAYS };

// Part of the vertices from which all are gone over.
constexpr uint64 MANY = 16;

// Adds what lanes have of the searches lane() and WARP + lane(), one atomic a block and search. By
// all threads of a block.
__device__ void add_of_block(uint64 *edges_of, uint64 low, uint64 high) {
    __shared__ uint64 sums[MOST_SEARCHES];
    if (threadIdx.x < MOST_SEARCHES)
        sums[threadIdx.x] = 0;
    __syncthreads();
    if (low > 0)
        atomicAdd(sums + lane(), low);
    if (high > 0)
        atomicAdd(sums + WARP + lane(), high);
    __syncthreads();
    if (threadIdx.x < MOST_SEARCHES && sums[threadIdx.x] > 0)
        atomicAdd(edges_of + threadIdx.x, sums[threadIdx.x]);
}

// Of n vertices those in `list`, `number` of them, or all where it is null. Lists the rows of a
// push; where the next step `pulls`, adds up the out-edges of the vertices that each search has
// found instead, unless `edges_of` is null.
__device__ void settle(const OFFSET *offsets, const Words &words, const ID *list, uint64 number,
                       bool pulls, uint64 *edges_of, const Depths &depths, uint64 depth,
                       Appender &appender) {
    uint64 low = 0, high = 0; // of the searches lane() and WARP + lane()
    for (uint64 first = warp_rank() * WARP; first < number; first += num_warps() * WARP) {
        uint64 i = first + lane();
        bool there = i < number;
        ID v = !there ? 0 : list == nullptr ? (ID)i : list[i];
        uint64 bits = there ? words.next[v] : 0;
        if (there)
            words.visit[v] = bits;
        if (bits != 0) {
            words.next[v] = 0;
            words.seen[v] |= bits;
            depths.note(v, bits, depth);
        }
        uint32 found = __ballot_sync(FULL_WARP, bits != 0);
        if (found == 0 || (pulls && edges_of == nullptr))
            continue;
        OFFSET degree = bits != 0 ? offsets[v + 1] - offsets[v] : (OFFSET)0;
        if (!pulls) {
            appender.append(bits != 0, v, degree);
            continue;
        }
        for (; found != 0; found &= found - 1) {
            uint64 word = __shfl_sync(FULL_WARP, bits, __ffs(found) - 1);
            OFFSET edges = __shfl_sync(FULL_WARP, degree, __ffs(found) - 1);
            low += word >> lane() & 1 ? edges : 0;
            high += word >> (WARP + lane()) & 1 ? edges : 0;
        }
    }
    appender.flush();
    if (edges_of != nullptr)
        add_of_block(edges_of, low, high);
}

// Which searches to push before a pull of the others: those of the fewest edges, as many as have no
// more than `few` together; all where all have no more than `many`. All threads get the same.
__device__ uint64 pushed_of(const uint64 *edges_of, uint64 few, uint64 many) {
    __shared__ uint64 edges[MOST_SEARCHES], votes[2];
    if (threadIdx.x < MOST_SEARCHES)
        edges[threadIdx.x] = fresh(edges_of + threadIdx.x);
    __syncthreads();
    if (threadIdx.x < MOST_SEARCHES) {
        uint32 k = threadIdx.x;
        uint64 mine = edges[k], upto = 0, every = 0;
        for (uint32 j = 0; j < MOST_SEARCHES; ++j) {
            every += edges[j];
            upto += edges[j] < mine || (edges[j] == mine && j <= k) ? edges[j] : 0;
        }
        uint32 vote = __ballot_sync(FULL_WARP, upto <= few || every <= many);
        if (lane() == 0)
            votes[k / WARP] = vote;
    }
    __syncthreads();
    return votes[0] | votes[1] << WARP;
}

// Lists the rows of the frontier that have bits of `mask`.
__device__ void list_pushed(const OFFSET *offsets, uint64 n, const uint64 *visit, uint64 mask,
                            Appender &appender) {
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        bool is = v < n && (visit[v] & mask) != 0;
        if (__any_sync(FULL_WARP, is))
            appender.append(is, (ID)v, is ? offsets[v + 1] - offsets[v] : (OFFSET)0);
    }
    appender.flush();
}

// How many vertices there are up to the last with an edge: in the order of degrees those without
// any come behind it.
__device__ uint64 rows_with_edges(const OFFSET *out_offsets, const OFFSET *into_offsets, uint64 n) {
    if (out_offsets[n] == 0)
        return 0;
    uint64 out = upper_bound(out_offsets, n, (OFFSET)(out_offsets[n] - 1));
    uint64 into = upper_bound(into_offsets, n, (OFFSET)(into_offsets[n] - 1));
    return out > into ? out : into;
}

// `next` and `seen` are zero before; planes and levels of `depths` are anything. `last`: the level
// to end with. `few`, `many`: edges, see `pushed_of`.
extern "C" __global__ void __launch_bounds__(512, 2)
    multi_bfs(const OFFSET *out_offsets, const ID *out_neighbours, const OFFSET *into_offsets,
              const ID *into_neighbours, uint64 n, const ID *sources, uint32 searches,
              const ID *targets, uint64 num_targets, uint64 last, uint32 pulls, uint64 few,
              uint64 many, ID *queue, ID *piece_row, uint32 *piece, uint32 medium, uint32 large,
              uint64 *seen, uint64 *visit, uint64 *next, ID *list, Depths depths, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Words words = {seen, visit, next};
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    uint64 every = ~0ull >> (64 - searches);
    if (leads) {
        start_runs(&state->runs);
        for (uint32 k = 0; k < searches; ++k) {
            ID source = sources[k];
            if (next[source] == 0) {
                list[state->steps[0].found++] = source;
                state->steps[0].edges += out_offsets[source + 1] - out_offsets[source];
            }
            next[source] |= 1ull << k;
        }
        state->steps[0].active = every;
    }
    grid_sync(barrier);
    bool pulled = false;
    uint64 frontier = 0;
    uint64 rows = n; // no vertex from there on has an edge: only sources are found among them
    for (uint64 depth = 0;; ++depth) {
        Step *step = state->steps + depth % 3;
        uint64 found = fresh(&step->found), active = fresh(&step->active);
        if (leads && depth > 0)
            note_run(&state->runs, pulled ? PULL : PUSH, 1, frontier, fresh(&step->read));
        if (found == 0 || (depth > 0 && num_targets > 0 && fresh(&step->missing) == 0))
            break;
        bool may_pull = pulls == ALWAYS || (pulls == CHOSEN && fresh(&step->edges) > few);
        if (may_pull && rows == n)
            rows = rows_with_edges(out_offsets, into_offsets, n);
        bool all = pulled || may_pull || found > n / MANY;
        // After a pull of few reads most bits are there.
        bool splits = may_pull && pulls == CHOSEN && (!pulled || fresh(&step->read) > many);
        {
            Appender appender(lists, Slice{}, &step->pushed, slots);
            const ID *only = all ? nullptr : list;
            uint64 number = !all ? found : depth == 0 ? n : rows;
            settle(out_offsets, words, only, number, may_pull, splits ? step->edges_of : nullptr,
                   depths, depth, appender);
        }
        if (depths.widen(depth + 1) && leads)
            state->planes += 1;
        if (leads)
            state->steps[(depth + 1) % 3] = Step{};
        grid_sync(barrier);
        if (depth == last)
            break;
        Step *after = state->steps + (depth + 1) % 3;
        for (uint64 i = thread_rank(); i < num_targets; i += num_threads())
            if (seen[targets[i]] != every)
                after->missing = 1;
        uint64 pushed = every;
        if (may_pull) {
            pushed = splits ? pushed_of(step->edges_of, few, many) & active : 0;
            if (pushed != 0) {
                Appender appender(lists, Slice{}, &step->pushed, slots);
                list_pushed(out_offsets, rows, words.visit, pushed, appender);
                grid_sync(barrier);
            }
        }
        Found got;
        Slice slice = {};
        if (pushed != 0) {
            slice.count = fresh_counts(&step->pushed);
            push(out_offsets, out_neighbours, lists, slice, words, pushed, list, &after->found,
                 slots, got);
        }
        uint64 rest = may_pull ? active & ~pushed : 0;
        if (rest != 0) {
            if (pushed != 0)
                grid_sync(barrier);
            {
                Worklists whole = lists; // no row is cut into pieces
                whole.large = ~0u;
                Appender appender(whole, Slice{}, &step->pulled, slots);
                list_pulled(out_offsets, into_offsets, into_neighbours, rows, words, rest, pulled,
                            appender, got);
            }
            grid_sync(barrier);
            pull(out_offsets, into_offsets, into_neighbours, lists, fresh_counts(&step->pulled),
                 words, rest, &step->pulled.pieces, got);
            grid_sync(barrier);
            pull_pieces(out_offsets, into_offsets, into_neighbours, lists,
                        fresh(&step->pulled.pieces), words, rest, got);
        }
        got.add_to(after);
        grid_sync(barrier);
        pulled = rest != 0;
        frontier = found;
    }
}
