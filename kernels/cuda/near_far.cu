// Monotone programs, improved where they stand, in near-far order [1, 2]: vertices whose priority
// is not above a moving limit are relaxed until they are quiet, then the limit rises. Without a
// priority all are near.
//
// Invariant: a vertex whose value has improved (and that is to send) since it was relaxed last is
// in the near list of the next round, or in the far set. Near: `near_set` of that round makes the
// append unique, so a list of n entries holds all. Far: the set has a bit for every vertex; the
// list is only a quicker way to find its members, and is given up for scans of the set when it
// overflows. A far vertex that improves to a near priority enters the near list as well and stays
// in the far set; when its turn comes there, its value is the one that was `sent`, and it is
// dropped.
//
// A round relaxes rows of fewer than PIECE edges by warps, each over the edges of up to 32 rows at
// once; longer rows are cut into items for all warps, in a step of their own.
//
// [1] Meyer, Sanders. Delta-stepping: a parallelizable shortest path algorithm. J. Algorithms 2003.
// [2] Davidson et al. Work-efficient parallel GPU methods for single-source shortest paths. IPDPS
//     2014.

#include "near_far.cuh"

// Whether rows of WARP edges and more are gone along in whole lines of the link.
#ifndef IN_LINES
#define IN_LINES TIERED
#endif

// A piece of a row, one a lane.
struct Row {
    ID vertex;
    VALUE value;
    OFFSET begin;
    uint32 size;
};

__device__ __forceinline__ bool is_late(const Lists &lists, ID v) {
    return MAY_BE_LATE && fresh(lists.late + v);
}

// Whether `message` is worth an atomic, as far as `old` tells, which may be out of date.
__device__ __forceinline__ bool may_improve(const Lists &lists, ID v, VALUE message, VALUE old) {
    if (better(message, old))
        return true;
    return MAY_BE_LATE && message == identity() && old == identity() && !is_late(lists, v);
}

