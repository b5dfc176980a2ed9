// Filters: how a superstep makes the next one's lists of active vertices. FILTERED: there is one.
//
// Computes  FILTERABLE: pushing records the vertices that get a message which improves them, each
//           once: `list` and `spill`. `apply_listed` then applies the messages of these alone, and
//           sorts those that become active into the worklists of program_push.cuh. Else apply,
//           which goes over all vertices, records those that it finds active; `list_noted` sorts
//           them in.
// Launch    what records, then in phases with a barrier of the grid between them: filter_count,
//           filter_write (where has_two_phases), apply_listed or list_noted; the first three on one
//           and the same grid.
// Needs     FILTERABLE: a vertex without a message stays as it is and is not active: the program
// has
//           no apply, active and aggregates of its own, and combines by min, max or any.
// Encoding  `touched`, if FILTERABLE, has a bit for each vertex that got a message; all 0 between
//           supersteps. The bin of thread t is bins[t], bins[t + threads], ...

// FILTER_NONE: lists are made by a look at all vertices (frontier). FILTER_BATCH, if FILTERABLE:
// pushing writes all edges that it goes along, and the list is what is left of these.
// FILTER_ONLINE: vertices are recorded in bins; what does not fit is appended to `spill` one by
// one. FILTER_STRIDED, FILTER_BALLOT: a scan of `touched`, or of who is active, by threads each for
// itself or by warps together. FILTER_JIT: bins, and a ballot in supersteps in which one of them
// overflows. FILTER_ATOMIC: vertices are appended to `list` one by one.
enum FilterKind : int64 {
    FILTER_NONE,
    FILTER_BATCH,
    FILTER_STRIDED,
    FILTER_ONLINE,
    FILTER_BALLOT,
    FILTER_JIT,
    FILTER_ATOMIC
};

struct Filter {
    int64 kind;
    int64 threshold; // entries of a bin
    uint32 *touched;
    ID *bins;
    uint32 *filled; // entries of each thread's
    ID *list, *spill;
    uint64 *counts; // of each block
    ID *batch;
    OFFSET *batch_first; // of each vertex: where its edges stand in `batch`
    uint64 batch_room;   // edges that `batch` has room for
};

// Whether the edges of this superstep do not fit: the host makes more room before it.
__device__ __forceinline__ bool lacks_room(const RunControl *control, const Filter &filter) {
    if (!FILTERED || filter.kind != FILTER_BATCH || control->direction != BY_PUSH)
        return false;
    return (uint64)(control->ready ? control->batched : control->active_edges) > filter.batch_room;
}

constexpr ID NO_VERTEX = ~(ID)0;

__device__ __forceinline__ bool has_bins(const Filter &filter) {
    return filter.kind == FILTER_ONLINE || filter.kind == FILTER_JIT;
}

#if FILTERED

// Notes vertices; one a thread.
struct Recorder {
    const Filter &filter;
    RunControl *control;
    uint32 filled;

    // One that no thread has noted in this superstep.
    __device__ __forceinline__ void add(ID v) {
        if (filter.kind == FILTER_ATOMIC)
            filter.list[atomicAdd(&control->listed, 1u)] = v;
        if (!has_bins(filter))
            return;
        if (filled < filter.threshold) {
            filter.bins[filled * num_threads() + thread_rank()] = v;
            filled += 1;
            return;
        }
        control->overflow = 1;
        if (filter.kind == FILTER_ONLINE)
            filter.spill[atomicAdd(&control->spilled, 1u)] = v;
    }

    // When all are noted.
    __device__ __forceinline__ void end() {
        if (has_bins(filter))
            filter.filled[thread_rank()] = filled;
    }
};

#if FILTERABLE

struct SendRecorded {
    const Run &run;
    const Push &push;
    MESSAGE *messages;
    uint8 *received;
    const uint8 *reached;
    Recorder &recorder;

    // Whether there was a message that improves the vertex.
    __device__ __forceinline__ bool send(ID u, ID v, OFFSET e, bool &good) const {
        MESSAGE m;
        if (!message(run, u, v, e, m)) {
            good = false;
            return false;
        }
        bool had = !HAS_REACHED || reached[v];
        MESSAGE held = (MESSAGE)first_field(run)[v];
        if (had && (COMBINE_ANY ? held == m : !better(m, held)))
            return false;
        send_to(messages, received, v, m);
        return true;
    }

    __device__ __forceinline__ bool operator()(ID u, ID v, OFFSET e) const {
        bool good = true, sent = send(u, v, e, good);
        const Filter &filter = recorder.filter;
        if (filter.kind == FILTER_BATCH)
            filter.batch[filter.batch_first[u] + (e - push.offsets[u])] = sent ? v : NO_VERTEX;
        else if (sent && set_bit(filter.touched, v))
            recorder.add(v);
        return good;
    }
};

