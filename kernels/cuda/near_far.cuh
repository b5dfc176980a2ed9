// What steps of near_far.cu share: the arrays of a run, the control block, the team of blocks that
// does a step, and what happens between two steps.
//
// One launch does many steps. A step ends at a barrier; the block that arrives last looks at what
// the step has counted and decides on the next one, alone, so that all blocks do the same. While
// there is little to do, block 0 goes on by itself, and a step ends with its __syncthreads.

#include "improve.cuh"

// With COLUMNS a vertex has values of several runs, side by side, which go on together: what is
// called a vertex is one of its columns then, and all of a row's columns have its edges.
#ifndef COLUMNS
#define COLUMNS 0
#endif

constexpr bool WHOLE_PRIORITY = Same<PRIORITY, int64>::value;
constexpr int64 MOST = 0x7fffffffffffffffll;
static_assert(WARP % UNROLL == 0, "a scan takes the words of a warp UNROLL at a time");

enum Phase : uint64 {
    PUSH,  // relax the near list; rows of PIECE edges and more become items
    ITEMS, // relax the items
    SPLIT, // choose from the far list what is near by now
    SCAN,  // the same from the far set, where the list has overflowed
    DONE,
};

// A piece of a long row.
struct Item {
    OFFSET begin;
    ID row;
};

// All members have 8 bytes, here and below: engine/gpu/near_far.py has the same structs.
struct Control {
    // What the next step is. Changed between steps only.
    uint64 phase;
    uint64 alone;      // block 0 does it by itself
    uint64 parity;     // which near list is relaxed; the other is written
    uint64 near;       // its length
    uint64 far_parity; // which far list is valid
    uint64 far_listed; // whether it is: it holds all of the far set
    uint64 relist;     // a scan is to write it
    PRIORITY limit;    // near is what is not above
    PRIORITY done;     // what is not above is final
    PRIORITY delta;    // width of the next bucket
    PRIORITY least_delta;
    uint64 steps_left; // of this launch, so that it ends
    // What steps count.
    uint64 failed;   // an integer overflowed
    uint64 appended; // to the near list that is written
    uint64 far;      // vertices in the far set
    uint64 kept;     // of them, by a split or scan
    uint64 items;
    uint64 cursor;    // groups of rows handed out
    uint64 edges;     // of the rows of this step
    int64 least;      // key of the least priority in the far set, or less
    uint64 unsettled; // targets that are not final
    // What is told afterwards, and what the width of buckets goes by.
    uint64 rounds;
    uint64 all_edges;
    uint64 bucket_rounds;
    uint64 bucket_edges;
    uint64 last_edges;
    uint64 splits;
    uint64 scans;
    uint64 lone_steps;
    uint64 steps;
    // Of near_far_ranks.cu: vertices whose values came from elsewhere, and their least priority.
    uint64 arrivals;
    int64 least_arrival;
    uint64 came;    // those of them that were not in the far set
    PRIORITY until; // the limit goes no further; what lies beyond stays in the far set
    uint64 there;   // edges that were read in host memory
};
constexpr uint32 CONTROL_WORDS = sizeof(Control) / 8;

struct Lists {
    const OFFSET *offsets;
    const WORD *neighbours;
    ID *near[2];         // n each: a vertex is appended once a round, so nothing is ever left out
    ID *far[2];          // far_capacity each; what does not fit is found in far_set
    uint32 *near_set[2]; // members of the near list of the same parity that were pushed to it
    uint32 *far_set;     // vertices above the limit that are to be relaxed some time
    VALUE *sent;         // value with which a vertex was relaxed last
    uint8 *late;         // vertices that have the identity as a value
    Item *items; // 2 num_edges / PIECE: a row of d >= PIECE edges makes less than 2 d / PIECE
    const ID *targets;
    Control *control;
    uint32 *barrier; // blocks that have arrived; number of barriers
    uint64 n;
    uint64 far_capacity;
    uint64 num_targets;
    PRIORITY cutoff;
    // Settings
    uint64 starved;      // edges a round below which buckets become wider
    uint64 starved_scan; // the same while a bucket costs a scan
    uint64 busy;         // times as many, and they become narrower
    uint64 alone_list;   // most vertices and edges of a round of one block
    uint64 alone_edges;
    uint64 goes_on;     // where an integer has overflowed: what is sent may be far from final
    uint64 column_bits; // of the columns of a row
#if TIERED
    // Edges from this one on are in host memory: where edge 0 would be, and the edge columns.
    uint64 resident;
    const WORD *neighbours_there;
    Run there;
#endif
};