// Relaxes the rows of a warp, edge by edge over all of them. Full warps only.
__device__ __forceinline__ void relax(const Run &run, const Lists &lists, const Control &c,
                                      Stage &stage, const Row &row, int64 &least) {
    VALUE *first = first_field(run);
    ID *near_list = lists.near[c.parity ^ 1], *far_list = lists.far[c.far_parity];
    uint32 *near_set = lists.near_set[c.parity ^ 1];
    const PRIORITY limit = c.limit;
    const bool listed = c.far_listed;

    uint32 rows = __ballot_sync(FULL_WARP, row.size > 0);
    if (rows == 0)
        return;
    uint32 only = (rows & (rows - 1)) == 0 ? __ffs(rows) - 1 : WARP;
    bool in_lines = IN_LINES && row.size >= WARP; // then all rows are as long
    uint32 skew = in_lines ? (uint32)(row.begin % WARP) : 0;
    uint32 room = in_lines ? (skew + row.size + WARP - 1) / WARP * WARP : row.size;
    uint32 end = warp_inclusive_scan(room), start = end - room;
    uint32 total = __shfl_sync(FULL_WARP, end, WARP - 1);
    const uint32 its_first = start + skew;
    OFFSET origin = row.begin - its_first; // may wrap around, and then back

    for (uint32 base = 0; base < total; base += WARP * UNROLL) {
        bool wanted[UNROLL];
        ID from[UNROLL], to[UNROLL];
        VALUE value[UNROLL];
        EDGE edge[UNROLL];
        MESSAGE message[UNROLL];
#pragma unroll
        for (int j = 0; j < UNROLL; ++j) {
            uint32 x = base + j * WARP + lane();
            uint32 owner = only;
            if (only == WARP) { // the last row that does not start behind x
                owner = 0;
#pragma unroll
                for (int half = WARP / 2; half > 0; half /= 2)
                    if (__shfl_sync(FULL_WARP, start, owner + half) <= x)
                        owner += half;
            }
            from[j] = __shfl_sync(FULL_WARP, row.vertex, owner);
            value[j] = __shfl_sync(FULL_WARP, row.value, owner);
            OFFSET place = __shfl_sync(FULL_WARP, origin, owner) + x;
            wanted[j] = x < total;
            if (IN_LINES) // before its first edge it wraps around
                wanted[j] = x - __shfl_sync(FULL_WARP, its_first, owner) <
                            __shfl_sync(FULL_WARP, row.size, owner);
            WORD word = wanted[j] ? neighbour(lists, place) : 0;
            to[j] = wanted[j] ? beside(lists, from[j], end_of(word)) : 0;
            edge[j] = edge_of(word, place);
        }
#pragma unroll
        for (int j = 0; j < UNROLL; ++j) {
            if (wanted[j] &&
                !message_along(run, lists, value[j], from[j], to[j], edge[j], message[j])) {
                stage.failed = 1;
                wanted[j] = false;
            }
        }
#pragma unroll
        for (int j = 0; j < UNROLL; ++j)
            // Read through the first-level cache: an old value is a worse one, and the atomic
            // knows.
            wanted[j] = wanted[j] && may_improve(lists, to[j], message[j], first[to[j]]);
#pragma unroll
        for (int j = 0; j < UNROLL; ++j) {
            if (!__any_sync(FULL_WARP, wanted[j]))
                continue;
            bool new_near = false, new_far = false;
            if (wanted[j]) {
                ID v = to[j];
                PRIORITY p = priority_of(run, message[j]);
                if (!(p > lists.cutoff)) {
                    VALUE old = improve(first + v, message[j]);
                    bool improved = may_improve(lists, v, message[j], old);
                    if (MAY_BE_LATE && improved && message[j] == identity())
                        lists.late[v] = 1;
                    if (improved && sends_next(run, v, old, message[j])) {
                        if (!(p > limit)) {
                            new_near = set_bit(near_set, v);
                        } else {
                            int64 key = order_key(p);
                            least = key < least ? key : least;
                            new_far = set_bit(lists.far_set, v);
                        }
                    }
                }
            }
            append_near(new_near, to[j], stage, near_list, lists.control);
            append_far(new_far, to[j], stage, listed, far_list, lists.far_capacity,
                       &lists.control->far);
        }
    }
}

// Cuts the rows of the lanes where `is_long` holds into items.
__device__ __forceinline__ void cut(const Lists &lists, bool is_long, ID u, OFFSET begin,
                                    OFFSET end) {
    uint32 votes = __ballot_sync(FULL_WARP, is_long);
    while (votes) {
        int owner = __ffs(votes) - 1;
        votes &= votes - 1;
        ID row = __shfl_sync(FULL_WARP, u, owner);
        OFFSET first = __shfl_sync(FULL_WARP, begin, owner);
        OFFSET size = __shfl_sync(FULL_WARP, end, owner) - first;
        uint64 pieces = ((uint64)size + PIECE - 1) / PIECE, place = 0;
        if (lane() == 0)
            place = atomicAdd(&lists.control->items, pieces);
        place = __shfl_sync(FULL_WARP, place, 0);
        for (uint64 i = lane(); i < pieces; i += WARP)
            lists.items[place + i] = {(OFFSET)(first + i * PIECE), row};
    }
}