// Pushes along the edges of the lists, whose vertices are then no more active.
__device__ __forceinline__ void push_recorded(const Run &run, const Push &push,
                                              const Filter &filter, MESSAGE *messages,
                                              uint8 *received, const uint8 *reached,
                                              uint8 *active) {
    RunControl *control = run.control;
    for (uint64 i = thread_rank(); i < control->small; i += num_threads())
        active[push.small[i]] = 0;
    for (uint64 i = thread_rank(); i < control->medium; i += num_threads())
        active[push.medium[i]] = 0;
    for (uint64 i = thread_rank(); i < control->chunks; i += num_threads())
        active[push.chunk_row[i]] = 0;
    Recorder recorder = {filter, control, 0};
    if (!for_edges(control, push, SendRecorded{run, push, messages, received, reached, recorder}))
        control->bad = BAD_COMPUTE;
    recorder.end();
}

#endif

// Whether a scan lists the vertex.
__device__ __forceinline__ bool is_listed(const Filter &filter, const uint8 *active, uint64 v) {
    return FILTERABLE ? has_bit(filter.touched, v) : active[v] != 0;
}

// This thread's share of the vertices to list: their number. WRITE: they go to `list` from `place`
// on. By ballot a warp's share is that of its first lane, which knows the place.
template <bool WRITE>
__device__ __forceinline__ uint64 share(const Filter &filter, const uint8 *active, int64 kind,
                                        uint64 n, uint64 place) {
    uint64 found = 0;
    if (kind == FILTER_ONLINE) {
        found = filter.filled[thread_rank()];
        for (uint64 i = 0; WRITE && i < found; i++)
            filter.list[place + i] = filter.bins[i * num_threads() + thread_rank()];
    } else if (kind == FILTER_STRIDED) {
        uint64 span = (n + num_threads() - 1) / num_threads(), begin = thread_rank() * span;
        for (uint64 v = begin; v < begin + span && v < n; v++) {
            if (!is_listed(filter, active, v))
                continue;
            if (WRITE)
                filter.list[place + found] = (ID)v;
            found += 1;
        }
    } else {
        uint64 words = (n + 31) / 32, span = (words + num_warps() - 1) / num_warps();
        uint64 begin = warp_rank() * span, end = begin + span < words ? begin + span : words;
        place = __shfl_sync(FULL_WARP, place, 0);
        for (uint64 word = begin; !FILTERABLE && word < end; word++) {
            uint64 v = word * 32 + lane();
            uint32 members = __ballot_sync(FULL_WARP, v < n && active[v]);
            if (WRITE && (members >> lane() & 1))
                filter.list[place + found + __popc(members & lower_lanes())] = (ID)v;
            found += __popc(members);
        }
        for (uint64 base = begin; FILTERABLE && base < end; base += WARP) {
            uint32 word = base + lane() < end ? filter.touched[base + lane()] : 0;
            if (!WRITE) {
                found += __popc(word);
                continue;
            }
            uint32 votes = __ballot_sync(FULL_WARP, word != 0);
            for (; votes != 0; votes &= votes - 1) {
                int owner = __ffs(votes) - 1;
                uint32 members = __shfl_sync(FULL_WARP, word, owner);
                if (members >> lane() & 1)
                    filter.list[place + __popc(members & lower_lanes())] =
                        (ID)((base + owner) * 32 + lane());
                place += __popc(members);
            }
        }
        if (!WRITE) {
            found = FILTERABLE ? warp_sum(found) : found;
            found = lane() == 0 ? found : 0;
        }
    }
    return found;
}

// Which way the list of this superstep is made.
__device__ __forceinline__ int64 chosen(const RunControl *control, const Filter &filter) {
    if (filter.kind == FILTER_JIT)
        return control->overflow ? FILTER_BALLOT : FILTER_ONLINE;
    return filter.kind;
}

// What is in bins is listed, each block's where it finds room; of a scan each block's share is
// counted. And the worklists, which are not needed any more, are empty again.
__device__ __forceinline__ void filter_count(RunControl *control, const Filter &filter,
                                             const uint8 *active, uint64 n) {
    __shared__ uint32 first;
    if (thread_rank() == 0) {
        control->small = control->medium = control->chunks = 0;
        control->batch = control->batched;
        control->batched = 0;
        control->ready = 1;
    }
    int64 kind = chosen(control, filter);
    if (kind == FILTER_BATCH || kind == FILTER_ATOMIC)
        return;
    uint64 total, place = block_exclusive_scan(share<false>(filter, active, kind, n, 0), &total);
    if (kind == FILTER_ONLINE) {
        if (threadIdx.x == 0)
            first = total > 0 ? atomicAdd(&control->listed, (uint32)total) : 0;
        __syncthreads();
        share<true>(filter, active, kind, n, first + place);
    } else if (threadIdx.x == 0) {
        filter.counts[blockIdx.x] = total;
    }
}