__device__ __forceinline__ bool is_there(const Lists &lists, OFFSET edge) {
#if TIERED
    return edge >= (OFFSET)lists.resident;
#else
    return false;
#endif
}

// How many edges of a row are.
__device__ __forceinline__ uint64 edges_there(const Lists &lists, OFFSET begin, OFFSET end) {
#if TIERED
    OFFSET first = (OFFSET)lists.resident;
    return end <= first ? 0 : end - (begin < first ? first : begin);
#else
    return 0;
#endif
}

// As it stands in its row, with what it carries where it is a word.
__device__ __forceinline__ WORD neighbour(const Lists &lists, OFFSET edge) {
    const WORD *neighbours = lists.neighbours;
#if TIERED
    if (is_there(lists, edge))
        neighbours = lists.neighbours_there;
#endif
    return __ldcs(neighbours + edge);
}

__device__ __forceinline__ bool message_along(const Run &run, const Lists &lists, VALUE value, ID u,
                                              ID v, EDGE edge, MESSAGE &message) {
#if TIERED && !PACKED
    if (is_there(lists, edge))
        return message_from(lists.there, value, u, v, edge, message);
#endif
    return message_from(run, value, u, v, edge, message);
}

// The row of a vertex, and the vertex in the same column of another row.
__device__ __forceinline__ ID row_of(const Lists &lists, ID v) {
    return COLUMNS ? (ID)(v >> lists.column_bits) : v;
}

__device__ __forceinline__ ID beside(const Lists &lists, ID v, ID row) {
    return COLUMNS ? (ID)(row << lists.column_bits | (v & (((ID)1 << lists.column_bits) - 1)))
                   : row;
}

// ---- priorities

// Integers in the order of the priorities.
__device__ __forceinline__ int64 order_key(PRIORITY p) {
    if constexpr (WHOLE_PRIORITY) {
        return p;
    } else {
        int64 bits = bits_as<int64>(p);
        return bits < 0 ? bits ^ MOST : bits;
    }
}

__device__ __forceinline__ PRIORITY from_order_key(int64 key) {
    if constexpr (WHOLE_PRIORITY)
        return key;
    else
        return bits_as<PRIORITY>(key < 0 ? key ^ MOST : key);
}

// `least + delta`, not beyond the end of the type.
__device__ __forceinline__ PRIORITY raised(PRIORITY least, PRIORITY delta) {
    if constexpr (WHOLE_PRIORITY)
        return least > MOST - delta ? MOST : least + delta;
    else
        return least + delta;
}

__device__ __forceinline__ PRIORITY wider(PRIORITY delta) {
    if constexpr (WHOLE_PRIORITY)
        return delta > (1ll << 61) ? delta : 2 * delta + 1;
    else
        return delta < 1e300 ? 2 * delta : delta;
}

// ---- what a step writes, gathered by the block, so that few atomics meet at one counter

struct Stage {
    ID near[STAGE];
    ID far[STAGE];
    uint32 near_size;
    uint32 far_size;
    uint32 far_full; // the far list is: count only
    uint32 failed;
    uint64 far_counted;
    uint64 edges;
    uint64 there; // of them in host memory
    uint64 unsettled;
    int64 least;
    uint64 near_place; // for a flush
    uint64 far_place;
};

__device__ __forceinline__ void clear(Stage &stage) {
    if (threadIdx.x == 0) {
        stage.near_size = stage.far_size = stage.far_full = stage.failed = 0;
        stage.far_counted = stage.edges = stage.there = stage.unsettled = 0;
        stage.least = MOST;
    }
}

// Appends v of the lanes where `wanted` holds to the near list that is written. Full warps only.
__device__ __forceinline__ void append_near(bool wanted, ID v, Stage &stage, ID *list,
                                            Control *control) {
    uint32 votes = __ballot_sync(FULL_WARP, wanted);
    if (votes == 0)
        return;
    uint32 first = 0;
    if (lane() == 0)
        first = atomicAdd(&stage.near_size, (uint32)__popc(votes));
    first = __shfl_sync(FULL_WARP, first, 0);
    uint32 place = first + __popc(votes & lower_lanes());
    if (wanted && place < STAGE)
        stage.near[place] = v;
    if (first + __popc(votes) <= STAGE)
        return;
    bool spilled = wanted && place >= STAGE;
    votes = __ballot_sync(FULL_WARP, spilled);
    uint64 base = 0;
    if (lane() == 0)
        base = atomicAdd(&control->appended, (uint64)__popc(votes));
    base = __shfl_sync(FULL_WARP, base, 0);
    if (spilled)
        list[base + __popc(votes & lower_lanes())] = v;
}