// A round, or the items of one.
__device__ __forceinline__ void push(const Run &run, const Lists &lists, const Control &c,
                                     Stage &stage, const Team &team) {
    const VALUE *first = first_field(run);
    const bool of_items = c.phase == ITEMS;
    const ID *list = lists.near[c.parity];
    uint32 *near_set = lists.near_set[c.parity];
    const uint64 count = of_items ? c.items : c.near;
    // Rows a warp takes at once: few, while there are warps without.
    uint64 share = of_items ? 1 : (count + team.warps - 1) / team.warps;
    const uint32 rows = share < 1 ? 1 : share > WARP ? WARP : (uint32)share;
    const uint64 groups = (count + rows - 1) / rows;
    uint64 edges = 0, there = 0;
    int64 least = MOST;

    uint64 next = team.warp;
    while (next < groups) {
        uint64 i = next * rows + lane();
        if (groups > team.warps) { // on the way while this group is relaxed
            if (lane() == 0)
                next = team.warps + atomicAdd(&lists.control->cursor, 1ull);
        } else {
            next = groups;
        }
        Row row = {0, identity(), 0, 0};
        bool is_long = false;
        OFFSET end = 0;
        if (lane() < rows && i < count) {
            if (of_items) {
                Item item = lists.items[i];
                OFFSET left = lists.offsets[(uint64)row_of(lists, item.row) + 1] - item.begin;
                row = {item.row, lists.sent[item.row], item.begin,
                       left < PIECE ? (uint32)left : (uint32)PIECE};
            } else {
                ID u = fresh(list + i);
                // All whose bits are in this word are in this list, and nobody sets one now.
                near_set[u / 32] = 0;
                VALUE value = fresh(first + u);
                if (value != lists.sent[u] || value == identity()) {
                    lists.sent[u] = value;
                    row = {u, value, lists.offsets[row_of(lists, u)], 0};
                    end = lists.offsets[(uint64)row_of(lists, u) + 1];
                    OFFSET size = end - row.begin;
                    edges += size;
                    there += edges_there(lists, row.begin, end);
                    is_long = size >= PIECE;
                    row.size = is_long ? 0 : (uint32)size;
                }
            }
        }
        if (!of_items)
            cut(lists, is_long, row.vertex, row.begin, end);
        if (IN_LINES) { // those in lines begin with one
            Row long_row = row;
            long_row.size = row.size >= WARP ? row.size : 0;
            row.size -= long_row.size;
#pragma unroll 1
            for (int k = 0; k < 2; ++k)
                relax(run, lists, c, stage, k == 0 ? long_row : row, least);
        } else {
            relax(run, lists, c, stage, row, least);
        }
        next = __shfl_sync(FULL_WARP, next, 0);
    }
    edges = warp_sum(edges);
    if (TIERED)
        there = warp_sum(there);
    least = warp_min(least);
    if (lane() == 0) {
        if (edges)
            atomicAdd(&stage.edges, edges);
        if (there)
            atomicAdd(&stage.there, there);
        if (least != MOST)
            atomicMin(&stage.least, least);
    }
    flush(stage, lists.near[c.parity ^ 1], lists.far[c.far_parity], lists.far_capacity,
          &lists.control->far, lists.control);
}

// Whether a far vertex that is near by now has something to send; else it was in the near list.
__device__ __forceinline__ bool is_unsent(const Lists &lists, ID v, VALUE value) {
    return value != lists.sent[v] || value == identity();
}

// Counts the targets that may still improve.
__device__ __forceinline__ void count_unsettled(const Run &run, const Lists &lists,
                                                const Control &c, Stage &stage, const Team &team) {
    const VALUE *first = first_field(run);
    uint32 found = 0;
    for (uint64 i = team.warp * WARP + lane(); i < lists.num_targets; i += team.warps * WARP) {
        VALUE value = fresh(first + lists.targets[i]);
        found += value == identity() || priority_of(run, value) > c.done;
    }
    if (found)
        atomicAdd(&stage.unsettled, (uint64)found);
}

