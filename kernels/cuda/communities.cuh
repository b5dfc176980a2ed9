// What moving and refining communities share: edges to each label added up in hash tables, and what
// a vertex gains by a label.
//
// Weights are whole numbers, so that sums are the same in any order, and what is decided by them is
// rounded in one way only. `community[v]` is a label below n; a vertex's own label is its rank.

#include "degree_lists.cuh"
#include "row_of.cuh"
#include "runs.cuh"

constexpr int SLOTS = sizeof(ID) + sizeof(SUM) == 8 ? 4096 : 2048; // of a block's table
constexpr int WARP_SLOTS = SLOTS / (BLOCK / WARP);
constexpr ID NOBODY = ~(ID)0;

// Neighbours that a thread looks up at once: those of a block fit half of its table.
constexpr int LOOKS = SLOTS / 2 / BLOCK;

// Neighbours from which a vertex is a block's: a warp's part of the table is half full with less.
constexpr uint32 LARGE = WARP_SLOTS / 2;

// Vertices that change at the same time are those of one of so many classes, drawn anew each round:
// with fewer, more neighbours change at once without knowing of each other.
constexpr uint32 CLASSES = 16;

struct Graph {
    const OFFSET *offsets;
    const ID *neighbours;
    const SUM *weight; // null: 1 each
    const SUM *loops;  // twice the weight within a vertex
    const SUM *degree; // weight of the row, and the loops
    const ID *rank;    // null: the vertices themselves
    uint64 n;

    __device__ __forceinline__ uint64 num_edges() const { return offsets[n]; }

    __device__ __forceinline__ SUM weight_of(OFFSET edge) const {
        return weight == nullptr ? (SUM)1 : weight[edge];
    }

    __device__ __forceinline__ ID label(ID v) const { return rank == nullptr ? v : rank[v]; }
};

