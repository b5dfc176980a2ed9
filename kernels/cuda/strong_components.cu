// Strongly connected components, in two launches.
//
// giant_component: where all edges lead to vertices that are later in the order of the user's ids,
// or all to earlier ones, there are no cycles. Vertices that nothing leads to, or that lead
// nowhere, are components of their own. A search along the edges from the vertex of most edges, and
// one against them within what it found, give the component of that vertex: mostly the largest. A
// graph that is too deep for searches by levels goes to the second launch as a whole. If the vertex
// is alone, the graph has perhaps no cycles at all: vertices that nothing leads to any more, or
// that lead nowhere any more, are taken away level by level, from both ends at once.
//
// colour: of the vertices that are left, and the edges among them. `before` becomes the least
// number of a vertex that leads to a vertex, `after` the least of those that it leads to. Where
// both are one and the same, that is a vertex of its component; edges between vertices that differ
// in either lie in no cycle and are dropped. Numbers are mixed, so that about half of what is left
// goes each time whatever the order of the ids. A vertex takes over what the vertex has that it got
// its number from, so that long paths take few sweeps.

#include "degree_lists.cuh"
#include "members.cuh"
#include "runs.cuh"
#include "trim.cuh"

struct State {
    uint64 barrier, last_barrier;
    uint64 pivot;         // score, then the low bits of the vertex
    uint64 joining;       // edges among the vertices that are left
    uint64 listed;        // of them
    uint64 taken;         // edges that were read while it was trimmed
    uint64 read, kept[3]; // edges left after a round, taking turns
    uint64 changed[3];    // by a sweep, taking turns
    Counts steps[2][3];   // of both searches, taking turns as in bfs.cu
    Counts appended;      // the rows that are left
    uint64 trimmed[2][3]; // pieces of rows from either end, taking turns
    uint64 rises, falls;  // whether an edge leads to a later vertex, to an earlier one
    Counts checked;       // the rows that are looked at for this
    Runs runs;
};
static_assert(sizeof(State) <= 4096, "what the host allocates");

enum Way : uint32 { TRIM, FORWARD_BACKWARD, COLOUR, ORDER };

// Whether edges of some lead to later vertices, and to earlier ones, in the order of the user's
// ids.
struct Ways {
    bool rises = false, falls = false;

    __device__ __forceinline__ void take(ID from, ID to, const Order &order) {
        uint64 here = order(from), there = order(to);
        rises = rises || here < there;
        falls = falls || here > there;
    }

    // All lanes have to call it.
    __device__ __forceinline__ void tell(State *state) const {
        if (__any_sync(FULL_WARP, rises) && lane() == 0)
            state->rises = 1;
        if (__any_sync(FULL_WARP, falls) && lane() == 0)
            state->falls = 1;
    }
};

// Whether all edges lead the same way. The first edge of each row has been told, which mostly says
// no.
__device__ bool one_way(const OFFSET *offsets, const ID *neighbours, uint64 n, const Order &order,
                        const Worklists &lists, ID *slots, GridBarrier *barrier, State *state) {
    if (fresh(&state->rises) != 0 && fresh(&state->falls) != 0)
        return false;
    {
        Appender appender(lists, Slice{}, &state->checked, slots);
        for (uint64 base = warp_rank() * WARP; base < n; base += num_warps() * WARP) {
            uint64 v = base + lane();
            OFFSET degree = v < n ? offsets[v + 1] - offsets[v] : (OFFSET)0;
            appender.append(degree > 0, (ID)v, degree);
        }
        appender.flush();
    }
    grid_sync(barrier);
    Slice slice = {};
    slice.count = fresh_counts(&state->checked);
    Ways ways;
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 stride) {
#pragma unroll
        for (int j = 0; j < BATCH; ++j)
            if (j * stride < left)
                ways.take(u, neighbours[edge + j * stride], order);
    });
    ways.tell(state);
    grid_sync(barrier);
    bool found = fresh(&state->rises) == 0 || fresh(&state->falls) == 0;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        note_run(&state->runs, ORDER, 1, n, offsets[n]);
    return found;
}

