// Pull: each row combines what the vertices send that have an edge to it.
//
// Long rows are cut into parts of PART edges. A part is a warp's, and so is a row up to LONG;
// shorter ones are a group's of 8 lanes, or a thread's. Warps take them in turn, longest kind
// first, with as many blocks as are resident: starting a block for a few rows takes as long as the
// rows. Parts come in the order of their first neighbours, so that those under way at a time read
// values that lie close; their results are put together by a kernel of its own, because a fence
// here would empty the caches that this lives on. Neighbours are read once and in order, and are
// not to push values out.
//
// ATOMIC: each edge combines into its row's message by an atomic instead, and a vote goes on after
// the first message.

#include "program_send.cuh"

constexpr int GROUP = 8;     // lanes of a group
constexpr int WARP_ROWS = 4; // rows that a warp takes in turn, and a group
constexpr int UNROLL = 4;    // edges that a thread has on their way at once

template <typename T, bool IS_FLOAT> struct WideOf {
    using type = int64;
};
template <typename T> struct WideOf<T, true> {
    using type = double;
};
constexpr bool FLOATS = Same<MESSAGE, float>::value || Same<MESSAGE, double>::value;

template <bool SUM> struct WideChoice {
    using type = WideOf<MESSAGE, FLOATS>::type;
};
template <> struct WideChoice<false> {
    using type = MESSAGE;
};
// Sums of float are kept in double, but for the few that a thread adds at once.
using WIDE = WideChoice<COMBINE_SUM>::type;

template <typename T> __device__ __forceinline__ T shuffled(T value, int offset) {
    if constexpr (sizeof(T) < 4)
        return (T)__shfl_xor_sync(FULL_WARP, (uint32)value, offset);
    else
        return __shfl_xor_sync(FULL_WARP, value, offset);
}

// What a row, or a part of it, combines to.
struct RowValue {
    WIDE best;
    double shadow; // of a sum of integers, to find overflow
    bool got;      // whether a message came

    static __device__ __forceinline__ RowValue none() {
        return {COMBINE_SUM ? WIDE(0) : (WIDE)identity(), 0, false};
    }

    // Adds messages; those not taken are identities.
    template <int N, bool SOME>
    __device__ __forceinline__ void add(const MESSAGE (&m)[N], const bool (&taken)[N]) {
        if constexpr (COMBINE_SUM && FLOATS) {
            MESSAGE sum[N];
#pragma unroll
            for (int k = 0; k < N; k++)
                sum[k] = m[k];
#pragma unroll
            for (int step = 1; step < N; step *= 2)
#pragma unroll
                for (int k = 0; k + step < N; k += 2 * step)
                    sum[k] += sum[k + step];
            best += (WIDE)sum[0];
        } else {
#pragma unroll
            for (int k = 0; k < N; k++)
                add_one(m[k], taken[k]);
        }
        if (SOME || COMBINE_ANY) {
#pragma unroll
            for (int k = 0; k < N; k++)
                got |= taken[k];
        }
    }

    __device__ __forceinline__ void add_one(MESSAGE m, bool taken) {
        if constexpr (COMBINE_SUM) {
            best = added(best, (WIDE)m);
            if (SUM_CHECKED)
                shadow += (double)m;
        } else if constexpr (COMBINE_ANY) {
            if (taken)
                best = m;
        } else {
            if (better(m, (MESSAGE)best))
                best = m;
        }
    }

    __device__ __forceinline__ void combine(const RowValue &other) {
        if constexpr (COMBINE_SUM) {
            best = added(best, other.best);
            if (SUM_CHECKED)
                shadow += other.shadow;
        } else if constexpr (COMBINE_ANY) {
            if (!got)
                best = other.best;
        } else {
            if (better(other.best, best))
                best = other.best;
        }
        got |= other.got;
    }

    // Lanes in groups of LANES get the combination of their group.
    template <int LANES> __device__ __forceinline__ void reduce() {
#pragma unroll
        for (int offset = LANES / 2; offset > 0; offset /= 2)
            combine({shuffled(best, offset), SUM_CHECKED ? shuffled(shadow, offset) : 0.0,
                     (bool)shuffled((uint32)got, offset)});
    }
};

