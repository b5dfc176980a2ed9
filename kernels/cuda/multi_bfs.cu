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
// A row is pulled by all its edges at once where it is long, and most need the first few only when
// most bits are there: after a pull, each vertex first looks at some by itself.
//
// Of levels in which many vertices got bits, these are kept, and written to `level` at the end, all
// searches of a vertex at once; of the others they are written there and then.

#include "degree_lists.cuh"
#include "runs.cuh"

struct Step {
    uint64 found, edges; // vertices that got bits, and their out-edges
    uint64 active;       // bits that they got
    uint64 missing;      // not 0: a search lacked a target before the level
    uint64 read;
    Counts appended;
};

struct State {
    uint64 barrier;
    Runs runs;
    Step steps[3]; // taking turns as in bfs.cu
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

enum Way : uint32 { PUSH, PULL };
enum Pulls : uint32 { NEVER, CHOSEN, ALWAYS };

// Part of the vertices from which all are gone over.
constexpr uint64 MANY = 16;

// Levels whose words are kept.
constexpr uint32 KEPT = 4;

// In-neighbours that a vertex tries by itself.
constexpr uint32 TRIED = 2 * BATCH;

struct Or {
    __device__ __forceinline__ uint64 operator()(uint64 a, uint64 b) const { return a | b; }
};

// What a thread found in a level.
struct Found {
    uint64 vertices = 0; // that are not counted by their list
    uint64 edges = 0, active = 0, read = 0;

    __device__ void add_to(Step *step) {
        vertices = warp_sum(vertices);
        edges = warp_sum(edges);
        active = warp_reduce(active, Or());
        read = warp_sum(read);
        if (lane() == 0 && read > 0) {
            atomicAdd(&step->edges, edges);
            atomicAdd(&step->found, vertices);
            atomicAdd(&step->read, read);
            if (active & ~fresh(&step->active))
                atomicOr(&step->active, active);
        }
    }
};

struct Words {
    uint64 *seen, *visit, *next;
};

// Lists the vertices that got bits.
__device__ void push(const OFFSET *offsets, const ID *neighbours, const Worklists &lists,
                     const Slice &slice, const Words &words, ID *list, uint64 *listed, ID *slots,
                     Found &all) {
    WarpBuffer got(slots + warp_in_block() * HELD, listed, list);
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        uint64 bits[BATCH];
        uint64 given = left > 0 ? words.visit[u] : 0, any = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            bool there = j * step < left;
            v[j] = there ? neighbours[edge + j * step] : 0;
            bits[j] = there ? given : 0;
            all.read += there;
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (bits[j] != 0)
                bits[j] &= ~words.seen[v[j]];
            any |= bits[j];
        }
        if (!__any_sync(FULL_WARP, any != 0))
            return;
        all.active |= any;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            bool first = false;
            // Most bits come more than once: a read is cheaper than an atomic.
            if (bits[j] != 0 && (bits[j] & ~fresh(words.next + v[j])) != 0)
                first = atomicOr(words.next + v[j], bits[j]) == 0;
            if (first)
                all.edges += offsets[v[j] + 1] - offsets[v[j]];
            got.append(first, v[j]);
        }
    });
    got.flush();
}

// `active`: bits of the searches that are still going on.
__device__ void pull(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                     const Worklists &lists, const Slice &slice, const Words &words, uint64 active,
                     Found &all) {
    for_edges(lists, slice, offsets, [&](ID v, OFFSET edge, uint32 left, uint32 step) {
        uint64 lacks = left > 0 ? active & ~words.seen[v] & ~fresh(words.next + v) : 0;
        if (!__any_sync(FULL_WARP, lacks != 0))
            return;
        ID u[BATCH];
        uint64 bits = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            u[j] = lacks != 0 && j * step < left ? neighbours[edge + j * step] : v;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            bool there = lacks != 0 && j * step < left;
            bits |= there ? words.visit[u[j]] : 0;
            all.read += there;
        }
        bits &= lacks;
        if (step == WARP) // one row for all lanes
            bits = warp_reduce(bits, Or());
        if (bits == 0 || (step == WARP && lane() != 0))
            return;
        all.active |= bits;
        if (atomicOr(words.next + v, bits) == 0) {
            ++all.vertices;
            all.edges += out_offsets[v + 1] - out_offsets[v];
        }
    });
}

// Of n vertices those in `list`, `number` of them, or all where it is null. `level`: where depths
// go; null: the words of `visit` are kept. Lists the rows of a push.
__device__ void settle(const OFFSET *offsets, uint64 n, const Words &words, const ID *list,
                       uint64 number, bool pushes, uint32 searches, int32 depth, int32 *level,
                       Appender &appender) {
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
        }
        if (!__any_sync(FULL_WARP, bits != 0))
            continue;
        if (level != nullptr) // a search after the other, side by side
            for (uint32 k = 0; k < searches; ++k)
                if (bits >> k & 1)
                    level[k * n + v] = depth;
        if (pushes)
            appender.append(bits != 0, v, bits != 0 ? offsets[v + 1] - offsets[v] : (OFFSET)0);
    }
    appender.flush();
}