// The vertices that are reached from one over rows, of those in `within`, as bits in `found`, which
// are zero. Whether it came to its end before so many levels.
__device__ bool reach(const OFFSET *offsets, const ID *neighbours, const Worklists &lists,
                      ID source, const uint32 *within, uint32 *found, Counts *steps,
                      uint32 most_levels, ID *slots, GridBarrier *barrier, uint32 &levels,
                      uint64 &read) {
    __shared__ Slice slice;
    __syncthreads(); // a search before this one may be read
    if (threadIdx.x == 0)
        slice = Slice{};
    __syncthreads();
    if (blockIdx.x == 0 && warp_in_block() == 0) {
        if (lane() == 0)
            set_bit(found, source);
        Appender appender(lists, slice, steps, slots);
        appender.append(lane() == 0, source, offsets[source + 1] - offsets[source]);
        appender.flush();
    }
    for (uint32 depth = 0;; ++depth) {
        grid_sync(barrier);
        if (threadIdx.x == 0) {
            slice.advance(fresh_counts(steps + depth % 3));
            if (blockIdx.x == 0)
                steps[(depth + 2) % 3] = Counts{};
        }
        __syncthreads();
        if (slice.empty() || depth == most_levels)
            return slice.empty();
        ++levels;
        Appender appender(lists, slice, steps + (depth + 1) % 3, slots);
        for_edges(lists, slice, offsets, [&](ID, OFFSET edge, uint32 left, uint32 stride) {
            ID v[BATCH];
            bool claimed[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                claimed[j] = j * stride < left;
                v[j] = claimed[j] ? neighbours[edge + j * stride] : 0;
                read += claimed[j];
            }
            bool any = false;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                claimed[j] = claimed[j] && !has_bit(found, v[j]) &&
                             (within == nullptr || has_bit(within, v[j]));
                any = any || claimed[j];
            }
            if (!__any_sync(FULL_WARP, any))
                return;
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                claimed[j] = claimed[j] && set_bit(found, v[j]);
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                appender.append(claimed[j], v[j],
                                claimed[j] ? offsets[v[j] + 1] - offsets[v[j]] : (OFFSET)0);
        });
        appender.flush();
    }
}