// The rows of an adjacency by destination, and how they are shared out.
struct Pull {
    const OFFSET *offsets;
    const ID *neighbours;
    const ID *rows;     // first those of warps, then of groups, then of threads; none without edges
    const ID *part_row; // of each part, by first neighbour
    const OFFSET *part_begin; // its first edge
    const uint32 *part_slot;  // where its result goes: those of a row side by side, in order
    RowValue *partials;       // by slot
    const ID *long_rows;
    const uint32 *long_slots; // first slot of each, and the end
    uint64 parts, num_long, warp_rows, group_rows, thread_rows;
};

template <bool SOME> struct Puller {
    const Run &run;
    const Pull &pull;
    const MESSAGE *emitted;
    const uint8 *active;
    uint8 *marked; // null: all rows are
    MESSAGE *messages;
    uint8 *received;
    bool good;
    uint64 read; // edges of the rows taken

    // Adds edges begin + lane, + LANES, ... below begin + length to `row`.
    template <int LANES>
    __device__ __forceinline__ void gather(ID v, OFFSET begin, OFFSET length, uint32 lane,
                                           RowValue &row) {
        const ID *neighbours = pull.neighbours + begin;
        for (OFFSET base = 0; base < length; base += LANES * UNROLL) {
            ID u[UNROLL];
            bool taken[UNROLL];
            MESSAGE m[UNROLL];
#pragma unroll
            for (int k = 0; k < UNROLL; k++) {
                OFFSET i = base + lane + k * LANES;
                taken[k] = i < length;
                u[k] = taken[k] ? __ldcs(neighbours + i) : 0;
            }
            if (SOME) {
#pragma unroll
                for (int k = 0; k < UNROLL; k++)
                    taken[k] = taken[k] && __ldg(active + u[k]);
            }
#pragma unroll
            for (int k = 0; k < UNROLL; k++) {
                m[k] = identity();
                if (taken[k]) {
#if EMITS
                    m[k] = __ldg(emitted + u[k]);
#else
                    good &= message(run, u[k], v, begin + base + lane + k * LANES, m[k]);
#endif
                }
            }
            if constexpr (ATOMIC) {
#pragma unroll
                for (int k = 0; k < UNROLL; k++)
                    if (taken[k])
                        send_to(messages, received, v, m[k]);
                continue;
            }
            row.template add<UNROLL, SOME>(m, taken);
            // One message is as good as all.
            if (COMBINE_ANY && (LANES < WARP ? row.got : __any_sync(FULL_WARP, row.got) != 0))
                break;
        }
        if (!SOME && !COMBINE_ANY)
            row.got = true; // a row has edges
    }

    __device__ __forceinline__ void finish(ID v, const RowValue &row) {
        if constexpr (ATOMIC) { // the edges have done the rest
            if (SOME && marked)
                marked[v] = 0;
            return;
        }
        if constexpr (COMBINE_SUM && SUM_CHECKED) {
            // Wrapping around moves a sum by 2**64, rounding by far less than 2**62.
            good &= fabs((double)row.best - row.shadow) <= 4611686018427387904.0 &&
                    row.best >= MESSAGE_LEAST && row.best <= MESSAGE_MOST;
        }
        messages[v] = (MESSAGE)row.best;
        if (NEEDS_RECEIVED)
            received[v] = row.got;
        if (SOME && marked)
            marked[v] = 0;
    }

    __device__ __forceinline__ bool wanted(ID v) const { return !SOME || !marked || marked[v]; }

    // Rows of `rows`, ROWS for each group of LANES lanes of this warp.
    template <int LANES, int ROWS>
    __device__ __forceinline__ void take(const ID *rows, uint64 count, uint64 warp) {
        constexpr int GROUPS = WARP / LANES, HELD = GROUPS * ROWS;
        static_assert(HELD <= WARP, "a lane holds at most one row");
        uint64 first = warp * HELD;
        if (first >= count)
            return;
        ID held = 0;
        OFFSET begin = 0, length = 0;
        if (lane() < HELD && first + lane() < count) {
            held = rows[first + lane()];
            if (wanted(held)) {
                begin = pull.offsets[held];
                length = pull.offsets[held + 1] - begin;
                read += length;
            }
        }
#pragma unroll 1
        for (int k = 0; k < ROWS; k++) {
            int from = k * GROUPS + lane() / LANES;
            ID v = __shfl_sync(FULL_WARP, held, from);
            OFFSET start = __shfl_sync(FULL_WARP, begin, from);
            OFFSET size = __shfl_sync(FULL_WARP, length, from);
            RowValue row = RowValue::none();
            gather<LANES>(v, start, size, lane() % LANES, row);
            __syncwarp();
            row.template reduce<LANES>();
            if (lane() % LANES == 0 && size > 0)
                finish(v, row);
        }
    }

    // One part of a long row, by this warp.
    __device__ __forceinline__ void take_part(uint64 part) {
        ID v = pull.part_row[part];
        if (!wanted(v))
            return;
        OFFSET begin = pull.part_begin[part], left = pull.offsets[v + 1] - begin;
        OFFSET length = left < PART ? left : PART;
        if (lane() == 0)
            read += length;
        RowValue row = RowValue::none();
        gather<WARP>(v, begin, length, lane(), row);
        __syncwarp();
        row.template reduce<WARP>();
        if (lane() == 0)
            pull.partials[pull.part_slot[part]] = row;
    }

    // Long rows from their parts, a warp each.
    __device__ __forceinline__ void join_parts() {
        for (uint64 i = warp_rank(); i < pull.num_long; i += num_warps()) {
            ID v = pull.long_rows[i];
            if (!wanted(v))
                continue;
            RowValue row = RowValue::none();
            for (uint32 p = pull.long_slots[i] + lane(); p < pull.long_slots[i + 1]; p += WARP)
                row.combine(pull.partials[p]);
            __syncwarp();
            row.template reduce<WARP>();
            if (lane() == 0)
                finish(v, row);
        }
    }

    // All parts and rows, in turns of this warp.
    __device__ __forceinline__ void take_all() {
        constexpr uint64 OF_WARP = WARP_ROWS, OF_GROUPS = WARP / GROUP * WARP_ROWS;
        const ID *group_rows = pull.rows + pull.warp_rows;
        const ID *thread_rows = group_rows + pull.group_rows;
        uint64 rows = pull.parts;
        uint64 groups = rows + (pull.warp_rows + OF_WARP - 1) / OF_WARP;
        uint64 threads = groups + (pull.group_rows + OF_GROUPS - 1) / OF_GROUPS;
        uint64 end = threads + (pull.thread_rows + WARP - 1) / WARP;
        for (uint64 turn = warp_rank(); turn < end; turn += num_warps()) {
            if (turn < rows)
                take_part(turn);
            else if (turn < groups)
                take<WARP, WARP_ROWS>(pull.rows, pull.warp_rows, turn - rows);
            else if (turn < threads)
                take<GROUP, WARP_ROWS>(group_rows, pull.group_rows, turn - groups);
            else
                take<1, 1>(thread_rows, pull.thread_rows, turn - threads);
        }
    }
};