// The same for the far list, whose length `counter` goes on where its memory ends.
__device__ __forceinline__ void append_far(bool wanted, ID v, Stage &stage, bool listed, ID *list,
                                           uint64 capacity, uint64 *counter) {
    uint32 votes = __ballot_sync(FULL_WARP, wanted);
    if (votes == 0)
        return;
    const uint32 counted = ~0u;
    uint32 first = counted;
    if (lane() == 0) { // alone, as another warp may be about to change `far_full`
        if (listed && !fresh(&stage.far_full))
            first = atomicAdd(&stage.far_size, (uint32)__popc(votes));
        else
            atomicAdd(&stage.far_counted, (uint64)__popc(votes));
    }
    first = __shfl_sync(FULL_WARP, first, 0);
    if (first == counted)
        return;
    uint32 place = first + __popc(votes & lower_lanes());
    if (wanted && place < STAGE)
        stage.far[place] = v;
    if (first + __popc(votes) <= STAGE)
        return;
    bool spilled = wanted && place >= STAGE;
    votes = __ballot_sync(FULL_WARP, spilled);
    uint64 base = 0;
    if (lane() == 0)
        base = atomicAdd(counter, (uint64)__popc(votes));
    base = __shfl_sync(FULL_WARP, base, 0);
    uint64 at = base + __popc(votes & lower_lanes());
    if (spilled && at < capacity)
        list[at] = v;
    if (base >= capacity && lane() == 0)
        stage.far_full = 1;
}

// Writes out what the block has gathered. Every thread of the block.
__device__ __forceinline__ void flush(Stage &stage, ID *near, ID *far, uint64 capacity,
                                      uint64 *far_counter, Control *control) {
    __syncthreads();
    uint32 num_near = stage.near_size < STAGE ? stage.near_size : STAGE;
    uint32 num_far = stage.far_size < STAGE ? stage.far_size : STAGE;
    if (threadIdx.x == 0) {
        stage.near_place = num_near ? atomicAdd(&control->appended, (uint64)num_near) : 0;
        uint64 added = num_far + stage.far_counted;
        stage.far_place = added ? atomicAdd(far_counter, added) : 0;
        if (stage.edges)
            atomicAdd(&control->edges, stage.edges);
        if (stage.there)
            atomicAdd(&control->there, stage.there);
        if (stage.unsettled)
            atomicAdd(&control->unsettled, stage.unsettled);
        if (stage.least != MOST)
            atomicMin(&control->least, stage.least);
        if (stage.failed)
            atomicAdd(&control->failed, 1ull);
    }
    __syncthreads();
    for (uint32 i = threadIdx.x; i < num_near; i += blockDim.x)
        near[stage.near_place + i] = stage.near[i];
    for (uint32 i = threadIdx.x; i < num_far; i += blockDim.x)
        if (stage.far_place + i < capacity)
            far[stage.far_place + i] = stage.far[i];
    __syncthreads();
    clear(stage);
}

// ---- between two steps

// The near list is empty: end, or go on with the next bucket.
__device__ __forceinline__ void raise_limit(Control &c, const Lists &lists) {
    if (c.far == 0 || from_order_key(c.least) > c.until) {
        c.phase = DONE;
        return;
    }
    if (c.bucket_rounds > 0) {
        uint64 few = c.far_listed ? lists.starved : lists.starved_scan;
        uint64 mean = c.bucket_edges / c.bucket_rounds;
        if (mean < few)
            c.delta = wider(c.delta);
        else if (mean > few * lists.busy)
            c.delta = c.delta / 2 < c.least_delta ? c.least_delta : c.delta / 2;
        c.bucket_rounds = c.bucket_edges = 0;
    }
    c.done = c.limit;
    c.limit = raised(from_order_key(c.least), c.delta);
    if (c.limit > c.until)
        c.limit = c.until;
    c.least = MOST;
    c.phase = c.far_listed ? SPLIT : SCAN;
    c.relist = c.far <= lists.far_capacity / 2;
}

