// Triangles, each found once: from its lowest vertex, along edges that go up.
//
// A vertex is higher than another if it has more neighbours, or as many and the smaller id. `up`
// holds the higher neighbours of each vertex, at most sqrt(2 E), in any order. Those of a vertex u
// are put into a hash table in shared memory, and the rows of all of them are looked up there: a
// neighbour of a neighbour that is in the table closes a triangle. The table counts what is found
// at its vertices, so that a triangle costs no atomic on global memory, and an edge one at most.
//
//   up_lengths  shares the rows out by degree, and counts the neighbours that are higher.
//   up_rows     writes them, and lists the vertices from which triangles are looked for.
//   count       vertices of many higher neighbours are a block's, the others a warp's, which takes
//               its part of the block's table. Whoever is free takes the next. Where `up` does not
//               fit the device, it is launched once for each part of the rows that are looked up.
//
// With ARCS the edges between neighbours are counted, by direction, not the triangles: `ways` of an
// edge of `up` is in how many directions, 1 or 2, its ends are joined.

#include "degree_lists.cuh"
#include "runs.cuh"

constexpr int SLOTS = sizeof(ID) == 8 ? 2048 : 4096; // of a block's table
constexpr int WARP_SLOTS = SLOTS / (BLOCK / WARP);
constexpr ID NOBODY = ~(ID)0;
constexpr uint32 NO_SLOT = ~0u;

// Higher neighbours from which a vertex is a block's: more would fill a warp's part of the table.
constexpr uint32 LARGE = WARP_SLOTS / 4;

struct State {
    uint64 barrier;
    uint64 smalls, larges; // vertices from which triangles are looked for
    Runs runs;
    Counts appended; // rows, by degree
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

// Of a launch of `count`: zeros before.
struct Turn {
    uint64 barrier;
    uint64 read;
    uint64 small, large; // vertices that were taken
};

// The rows of `up` that are looked up: edges from `begin` on and before `end`; `up` and `ways` are
// where those of edge 0 would be.
struct Part {
    const ID *up;
    const uint8 *ways;
    uint64 begin, end;
};

// Whether v is higher than u; `degree`: its own.
__device__ __forceinline__ bool is_higher(const OFFSET *offsets, ID v, ID u, OFFSET &degree) {
    degree = offsets[v + 1] - offsets[v];
    OFFSET other = offsets[u + 1] - offsets[u];
    return degree > other || (degree == other && v < u);
}

__device__ Slice all_rows(const State *state) {
    Slice slice = {};
    slice.count = fresh_counts(&state->appended);
    return slice;
}

// `lengths` is zero before.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    up_lengths(const OFFSET *offsets, const ID *neighbours, uint64 n, ID *queue, ID *piece_row,
               uint32 *piece, uint32 medium, uint32 large, OFFSET *lengths, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    if (blockIdx.x == 0 && threadIdx.x == 0)
        start_runs(&state->runs);
    {
        Appender appender(lists, Slice{}, &state->appended, slots);
        for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
            uint64 v = first + lane();
            appender.append(v < n, (ID)v, v < n ? offsets[v + 1] - offsets[v] : (OFFSET)0);
        }
        appender.flush();
    }
    grid_sync((GridBarrier *)&state->barrier);
    for_edges(lists, all_rows(state), offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        OFFSET higher = 0, degree;
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            if (j * step < left)
                higher += is_higher(offsets, neighbours[edge + j * step], u, degree);
        bool adds = higher > 0;
        if (step == WARP) {
            higher = warp_sum(higher);
            adds = higher > 0 && lane() == 0;
        }
        if (adds)
            atomicAdd(lengths + u, higher);
    });
}

#if ARCS
// Whether the ascending row of u has v.
__device__ __forceinline__ bool leads(const OFFSET *offsets, const ID *neighbours, ID u, ID v) {
    OFFSET start = offsets[u];
    uint64 place = upper_bound(neighbours + start, offsets[u + 1] - start, v);
    return place > 0 && neighbours[start + place - 1] == v;
}
#endif

// Room in the rows of u for what a thread has for them: from `*ends` on, or of `step` -1 before it.
__device__ __forceinline__ OFFSET room(OFFSET *ends, OFFSET number, uint32 step, bool back) {
    OFFSET all = number, place = 0;
    if (step == WARP) // one row for all lanes: one atomic
        all = warp_inclusive_scan(number);
    bool asks = step == WARP ? lane() == WARP - 1 && all > 0 : number > 0;
    if (asks)
        place = atomicAdd(ends, back ? (OFFSET)0 - all : all);
    if (step == WARP) {
        OFFSET total = __shfl_sync(FULL_WARP, all, WARP - 1);
        place = __shfl_sync(FULL_WARP, place, WARP - 1);
        return back ? place - total + all - number : place + all - number;
    }
    return back ? place - number : place;
}