// `rank` as of `Order`. `live` and `found`: bits of all vertices. `trim_left` and `trim_pieces`: as
// of `trim`. Gets the component of the giant's vertices, of all others themselves, to `label`; the
// vertices that are left to `live` and to the lists.
extern "C" __global__ void __launch_bounds__(512, 2)
    giant_component(const OFFSET *offsets, const ID *neighbours, const OFFSET *into_offsets,
                    const ID *into_neighbours, uint64 n, const RANK *rank, ID *queue, ID *piece_row,
                    uint32 *piece, uint32 medium, uint32 large, uint32 most_levels,
                    uint32 most_trimmed, uint32 *live, uint32 *found, uint64 *trim_left,
                    uint64 *trim_pieces, uint64 most_pieces, ID *label, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    if (leads)
        start_runs(&state->runs);
    for (uint64 w = thread_rank(); w < (n + 31) / 32; w += num_threads())
        live[w] = found[w] = 0;
    uint64 best = 0;
    Order order = {rank};
    Ways ways;
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        label[v] = (ID)v;
        uint64 out = offsets[v + 1] - offsets[v], into = into_offsets[v + 1] - into_offsets[v];
        uint64 score = out < into ? out : into;
        score = score < 0xffffffff ? score : 0xffffffff;
        if (score << 32 > best) // any vertex will do
            best = score << 32 | (uint32)v;
        if (out > 0)
            ways.take((ID)v, neighbours[offsets[v]], order);
    }
    ways.tell(state);
    best = warp_max(best);
    if (lane() == 0)
        atomic_max(&state->pivot, best);
    grid_sync(barrier);
    best = fresh(&state->pivot);
    if (leads)
        note_run(&state->runs, TRIM, 1, n, 0);
    bool acyclic = one_way(offsets, neighbours, n, order, lists, slots, barrier, state);
    ID pivot = (ID)(uint32)best;
    uint64 read = 0;
    uint32 levels = 0, back = 0;
    bool both = !acyclic && best >> 32 != 0 &&
                reach(offsets, neighbours, lists, pivot, nullptr, live, state->steps[0],
                      most_levels, slots, barrier, levels, read) &&
                reach(into_offsets, into_neighbours, lists, pivot, live, found, state->steps[1],
                      most_levels, slots, barrier, back, read);
    levels += back;
    grid_sync(barrier);
    bool alone = both && back == 1; // nobody before it is behind it, too
    uint32 trimmed = 0;
    uint64 taken = 0;
    if (alone) {
        End ends[2] = {{offsets, neighbours, 1}, {into_offsets, into_neighbours, 1ull << 32}};
        trim(ends, n, trim_left, {trim_pieces, most_pieces}, state->trimmed, most_trimmed, barrier,
             trimmed, taken);
        grid_sync(barrier);
    }
    {
        Appender appender(lists, Slice{}, &state->appended, slots);
        for (uint64 w = warp_rank(); w < (n + 31) / 32; w += num_warps()) {
            uint64 v = w * 32 + lane();
            uint32 members = both ? found[w] : 0;
            OFFSET degree = v < n ? offsets[v + 1] - offsets[v] : (OFFSET)0;
            bool member = members >> lane() & 1;
            bool left = !acyclic && degree > 0 && into_offsets[v + 1] > into_offsets[v] &&
                        !member && (!alone || is_left(trim_left[v]));
            if (member)
                label[v] = pivot;
            uint32 votes = __ballot_sync(FULL_WARP, left);
            if (lane() == 0)
                live[w] = votes;
            appender.append(left, (ID)v, degree);
        }
        appender.flush();
    }
    grid_sync(barrier);
    Slice slice = {};
    slice.count = fresh_counts(&state->appended);
    uint64 joining = 0;
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 stride) {
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (j * stride < left) {
                ID v = neighbours[edge + j * stride];
                joining += v != u && has_bit(live, v);
                ++read;
            }
        }
    });
    joining = warp_sum(joining);
    read = warp_sum(read);
    if (lane() == 0) {
        atomicAdd(&state->joining, joining);
        atomicAdd(&state->read, read);
    }
    grid_sync(barrier);
    if (leads && !acyclic)
        note_run(&state->runs, FORWARD_BACKWARD, levels, 1, fresh(&state->read));
    if (!alone)
        return;
    taken = warp_sum(taken);
    if (lane() == 0)
        atomicAdd(&state->taken, taken);
    grid_sync(barrier);
    if (leads)
        note_run(&state->runs, TRIM, trimmed, n, fresh(&state->taken));
}

// The inverse of an odd number, modulo the numbers of IDs.
constexpr ID inverse(ID odd) {
    ID found = odd; // right in its three lowest bits; each step doubles them
    for (int i = 0; i < 5; ++i)
        found *= 2 - odd * found;
    return found;
}

constexpr ID FACTOR = (ID)0x9e3779b97f4a7c15ull, AND_BACK = inverse(FACTOR);
static_assert((ID)(FACTOR * AND_BACK) == 1, "an inverse");

// A number of its own for every vertex, in no order; and back.
__device__ __forceinline__ ID mixed(ID v) {
    v *= FACTOR;
    v ^= v >> (sizeof(ID) * 4);
    return v * FACTOR;
}

__device__ __forceinline__ ID unmixed(ID number) {
    number *= AND_BACK;
    number ^= number >> (sizeof(ID) * 4);
    return number * AND_BACK;
}

// Lowers the number of `to` to that of `from`, or what the vertex of that has; whether it was
// larger.
__device__ __forceinline__ bool take_over(ID *numbers, ID from, ID to) {
    ID number = fresh(numbers + from), further = fresh(numbers + unmixed(number));
    if (further < number)
        number = further;
    return number < atomic_min(numbers + to, number);
}

struct Arcs {
    ID *from, *to;
    uint64 number;
};