// Chooses from the far list what is near by now.
__device__ __forceinline__ void split(const Run &run, const Lists &lists, const Control &c,
                                      Stage &stage, const Team &team) {
    const VALUE *first = first_field(run);
    const ID *list = lists.far[c.far_parity];
    ID *near_list = lists.near[c.parity], *kept = lists.far[c.far_parity ^ 1];
    int64 least = MOST;
    for (uint64 base = (uint64)team.warp * WARP; base < c.far; base += (uint64)team.warps * WARP) {
        uint64 i = base + lane();
        bool held = i < c.far, is_near = false, chosen = false;
        ID v = 0;
        if (held) {
            v = fresh(list + i);
            if (c.steps == 0) // the list is the sources
                set_bit(lists.far_set, v);
            VALUE value = fresh(first + v);
            PRIORITY p = priority_of(run, value);
            is_near = !(p > c.limit);
            if (is_near) {
                atomicAnd(lists.far_set + v / 32, ~(1u << (v % 32)));
                chosen = is_unsent(lists, v, value);
            } else {
                int64 key = order_key(p);
                least = key < least ? key : least;
            }
        }
        append_near(chosen, v, stage, near_list, lists.control);
        append_far(held && !is_near, v, stage, true, kept, lists.far_capacity,
                   &lists.control->kept);
    }
    least = warp_min(least);
    if (lane() == 0 && least != MOST)
        atomicMin(&stage.least, least);
    flush(stage, near_list, kept, lists.far_capacity, &lists.control->kept, lists.control);
}

// Lists the members of a word, from `place` on.
__device__ __forceinline__ void list_bits(uint32 word, uint64 first, ID *list, uint64 place) {
    for (; word; word &= word - 1)
        list[place++] = (ID)(first + __ffs(word) - 1);
}

// Adds up `count` over a warp onto `counter`; the place of this lane's part.
__device__ __forceinline__ uint64 reserve(uint32 count, uint64 *counter) {
    uint32 end = warp_inclusive_scan(count);
    uint64 place = 0;
    if (lane() == WARP - 1 && end > 0)
        place = atomicAdd(counter, (uint64)end);
    return __shfl_sync(FULL_WARP, place, WARP - 1) + end - count;
}

// Chooses from the far set what is near by now; a warp takes 32 words at once.
__device__ __forceinline__ void scan(const Run &run, const Lists &lists, const Control &c,
                                     Stage &stage, const Team &team) {
    const VALUE *first = first_field(run);
    const uint64 words = (lists.n + 31) / 32;
    ID *near_list = lists.near[c.parity], *kept = lists.far[c.far_parity ^ 1];
    int64 least = MOST;
    uint64 num_kept = 0;
    for (uint64 base = (uint64)team.warp * WARP; base < words; base += (uint64)team.warps * WARP) {
        uint64 at = base + lane();
        uint32 word = at < words ? fresh(lists.far_set + at) : 0;
        if (!__any_sync(FULL_WARP, word != 0))
            continue;
        uint32 near = 0, chosen = 0; // of this lane's word
        for (uint32 w = 0; w < WARP; w += UNROLL) {
            VALUE value[UNROLL];
            bool member[UNROLL];
#pragma unroll
            for (int j = 0; j < UNROLL; ++j) {
                uint32 members = __shfl_sync(FULL_WARP, word, w + j);
                member[j] = members >> lane() & 1;
                value[j] = member[j] ? fresh(first + ((base + w + j) * 32 + lane())) : identity();
            }
#pragma unroll
            for (int j = 0; j < UNROLL; ++j) {
                PRIORITY p = priority_of(run, value[j]);
                bool is_near = member[j] && !(p > c.limit);
                uint32 votes = __ballot_sync(FULL_WARP, is_near);
                if (member[j] && !is_near) {
                    int64 key = order_key(p);
                    least = key < least ? key : least;
                }
                if (votes == 0)
                    continue;
                ID v = (ID)((base + w + j) * 32 + lane());
                bool unsent = is_near && is_unsent(lists, v, value[j]);
                uint32 unsent_votes = __ballot_sync(FULL_WARP, unsent);
                if (lane() == w + j) {
                    near = votes;
                    chosen = unsent_votes;
                }
            }
        }
        uint32 left = word & ~near;
        if (near)
            lists.far_set[at] = left;
        list_bits(chosen, at * 32, near_list, reserve(__popc(chosen), &lists.control->appended));
        if (c.relist)
            list_bits(left, at * 32, kept, reserve(__popc(left), &lists.control->kept));
        else
            num_kept += __popc(left);
    }
    num_kept = warp_sum(num_kept);
    least = warp_min(least);
    if (lane() == 0) {
        if (num_kept)
            atomicAdd(&stage.far_counted, num_kept);
        if (least != MOST)
            atomicMin(&stage.least, least);
    }
    flush(stage, near_list, kept, lists.far_capacity, &lists.control->kept, lists.control);
}

