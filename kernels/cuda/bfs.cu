// Direction-optimizing breadth-first search, all of it in one launch.
//
// Every superstep ends with one grid barrier; what the next one has to know is summed up in one of
// three `Step`s, which take turns: one is read, one is written, one is made zero. All blocks read
// the same numbers after the barrier and so decide the same.
//
//   push   along worklists by degree; a vertex is claimed by its bit in `visited`.
//   pull   every unvisited vertex looks for a visited in-neighbour and stops at the first. That is
//          one of the frontier: had it been visited before the frontier, so would have the vertex.
//          So `visited` is the frontier's bitmap too, and there is nothing to convert. Two bitmaps
//          take turns, since what is found must not be seen in the same superstep. The first pull
//          goes over all vertices and lists those that it does not reach; the next go over the
//          list.
//   lists  on the way from pull to push: the difference of the two bitmaps becomes worklists.
//   solo   small levels, one after another by block 0, while the others wait: with block barriers
//          and the frontier in shared memory, about 2 us a level of a deep and narrow graph, not 5.
//
// Rows hold hubs first when the dense order is by degree, so most first looks of a pull hit: it
// costs a sector of 32 bytes a vertex, whatever the number of edges.

#include "bfs.cuh"

// What is known after a superstep. By one thread of each block; `writes` in one block.
__device__ void advance(Search &search, State *state, Runs *noted, uint64 num_edges, bool writes) {
    const volatile Step &step = state->steps[search.step % 3];
    Counts appended = {step.appended.small, step.appended.medium, step.appended.pieces};
    uint64 vertices = step.vertices, edges = step.edges, read = step.read;
    uint64 unvisited = step.unvisited, targets = step.targets;
    uint32 action = search.action, number = search.step;
    if (action == SOLO) {
        if (!writes) {
            Slice slice = search.slice;
            const volatile Search &solo = state->search;
            search.depth = solo.depth;
            search.vertices = solo.vertices;
            search.edges = solo.edges;
            search.reached = solo.reached;
            search.unread = solo.unread;
            search.targets = solo.targets;
            search.slice = slice;
        }
        search.slice.advance(appended);
    } else if (action == LISTS) {
        search.slice.advance(appended);
    } else {
        if (action != START) {
            ++search.depth;
            search.unread -= search.edges;
            if (writes)
                note_run(noted, action, 1, search.vertices, action == PUSH ? search.edges : read);
        } else {
            search.unread = num_edges;
        }
        search.slice.advance(appended); // of a pull: none
        search.vertices = vertices;
        search.edges = edges;
        search.reached += vertices;
        search.targets -= targets;
        if (action == PULL) {
            search.unvisited = unvisited;
            search.now ^= 1;
            search.list ^= 1;
            search.listed = 1;
        }
    }
    search.step = number + 1;
    if (writes)
        state->steps[(search.step + 1) % 3] = Step{};
}

// Most sums of most blocks are zero.
__device__ __forceinline__ void add(uint64 *sum, uint64 more) {
    if (more > 0)
        atomicAdd(sum, more);
}

// What to do next. By one thread of each block, all with the same numbers.
__device__ void decide(Search &search, State *state, uint64 n, Forced forced, bool can_pull,
                       int64 cutoff, bool has_targets, Costs costs, uint32 solo_size,
                       uint32 solo_edges, bool writes) {
    bool made_lists = search.action == LISTS;
    search.action = PUSH;
    if (is_over(search.vertices, search.depth, search.targets, cutoff, has_targets)) {
        search.action = STOP;
        return;
    }
    if (forced == ONLY_PULL) {
        search.pulls = 1;
        search.action = PULL;
        return;
    }
    if (search.pulls) {
        if (saving(search, search.unvisited, search.unvisited, costs) > 0) {
            search.action = PULL;
        } else {
            search.pulls = 0;
            search.action = LISTS;
        }
        return;
    }
    uint64 size = search.slice.count.small + search.slice.count.medium;
    if (is_small(size, search.edges, search.slice.count.pieces > 0, solo_size, solo_edges)) {
        search.action = SOLO;
        return;
    }
    if (forced == ONLY_PUSH || made_lists)
        return;
    float saved = saving(search, n - search.reached, n, costs);
    if (saved > 0 && can_pull) {
        search.pulls = 1;
        search.listed = 0;
        search.action = PULL;
    } else if (saved > 0 && writes) {
        state->missed += saved;
    }
}

