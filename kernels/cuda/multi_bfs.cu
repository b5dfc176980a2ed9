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
// Most rows need the first few edges only when most bits are there: after a pull, each vertex first
// looks at some by itself. Else a warp goes along a row until it has all, and blocks take what is
// left of very long ones.
//
// Of levels in which many vertices got bits, these are kept, and written to `level` at the end, all
// searches of a vertex at once; of the others they are written there and then.

#include "degree_lists.cuh"
#include "runs.cuh"

// Searches of a sweep: the bits of a word.
constexpr uint32 MOST_SEARCHES = 64;

struct Step {
    uint64 found, edges; // vertices that got bits, and their out-edges
    uint64 active;       // bits that they got
    uint64 missing;      // not 0: a search lacked a target before the level
    uint64 read;
    Counts pushed, pulled;          // lists of rows
    uint64 edges_of[MOST_SEARCHES]; // out of the frontier of each search, before a level that may
                                    // be pulled
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
constexpr uint32 TRIED = 1 + 2 * BATCH;

// Edges that a warp goes along before blocks take the rest of a row.
constexpr uint32 LONG = 2 * PIECE;

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

// Gives the bits of `mask`. Lists the vertices that got bits.
__device__ void push(const OFFSET *offsets, const ID *neighbours, const Worklists &lists,
                     const Slice &slice, const Words &words, uint64 mask, ID *list, uint64 *listed,
                     ID *slots, Found &all) {
    WarpBuffer got(slots + warp_in_block() * HELD, listed, list);
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        uint64 bits[BATCH];
        uint64 given = left > 0 ? words.visit[u] & mask : 0, any = 0;
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

// Lists the pieces of a row behind its first LONG edges.
__device__ __noinline__ void append_rest(ID v, OFFSET degree, uint64 *size, ID *piece_row,
                                         uint32 *piece) {
    uint64 skipped = LONG / PIECE, pieces = ((uint64)degree + PIECE - 1) / PIECE - skipped;
    uint64 first = 0;
    if (lane() == 0)
        first = atomicAdd(size, pieces);
    first = __shfl_sync(FULL_WARP, first, 0);
    for (uint64 i = lane(); i < pieces; i += WARP) {
        piece_row[first + i] = v;
        piece[first + i] = (uint32)(skipped + i);
    }
}

// A vertex that alone is looked at by its warp or thread has got some bits.
__device__ __forceinline__ void note_pulled(ID v, uint64 bits, const OFFSET *out_offsets,
                                            const Words &words, Found &all) {
    if (bits == 0)
        return;
    uint64 before = words.next[v]; // pushed, or from its first neighbours
    words.next[v] = before | bits;
    all.active |= bits;
    if (before == 0) {
        ++all.vertices;
        all.edges += out_offsets[v + 1] - out_offsets[v];
    }
}

// Rows are gone along until they have all bits of `active`: short ones by a thread, others by a
// warp, which leaves what comes after LONG edges to `pull_pieces`.
__device__ void pull(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                     const Worklists &lists, const Counts &count, const Words &words, uint64 active,
                     uint64 *pieces, Found &all) {
    for (uint64 i = warp_rank(); i < count.medium; i += num_warps()) {
        ID v = lists.queue[lists.n - 1 - i];
        uint64 lacks = active & ~words.seen[v] & ~words.next[v], bits = 0;
        OFFSET begin = offsets[v], end = offsets[v + 1];
        OFFSET stop = end - begin > LONG ? begin + LONG : end;
        for (OFFSET e = begin; e < stop && bits != lacks; e += BATCH * WARP) {
            OFFSET left = stop - e;
            ID u[BATCH];
            uint64 got = 0;
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                u[j] = lane() + j * WARP < left ? neighbours[e + lane() + j * WARP] : v;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                bool there = lane() + j * WARP < left;
                got |= there ? words.visit[u[j]] : 0;
                all.read += there;
            }
            bits |= warp_reduce(got & lacks, Or());
            if (left <= BATCH * WARP)
                break;
        }
        if (lane() == 0)
            note_pulled(v, bits, out_offsets, words, all);
        if (bits != lacks && stop < end)
            append_rest(v, end - begin, pieces, lists.piece_row, lists.piece);
    }
    for (uint64 i = thread_rank(); i < count.small; i += num_threads()) {
        ID v = lists.queue[i];
        uint64 lacks = active & ~words.seen[v] & ~words.next[v], bits = 0;
        OFFSET start = offsets[v];
        uint32 degree = (uint32)(offsets[v + 1] - start);
        for (uint32 k = 0; k < degree && bits != lacks; k += BATCH) {
            ID u[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                u[j] = k + j < degree ? neighbours[start + k + j] : v;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                bits |= k + j < degree ? words.visit[u[j]] & lacks : 0;
                all.read += k + j < degree;
            }
        }
        note_pulled(v, bits, out_offsets, words, all);
    }
}

// The rest of long rows, by whole blocks.
__device__ void pull_pieces(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                            const Worklists &lists, uint64 pieces, const Words &words,
                            uint64 active, Found &all) {
    Slice slice = {};
    slice.count.pieces = pieces;
    for_edges(lists, slice, offsets, [&](ID v, OFFSET edge, uint32 left, uint32 step) {
        uint64 lacks = active & ~words.seen[v] & ~fresh(words.next + v), bits = 0;
        if (!__any_sync(FULL_WARP, left > 0 && lacks != 0))
            return;
        ID u[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            u[j] = j * step < left ? neighbours[edge + j * step] : v;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            bits |= j * step < left ? words.visit[u[j]] & lacks : 0;
            all.read += j * step < left;
        }
        bits = warp_reduce(bits, Or());
        if (bits == 0 || lane() != 0)
            return;
        all.active |= bits;
        if (atomicOr(words.next + v, bits) == 0) {
            ++all.vertices;
            all.edges += out_offsets[v + 1] - out_offsets[v];
        }
    });
}

// Of n vertices those in `list`, `number` of them, or all where it is null. `level`: where depths
// go; null: the words of `visit` are kept. Lists the rows of a push, or, where `edges_of` is not
// null, adds up the out-edges of the vertices that each search has found.
__device__ void settle(const OFFSET *offsets, uint64 n, const Words &words, const ID *list,
                       uint64 number, uint64 *edges_of, uint32 searches, int32 depth, int32 *level,
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
        }
        if (!__any_sync(FULL_WARP, bits != 0))
            continue;
        if (level != nullptr) // a search after the other, side by side
            for (uint32 k = 0; k < searches; ++k)
                if (bits >> k & 1)
                    level[k * n + v] = depth;
        OFFSET degree = bits != 0 ? offsets[v + 1] - offsets[v] : (OFFSET)0;
        if (edges_of == nullptr) {
            appender.append(bits != 0, v, degree);
            continue;
        }
        for (int j = 0; j < WARP; ++j) {
            uint64 word = __shfl_sync(FULL_WARP, bits, j);
            OFFSET edges = __shfl_sync(FULL_WARP, degree, j);
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

// Lists the rows that a pull looks through for the bits of `active`, of which `next` has none.
// Where it `looks`, a vertex first tries some of its in-neighbours, those of the smallest ids.
__device__ void list_pulled(const OFFSET *out_offsets, const OFFSET *offsets, const ID *neighbours,
                            uint64 n, const Words &words, uint64 active, bool looks,
                            Appender &appender, Found &all) {
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        uint64 lacks = v < n ? active & ~words.seen[v] : 0, bits = 0;
        OFFSET start = lacks != 0 ? offsets[v] : 0, end = lacks != 0 ? offsets[v + 1] : 0;
        if (looks && lacks != 0) {
            if (start < end) { // most need no more than one look
                bits = words.visit[neighbours[start]] & lacks;
                ++all.read;
            }
            for (uint32 k = 1; k < TRIED && k < end - start && bits != lacks; k += BATCH) {
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
        note_pulled((ID)v, bits, out_offsets, words, all);
        appender.append(bits != lacks, (ID)v, (OFFSET)(end - start));
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

// Writes the depths of all vertices but those that are there: of bits that are in none of the words
// that were kept.
__device__ void write_levels(uint64 n, uint64 rows, const uint64 *seen, const uint64 *kept,
                             uint32 number, const int32 *depths, uint32 searches, int32 *level) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        uint64 word[KEPT], any = 0, reached = seen[v];
#pragma unroll
        for (uint32 i = 0; i < KEPT; ++i) {
            word[i] = i < number && (v < rows || depths[i] == 0) ? kept[i * n + v] : 0;
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
// + 1 words a vertex. `last`: the level to end with. `few`, `many`: edges, see `pushed_of`.
extern "C" __global__ void __launch_bounds__(512, 2)
    multi_bfs(const OFFSET *out_offsets, const ID *out_neighbours, const OFFSET *into_offsets,
              const ID *into_neighbours, uint64 n, const ID *sources, uint32 searches,
              const ID *targets, uint64 num_targets, uint64 last, uint32 pulls, uint64 few,
              uint64 many, ID *queue, ID *piece_row, uint32 *piece, uint32 medium, uint32 large,
              uint64 *seen, uint64 *visit, uint64 *next, ID *list, int32 *level, State *state) {
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
        bool keeps = kept < KEPT && found > n / MANY;
        Words words = {seen, visit + (keeps ? kept : KEPT) * n, next};
        {
            Appender appender(lists, Slice{}, &step->pushed, slots);
            settle(out_offsets, n, words, all ? nullptr : list,
                   !all         ? found
                   : depth == 0 ? n
                                : rows,
                   may_pull ? step->edges_of : nullptr, searches, (int32)depth,
                   keeps ? nullptr : level, appender);
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
        uint64 pushed = every;
        if (may_pull) {
            // After a pull of few reads most bits are there.
            bool splits = pulls == CHOSEN && (!pulled || fresh(&step->read) > many);
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
    write_levels(n, rows, seen, visit, kept, depths, searches, level);
}