__device__ __forceinline__ uint64 mixed(uint64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

// Of a vertex by its own label, in the round of such a salt.
__device__ __forceinline__ uint32 class_of(ID label, uint64 salt) {
    return (uint32)(mixed(label * 0x9e3779b97f4a7c15ull + salt) % CLASSES);
}

// What a vertex of this degree gains by edges of weight `to` to a group of degree `total`.
__device__ __forceinline__ double gain_of(SUM to, double scaled_degree, SUM total) {
    return __dsub_rn((double)to, __dmul_rn(scaled_degree, (double)total));
}

// A label and what it gains.
struct Choice {
    double gain;
    ID label;

    __device__ __forceinline__ Choice or_better(Choice other) const {
        bool worse = other.gain > gain || (other.gain == gain && other.label < label);
        return worse ? other : *this;
    }
};

__device__ __forceinline__ Choice no_choice() { return {-1.7976931348623157e308, NOBODY}; }

__device__ __forceinline__ Choice best_of_warp(Choice best) {
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        best = best.or_better({__shfl_xor_sync(FULL_WARP, best.gain, offset),
                               __shfl_xor_sync(FULL_WARP, best.label, offset)});
    return best;
}

// Labels and what edges to them weigh. The slots after the one that a label falls to are tried in
// order.
struct Table {
    ID *label;
    SUM *sum;
    uint32 slots, shift; // a power of two, and what it takes to bring 32 bits down to it

    __device__ __forceinline__ Table(ID *label, SUM *sum) : label(label), sum(sum) {}

    // Room for twice so many labels, if there is.
    __device__ __forceinline__ void resize(uint64 size, uint32 most) {
        slots = 2 * WARP;
        shift = 26;
        for (; slots < 2 * size && slots < most; slots *= 2)
            --shift;
    }

    __device__ __forceinline__ static uint32 hash(ID label) {
        return (uint32)(label ^ (uint64)label >> 32) * 0x9e3779b1u;
    }

    // Adds to a label; whether it is new in the table.
    __device__ __forceinline__ bool add(ID value, SUM weight) const {
        uint32 slot = hash(value) >> shift;
        while (true) {
            ID seen = fresh(label + slot);
            if (seen == NOBODY)
                seen = compare_and_swap(label + slot, NOBODY, value);
            if (seen == NOBODY || seen == value) {
                atomicAdd(sum + slot, weight);
                return seen == NOBODY;
            }
            slot = (slot + 1) & (slots - 1);
        }
    }
};

// Adds up the weights of a row by label(u, edge), NOBODY for those that do not count, into a table,
// of `passes` passes, a power of two, those of one; edges to `own` into `stays` instead, in the
// first. `taken`: slots, where they may not suffice; when they do not it comes to more than half
// of them, and not all are added.
template <typename Label, typename Sync>
__device__ __forceinline__ void add_up(const Graph &graph, OFFSET start, OFFSET end, ID own,
                                       const Table &table, uint32 passes, uint32 pass,
                                       uint32 *taken, uint32 member, uint32 members, SUM &stays,
                                       Label label, Sync sync) {
    for (uint32 i = member; i < table.slots; i += members) {
        table.label[i] = NOBODY;
        table.sum[i] = 0;
    }
    if (taken != nullptr && member == 0)
        *taken = 0;
    sync();
    for (uint64 first = start + member; first < end; first += (uint64)members * LOOKS) {
        // What all add after they have looked fits the other half.
        if (taken != nullptr && fresh(taken) >= table.slots / 2)
            break;
        ID found[LOOKS];
        SUM weight[LOOKS];
#pragma unroll
        for (int j = 0; j < LOOKS; ++j)
            found[j] = first + j * members < end ? graph.neighbours[first + j * members] : NOBODY;
#pragma unroll
        for (int j = 0; j < LOOKS; ++j)
            weight[j] = found[j] == NOBODY ? 0 : graph.weight_of((OFFSET)(first + j * members));
#pragma unroll
        for (int j = 0; j < LOOKS; ++j)
            found[j] = weight[j] > 0 ? label(found[j]) : NOBODY;
#pragma unroll
        for (int j = 0; j < LOOKS; ++j) {
            if (found[j] == NOBODY)
                continue;
            if (found[j] == own) {
                stays += pass == 0 ? weight[j] : 0;
                continue;
            }
            uint32 hash = Table::hash(found[j]);
            if (((hash ^ hash >> 16) & (passes - 1)) == pass && table.add(found[j], weight[j]) &&
                taken != nullptr)
                atomicAdd(taken, 1u);
        }
    }
    sync();
}

// The best choice(label, sum) of a member's slots.
template <typename Rate>
__device__ __forceinline__ Choice best_of_slots(const Table &table, uint32 member, uint32 members,
                                                Rate rate) {
    Choice best = no_choice();
    for (uint32 i = member; i < table.slots; i += members)
        if (table.sum[i] > 0)
            best = best.or_better({rate(table.label[i], table.sum[i]), table.label[i]});
    return best;
}

// Memory of a block for its rows.
struct BlockRoom {
    ID *label; // SLOTS, shared
    SUM *sum;
    ID *far_label; // as many as `far_slots`, a power of two, of global memory; none: 0
    SUM *far_sum;
    uint32 far_slots;
    uint32 *taken;   // shared
    Choice *choices; // shared, one a warp
    SUM *stays;
};

struct Found {
    Choice best; // of the other labels
    SUM stays;   // weight of the edges to the own label
};

// By a warp, of a row shorter than LARGE; `label` and `sum`: its part of the block's.
template <typename Label, typename Rate>
__device__ __forceinline__ Found choice_of_warp(const Graph &graph, ID v, ID own, ID *labels,
                                                SUM *sums, Label label, Rate rate) {
    OFFSET start = graph.offsets[v], end = graph.offsets[v + 1];
    Table table(labels, sums);
    table.resize(end - start, WARP_SLOTS);
    SUM stays = 0;
    add_up(graph, start, end, own, table, 1, 0, nullptr, lane(), WARP, stays, label,
           []() { __syncwarp(); });
    Choice best = best_of_warp(best_of_slots(table, lane(), WARP, rate));
    __syncwarp();
    return {best, warp_sum(stays)};
}

// By a block in some passes; `fits`: the table takes all labels. Whether it did.
template <typename Label, typename Rate>
__device__ __forceinline__ bool
choice_in_passes(const Graph &graph, ID v, ID own, Table &table, bool fits, uint32 &passes,
                 uint32 most, uint32 *taken, Found &found, Label label, Rate rate) {
    OFFSET start = graph.offsets[v], end = graph.offsets[v + 1];
    found = {no_choice(), 0};
    for (uint32 pass = 0; pass < passes;) {
        add_up(graph, start, end, own, table, passes, pass, fits ? nullptr : taken, threadIdx.x,
               BLOCK, found.stays, label, []() { __syncthreads(); });
        bool all = fits || *taken < table.slots / 2;
        if (all)
            found.best = found.best.or_better(best_of_slots(table, threadIdx.x, BLOCK, rate));
        __syncthreads();
        if (all) {
            ++pass;
        } else {
            if (passes == most)
                return false;
            found = {no_choice(), 0};
            passes *= 2;
            pass = 0;
        }
    }
    return true;
}

// By a block; all its threads get it. A row of more labels than fit the shared table goes to that
// in global memory; `many`: it is likely to be one.
template <typename Label, typename Rate>
__device__ Found choice_of_block(const Graph &graph, ID v, ID own, const BlockRoom &room, bool many,
                                 Label label, Rate rate) {
    uint64 size = graph.offsets[v + 1] - graph.offsets[v];
    Found found;
    uint32 passes = 1;
    bool fits = 2 * size <= SLOTS, done = false;
    if (fits || !many) {
        Table table(room.label, room.sum);
        table.resize(size, SLOTS);
        done =
            choice_in_passes(graph, v, own, table, fits, passes, 1, room.taken, found, label, rate);
    }
    if (!done) {
        Table table(room.far_label, room.far_sum);
        table.resize(size, room.far_slots);
        fits = 2 * size <= table.slots;
        while (!fits && size / passes > table.slots / 8 * 3)
            passes *= 2;
        choice_in_passes(graph, v, own, table, fits, passes, 1u << 31, room.taken, found, label,
                         rate);
    }
    found.best = best_of_warp(found.best);
    found.stays = warp_sum(found.stays);
    if (lane() == 0) {
        room.choices[warp_in_block()] = found.best;
        room.stays[warp_in_block()] = found.stays;
    }
    __syncthreads();
    found.stays = 0;
    for (uint32 i = 0; i < BLOCK / WARP; ++i) {
        found.best = found.best.or_better(room.choices[i]);
        found.stays += room.stays[i];
    }
    __syncthreads();
    return found;
}

// What is done in a step, the change of one class.
struct Step {
    uint64 smalls, larges; // vertices that are looked at
    uint64 small, large;   // those of them that were taken
    uint64 moved;          // and that are in another group now

    // Whether there is anything to do, after the barrier behind the list, for all threads alike: on
    // small levels, and in late rounds, most of the time goes into barriers.
    __device__ __forceinline__ bool any() const { return fresh(&smalls) + fresh(&larges) > 0; }

    // By all lanes of a warp; `any_moved` is asked behind the next barrier.
    __device__ __forceinline__ void add_moved(uint64 number) {
        number = warp_sum(number);
        if (lane() == 0 && number > 0)
            atomicAdd(&moved, number);
    }

    __device__ __forceinline__ bool any_moved() const { return fresh(&moved) > 0; }
};

// Lists the vertices of a class that wanted(v) holds for: those of few neighbours from the front,
// the others from the back; calls before(v) for those of the class before. Returns the thread's
// part of their edges.
template <typename Wanted, typename Before>
__device__ uint64 list_class(const Graph &graph, uint32 turn, uint64 salt, ID *todo, ID *slots,
                             Step *step, Wanted wanted, Before before) {
    ID *mine = slots + warp_in_block() * 2 * HELD;
    WarpBuffer smalls(mine, &step->smalls, todo);
    WarpBuffer larges(mine + HELD, &step->larges, todo + (graph.n - 1), -1);
    uint64 edges = 0;
    for (uint64 first = warp_rank() * WARP; first < graph.n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        uint32 its = v < graph.n ? class_of(graph.label((ID)v), salt) : CLASSES;
        bool is = its == turn && wanted((ID)v);
        if (its + 1 == turn)
            before((ID)v);
        OFFSET size = is ? graph.offsets[v + 1] - graph.offsets[v] : (OFFSET)0;
        edges += size;
        smalls.append(is && size < LARGE, (ID)v);
        larges.append(is && size >= LARGE, (ID)v);
    }
    smalls.flush();
    larges.flush();
    return edges;
}

// Small rows that a warp takes at once.
constexpr uint32 TAKEN = 4;

// Calls of_block(place, v) by whole blocks, then of_warp(place, v) by whole warps, for the places
// of a step's vertices in `todo`.
template <typename OfBlock, typename OfWarp>
__device__ __forceinline__ void for_listed(const ID *todo, uint64 n, Step *step, OfBlock of_block,
                                           OfWarp of_warp) {
    __shared__ uint64 next_large;
    uint64 smalls = fresh(&step->smalls), larges = fresh(&step->larges);
    while (true) {
        if (threadIdx.x == 0)
            next_large = atomicAdd(&step->large, 1ull);
        __syncthreads();
        uint64 i = next_large;
        __syncthreads();
        if (i >= larges)
            break;
        of_block(n - 1 - i, todo[n - 1 - i]);
    }
    while (true) {
        uint64 i = 0;
        if (lane() == 0)
            i = atomicAdd(&step->small, (uint64)TAKEN);
        i = __shfl_sync(FULL_WARP, i, 0);
        if (i >= smalls)
            break;
        for (uint64 end = i + TAKEN < smalls ? i + TAKEN : smalls; i < end; ++i)
            of_warp(i, todo[i]);
    }
}

// Calls visit(place, v) for a step's vertices, each by one thread.
template <typename Visit>
__device__ __forceinline__ void for_each_listed(const ID *todo, uint64 n, const Step *step,
                                                Visit visit) {
    uint64 smalls = fresh(&step->smalls), larges = fresh(&step->larges);
    for (uint64 i = thread_rank(); i < smalls + larges; i += num_threads()) {
        uint64 place = i < smalls ? i : n - 1 - (i - smalls);
        visit(place, todo[place]);
    }
}

// Calls visit(place, v, edge) for the edges of a step's vertices for which wanted(place) holds: of
// one vertex by all lanes of a warp.
template <typename Wanted, typename Visit>
__device__ __forceinline__ void for_listed_edges(const Graph &graph, const ID *todo,
                                                 const Step *step, Wanted wanted, Visit visit) {
    uint64 smalls = fresh(&step->smalls), larges = fresh(&step->larges);
    for (uint64 i = blockIdx.x; i < larges; i += gridDim.x) {
        uint64 place = graph.n - 1 - i;
        if (!wanted(place))
            continue;
        ID v = todo[place];
        for (uint64 e = graph.offsets[v] + threadIdx.x; e < graph.offsets[v + 1]; e += BLOCK)
            visit(place, v, (OFFSET)e);
    }
    for (uint64 i = warp_rank(); i < smalls; i += num_warps()) {
        if (!wanted(i))
            continue;
        ID v = todo[i];
        for (uint64 e = graph.offsets[v] + lane(); e < graph.offsets[v + 1]; e += WARP)
            visit(i, v, (OFFSET)e);
    }
}

// Calls add(place, sum of value(place, v, edge)) for a step's vertices for which wanted(place)
// holds: once a vertex and warp at work on it.
template <typename Wanted, typename Value, typename Combine>
__device__ __forceinline__ void for_listed_sums(const Graph &graph, const ID *todo,
                                                const Step *step, Wanted wanted, Value value,
                                                Combine add) {
    uint64 smalls = fresh(&step->smalls), larges = fresh(&step->larges);
    auto by = [&](uint64 place, uint32 member, uint32 members) {
        ID v = todo[place];
        SUM sum = 0;
        for (uint64 e = graph.offsets[v] + member; e < graph.offsets[v + 1]; e += members)
            sum += value(place, v, (OFFSET)e);
        sum = warp_sum(sum);
        if (lane() == 0)
            add(place, sum);
    };
    for (uint64 i = blockIdx.x; i < larges; i += gridDim.x)
        if (wanted(graph.n - 1 - i))
            by(graph.n - 1 - i, threadIdx.x, BLOCK);
    for (uint64 i = warp_rank(); i < smalls; i += num_warps())
        if (wanted(i))
            by(i, lane(), WARP);
}

// Of values that a warp has read side by side, WARP at a time, those that each lane has in
// succession; all lanes have to call it.
template <typename T> __device__ __forceinline__ void in_succession(T (&values)[CHUNK]) {
    static_assert(WARP % CHUNK == 0, "a lane's are read at once");
    T read[CHUNK];
#pragma unroll
    for (uint32 j = 0; j < CHUNK; ++j)
        read[j] = values[j];
#pragma unroll
    for (uint32 k = 0; k < CHUNK; ++k) {
#pragma unroll
        for (uint32 j = 0; j < CHUNK; ++j) {
            T there = __shfl_sync(FULL_WARP, read[j], lane() * CHUNK % WARP + k);
            if (lane() * CHUNK / WARP == j)
                values[k] = there;
        }
    }
}

// Calls visit(v, u, weight) for all edges, by all threads of the grid. A warp reads what lies side
// by side, as memory beyond the link is read in whole lines only so; a thread has CHUNK edges in
// succession, so that most of them are of one row.
template <typename Visit>
__device__ __forceinline__ void for_all_edges(const Graph &graph, Visit visit) {
    uint64 size = graph.num_edges();
    for (uint64 first = warp_rank() * WARP * CHUNK; first < size;
         first += num_warps() * WARP * CHUNK) {
        ID near[CHUNK];
        SUM weight[CHUNK];
#pragma unroll
        for (uint32 j = 0; j < CHUNK; ++j) {
            uint64 e = first + j * WARP + lane();
            near[j] = e < size ? graph.neighbours[e] : 0;
            weight[j] = graph.weight == nullptr ? 1 : e < size ? graph.weight[e] : 0;
        }
        in_succession(near);
        if (graph.weight != nullptr)
            in_succession(weight);
        uint64 begin = first + lane() * CHUNK;
        RowOf row_of = {graph.offsets, graph.n, 0, false};
#pragma unroll
        for (uint32 k = 0; k < CHUNK; ++k)
            if (begin + k < size)
                visit((ID)row_of(begin + k), near[k], weight[k]);
    }
}
