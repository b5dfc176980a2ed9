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
//   solo   small levels, one after another by block 0, with block barriers and the frontier in
//   shared
//          memory, while the others wait: about 2 us a level of a deep and narrow graph, not 5.
//
// Rows hold hubs first when the dense order is by degree, so most first looks of a pull hit: it
// costs a sector of 32 bytes a vertex, whatever the number of edges.

#include "degree_lists.cuh"
#include "runs.cuh"

enum Action : uint32 { START, PUSH, PULL, LISTS, SOLO, STOP };
enum Forced : uint32 { AUTO, ONLY_PUSH, ONLY_PULL };

// Frontier that block 0 may hold in shared memory.
constexpr uint32 SOLO_SIZE = sizeof(ID) == 4 && sizeof(OFFSET) == 4 ? 1024 : 512;

struct Step {
    Counts appended;
    uint64 vertices, edges; // found, and their out-edges
    uint64 read, unvisited; // by a pull: looks, and what is left
    uint64 targets;         // found
};

// The search between two supersteps.
struct Search {
    Slice slice;
    uint64 depth;
    uint64 vertices, edges; // the frontier, and its out-edges
    uint64 reached, unread; // edges of vertices that were not in a frontier before this one
    uint64 targets;         // not reached
    uint64 unvisited;       // length of the list
    uint32 step, action;
    uint32 now, list;     // which bitmap and which list
    uint32 pulls, listed; // pulling; there is a list
};

struct State {
    uint64 barrier;
    uint64 targets; // distinct ones
    double missed;  // looks that pulls would have saved, had there been in-edges
    Runs runs;
    Step steps[3];
    Search search; // from block 0 to all, after `solo`
};

struct Graph {
    const OFFSET *out_offsets;
    const ID *out_neighbours;
    const OFFSET *into_offsets;
    const ID *into_neighbours;
    uint64 n;
};

// What a thread found in a superstep.
struct Found {
    uint64 edges = 0, read = 0;
    uint32 vertices = 0, targets = 0;
};

struct Mark {
    int32 *level;
    const uint32 *target_bits; // null without targets

    // Out-edges of a vertex that was found.
    __device__ __forceinline__ OFFSET operator()(ID v, int32 depth, const OFFSET *out_offsets,
                                                 Found &found) const {
        level[v] = depth;
        OFFSET degree = out_offsets[v + 1] - out_offsets[v];
        ++found.vertices;
        found.edges += degree;
        if (target_bits != nullptr && has_bit(target_bits, v))
            ++found.targets;
        return degree;
    }
};

// Which of a batch's neighbours nobody has visited before this thread. A stale read of the bit,
// from the multiprocessor's own cache, costs an atomic and no more.
__device__ __forceinline__ bool claim(const ID *neighbours, OFFSET edge, uint32 left, uint32 step,
                                      uint32 *visited, ID (&v)[BATCH], bool (&claimed)[BATCH]) {
#pragma unroll
    for (int j = 0; j < BATCH; ++j) {
        claimed[j] = j * step < left;
        v[j] = claimed[j] ? neighbours[edge + j * step] : 0;
    }
#pragma unroll
    for (int j = 0; j < BATCH; ++j)
        claimed[j] = claimed[j] && !has_bit(visited, v[j]);
    bool any = false;
#pragma unroll
    for (int j = 0; j < BATCH; ++j) {
        if (claimed[j]) {
            uint32 bit = 1u << (v[j] % 32);
            claimed[j] = !(atomicOr(visited + v[j] / 32, bit) & bit);
        }
        any = any || claimed[j];
    }
    return __any_sync(FULL_WARP, any);
}