// Whether the list is not yet made then, but needs filter_write.
__device__ __forceinline__ bool has_two_phases(const RunControl *control, const Filter &filter) {
    int64 kind = chosen(control, filter);
    return kind != FILTER_ONLINE && kind != FILTER_ATOMIC;
}

__device__ __forceinline__ void filter_write(RunControl *control, const Filter &filter,
                                             const uint8 *active, uint64 n) {
    if (filter.kind == FILTER_BATCH) {
        uint64 size = control->batch;
        for (uint64 base = warp_rank() * WARP; base < size; base += num_threads()) {
            ID v = base + lane() < size ? filter.batch[base + lane()] : NO_VERTEX;
            bool first = v != NO_VERTEX && set_bit(filter.touched, v);
            warp_append(first, v, filter.list, &control->listed);
        }
        return;
    }
    uint64 before = 0, total;
    for (uint64 block = threadIdx.x; block < blockIdx.x; block += blockDim.x)
        before += filter.counts[block];
    before = block_sum(before);
    int64 kind = chosen(control, filter);
    uint64 place = before + block_exclusive_scan(share<false>(filter, active, kind, n, 0), &total);
    share<true>(filter, active, kind, n, place);
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        control->listed = (uint32)(before + total);
}

#endif

// Room in the list of edges for those of the vertices of a warp.
__device__ __forceinline__ void reserve_batch(RunControl *control, const Filter &filter, ID v,
                                              uint64 length) {
    uint64 inclusive = warp_inclusive_scan(length), first = 0;
    if (lane() == WARP - 1 && inclusive > 0)
        first = atomicAdd((uint64 *)&control->batched, inclusive);
    first = __shfl_sync(FULL_WARP, first, WARP - 1);
    if (length > 0)
        filter.batch_first[v] = (OFFSET)(first + inclusive - length);
}

// Sorts the active vertices into lists, by a look at all. `control` has the lists' lengths, 0
// before.
__device__ __forceinline__ void frontier(const Run &run, const Push &push, const Filter &filter,
                                         const uint8 *active) {
    RunControl *control = run.control;
    uint64 n = run.num_vertices;
    for (uint64 base = warp_rank() * WARP; base < n; base += num_threads()) {
        uint64 v = base + lane();
        int64 length = v < n && active[v] ? push.offsets[v + 1] - push.offsets[v] : 0;
        sort_in(control, push, (ID)v, length);
        if (FILTERED && filter.kind == FILTER_BATCH)
            reserve_batch(control, filter, (ID)v, length);
    }
}

#if FILTERED && FILTERABLE

// Applies the messages of the listed vertices, and sorts those into lists that are active next.
__device__ __forceinline__ void apply_listed(const Run &run, const Push &push, const Filter &filter,
                                             MESSAGE *messages, uint8 *received, uint8 *reached,
                                             uint8 *active) {
    RunControl *control = run.control;
    uint64 listed = control->listed, all = listed + control->spilled;
    Applied applied = {0, 0, true};
    for (uint64 base = warp_rank() * WARP; base < all; base += num_threads()) {
        uint64 i = base + lane();
        ID v = 0;
        int64 length = 0;
        if (i < all) {
            v = i < listed ? filter.list[i] : filter.spill[i - listed];
            filter.touched[v / 32] = 0; // its other members are listed as well
            MESSAGE m = messages[v];
            messages[v] = identity();
            if (NEEDS_RECEIVED)
                received[v] = 0;
            bool had = !HAS_REACHED || reached[v];
            New made;
            applied.good &= apply_vertex(run, v, m, true, had, made);
            if (!had || active_vertex(run, v, m, true, made)) {
                applied.active += 1;
                applied.edges += run.degree[v];
                length = push.offsets[v + 1] - push.offsets[v];
            }
            if (HAS_REACHED && !had)
                reached[v] = 1;
            active[v] = length > 0; // those without edges have nothing to send
            store_made(run, v, made);
        }
        sort_in(control, push, v, length);
        if (filter.kind == FILTER_BATCH)
            reserve_batch(control, filter, v, length);
    }
    count_applied(control, applied);
}

#endif

#if FILTERED && !FILTERABLE

// Notes the vertices that apply finds active.
struct NoteActive {
    Recorder &recorder;

    __device__ __forceinline__ void operator()(uint64 v) const { recorder.add((ID)v); }
};

// Sorts the listed vertices into the worklists.
__device__ __forceinline__ void list_noted(RunControl *control, const Push &push,
                                           const Filter &filter) {
    uint64 listed = control->listed, all = listed + control->spilled;
    for (uint64 base = warp_rank() * WARP; base < all; base += num_threads()) {
        uint64 i = base + lane();
        ID v = 0;
        int64 length = 0;
        if (i < all) {
            v = i < listed ? filter.list[i] : filter.spill[i - listed];
            length = push.offsets[v + 1] - push.offsets[v];
        }
        sort_in(control, push, v, length);
    }
}

#endif
