// rank_components.cu: components of a graph on several ranks, of the trees that each has linked of
// its own vertices (components.cu): what they have in common.
//
// Launch    start, components; pack and an exchange of bits; meet_giants, hang, absorb, settle;
// then
//           labels (rank_labels.cu).
// Edges     between own vertices are linked first. Of those between two ranks one where both ends
//           are in the largest trees tells of all. Where one end is, the rank of the other end
//           links it to the vertex of the largest tree; where none is, both ranks link the ghost,
//           whose labels on both sides are joined. An end that is known to be in the largest trees,
//           which have met, needs no further edge: who is outside at the other ends sees to theirs.

#include "rank_components.cuh"

// No tree of another rank linked, no pairs, nothing listed, no largest tree, and a state of zeros
// for linking.
extern "C" __global__ void start(Given g) {
    for (uint64 i = thread_rank(); i < g.size; i += num_threads()) {
        g.parent[g.n + i] = g.tree_of(i);
        g.other_counts[i] = 0;
    }
    for (uint64 i = thread_rank(); i < 1 + g.size; i += num_threads())
        g.found[i] = 0;
    for (uint64 i = thread_rank(); i < g.words; i += num_threads())
        g.state[i] = 0;
    if (thread_rank() == 0) {
        g.told[0] = g.told[1] = 0;
        g.giants[g.rank] = ~(ID)0; // nobody's
    }
}

// Which border vertices of each peer are in the largest tree.
extern "C" __global__ void pack(Given g) {
    const uint64 total = g.send_starts[g.size] / 32;
    uint64 peer = 0;
    for (uint64 at = thread_rank(); at < total; at += num_threads()) {
        uint32 wanted = bits_of_word(at, g.send_starts, g.send_counts, peer);
        g.packed[at] = picked(g.picks, at, wanted, g.inside);
    }
}

// That the largest trees of this rank and another one are joined, told by the first who sees it.
__device__ void tell_met(const Given &g, VERTEX top, uint64 owner) {
    uint64 *met = g.found + 1 + owner;
    if (fresh(met) == 0 && atomicExch(met, (uint64)1) == 0)
        link(g.parent, top, g.tree_of(owner));
}

constexpr int LOOKED_AT = 4; // ghosts of a peer in a row

// Whether the largest trees of two ranks meet, told by the first of the `some` vertices that come
// first: of most graphs that is enough. A thread looks at one's ghosts of one peer.
extern "C" __global__ void meet_giants(Given g, uint64 some) {
    const VERTEX top = g.top();
    for (uint64 i = thread_rank(); i < some * g.size; i += num_threads()) {
        uint64 v = i / g.size, peer = i % g.size;
        if (!has_bit(g.inside, v) || g.ghosts[peer] == g.ghosts[peer + 1] ||
            fresh(g.found + 1 + peer))
            continue;
        OFFSET lo = g.offsets[v], end = g.offsets[v + 1];
        for (OFFSET hi = end; lo < hi;) { // the first ghost of the peer
            OFFSET middle = lo + (hi - lo) / 2;
            if (g.neighbours[middle] < g.ghosts[peer])
                lo = middle + 1;
            else
                hi = middle;
        }
        for (int j = 0; j < LOOKED_AT && lo + j < end; ++j) {
            uint64 w = g.neighbours[lo + j];
            if (w >= g.ghosts[peer + 1])
                break;
            if (g.in_giant(w, peer)) {
                tell_met(g, top, peer);
                break;
            }
        }
    }
}

// Whether a largest tree of another rank has not been found to meet the one here; by full warps.
__device__ bool are_apart(const Given &g) {
    bool apart = false;
    for (uint64 peer = 0; peer < g.size; ++peer)
        apart |= g.ghosts[peer] < g.ghosts[peer + 1] && !fresh(g.found + 1 + peer);
    return __any_sync(FULL_WARP, apart);
}

// Calls use(v, read(v)) for own vertices outside the largest tree, which are inside from then on
// where it holds.
template <typename Read, typename Use>
__device__ __forceinline__ void for_outside(const Given &g, Read read, Use use) {
    const uint64 words = (g.owned + WARP - 1) / WARP;
    for (uint64 first = warp_rank() * WARP; first < words; first += num_warps() * WARP) {
        uint32 mine = first + lane() < words ? g.inside[first + lane()] : FULL_WARP, joined = 0;
        for (int j = 0; j < WARP; j += AT_ONCE) {
            uint32 all = FULL_WARP;
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k)
                all &= __shfl_sync(FULL_WARP, mine, j + k);
            if (all == FULL_WARP)
                continue;
            VERTEX seen[AT_ONCE];
            bool outside[AT_ONCE];
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                uint64 v = (first + j + k) * WARP + lane();
                uint32 bits = __shfl_sync(FULL_WARP, mine, j + k);
                outside[k] = v < g.owned && !(bits >> lane() & 1);
                seen[k] = outside[k] ? read(v) : (VERTEX)0;
            }
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k) {
                uint64 v = (first + j + k) * WARP + lane();
                uint32 join = __ballot_sync(FULL_WARP, outside[k] && use(v, seen[k]));
                if (lane() == j + k)
                    joined = join;
            }
        }
        if (joined != 0)
            g.inside[first + lane()] = mine | joined;
    }
}