__device__ void push(const Graph &graph, const Worklists &lists, const Slice &slice, int32 depth,
                     uint32 *visited, const Mark &mark, Appender &appender, Found &found) {
    for_edges(lists, slice, graph.out_offsets, [&](ID, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        bool claimed[BATCH];
        if (!claim(graph.out_neighbours, edge, left, step, visited, v, claimed))
            return;
        OFFSET degree[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            degree[j] = claimed[j] ? mark(v[j], depth, graph.out_offsets, found) : (OFFSET)0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            appender.append(claimed[j], v[j], degree[j]);
    });
    appender.flush();
}

// Whether a lane's row, edges start .. end, has a visited vertex. All lanes of the warp together.
__device__ __forceinline__ bool look(const ID *neighbours, OFFSET start, OFFSET end,
                                     uint32 warp_rows, const uint32 *visited, uint64 &read) {
    return first_hit(0, start, end, warp_rows, ~(OFFSET)0, read,
                     [&](ID, OFFSET e) { return has_bit(visited, neighbours[e]); });
}

__device__ void pull_all(const Graph &graph, int32 depth, uint32 warp_rows, const uint32 *visited,
                         uint32 *next, const Mark &mark, ID *list, uint64 *listed, ID *slots,
                         Found &found) {
    WarpBuffer left(slots + warp_in_block() * 2 * HELD, listed, list);
    uint64 words = (graph.n + 31) / 32;
    for (uint64 w = warp_rank(); w < words; w += num_warps()) {
        uint64 v = w * 32 + lane();
        OFFSET start = 0, end = 0;
        uint32 before = visited[w]; // bits past the last vertex are set
        if (v < graph.n) {
            start = graph.into_offsets[v];
            end = graph.into_offsets[v + 1];
        }
        if (before >> lane() & 1)
            end = start;
        bool hit = look(graph.into_neighbours, start, end, warp_rows, visited, found.read);
        uint32 hits = __ballot_sync(FULL_WARP, hit);
        if (lane() == 0)
            next[w] = before | hits;
        if (hit)
            mark((ID)v, depth, graph.out_offsets, found);
        left.append(start < end && !hit, (ID)v);
    }
    left.flush();
}

__device__ void pull_listed(const Graph &graph, int32 depth, uint32 warp_rows,
                            const uint32 *visited, uint32 *next, const Mark &mark, const ID *list,
                            uint64 size, ID *next_list, uint64 *listed, ID *slots, Found &found) {
    // `next` lacks what the pull before found. Others set bits of it meanwhile.
    for (uint64 w = thread_rank(); w < (graph.n + 31) / 32; w += num_threads()) {
        uint32 bits = visited[w];
        if (bits & ~next[w])
            atomicOr(next + w, bits);
    }
    WarpBuffer left(slots + warp_in_block() * 2 * HELD, listed, next_list);
    uint64 warp = (uint64)warp_in_block() * gridDim.x + blockIdx.x;
    for (uint64 i = warp * WARP; i < size; i += num_warps() * WARP) {
        ID v = 0;
        OFFSET start = 0, end = 0;
        if (i + lane() < size) {
            v = list[i + lane()];
            start = graph.into_offsets[v];
            end = graph.into_offsets[v + 1];
        }
        bool hit = look(graph.into_neighbours, start, end, warp_rows, visited, found.read);
        if (hit) {
            atomicOr(next + v / 32, 1u << (v % 32));
            mark(v, depth, graph.out_offsets, found);
        }
        left.append(start < end && !hit, v);
    }
    left.flush();
}

// Worklists of the vertices that the last pull found.
__device__ void list_found(const Graph &graph, const uint32 *visited, const uint32 *before,
                           Appender &appender) {
    uint64 words = (graph.n + 31) / 32;
    for (uint64 first = warp_rank() * WARP; first < words; first += num_warps() * WARP) {
        uint64 mine = first + lane();
        uint32 bits = mine < words ? visited[mine] & ~before[mine] : 0;
        uint32 votes = __ballot_sync(FULL_WARP, bits != 0);
        for (; votes != 0; votes &= votes - 1) {
            int owner = __ffs(votes) - 1;
            uint32 word = __shfl_sync(FULL_WARP, bits, owner);
            ID v = (ID)((first + owner) * 32 + lane());
            bool wanted = word >> lane() & 1;
            OFFSET degree = wanted ? graph.out_offsets[v + 1] - graph.out_offsets[v] : 0;
            appender.append(wanted, v, degree);
        }
    }
    appender.flush();
}

// Whether the frontier fits block 0 alone.
__device__ __forceinline__ bool is_small(uint64 size, uint64 edges, bool wide, uint32 solo_size,
                                         uint32 solo_edges) {
    return !wide && size <= solo_size && edges <= solo_edges;
}

__device__ __forceinline__ bool is_over(uint64 vertices, uint64 depth, uint64 targets, int64 cutoff,
                                        bool has_targets) {
    return vertices == 0 || (int64)depth == cutoff || (has_targets && targets == 0);
}

// Levels by block 0, until one is not small or the search is over. What `spill` takes is at most
// the edges of a level.
__device__ void solo(const Graph &graph, const Worklists &lists, Search &search, uint32 *visited,
                     const Mark &mark, int64 cutoff, uint32 solo_size, uint32 solo_edges, ID *spill,
                     Appender &appender, Runs *runs) {
    struct Sums {
        uint64 edges;
        uint32 size, vertices, targets, wide;
    };
    __shared__ ID vertex[2][SOLO_SIZE];
    __shared__ OFFSET first[2][SOLO_SIZE];
    __shared__ uint32 degree[2][SOLO_SIZE]; // less than `large`
    __shared__ Sums sums[3];
    uint32 size = (uint32)(search.slice.count.small + search.slice.count.medium);
    for (uint32 i = threadIdx.x; i < size; i += blockDim.x) {
        uint64 rest = i - search.slice.count.small;
        ID v = i < search.slice.count.small
                   ? lists.queue[search.slice.first.small + i]
                   : lists.queue[lists.n - 1 - search.slice.first.medium - rest];
        vertex[0][i] = v;
        first[0][i] = graph.out_offsets[v];
        degree[0][i] = (uint32)(graph.out_offsets[v + 1] - graph.out_offsets[v]);
    }
    if (threadIdx.x == 0)
        sums[0] = Sums{};
    uint64 depth = search.depth, vertices = search.vertices, edges = search.edges;
    uint64 reached = search.reached, unread = search.unread, targets = search.targets;
    uint64 read = 0;
    bool has_targets = mark.target_bits != nullptr;
    uint32 level = 0; // within this call
    bool over, small;
    __syncthreads();
    do {
        uint32 here = level % 2, there = 1 - here;
        Sums *sum = sums + level % 3;
        if (threadIdx.x == 0)
            sums[(level + 1) % 3] = Sums{};
        Found found;
        auto visit = [&](ID, OFFSET edge, uint32 left, uint32 step) {
            ID v[BATCH];
            bool claimed[BATCH];
            if (!claim(graph.out_neighbours, edge, left, step, visited, v, claimed))
                return;
            OFFSET start[BATCH], length[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                start[j] = claimed[j] ? graph.out_offsets[v[j]] : (OFFSET)0;
                length[j] =
                    claimed[j] ? mark(v[j], (int32)depth + 1, graph.out_offsets, found) : (OFFSET)0;
            }
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                bool wanted = length[j] > 0;
                uint32 votes = __ballot_sync(FULL_WARP, wanted), slot = 0;
                if (votes == 0)
                    continue;
                if (lane() == 0)
                    slot = atomicAdd(&sum->size, __popc(votes));
                slot = __shfl_sync(FULL_WARP, slot, 0) + __popc(votes & lower_lanes());
                if (wanted && slot < SOLO_SIZE) {
                    vertex[there][slot] = v[j];
                    first[there][slot] = start[j];
                    degree[there][slot] = (uint32)length[j];
                } else if (wanted) {
                    spill[slot - SOLO_SIZE] = v[j];
                }
                if (wanted && length[j] >= lists.large)
                    sum->wide = 1;
            }
        };
        for (uint32 i = warp_in_block() * WARP; i < size; i += blockDim.x) {
            bool mine = i + lane() < size;
            OFFSET start = mine ? first[here][i + lane()] : (OFFSET)0;
            uint32 length = mine ? degree[here][i + lane()] : 0;
            bool is_long = length >= lists.medium;
            for_short_rows(0, start, is_long ? 0 : length, visit);
            for (uint32 votes = __ballot_sync(FULL_WARP, is_long); votes; votes &= votes - 1) {
                OFFSET from = first[here][i + __ffs(votes) - 1];
                for_row(0, from, from + degree[here][i + __ffs(votes) - 1], visit);
            }
        }
        uint64 more_edges = warp_sum(found.edges);
        uint32 more = warp_sum(found.vertices), hits = warp_sum(found.targets);
        if (lane() == 0 && more > 0) {
            atomicAdd(&sum->edges, more_edges);
            atomicAdd(&sum->vertices, more);
            atomicAdd(&sum->targets, hits);
        }
        __syncthreads();
        read += edges;
        unread -= edges;
        edges = sum->edges;
        vertices = sum->vertices;
        reached += vertices;
        targets -= sum->targets;
        size = sum->size;
        ++depth;
        ++level;
        over = is_over(vertices, depth, targets, cutoff, has_targets);
        small = is_small(size, edges, sum->wide, solo_size, solo_edges);
    } while (!over && small);
    if (!over) {
        uint32 here = level % 2;
        for (uint32 i = warp_in_block() * WARP; i < size; i += blockDim.x) {
            uint32 place = i + lane();
            ID v = 0;
            OFFSET edges_of = 0;
            if (place < size) {
                v = place < SOLO_SIZE ? vertex[here][place] : spill[place - SOLO_SIZE];
                edges_of = graph.out_offsets[v + 1] - graph.out_offsets[v];
            }
            appender.append(place < size, v, edges_of);
        }
        appender.flush();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        note_run(runs, PUSH, level, search.vertices, read);
        search.depth = depth;
        search.vertices = vertices;
        search.edges = edges;
        search.reached = reached;
        search.unread = unread;
        search.targets = targets;
    }
}