// Lists the edges among the vertices that are left.
__device__ void list_arcs(const OFFSET *offsets, const ID *neighbours, const Worklists &lists,
                          const uint32 *live, const Arcs &arcs, State *state) {
    Slice slice = {};
    slice.count = state->appended;
    for_edges(lists, slice, offsets, [&](ID u, OFFSET edge, uint32 left, uint32 stride) {
        ID v[BATCH];
        bool wanted[BATCH];
        uint32 number = 0;
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            wanted[j] = j * stride < left;
            v[j] = wanted[j] ? neighbours[edge + j * stride] : 0;
            wanted[j] = wanted[j] && v[j] != u && has_bit(live, v[j]);
            number += wanted[j];
        }
        uint64 place = warp_places(number, &state->listed);
#pragma unroll
        for (int j = 0; j < BATCH; ++j) {
            if (wanted[j]) {
                arcs.from[place] = u;
                arcs.to[place++] = v[j];
            }
        }
    });
}

// Writes down the components that were found, and lists the edges that may be in others.
__device__ void settle(const Arcs &arcs, const ID *before, const ID *after, ID *label,
                       const Arcs &kept, uint64 *size) {
    for (uint64 first = warp_rank() * WARP; first < arcs.number; first += num_warps() * WARP) {
        uint64 i = first + lane();
        ID u = 0, v = 0;
        bool keeps = i < arcs.number;
        if (keeps) {
            u = arcs.from[i], v = arcs.to[i];
            ID u_before = before[u], u_after = after[u], v_before = before[v], v_after = after[v];
            if (u_before == u_after)
                label[u] = unmixed(u_before);
            if (v_before == v_after)
                label[v] = unmixed(v_before);
            keeps = u_before == v_before && u_after == v_after && u_before != u_after;
        }
        uint64 place = warp_places(keeps, size);
        if (keeps) {
            kept.from[place] = u;
            kept.to[place] = v;
        }
    }
}

// `arcs`: four times so many as `joining`.
extern "C" __global__ void __launch_bounds__(512, 2)
    colour(const OFFSET *offsets, const ID *neighbours, uint64 n, const RANK *rank, ID *queue,
           ID *piece_row, uint32 *piece, uint32 medium, uint32 large, const uint32 *live, ID *arcs,
           ID *before, ID *after, ID *label, ID *holder, State *state) {
    Worklists lists = {queue, piece_row, piece, n, medium, large};
    GridBarrier *barrier = (GridBarrier *)&state->last_barrier;
    bool leads = blockIdx.x == 0 && threadIdx.x == 0;
    uint64 joining = state->joining;
    Arcs left = {arcs, arcs + joining, joining};
    Arcs kept = {arcs + 2 * joining, arcs + 3 * joining, 0};
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        before[v] = after[v] = mixed((ID)v);
        holder[v] = (ID)v;
    }
    list_arcs(offsets, neighbours, lists, live, left, state);
    grid_sync(barrier);
    uint32 sweep = 0;
    uint64 read = 0;
    for (uint32 round = 0; left.number > 0; ++round) {
        uint64 changed = 1;
        for (; changed != 0; ++sweep) {
            bool any = false;
            for (uint64 i = thread_rank(); i < left.number; i += num_threads()) {
                ID u = left.from[i], v = left.to[i];
                any |= take_over(before, u, v);
                any |= take_over(after, v, u);
            }
            if (any)
                state->changed[sweep % 3] = 1;
            if (leads)
                state->changed[(sweep + 1) % 3] = 0;
            grid_sync(barrier);
            changed = fresh(state->changed + sweep % 3);
            read += left.number;
        }
        settle(left, before, after, label, kept, state->kept + round % 3);
        if (leads)
            state->kept[(round + 1) % 3] = 0;
        grid_sync(barrier);
        kept.number = fresh(state->kept + round % 3);
        for (uint64 i = thread_rank(); i < kept.number; i += num_threads()) {
            ID u = kept.from[i], v = kept.to[i];
            before[u] = after[u] = mixed(u);
            before[v] = after[v] = mixed(v);
        }
        grid_sync(barrier);
        Arcs free = left;
        left = kept;
        kept = free;
    }
    smallest_members(label, n, Order{rank}, nullptr, 0, (ID)(uint32)state->pivot, holder);
    grid_sync(barrier);
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        label[v] = holder[label[v]];
    if (leads)
        note_run(&state->runs, COLOUR, sweep, joining, read);
}