// One thread, after all others of the step have arrived.
__device__ __forceinline__ void decide(Control &c, const Lists &lists) {
    ++c.steps;
    c.lone_steps += c.alone;
    c.cursor = 0;
    if (c.failed && !lists.goes_on) {
        c.phase = DONE;
    } else if (c.phase == PUSH && c.items > 0) {
        c.phase = ITEMS;
    } else if (c.phase == PUSH || c.phase == ITEMS) {
        ++c.rounds;
        ++c.bucket_rounds;
        c.bucket_edges += c.edges;
        c.all_edges += c.edges;
        c.last_edges = c.edges;
        c.edges = c.items = 0;
        c.far_listed = c.far_listed && c.far <= lists.far_capacity;
        c.parity ^= 1;
        c.near = c.appended;
        c.appended = 0;
        c.phase = PUSH;
        if (c.near == 0)
            raise_limit(c, lists);
    } else {
        c.splits += c.phase == SPLIT;
        c.scans += c.phase == SCAN;
        bool settled = lists.num_targets > 0 && c.unsettled == 0;
        c.far_listed = c.phase == SPLIT || c.relist;
        c.far_parity ^= 1;
        c.far = c.kept;
        c.near = c.appended;
        c.kept = c.appended = c.unsettled = 0;
        c.phase = PUSH;
        if (settled)
            c.phase = DONE;
        else if (c.near == 0)
            raise_limit(c, lists);
    }
    bool little = c.last_edges <= lists.alone_edges;
    if (c.phase == ITEMS)
        c.alone = c.items * PIECE <= lists.alone_edges;
    else
        c.alone = little && (c.phase == PUSH    ? c.near <= lists.alone_list
                             : c.phase == SPLIT ? c.far <= 4 * lists.alone_list
                                                : c.phase == DONE);
    --c.steps_left;
}

// The blocks that do a step: all, or block 0.
struct Team {
    uint32 warp;  // rank of this warp
    uint32 warps; // how many there are
    bool alone;
};

__device__ __forceinline__ Team team_of(const Control &c) {
    bool alone = c.alone;
    uint32 of_block = blockDim.x / WARP;
    return {alone ? warp_in_block() : blockIdx.x * of_block + warp_in_block(),
            alone ? of_block : gridDim.x * of_block, alone};
}

// One warp: the control block as it is now.
__device__ __forceinline__ void read_control(Control &c, const Lists &lists) {
    __syncwarp();
    for (uint32 i = lane(); i < CONTROL_WORDS; i += WARP)
        ((uint64 *)&c)[i] = fresh((uint64 *)lists.control + i);
    __syncwarp();
}

// One warp: decides on the next step, and says so to all.
__device__ __forceinline__ void make_control(Control &c, const Lists &lists) {
    read_control(c, lists);
    if (lane() == 0)
        decide(c, lists);
    __syncwarp();
    for (uint32 i = lane(); i < CONTROL_WORDS; i += WARP)
        ((volatile uint64 *)lists.control)[i] = ((uint64 *)&c)[i];
    __syncwarp();
}

enum AtBarrier { DECIDE, READ, WAIT };

// Waits for all blocks. DECIDE: the last one to arrive decides on the next step. Then, but for
// WAIT, all read it. `passed`: barriers so far in this launch.
__device__ __forceinline__ void barrier(AtBarrier what, Control &c, const Lists &lists,
                                        uint32 &passed) {
    __syncthreads();
    if (warp_in_block() == 0) {
        uint32 last = 0;
        if (lane() == 0) {
            __threadfence();
            last = atomicAdd(lists.barrier, 1u) == gridDim.x - 1;
            __threadfence();
        }
        last = __shfl_sync(FULL_WARP, last, 0);
        if (last) {
            if (what == DECIDE)
                make_control(c, lists);
            if (lane() == 0) {
                *(volatile uint32 *)lists.barrier = 0;
                __threadfence();
                atomicAdd(lists.barrier + 1, 1u);
            }
        } else if (lane() == 0) {
            while (load_acquire(lists.barrier + 1) == passed)
                if (what == READ) // block 0 may be at work for long
                    __nanosleep(100);
            __threadfence();
        }
        if (what == READ || (what == DECIDE && !last))
            read_control(c, lists);
    }
    ++passed;
    __syncthreads();
}
