// near_far_ranks.cu: what the ranks of a run in near-far order tell each other after a stretch, and
// how far the next one goes.
//
// Launch    a stretch: near_far; an exchange of the border's values and arrived, or list_news, an
//           exchange and take_news; then tell, an all-gather of Told, next_stretch. What is queued
//           behind the last one does nothing.
// Encoding  ghosts are the vertices from run.num_owned on. told[i], told_late[i]: of the i-th, what
//           it sent last, or had at the start. late: as in near_far.cuh.
// Choice    all ranks put the same numbers together, and so go on to the same priority.

#include "near_far.cuh"

// What a rank tells. All members have 8 bytes, here and below: engine/device_ranks/near_far.py has
// the same structs.
struct Told {
    uint64 pending; // vertices that are to send
    uint64 arrivals;
    uint64 edges;      // read in the stretch
    uint64 unfinished; // by a launch that has been long enough
    uint64 failed;     // an integer has overflowed, and the run does not go on
    uint64 left;       // border values that there was no room for
    int64 least;       // key of the least priority of those that are to send
};

// The same on all ranks, but for `edges`.
struct Agreed {
    uint64 over;
    uint64 exchanges;
    uint64 buckets; // in a stretch
    PRIORITY until;
    uint64 edges; // that were told of
    uint64 news;  // ghosts that were told something, and border values that are left
    // Settings
    uint64 ordered;
    PRIORITY delta; // the width of a bucket
    PRIORITY lowest, highest;
    uint64 few_edges, few_edges_a_value, edges_a_spare_value, widest;
    uint64 steps; // of a launch
};

// What an owner tells of one border vertex: its place among those of the peer.
struct News {
    ID place;
#if MAY_BE_LATE
    uint32 late;
#endif
    VALUE value;
};

// What there is at the start of a run, in the memory of another one. told, told_late: of ghosts.
extern "C" __global__ void restart(Run run, Lists lists, uint8 *active, VALUE *told,
                                   uint8 *told_late, VALUE value, VALUE nothing) {
    const uint64 owned = run.num_owned;
    for (uint64 v = thread_rank(); v < lists.n; v += num_threads()) {
        first_field(run)[v] = value;
        lists.sent[v] = nothing;
        active[v] = 0;
        if (HAS_REACHED)
            lists.late[v] = 0;
        if (v < owned)
            continue;
        told[v - owned] = value;
        if (HAS_REACHED)
            told_late[v - owned] = 0;
    }
    for (uint64 word = thread_rank(); word < (lists.n + 31) / 32; word += num_threads())
        lists.near_set[0][word] = lists.near_set[1][word] = lists.far_set[word] = 0;
}

// The sources of that run, which are to send first. starts: whether they start with `value`.
extern "C" __global__ void restart_at(Run run, Lists lists, uint8 *active, VALUE *told,
                                      uint8 *told_late, VALUE value, uint64 starts,
                                      const ID *places, uint64 number) {
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        ID v = places[i];
        if (starts)
            first_field(run)[v] = value;
        active[v] = 1;
        if (HAS_REACHED)
            lists.late[v] = 1;
        lists.far[0][i] = v;
        if (v < run.num_owned)
            continue;
        told[v - run.num_owned] = first_field(run)[v];
        if (HAS_REACHED)
            told_late[v - run.num_owned] = 1;
    }
}

// Lists the border values that are others than when they were sent last, which are `packed`, as
// many of each peer's as there is room for: from starts[peer] on. cuts, lengths: where the border
// of a peer begins, and how many there are.
extern "C" __global__ void list_news(Run run, Lists lists, const ID *vertices, uint64 number,
                                     const uint64 *cuts, const uint64 *lengths, uint64 size,
                                     VALUE *packed, uint8 *packed_late, News *news,
                                     const uint64 *starts, uint64 *counts) {
    for (uint64 first = warp_rank() * WARP * TOGETHER; first < number;
         first += num_warps() * WARP * TOGETHER) {
        // Nobody waits for one value before the next one is asked for.
        ID v[TOGETHER];
        VALUE now[TOGETHER], was[TOGETHER];
        uint32 late[TOGETHER];
        bool differs[TOGETHER];
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j) {
            uint64 i = first + j * WARP + lane();
            v[j] = i < number ? vertices[i] : 0;
            was[j] = i < number ? packed[i] : VALUE();
        }
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j) {
            now[j] = first_field(run)[v[j]];
            late[j] = MAY_BE_LATE ? lists.late[v[j]] : 0;
        }
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j) {
            uint64 i = first + j * WARP + lane();
            bool same = now[j] == was[j] || (now[j] != now[j] && was[j] != was[j]);
            differs[j] = i < number && (!same || (MAY_BE_LATE && late[j] != packed_late[i]));
        }