// `ends` is where the row of each vertex begins before, and where the hubs in it begin after, which
// are the neighbours of at least so many edges; `backs`: where it ends, then the same. `todo`: n
// ids, small ones from the front, large ones from the back. `out_offsets` and `out`: rows by
// source, with ARCS.
extern "C" __global__ void __launch_bounds__(BLOCK, 2)
    up_rows(const OFFSET *offsets, const ID *neighbours, uint64 n, ID *queue, ID *piece_row,
            uint32 *piece, uint32 medium, uint32 large, const OFFSET *up_offsets, OFFSET *ends,
            OFFSET *backs, OFFSET hub, ID *up, ID *todo, const OFFSET *out_offsets, const ID *out,
            uint8 *ways, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    {
        ID *mine = slots + warp_in_block() * 2 * HELD;
        WarpBuffer smalls(mine, &state->smalls, todo);
        WarpBuffer larges(mine + HELD, &state->larges, todo + (n - 1), -1);
        for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
            uint64 v = first + lane();
            OFFSET length = v < n ? up_offsets[v + 1] - up_offsets[v] : (OFFSET)0;
            smalls.append(length >= 2 && length < LARGE, (ID)v);
            larges.append(length >= LARGE, (ID)v);
        }
        smalls.flush();
        larges.flush();
    }
    for_edges(lists, all_rows(state), offsets, [&](ID u, OFFSET edge, uint32 left, uint32 step) {
        ID v[BATCH];
        bool higher[BATCH], is_hub[BATCH];
        OFFSET others = 0, hubs = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            higher[j] = j * step < left;
            v[j] = higher[j] ? neighbours[edge + j * step] : 0;
        }
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            OFFSET degree;
            higher[j] = higher[j] && is_higher(offsets, v[j], u, degree);
            is_hub[j] = higher[j] && degree >= hub;
            hubs += is_hub[j];
            others += higher[j] && !is_hub[j];
        }
        OFFSET front = room(ends + u, others, step, false);
        OFFSET back = room(backs + u, hubs, step, true);
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (higher[j]) {
                OFFSET place = is_hub[j] ? back++ : front++;
#if ARCS
                ways[place] = leads(out_offsets, out, u, v[j]) + leads(out_offsets, out, v[j], u);
#endif
                up[place] = v[j];
            }
        }
    });
}

// A hash table in shared memory: vertices, and what was found at each. The slots after the one that
// a vertex falls to are tried in order, and at most half of them are taken.
struct Table {
    ID *vertex;
    uint32 *count;
    uint8 *way;          // with ARCS
    uint32 slots, shift; // a power of two, and what it takes to bring 32 bits down to it

    // Makes room for so many vertices, four times over if there is; `most` is at least twice as
    // many.
    __device__ __forceinline__ void resize(uint32 size, uint32 most) {
        slots = 2 * WARP;
        shift = 26;
        for (; slots < 4 * size && slots < most; slots *= 2)
            --shift;
    }

    __device__ __forceinline__ uint32 first(ID v) const {
        return (uint32)(v ^ (uint64)v >> 32) * 0x9e3779b1u >> shift;
    }

    // The slot of a vertex; NO_SLOT if it is not in the table.
    __device__ __forceinline__ uint32 find(ID v) const {
        uint32 slot = first(v);
        while (true) {
            ID seen = vertex[slot];
            if (seen == v)
                return slot;
            if (seen == NOBODY)
                return NO_SLOT;
            slot = (slot + 1) & (slots - 1);
        }
    }

    __device__ __forceinline__ void insert(ID v, uint32 of_edge) {
        uint32 slot = first(v);
        while (compare_and_swap(vertex + slot, NOBODY, v) != NOBODY) // no vertex comes twice
            slot = (slot + 1) & (slots - 1);
        count[slot] = 0;
#if ARCS
        way[slot] = (uint8)of_edge;
#endif
    }
};

// Adds to a vertex's result.
__device__ __forceinline__ void add_to(int64 *found, ID v, uint64 more) {
    if (more > 0)
        atomicAdd((uint64 *)found + v, more);
}