// Own vertices that have ghosts for neighbours and nobody else, the first of which is in the
// largest tree of its owner, are in the one here where these have met. There are many of few edges.
extern "C" __global__ void hang(Given g) {
    const VERTEX top = g.top();
    const bool apart = are_apart(g);
    auto read = [&](uint64 v) { return g.beyond[v]; };
    for_outside(g, read, [&](uint64 v, VERTEX w) {
        g.label[v] = ~(ID)0; // roots get one, others never have one
        if (apart || w < g.owned || !g.in_giant(w, g.owner_of(w)))
            return false;
        if (v > top)
            g.parent[v] = top; // a tree of its own, of which no other thread knows
        else
            link(g.parent, (VERTEX)v, top);
        return true;
    });
    if (thread_rank() == 0)
        g.label[top] = ~(ID)0;
}

constexpr OFFSET SHORT = 64; // ghosts of a row that one lane looks at by itself

// Links the own vertices outside the largest tree to their ghosts. Those inside look whether they
// have one in the largest tree of another rank, where that is not known yet.
extern "C" __global__ void absorb(Given g) {
    const VERTEX top = g.top();
    const bool apart = are_apart(g);
    uint64 read = 0;
    // Whether nothing more is to be looked at.
    auto look = [&](uint64 v, bool within, uint64 w, uint64 &linked) {
        uint64 owner = g.owner_of(w);
        bool there = g.in_giant(w, owner);
        if (within) {
            if (there)
                tell_met(g, top, owner);
        } else if (!there) {
            link(g.parent, (VERTEX)v, (VERTEX)w);
            set_bit(g.linked, w - g.owned);
        } else if (owner != linked) { // once of ghosts that stand together
            link(g.parent, (VERTEX)v, g.tree_of(owner));
            linked = owner;
            return !apart;
        }
        return false;
    };
    const uint64 words = (g.owned + WARP - 1) / WARP;
    auto word_of = [&](uint64 word) {
        uint32 all =
            word == words - 1 && g.owned % WARP != 0 ? (1u << (g.owned % WARP)) - 1 : FULL_WARP;
        return all & (apart ? FULL_WARP : ~g.inside[word]);
    };
    for_bits(words, word_of, [&](bool is_one, uint64 v) {
        bool within = is_one && apart && has_bit(g.inside, v);
        uint64 linked = g.size;
        OFFSET begin = 0, end = 0; // ghosts stand at the end of a row
        if (is_one)
            begin = g.offsets[v], end = g.offsets[v + 1];
        OFFSET stop = end - begin > SHORT ? end - SHORT : begin;
        while (end > stop && end > begin) {
            uint64 w = g.neighbours[end - 1];
            if (w < g.owned) {
                begin = end;
                break;
            }
            --end, ++read;
            if (look(v, within, w, linked))
                begin = end;
        }
        for (uint32 rest = __ballot_sync(FULL_WARP, end > begin); rest != 0; rest &= rest - 1) {
            int one = __ffs(rest) - 1;
            uint64 u = __shfl_sync(FULL_WARP, v, one), last = g.size;
            OFFSET from = __shfl_sync(FULL_WARP, begin, one);
            OFFSET to = __shfl_sync(FULL_WARP, end, one);
            bool is_within = __shfl_sync(FULL_WARP, (uint32)within, one);
            for (bool goes_on = true; goes_on && to > from;) {
                bool mine = to - from > (OFFSET)lane();
                uint64 w = mine ? g.neighbours[to - 1 - lane()] : 0;
                mine = mine && w >= g.owned;
                bool ends = !mine;
                if (mine)
                    ends = look(u, is_within, w, last), ++read;
                goes_on = !__any_sync(FULL_WARP, ends);
                to -= to - from < WARP ? to - from : WARP;
            }
        }
    });
    read = block_sum(read);
    if (threadIdx.x == 0 && read > 0)
        atomicAdd(g.found, read);
}

// The label of each tree, and own vertices that were outside the largest one children of their
// roots. Who is in the largest tree now.
extern "C" __global__ void settle(Given g) {
    const VERTEX top = g.top();
    ID least = ~(ID)0;
    // The first of most graphs' vertices are in it.
    for (uint64 i = lane(); __any_sync(FULL_WARP, i < g.number); i += WARP) {
        VERTEX v = i < g.number ? g.firsts[i] : (VERTEX)0;
        uint32 votes = __ballot_sync(FULL_WARP, i < g.number && root_of(g.parent, v) == top);
        if (votes != 0) {
            least = g.numbers[__shfl_sync(FULL_WARP, v, __ffs(votes) - 1)];
            break;
        }
    }
    const bool found = least != ~(ID)0;
    auto read = [&](uint64 v) { return g.parent[v]; };
    if (!found)
        for (uint64 v = thread_rank(); v < g.owned; v += num_threads())
            if (has_bit(g.inside, v) && g.numbers[v] < least)
                least = g.numbers[v];
    for_outside(g, read, [&](uint64 v, VERTEX up) {
        VERTEX root = root_of(g.parent, up);
        if (root != up)
            g.parent[v] = root;
        if (found && root == top)
            return true;
        ID number = g.numbers[v];
        if (root != top)
            atomic_min(g.label + root, number);
        else if (number < least)
            least = number;
        return root == top;
    });
    least = block_reduce(least, ~(ID)0, Smaller());
    if (threadIdx.x == 0)
        atomic_min(g.label + top, least);
}
