// The best partners of each vertex by their neighbours in common.
//
// Computes  of some vertices, for all others at a distance of two edges: the sum of what the
//           neighbours in common count, a score, and the best of the scores; as
//           engine/similarity.py says
// Launch    `best`, for vertices that have about as many walks of two edges; a block takes a vertex
// Why       Sums are made in a table of the block: two atomics a walk, where sorting passes over
//           all walks in memory several times. The last score that is taken is found by its
//           digits, for any number of rows a vertex.

#include "common.cuh"

constexpr ID NONE = ~(ID)0; // no vertex
constexpr int DIGIT = 8;    // bits
constexpr int DIGITS = 1 << DIGIT;
constexpr uint32 LEAST_SLOTS = 32;

// As `Similarity`; `later`: only partners of a later rank.
struct Asked {
    int64 kind, top_k, later, least_common;
    double least_score, scale;

    __device__ __forceinline__ double score(int64 common, int64 own, int64 other) const {
        if (kind == 1)
            return (double)common / (double)(own + other - common);
        if (kind == 2)
            return (double)common / (double)(own < other ? own : other);
        if (kind == 3)
            return (double)common / sqrt((double)own * (double)other);
        if (kind == 4)
            return (double)(2 * common) / (double)(own + other);
        return (double)common * scale;
    }
};

struct Graph {
    const OFFSET *offsets;
    const ID *neighbours;
    const ID *rank;
    const uint64 *amount; // what a vertex counts as a neighbour in common; 0: it is passed over
    uint64 n;

    __device__ __forceinline__ OFFSET degree(ID v) const { return offsets[v + 1] - offsets[v]; }
};

// Vertices and sums by open addressing; then scores, of which larger ones have larger bits.
struct Slots {
    ID *vertex;
    uint64 *value;
    uint64 size; // a power of 2

    __device__ __forceinline__ void clear() const {
        for (uint64 i = threadIdx.x; i < size; i += blockDim.x) {
            vertex[i] = NONE;
            value[i] = 0;
        }
        __syncthreads();
    }

    __device__ __forceinline__ void add(ID x, uint64 more) const {
        uint64 at = x * 0x9e3779b97f4a7c15ull >> 32;
        while (true) {
            at &= size - 1;
            ID there = fresh(vertex + at);
            if (there == NONE)
                there = compare_and_swap(vertex + at, NONE, x);
            if (there == NONE || there == x)
                break;
            ++at;
        }
        atomicAdd(value + at, more);
    }
};

// The walks over `u` to all others than `v`, those of every so many.
__device__ __forceinline__ void walk(const Graph &graph, const Asked &asked, const Slots &slots,
                                     ID v, ID u, uint32 member, uint32 members) {
    ID own = graph.rank[v];
    for (uint64 e = graph.offsets[u] + member; e < graph.offsets[u + 1]; e += members) {
        ID x = graph.neighbours[e];
        if (x != v && !(asked.later && graph.rank[x] < own))
            slots.add(x, graph.amount[u]);
    }
}

// A warp takes a neighbour of few edges; all of the block those of many, one after the other.
__device__ __forceinline__ void walk(const Graph &graph, const Asked &asked, const Slots &slots,
                                     ID v) {
    OFFSET begin = graph.offsets[v], end = graph.offsets[v + 1];
    for (uint64 e = begin + warp_in_block(); e < end; e += blockDim.x / WARP) {
        ID u = graph.neighbours[e];
        if (graph.amount[u] > 0 && graph.degree(u) < blockDim.x)
            walk(graph, asked, slots, v, u, lane(), WARP);
    }
    for (uint64 e = begin; e < end; ++e) {
        ID u = graph.neighbours[e];
        if (graph.amount[u] > 0 && graph.degree(u) >= blockDim.x)
            walk(graph, asked, slots, v, u, threadIdx.x, blockDim.x);
    }
    __syncthreads();
}

// Sums become the bits of scores; those that are not wanted go. How many are left.
__device__ __forceinline__ uint64 to_scores(const Graph &graph, const Asked &asked,
                                            const Slots &slots, ID v) {
    uint64 left = 0;
    int64 own = graph.degree(v);
    for (uint64 i = threadIdx.x; i < slots.size; i += blockDim.x) {
        ID x = fresh(slots.vertex + i);
        if (x == NONE)
            continue;
        int64 common = (int64)fresh(slots.value + i);
        double score = asked.score(common, own, graph.degree(x));
        if (common < asked.least_common || score < asked.least_score) {
            slots.vertex[i] = NONE;
            continue;
        }
        slots.value[i] = bits_as<uint64>(score);
        ++left;
    }
    return block_sum(left);
}

// Which keys are taken: those above `least`, and of equal ones so many; all of them if that is 0.
struct Cut {
    uint64 least, equal;
};

// The digit, from above, at which as many are reached as are wanted, which then are fewer.
struct Digit {
    uint32 digit, there;
    uint64 wanted;
};