// Looks for triangles from u whose middle vertex has its row in `rows`; `stops`: where the rows of
// its neighbours end for it. `member` and `members` say who of those that share the table this
// thread is, a warp or a block; `sync` lets them wait for each other.
template <typename Sync>
__device__ __forceinline__ void look_from(ID u, const OFFSET *up_offsets, const OFFSET *stops,
                                          const ID *up, const uint8 *ways, Part rows, Table table,
                                          uint32 most_slots, uint32 member, uint32 members,
                                          int64 *found, uint64 &read, Sync sync) {
    OFFSET start = up_offsets[u], end = up_offsets[u + 1];
    uint64 at_u = 0;
    // More neighbours than half of the table holds are put into it one part after another.
    for (OFFSET part = start; part < end; part += most_slots / 2) {
        uint32 size = end - part < most_slots / 2 ? (uint32)(end - part) : most_slots / 2;
        table.resize(size, most_slots);
        for (uint32 i = member; i < table.slots; i += members)
            table.vertex[i] = NOBODY;
        sync();
        for (uint32 i = member; i < size; i += members) {
            uint32 way = 1;
#if ARCS
            way = ways[part + i];
#endif
            table.insert(up[part + i], way);
        }
        sync();
        // The lanes of a warp read where up to 32 rows lie, and then go along each of them
        // together.
        uint32 warps = members / WARP;
        OFFSET total = end - start;
        for (OFFSET base = member / WARP; base < total; base += warps * WARP) {
            OFFSET place = base + lane() * warps, from = 0, to = 0;
            ID v = 0;
            uint32 to_v = 1;
            bool mine = place < total;
            if (mine) {
                v = up[start + place];
                from = up_offsets[v];
                to = from < rows.begin || from >= rows.end ? from : stops[v];
#if ARCS
                to_v = ways[start + place];
#endif
                read += 1 + (to - from);
            }
            uint32 at_v = 0, wanted = __ballot_sync(FULL_WARP, from < to);
            for (; wanted != 0; wanted &= wanted - 1) {
                int j = __ffs(wanted) - 1;
                OFFSET e = __shfl_sync(FULL_WARP, from, j), stop = __shfl_sync(FULL_WARP, to, j);
                uint32 to_row = ARCS ? __shfl_sync(FULL_WARP, to_v, j) : 1;
                uint32 at_row = 0;
                for (e += lane(); e < stop; e += BATCH * WARP) {
                    ID w[BATCH];
                    uint32 left = stop - e < BATCH * WARP ? (uint32)(stop - e) : BATCH * WARP;
#pragma unroll
                    for (int k = 0; k < BATCH; ++k)
                        w[k] = k * WARP < left ? rows.up[e + k * WARP] : NOBODY;
#pragma unroll
                    for (int k = 0; k < BATCH; ++k) {
                        uint32 slot = k * WARP < left ? table.find(w[k]) : NO_SLOT;
                        if (slot == NO_SLOT)
                            continue;
                        atomicAdd(table.count + slot, to_row);
#if ARCS
                        at_row += table.way[slot];
                        at_u += rows.ways[e + k * WARP];
#else
                        ++at_row;
#endif
                    }
                }
                __syncwarp();
                at_row = warp_sum(at_row);
                if (lane() == j)
                    at_v = at_row;
            }
#if !ARCS
            at_u += at_v;
#endif
            if (at_v > 0) { // in the table, unless that has another part
                uint32 slot = table.find(v);
                if (slot != NO_SLOT)
                    atomicAdd(table.count + slot, at_v);
                else
                    add_to(found, v, at_v);
            }
        }
        sync();
        for (uint32 i = member; i < table.slots; i += members)
            if (table.vertex[i] != NOBODY)
                add_to(found, table.vertex[i], table.count[i]);
        sync();
    }
    at_u = warp_sum(at_u);
    if (lane() == 0)
        add_to(found, u, at_u);
}

__device__ __forceinline__ const OFFSET *stops_for(ID u, const OFFSET *up_offsets,
                                                   const uint32 *row_of, const OFFSET *others) {
    return row_of != nullptr && row_of[u] != ~0u ? others : up_offsets + 1;
}

// `found`: what there is so far. `row_of`: which vertices have rows of bits, if any; between those
// hub_triangles.cu finds the triangles whose highest vertex is a hub, and here rows end at
// `others`. Every row of `up` is in one of the `rows` that this is launched with.
extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    count(uint64 n, const OFFSET *up_offsets, const ID *up, const uint8 *ways, Part rows,
          const ID *todo, const uint32 *row_of, const OFFSET *others, int64 *found, Turn *turn,
          State *state) {
    __shared__ ID vertex[SLOTS];
    __shared__ uint32 counts[SLOTS];
    __shared__ uint8 way[ARCS ? SLOTS : 1];
    __shared__ uint64 taken;
    uint64 read = 0;
    while (true) {
        if (threadIdx.x == 0)
            taken = atomicAdd(&turn->large, 1ull);
        __syncthreads();
        uint64 i = taken;
        __syncthreads();
        if (i >= state->larges)
            break;
        ID u = todo[n - 1 - i];
        look_from(u, up_offsets, stops_for(u, up_offsets, row_of, others), up, ways, rows,
                  Table{vertex, counts, way, 0, 0}, SLOTS, threadIdx.x, BLOCK, found, read,
                  []() { __syncthreads(); });
    }
    uint32 first = warp_in_block() * WARP_SLOTS;
    Table part = {vertex + first, counts + first, way + (ARCS ? first : 0), 0, 0};
    while (true) {
        uint64 i = 0;
        if (lane() == 0)
            i = atomicAdd(&turn->small, 1ull);
        i = __shfl_sync(FULL_WARP, i, 0);
        if (i >= state->smalls)
            break;
        ID u = todo[i];
        look_from(u, up_offsets, stops_for(u, up_offsets, row_of, others), up, ways, rows, part,
                  WARP_SLOTS, lane(), WARP, found, read, []() { __syncwarp(); });
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(&turn->read, read);
    grid_sync((GridBarrier *)&turn->barrier);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        note_run(&state->runs, 0, 1, n, fresh(&turn->read));
}