// Lists the rows that a pull looks through for the bits of `active`. Where it `looks`, a vertex
// first tries some of its in-neighbours, those of the smallest ids.
__device__ void list_pulled(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                            uint64 n, const Words &words, uint64 active, bool looks,
                            Appender &appender, Found &all) {
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        uint64 lacks = v < n ? active & ~words.seen[v] : 0, bits = 0;
        OFFSET start = lacks != 0 ? offsets[v] : 0, end = lacks != 0 ? offsets[v + 1] : 0;
        if (looks && lacks != 0) {
            for (uint32 k = 0; k < TRIED && k < end - start && bits != lacks; k += BATCH) {
                ID u[BATCH];
                uint64 got[BATCH];
#pragma unroll
                for (int j = 0; j < BATCH; ++j)
                    u[j] = k + j < end - start ? neighbours[start + k + j] : (ID)v;
#pragma unroll
                for (int j = 0; j < BATCH; ++j)
                    got[j] = k + j < end - start ? words.visit[u[j]] : 0;
#pragma unroll
                for (int j = 0; j < BATCH; ++j) {
                    bits |= got[j] & lacks;
                    all.read += k + j < end - start;
                }
            }
        }
        if (bits != 0) {
            words.next[v] = bits;
            all.active |= bits;
            ++all.vertices;
            all.edges += out_offsets[v + 1] - out_offsets[v];
        }
        appender.append(bits != lacks, (ID)v, (OFFSET)(end - start));
    }
    appender.flush();
}

// Writes the depths of all vertices but those that are there: of bits that are in none of the words
// that were kept.
__device__ void write_levels(uint64 n, const uint64 *seen, const uint64 *kept, uint32 number,
                             const int32 *depths, uint32 searches, int32 *level) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        uint64 word[KEPT], any = 0, reached = seen[v];
#pragma unroll
        for (uint32 i = 0; i < KEPT; ++i) {
            word[i] = i < number ? kept[i * n + v] : 0;
            any |= word[i];
        }
        for (uint32 k = 0; k < searches; ++k) {
            int32 depth = -1;
#pragma unroll
            for (uint32 i = 0; i < KEPT; ++i)
                if (word[i] >> k & 1)
                    depth = depths[i];
            if ((any | ~reached) >> k & 1)
                level[k * n + v] = depth;
        }
    }
}

// `next` and `seen` are zero before; `level` is anything, n of each search; `visit` has room for
// KEPT
// + 1 words a vertex. `last`: the level to end with.
extern "C" __global__ void __launch_bounds__(512, 2)
    multi_bfs(const OFFSET *out_offsets, const ID *out_neighbours, const OFFSET *into_offsets,
              const ID *into_neighbours, uint64 n, const ID *sources, uint32 searches,
              const ID *targets, uint64 num_targets, uint64 last, uint32 pulls, uint64 least_pull,
              ID *queue, ID *piece_row, uint32 *piece, uint32 medium, uint32 large, uint64 *seen,
              uint64 *visit, uint64 *next, ID *list, int32 *level, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    __shared__ int32 depths[KEPT];
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
    uint32 kept = 0;
    for (uint64 depth = 0;; ++depth) {
        Step *step = state->steps + depth % 3;
        uint64 found = fresh(&step->found), active = fresh(&step->active);
        if (leads && depth > 0)
            note_run(&state->runs, pulled ? PULL : PUSH, 1, frontier, fresh(&step->read));
        if (found == 0 || (depth > 0 && num_targets > 0 && fresh(&step->missing) == 0))
            break;
        bool pulls_next = pulls == ALWAYS || (pulls == CHOSEN && fresh(&step->edges) >= least_pull);
        bool all = pulled || pulls_next || found > n / MANY;
        bool keeps = kept < KEPT && found > n / MANY;
        Words words = {seen, visit + (keeps ? kept : KEPT) * n, next};
        {
            Appender appender(lists, Slice{}, &step->appended, slots);
            settle(out_offsets, n, words, all ? nullptr : list, all ? n : found, !pulls_next,
                   searches, (int32)depth, keeps ? nullptr : level, appender);
        }
        if (keeps && threadIdx.x == 0)
            depths[kept] = (int32)depth;
        kept += keeps;
        if (leads)
            state->steps[(depth + 1) % 3] = Step{};
        grid_sync(barrier);
        if (depth == last)
            break;
        Step *after = state->steps + (depth + 1) % 3;
        for (uint64 i = thread_rank(); i < num_targets; i += num_threads())
            if (seen[targets[i]] != every)
                after->missing = 1;
        Found got;
        if (pulls_next) {
            Appender appender(lists, Slice{}, &step->appended, slots);
            list_pulled(out_offsets, into_offsets, into_neighbours, n, words, active, pulled,
                        appender, got);
            grid_sync(barrier);
        }
        Slice slice = {};
        slice.count = fresh_counts(&step->appended);
        if (pulls_next)
            pull(out_offsets, into_offsets, into_neighbours, lists, slice, words, active, got);
        else
            push(out_offsets, out_neighbours, lists, slice, words, list, &after->found, slots, got);
        got.add_to(after);
        grid_sync(barrier);
        pulled = pulls_next;
        frontier = found;
    }
    write_levels(n, seen, visit, kept, depths, searches, level);
}