// Arrays: `visited` of two bitmaps, `unvisited` of two lists of n, `spill` of solo_edges ids;
// without in-edges `unvisited` may be null. `cutoff` is negative where there is none. `state` is
// zero.
extern "C" __global__ void __launch_bounds__(512, BLOCKS)
    bfs(const OFFSET *out_offsets, const ID *out_neighbours, const OFFSET *into_offsets,
        const ID *into_neighbours, uint64 n, uint64 num_edges, ID source, int32 *level,
        uint32 *visited, ID *queue, ID *piece_row, uint32 *piece, ID *unvisited,
        uint32 *target_bits, const ID *targets, uint64 num_targets, int64 cutoff, uint32 medium,
        uint32 large, uint32 forced, uint32 can_pull, float push_cost, float vertex_cost,
        uint32 solo_size, uint32 solo_edges, ID *spill, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    __shared__ Search search;
    __shared__ Step sums;
    __shared__ Runs noted; // of block 0: all others wait while it notes
    Graph graph = {out_offsets, out_neighbours, into_offsets, into_neighbours, n};
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    Mark mark = {level, num_targets > 0 ? target_bits : nullptr};
    Costs costs = {push_cost, vertex_cost};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    uint64 words = (n + 31) / 32;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (solo_size > SOLO_SIZE)
        solo_size = SOLO_SIZE;

    for (uint64 w = thread_rank(); w < words; w += num_threads()) {
        uint32 bits = w == words - 1 && n % 32 ? ~0u << (n % 32) : 0;
        visited[w] = w == source / 32 ? bits | 1u << (source % 32) : bits;
    }
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        level[v] = v == source ? 0 : -1;
    clear_runs(&noted);
    __syncthreads();
    if (leads)
        start_runs(&noted);
    if (num_targets > 0) {
        for (uint64 w = thread_rank(); w < words; w += num_threads())
            target_bits[w] = 0;
        grid_sync(barrier);
        uint32 distinct = 0;
        for (uint64 i = thread_rank(); i < num_targets; i += num_threads())
            distinct += set_bit(target_bits, targets[i]);
        if (distinct > 0)
            atomicAdd(&state->targets, (uint64)distinct);
        grid_sync(barrier);
    }
    if (threadIdx.x == 0)
        search = Search{};
    if (blockIdx.x == 0 && warp_in_block() == 0) {
        Step *step = state->steps;
        Appender appender(lists, Slice{}, &step->appended, slots);
        OFFSET degree = out_offsets[source + 1] - out_offsets[source];
        appender.append(lane() == 0, source, degree);
        appender.flush();
        if (lane() == 0) {
            step->vertices = 1;
            step->edges = degree;
            step->targets = num_targets > 0 && has_bit(target_bits, source);
        }
    }
    grid_sync(barrier);
    if (threadIdx.x == 0 && num_targets > 0)
        search.targets = fresh(&state->targets);

    while (true) {
        if (threadIdx.x == 0) {
            Search next = search; // in registers: all blocks wait for this
            advance(next, state, &noted, num_edges, leads);
            decide(next, state, n, (Forced)forced, can_pull, cutoff, num_targets > 0, costs,
                   solo_size, solo_edges, leads);
            search = next;
            sums = Step{};
        }
        __syncthreads();
        if (search.action == STOP) {
            if (blockIdx.x == 0)
                copy_runs(&state->runs, &noted);
            return;
        }
        Step *step = state->steps + search.step % 3;
        Appender appender(lists, search.slice, &step->appended, slots);
        uint32 *now = visited + search.now * words, *other = visited + (1 - search.now) * words;
        ID *list = unvisited + search.list * n, *other_list = unvisited + (1 - search.list) * n;
        int32 depth = (int32)search.depth + 1;
        bool few = search.action == PUSH && search.edges <= FEW_EDGES;
        Found found;
        if (search.action == PUSH) {
            push(graph, lists, search.slice, depth, now, mark, appender, found);
        } else if (search.action == PULL) {
            if (search.listed)
                pull_listed(graph, depth, medium, now, other, mark, list, search.unvisited,
                            other_list, &step->unvisited, slots, found);
            else
                pull_all(graph, depth, medium, now, other, mark, other_list, &step->unvisited,
                         slots, found);
        } else if (search.action == LISTS) {
            list_found(graph, now, other, appender);
        } else if (blockIdx.x == 0) {
            solo(graph, lists, search, now, mark, cutoff, solo_size, solo_edges, spill, appender,
                 &noted);
            if (threadIdx.x == 0)
                state->search = search;
        }
        if (search.action == PUSH || search.action == PULL) {
            if (__any_sync(FULL_WARP, found.vertices + found.read > 0)) {
                uint64 edges = warp_sum(found.edges), read = warp_sum(found.read);
                uint32 vertices = warp_sum(found.vertices), hits = warp_sum(found.targets);
                if (lane() == 0) {
                    Step *of = few ? step : &sums;
                    add(&of->vertices, vertices);
                    add(&of->edges, edges);
                    add(&of->read, read);
                    add(&of->targets, hits);
                }
            }
            appender.flush(); // while those are on their way
            __syncthreads();
            if (threadIdx.x == 0 && !few) {
                add(&step->vertices, sums.vertices);
                add(&step->edges, sums.edges);
                add(&step->read, sums.read);
                add(&step->targets, sums.targets);
            }
        }
        grid_sync(barrier);
    }
}