#pragma unroll
        for (int j = 0; j < TOGETHER; ++j) {
            uint64 i = first + j * WARP + lane(), peer = 0;
            if (differs[j]) {
                peer = upper_bound(cuts, size + 1, i) - 1;
                differs[j] = i - cuts[peer] < lengths[peer];
            }
            for (uint32 votes = __ballot_sync(FULL_WARP, differs[j]); votes != 0;) {
                int leader = __ffs(votes) - 1;
                uint64 of = __shfl_sync(FULL_WARP, peer, leader), place = 0;
                uint64 room = starts[of + 1] - starts[of];
                bool mine = differs[j] && peer == of;
                uint32 together = __ballot_sync(FULL_WARP, mine);
                if (lane() == leader) {
                    // Where they are far too many it does not matter how many.
                    place = fresh(counts + of);
                    if (place < 2 * room)
                        place = atomicAdd(counts + of, (uint64)__popc(together));
                }
                place = __shfl_sync(FULL_WARP, place, leader) + __popc(together & lower_lanes());
                if (mine && place < room) {
                    News &told = news[starts[of] + place];
                    told.place = (ID)(i - cuts[of]);
                    told.value = packed[i] = now[j];
#if MAY_BE_LATE
                    told.late = late[j];
                    packed_late[i] = (uint8)late[j];
#endif
                }
                votes &= ~together;
            }
        }
    }
}

// What comes to a block's part of the ghosts that send next. They may be all border vertices, and
// atomics on the same counter are done one after another: so a block adds up what it counts, and
// lists what it finds.
struct Arriving {
    Stage stage;
    uint64 arrivals, came;
    int64 least;
};

// Of a thread.
struct Arrived {
    uint32 arrivals, came;
    int64 least;
    const bool listed; // there is a list of the far set
    ID *const list;
};

// Whether a ghost sends next, as its owner has told it something.
__device__ __forceinline__ bool hears(const Run &run, const Lists &lists, VALUE *told,
                                      uint8 *told_late, uint64 v) {
    const uint64 ghost = v - run.num_owned;
    VALUE now = first_field(run)[v], was = told[ghost];
    bool reached = MAY_BE_LATE && lists.late[v] && !told_late[ghost];
    bool same = now == was || (now != now && was != was); // NaN is told once
    if (same && !reached)
        return false;
    told[ghost] = now;
    if (reached)
        told_late[ghost] = 1;
    return sends_next(run, v, was, now);
}

__device__ __forceinline__ Arrived begin(const Lists &lists, Arriving &all) {
    if (threadIdx.x == 0) {
        all.arrivals = all.came = 0;
        all.least = MOST;
    }
    clear(all.stage);
    __syncthreads();
    const Control *control = lists.control;
    return {0, 0, MOST, control->far_listed != 0, lists.far[control->far_parity]};
}

// Of each lane one that sends next; `comes`: it is not in the far set yet. Full warps only.
__device__ __forceinline__ void add(const Run &run, const Lists &lists, bool sends, bool comes,
                                    uint64 v, Arriving &all, Arrived &own) {
    if (sends) {
        int64 key = order_key(priority_of(run, first_field(run)[v]));
        own.least = key < own.least ? key : own.least;
    }
    own.arrivals += sends;
    own.came += comes;
    append_far(comes, (ID)v, all.stage, own.listed, own.list, lists.far_capacity,
               &lists.control->far);
}

__device__ __forceinline__ void end(const Lists &lists, Arriving &all, const Arrived &own) {
    Control *control = lists.control;
    uint32 arrivals = warp_sum(own.arrivals), came = warp_sum(own.came);
    int64 least = warp_min(own.least);
    if (lane() == 0 && arrivals > 0) {
        atomicAdd(&all.arrivals, (uint64)arrivals);
        atomicAdd(&all.came, (uint64)came);
        atomicMin(&all.least, least);
    }
    flush(all.stage, nullptr, own.list, lists.far_capacity, &control->far, control);
    if (threadIdx.x == 0 && all.arrivals > 0) {
        atomicAdd(&control->arrivals, all.arrivals);
        atomicAdd(&control->came, all.came);
        atomicMin(&control->least_arrival, all.least);
    }
}

// The ghosts that send next come into the far set, where all may have been told something. A warp
// takes the 32 of a word of it.
extern "C" __global__ void arrived(Run run, Lists lists, VALUE *told, uint8 *told_late) {
    __shared__ Arriving all;
    Arrived own = begin(lists, all);
    const uint64 owned = run.num_owned, n = run.num_vertices;
    for (uint64 word = owned / WARP + warp_rank(); word * WARP < n; word += num_warps()) {
        uint64 v = word * WARP + lane();
        bool sends = v >= owned && v < n && hears(run, lists, told, told_late, v);
        uint32 votes = __ballot_sync(FULL_WARP, sends);
        if (votes == 0)
            continue;
        uint32 before = fresh(lists.far_set + word);
        __syncwarp();
        if (lane() == 0)
            lists.far_set[word] = before | votes; // nobody else has this word
        add(run, lists, sends, sends && !(before >> lane() & 1), v, all, own);
    }
    end(lists, all, own);
}