__device__ __forceinline__ void step(const Run &run, const Lists &lists, const Control &c,
                                     Stage &stage, const Team &team) {
    if (c.phase == PUSH || c.phase == ITEMS) {
        push(run, lists, c, stage, team);
        return;
    }
    count_unsettled(run, lists, c, stage, team);
    if (c.phase == SPLIT)
        split(run, lists, c, stage, team);
    else
        scan(run, lists, c, stage, team);
}

// Goes on from `lists.control` until the end, or for as many steps as are left to this launch.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) near_far(Run run, Lists lists) {
    __shared__ Stage stage;
    __shared__ Control c;
    uint32 passed = 0;
    clear(stage);
    if (warp_in_block() == 0)
        read_control(c, lists);
    __syncthreads();
    while (c.phase != DONE && c.steps_left > 0) {
        Team team = team_of(c);
        if (team.alone)
            barrier(WAIT, c, lists, passed); // all have read what block 0 is going to change
        // One call for both ways: it is most of the kernel, and takes long to compile.
        bool goes_on = !team.alone || blockIdx.x == 0;
        while (goes_on) {
            step(run, lists, c, stage, team);
            if (!team.alone)
                break;
            __syncthreads();
            if (warp_in_block() == 0)
                make_control(c, lists);
            __syncthreads();
            goes_on = c.alone && c.phase != DONE && c.steps_left > 0;
        }
        barrier(team.alone ? READ : DECIDE, c, lists, passed);
    }
}

// Width of the first bucket: the mean of how far the priorities of messages over a sample of edges
// lie above their sender's, times `factor`. The value of vertex `start` stands for all senders'.
// Where that is infinitely far, as in widest paths: how far they lie apart, times `spread`. One
// block.
extern "C" __global__ void near_far_width(Run run, Lists lists, uint64 num_edges, uint64 start,
                                          double factor, double spread) {
    const double far_away = 2305843009213693952.0; // 2^61
    VALUE sent = first_field(run)[start];
    double base = (double)priority_of(run, sent), p = 0;
    bool found = false;
    if (num_edges > 0) {
        uint64 share = num_edges / blockDim.x;
        OFFSET e = (OFFSET)(num_edges < blockDim.x ? threadIdx.x % num_edges : threadIdx.x * share);
        uint64 rows = COLUMNS ? lists.n >> lists.column_bits : lists.n;
        ID u = (ID)(upper_bound(lists.offsets, rows + 1, e) - 1);
        MESSAGE message;
        WORD word = neighbour(lists, e);
        if (message_along(run, lists, sent, u, end_of(word), edge_of(word, e), message)) {
            p = (double)priority_of(run, message);
            found = p - p == 0; // finite
        }
    }
    double number = block_sum(found ? 1.0 : 0.0);
    double mean = block_sum(found ? p / number : 0.0);
    double increment = found ? fabs(p - base) : 0;
    bool is_far = block_sum(increment < far_away ? 0.0 : 1.0) > 0;
    if (is_far)
        increment = found ? spread * fabs(p - mean) : 0;
    double width = block_sum(found ? increment / number : 0.0) * factor;
    if (threadIdx.x > 0)
        return;
    PRIORITY delta;
    if constexpr (WHOLE_PRIORITY)
        delta = width > 1 ? (PRIORITY)(width < 2 * far_away ? width : 2 * far_away) : 1;
    else
        delta = width > 0 && width < 1e300 ? width : 1.0;
    lists.control->delta = lists.control->least_delta = delta;
}