__device__ __forceinline__ void find_digit(const uint32 *counts, uint64 wanted, Digit *found) {
    constexpr int OWN = DIGITS / WARP;
    int top = DIGITS - 1 - OWN * (int)lane();
    uint64 own = 0;
    for (int i = 0; i < OWN; ++i)
        own += counts[top - i];
    uint64 reached = warp_inclusive_scan(own);
    uint64 before = reached - own;
    if (before >= wanted || reached < wanted)
        return;
    while (before + counts[top] < wanted)
        before += counts[top--];
    *found = {(uint32)top, counts[top], wanted - before};
}

// The cut that takes so many of the keys of `key_of(slot, &key)` that are there, which are more.
template <typename KeyOf>
__device__ Cut cut_at(uint64 size, uint64 wanted, int bits, const KeyOf &key_of) {
    __shared__ uint32 counts[DIGITS];
    __shared__ Digit found;
    uint64 above = 0;
    for (int shift = bits - DIGIT; shift >= 0; shift -= DIGIT) {
        for (uint32 i = threadIdx.x; i < DIGITS; i += blockDim.x)
            counts[i] = 0;
        __syncthreads();
        for (uint64 i = threadIdx.x; i < size; i += blockDim.x) {
            uint64 key;
            if (key_of(i, &key) && (shift + DIGIT == bits || key >> (shift + DIGIT) == above))
                atomicAdd(counts + (key >> shift) % DIGITS, 1u);
        }
        __syncthreads();
        if (warp_in_block() == 0)
            find_digit(counts, wanted, &found);
        __syncthreads();
        above = above << DIGIT | found.digit;
        wanted = found.wanted;
        bool all = found.there == wanted;
        __syncthreads();
        if (all)
            return {above << shift, 0};
    }
    return {above, wanted};
}

struct Rows {
    ID *first, *second; // places in the order of vertices, and ranks
    double *score;
    uint64 *size;
};

// Writes the partners of the vertex at a place, `number` of `left`.
__device__ __forceinline__ void write(const Graph &graph, const Slots &slots, uint64 place,
                                      uint64 left, uint64 number, const Rows &rows) {
    __shared__ uint64 begin;
    __shared__ uint32 written;
    auto score_of = [&](uint64 i, uint64 *key) {
        *key = fresh(slots.value + i);
        return fresh(slots.vertex + i) != NONE;
    };
    Cut score = {0, 0}, early = {0, 0};
    if (number < left)
        score = cut_at(slots.size, number, 64, score_of);
    // Of equal ones the earliest.
    auto early_of = [&](uint64 i, uint64 *key) {
        uint64 bits;
        if (!score_of(i, &bits) || bits != score.least)
            return false;
        *key = (ID)~graph.rank[fresh(slots.vertex + i)];
        return true;
    };
    if (score.equal > 0)
        early = cut_at(slots.size, score.equal, 8 * sizeof(ID), early_of);
    if (threadIdx.x == 0) {
        begin = atomicAdd(rows.size, number);
        written = 0;
    }
    __syncthreads();
    for (uint64 i = threadIdx.x; i < slots.size; i += blockDim.x) {
        uint64 bits, key;
        if (!score_of(i, &bits) || bits < score.least)
            continue;
        if (early_of(i, &key) && key < early.least)
            continue;
        uint64 at = begin + atomicAdd(&written, 1u);
        rows.first[at] = (ID)place;
        rows.second[at] = graph.rank[fresh(slots.vertex + i)];
        rows.score[at] = bits_as<double>(bits);
    }
    __syncthreads();
}

// `order`: the vertices at their places, `work` how many walks each has; `places`: those to look
// at. `vertex`, `value`: `room` slots a block. `next`: 0.
extern "C" __global__ void __launch_bounds__(1024)
    best(const Graph graph, const Asked asked, const ID *order, const uint64 *work,
         const int64 *places, uint64 number, ID *vertex, uint64 *value, uint64 room, uint64 *next,
         const Rows rows) {
    __shared__ uint64 mine;
    Slots slots = {vertex + blockIdx.x * room, value + blockIdx.x * room, room};
    while (true) {
        if (threadIdx.x == 0)
            mine = atomicAdd(next, 1ull);
        __syncthreads();
        uint64 at = mine;
        __syncthreads();
        if (at >= number)
            return;
        uint64 place = places[at];
        uint64 most = work[place] < graph.n ? work[place] : graph.n;
        for (slots.size = LEAST_SLOTS; slots.size < 2 * most;)
            slots.size *= 2;
        ID v = order[place];
        slots.clear();
        walk(graph, asked, slots, v);
        uint64 left = to_scores(graph, asked, slots, v);
        uint64 taken = left < (uint64)asked.top_k ? left : (uint64)asked.top_k;
        if (taken > 0)
            write(graph, slots, place, left, taken, rows);
    }
}
