// Breadth-first search: what a superstep of each kind does, for bfs.cu.

#include "degree_lists.cuh"
#include "runs.cuh"

enum Action : uint32 { START, PUSH, PULL, LISTS, SOLO, STOP };
enum Forced : uint32 { AUTO, ONLY_PUSH, ONLY_PULL };

// Frontier that block 0 may hold in shared memory.
constexpr uint32 SOLO_SIZE = sizeof(ID) == 4 && sizeof(OFFSET) == 4 ? 1024 : 512;

// Edges of a frontier up to which blocks do not sum up what their warps found: a level takes as
// long as what waits for something else, and a block that waits for its warps is such a thing.
constexpr uint64 FEW_EDGES = 1 << 15;

// Atomics on one line of memory wait for each other.
struct alignas(128) Step {
    Counts appended;
    alignas(128) uint64 vertices; // found
    uint64 edges;                 // their out-edges
    uint64 read, unvisited;       // by a pull: looks, and what is left
    uint64 targets;               // found
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
static_assert(sizeof(State) <= 4096, "what the host allocates");

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

template <typename Marker>
__device__ void push(const Graph &graph, const Worklists &lists, const Slice &slice, int32 depth,
                     uint32 *visited, const Marker &mark, Appender &appender, Found &found) {
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
}

// Whether a lane's row, edges start .. end, has a visited vertex. All lanes of the warp together.
__device__ __forceinline__ bool look(const ID *neighbours, OFFSET start, OFFSET end,
                                     uint32 warp_rows, const uint32 *visited, uint64 &read) {
    return first_hit(0, start, end, warp_rows, ~(OFFSET)0, read,
                     [&](ID, OFFSET e) { return has_bit(visited, neighbours[e]); });
}

template <typename Marker>
__device__ void pull_all(const Graph &graph, int32 depth, uint32 warp_rows, const uint32 *visited,
                         uint32 *next, const Marker &mark, ID *list, uint64 *listed, ID *slots,
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

template <typename Marker>
__device__ void pull_listed(const Graph &graph, int32 depth, uint32 warp_rows,
                            const uint32 *visited, uint32 *next, const Marker &mark, const ID *list,
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