// What is known after a superstep. By one thread of each block; `writes` in one block.
__device__ void advance(Search &search, State *state, uint64 num_edges, bool writes) {
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
                note_run(&state->runs, action, 1, search.vertices,
                         action == PUSH ? search.edges : read);
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

struct Costs {
    float push;   // looks of a pull that take as long as an edge of a push
    float vertex; // and as a vertex that is pulled
};

// Looks that a pull of the next level saves. An in-edge of an unvisited vertex comes from the
// frontier with the probability with which an edge that was not read is one of the frontier's: so a
// vertex expects unread / edges looks until its first hit, but no more than there are edges. These
// are the estimates FV and BV of Pan et al. with the frontier's edges counted, not taken to be of
// mean degree: one hub in the frontier makes the difference.
__device__ __forceinline__ float saving(const Search &search, uint64 candidates, uint64 looked_at,
                                        Costs costs) {
    float edges = (float)search.edges, unread = (float)search.unread;
    float looks = (float)candidates * unread / (edges < 1 ? 1 : edges);
    float rest = unread - edges;
    return costs.push * edges - (looks < rest ? looks : rest) - costs.vertex * (float)looked_at;
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
    if (leads)
        start_runs(&state->runs);
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
            advance(search, state, num_edges, leads);
            decide(search, state, n, (Forced)forced, can_pull, cutoff, num_targets > 0, costs,
                   solo_size, solo_edges, leads);
            sums = Step{};
        }
        __syncthreads();
        if (search.action == STOP)
            return;
        Step *step = state->steps + search.step % 3;
        Appender appender(lists, search.slice, &step->appended, slots);
        uint32 *now = visited + search.now * words, *other = visited + (1 - search.now) * words;
        ID *list = unvisited + search.list * n, *other_list = unvisited + (1 - search.list) * n;
        int32 depth = (int32)search.depth + 1;
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
                 &state->runs);
            if (threadIdx.x == 0)
                state->search = search;
        }
        if (search.action == PUSH || search.action == PULL) {
            uint64 edges = warp_sum(found.edges), read = warp_sum(found.read);
            uint32 vertices = warp_sum(found.vertices), hits = warp_sum(found.targets);
            if (lane() == 0 && vertices + read > 0) {
                atomicAdd(&sums.vertices, (uint64)vertices);
                atomicAdd(&sums.edges, edges);
                atomicAdd(&sums.read, read);
                atomicAdd(&sums.targets, (uint64)hits);
            }
            __syncthreads();
            if (threadIdx.x == 0 && sums.vertices + sums.read > 0) {
                atomicAdd(&step->vertices, sums.vertices);
                atomicAdd(&step->edges, sums.edges);
                atomicAdd(&step->read, sums.read);
                atomicAdd(&step->targets, sums.targets);
            }
        }
        grid_sync(barrier);
    }
}