// The same of those alone that are listed, which are put where the ghosts are; those of a peer
// begin at ghosts[peer].
extern "C" __global__ void take_news(Run run, Lists lists, const News *news, const uint64 *starts,
                                     const uint64 *counts, const uint64 *ghosts, uint64 size,
                                     VALUE *told, uint8 *told_late) {
    __shared__ Arriving all;
    Arrived own = begin(lists, all);
    const uint64 room = starts[size];
    for (uint64 first = warp_rank() * WARP; first < room; first += num_warps() * WARP) {
        uint64 i = first + lane(), peer = 0, v = 0;
        bool listed = i < room, comes = false;
        if (listed) {
            peer = upper_bound(starts, size + 1, i) - 1;
            listed = i - starts[peer] < counts[peer];
        }
        if (!__any_sync(FULL_WARP, listed))
            continue;
        bool sends = false;
        if (listed) {
            v = ghosts[peer] + news[i].place;
            first_field(run)[v] = news[i].value;
#if MAY_BE_LATE
            lists.late[v] = (uint8)news[i].late;
#endif
            sends = hears(run, lists, told, told_late, v);
            comes = sends && set_bit(lists.far_set, v);
        }
        add(run, lists, sends, comes, v, all, own);
    }
    end(lists, all, own);
}

// By one thread. counts, starts: of the news, which are counted anew.
extern "C" __global__ void tell(Lists lists, const Agreed *agreed, Told *told, uint64 *counts,
                                const uint64 *starts, uint64 size) {
    const Control &c = *lists.control;
    told->left = 0;
    for (uint64 peer = 0; peer < size; ++peer) {
        uint64 room = starts[peer + 1] - starts[peer];
        told->left += counts[peer] > room ? counts[peer] - room : 0;
        counts[peer] = 0;
    }
    told->unfinished = c.phase != DONE;
    told->failed = c.failed && !lists.goes_on;
    told->pending = c.far + told->unfinished + told->left;
    told->arrivals = c.arrivals;
    told->edges = c.all_edges - agreed->edges;
    told->least = MOST;
    if (c.far > c.came)
        told->least = c.least;
    if (c.arrivals > 0 && c.least_arrival < told->least)
        told->least = c.least_arrival;
}

// How far the next stretch goes. One in which few edges were read is followed by a wider one, but
// where most of them were in vain: vertices have been told of something better since, and not few.
// `StretchPolicy` of engine/buckets.py says the same.
__device__ void choose_until(Agreed &agreed, uint64 size, uint64 arrivals, uint64 edges,
                             int64 least) {
    uint64 few = agreed.few_edges * size;
    bool in_vain = edges < agreed.few_edges_a_value * arrivals;
    if (agreed.until == agreed.lowest)
        agreed.buckets = 1; // the first stretch has found the least priority there is
    else if (edges < few && !(in_vain && arrivals > few / agreed.edges_a_spare_value))
        agreed.buckets = 2 * agreed.buckets < agreed.widest ? 2 * agreed.buckets : agreed.widest;
    else if (in_vain || edges > 4 * few)
        agreed.buckets = agreed.buckets > 1 ? agreed.buckets / 2 : 1;
    PRIORITY most = agreed.highest / (PRIORITY)agreed.buckets;
    PRIORITY width = agreed.delta > most ? agreed.highest : (PRIORITY)agreed.buckets * agreed.delta;
    agreed.until = least == MOST ? agreed.highest : raised(from_order_key(least), width);
}

// By one thread.
extern "C" __global__ void next_stretch(Lists lists, const Told *every, uint64 size,
                                        Agreed *agreed) {
    if (agreed->over)
        return;
    Control &c = *lists.control;
    Told all = {0, 0, 0, 0, 0, 0, MOST};
    for (uint64 rank = 0; rank < size; ++rank) {
        all.pending += every[rank].pending;
        all.arrivals += every[rank].arrivals;
        all.edges += every[rank].edges;
        all.unfinished += every[rank].unfinished;
        all.failed += every[rank].failed;
        all.left += every[rank].left;
        if (every[rank].least < all.least)
            all.least = every[rank].least;
    }
    ++agreed->exchanges;
    agreed->news = all.arrivals + all.left;
    agreed->edges = c.all_edges;
    c.came = 0;
    lists.barrier[0] = lists.barrier[1] = 0;
    if (all.pending == 0 || all.failed > 0) {
        agreed->over = 1;
        return;
    }
    bool listed = c.far_listed && c.far <= lists.far_capacity;
    if (all.unfinished > 0) { // all others wait
        if (c.phase == SPLIT && !listed)
            c.phase = SCAN;
        c.far_listed = listed;
        c.steps_left = agreed->steps;
        return;
    }
    if (agreed->ordered)
        choose_until(*agreed, size, all.arrivals, all.edges, all.least);
    if (c.far == 0)
        return;
    c.until = agreed->until;
    if (c.arrivals > 0) {
        PRIORITY near = raised(from_order_key(c.least_arrival), c.delta);
        if (near < c.limit)
            c.limit = near;
    }
    c.arrivals = 0;
    c.phase = listed ? SPLIT : SCAN;
    c.far_listed = listed;
    c.alone = listed && c.far <= lists.alone_list;
    c.relist = c.far <= lists.far_capacity / 2;
    c.least = c.least_arrival = MOST;
    c.steps_left = agreed->steps;
}