template <bool SOME, bool JOINS>
__device__ __forceinline__ void pull_rows(const Run &run, const Pull &pull, const MESSAGE *emitted,
                                          const uint8 *active, uint8 *marked, MESSAGE *messages,
                                          uint8 *received) {
    Puller<SOME> puller = {run, pull, emitted, active, marked, messages, received, true, 0};
    if (JOINS)
        puller.join_parts();
    else
        puller.take_all();
    if (SOME && marked && !JOINS) {
        uint64 read = warp_sum(puller.read);
        if (lane() == 0 && read)
            atomicAdd((uint64 *)&run.control->read, read);
    }
    if (!puller.good)
        run.control->bad = BAD_COMPUTE;
}

// Every vertex sends.
template <bool JOINS>
__device__ __forceinline__ void pull_from_all(const Run &run, const Pull &pull,
                                              const MESSAGE *emitted, MESSAGE *messages,
                                              uint8 *received) {
    const RunControl *control = run.control;
    if (control->done || (TAIL && control->direction == BY_PUSH) ||
        (!EVERY && (control->direction != BY_PULL || control->num_active != run.graph_vertices)))
        return;
    pull_rows<false, JOINS>(run, pull, emitted, nullptr, nullptr, messages, received);
}

// Some do; those rows are looked at that are marked, or all.
template <bool JOINS>
__device__ __forceinline__ void pull_from_some(const Run &run, const Pull &pull,
                                               const MESSAGE *emitted, const uint8 *active,
                                               uint8 *marked, MESSAGE *messages, uint8 *received) {
    const RunControl *control = run.control;
    int64 direction = control->direction;
    if (control->done || direction == BY_PUSH ||
        (direction == BY_PULL && control->num_active == run.graph_vertices))
        return;
    uint8 *those = direction == BY_NOTIFY ? marked : nullptr;
    pull_rows<true, JOINS>(run, pull, emitted, active, those, messages, received);
}
