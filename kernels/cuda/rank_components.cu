// rank_components.cu: components of a graph on several ranks, of the trees that each has linked of
// its own vertices (components.cu).
//
// Launch    start, components; mark, pack and an exchange of bits, and start_ghosts beside them;
//           meet_giants, absorb, settle; then labels of border vertices: list_others, an exchange,
//           take_others, or name_own and an exchange of all labels; then meet, an all-gather of
//           pairs, join_first, relabel. Where there are more pairs: an exchange of them,
//           join_pairs, relabel.
// Encoding  vertices are local ids: own ones, ghosts, and behind them one for the largest tree of
//           each rank. parent: trees of all these. A tree is known by its label, the smallest
//           number of an own vertex in it. joined: a forest over the numbers of the whole graph;
//           labels that name one component are in one tree of it. All ranks join the same pairs of
//           labels.
// Edges     between own vertices are linked first. Of those between two ranks one where both ends
//           are in the largest trees tells of all. Where one end is, the rank of the other end
//           links it to the vertex of the largest tree; where none is, both ranks link the ghost,
//           whose labels on both sides are joined.
// Macros    ID: of a number. VERTEX: of a local id. OFFSET: of a row.

#include "border_bits.cuh"
#include "components.cuh"

// A border vertex that is not in its rank's largest tree: its place among those of the peer.
struct Other {
    ID place, label;
};

struct Given {
    const OFFSET *offsets;
    const VERTEX *neighbours;
    uint64 owned, n;
    const uint64 *ghosts; // of rank j: ghosts[j] .. ghosts[j + 1]
    uint64 rank, size;
    const ID *numbers;
    const uint64 *giant; // a vertex of what is probably the largest tree here
    uint64 *state;       // of components.cu, of so many words
    uint64 words;
    VERTEX *parent;
    ID *label;      // of roots, then of own vertices; of ghosts as their owners tell it
    uint32 *inside; // own vertices in the largest tree: at first, then as `settle` leaves them
    uint32 *linked; // ghosts that `absorb` has linked; none between runs
    // Border vertices, of each peer from a word of bits on; how many of each mean something. A bit:
    // whether the vertex is in its rank's largest tree.
    const VERTEX *sends;
    Picks picks; // the same, by which bits are put together
    const uint64 *send_starts, *send_counts, *ghost_starts;
    uint32 *packed;
    const uint32 *received;
    // Lists of the others, as many of each peer's as there is room for: from starts[peer] on.
    // counts: how many there are, or more than there is room for.
    Other *others;
    const uint64 *other_starts;
    uint64 *other_counts;
    const Other *came;
    const uint64 *came_starts, *came_counts;
    ID *label_of_giant; // here
    const ID *giants;   // of all ranks
    ID *pairs;
    // found[0]: how many pairs. found[1]: whether a list was too short. found[2]: edges that were
    // looked at. found[3 + j]: whether an edge joins the largest trees of this rank and of rank j.
    uint64 *found;
    const uint64 *every_found; // the first two of all ranks
    const ID *every_pairs;     // the first `few` pairs of all ranks
    uint64 few;
    ID *joined;

    __device__ __forceinline__ VERTEX tree_of(uint64 other) const { return (VERTEX)(n + other); }

    __device__ __forceinline__ VERTEX root_of(VERTEX v) const {
        for (VERTEX up = parent[v]; up != v; up = parent[v])
            v = up;
        return v;
    }

    __device__ __forceinline__ uint64 owner_of(uint64 ghost) const {
        return upper_bound(ghosts, size + 1, ghost) - 1;
    }

    // Whether a ghost is in the largest tree of its owner.
    __device__ __forceinline__ bool in_giant(uint64 ghost, uint64 owner) const {
        return has_bit(received + ghost_starts[owner] / 32, ghost - ghosts[owner]);
    }
};

// No tree of another rank linked, no pairs, nothing listed, no largest tree, and a state of zeros
// for linking.
extern "C" __global__ void start(Given g) {
    for (uint64 i = thread_rank(); i < g.size; i += num_threads()) {
        g.parent[g.n + i] = g.tree_of(i);
        g.other_counts[i] = 0;
    }
    for (uint64 i = thread_rank(); i < 3 + g.size; i += num_threads())
        g.found[i] = 0;
    for (uint64 i = thread_rank(); i < g.words; i += num_threads())
        g.state[i] = 0;
    if (thread_rank() == 0)
        *g.label_of_giant = ~(ID)0; // nobody's
}

constexpr int AT_ONCE = 4; // vertices that a lane has under way: each is a chain of reads

// Which own vertices are in the largest tree. Roots have no label yet; others never have one.
extern "C" __global__ void mark(Given g) {
    const VERTEX top = g.parent[*g.giant];
    const uint64 words = (g.owned + WARP - 1) / WARP;
    for (uint64 first = warp_rank() * AT_ONCE; first < words; first += num_warps() * AT_ONCE) {
        VERTEX up[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = (first + j) * WARP + lane();
            up[j] = v < g.owned ? g.parent[v] : (VERTEX)0;
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = (first + j) * WARP + lane();
            if (v < g.owned && up[j] == v)
                g.label[v] = ~(ID)0;
            uint32 bits = __ballot_sync(FULL_WARP, v < g.owned && up[j] == top);
            if (lane() == 0 && first + j < words)
                g.inside[first + j] = bits;
        }
    }
}

// The place of the bit of a word below which are `below` others that are set.
__device__ __forceinline__ uint32 nth_bit(uint32 word, uint32 below) {
    uint32 place = 0;
#pragma unroll
    for (int width = WARP / 2; width > 0; width /= 2) {
        uint32 there = __popc(word >> place & ((1u << width) - 1));
        if (below >= there) {
            below -= there;
            place += width;
        }
    }
    return place;
}

// Calls use(is one, place) by all lanes until each place whose bit of word_of(i) is set has had a
// lane; a warp takes the bits of 32 words together: few are set, and each is a chain of reads.
template <typename WordOf, typename Use>
__device__ __forceinline__ void for_bits(uint64 words, WordOf word_of, Use use) {
    for (uint64 first = warp_rank() * WARP; first < words; first += num_warps() * WARP) {
        uint32 mine = first + lane() < words ? word_of(first + lane()) : 0;
        uint32 through = warp_inclusive_scan((uint32)__popc(mine));
        uint32 total = __shfl_sync(FULL_WARP, through, WARP - 1);
        for (uint32 begin = 0; begin < total; begin += WARP) {
            uint32 item = begin + lane(), owner = 0; // the words before have no more than so many
#pragma unroll
            for (int step = WARP / 2; step > 0; step /= 2)
                if (__shfl_sync(FULL_WARP, through, owner + step - 1) <= item)
                    owner += step;
            uint32 word = __shfl_sync(FULL_WARP, mine, owner);
            uint32 before = __shfl_sync(FULL_WARP, through, owner) - __popc(word);
            bool is_one = item < total;
            uint64 place = is_one ? nth_bit(word, item - before) : 0;
            use(is_one, WARP * (first + owner) + place);
        }
    }
}

// The same of border vertices, for each peer.
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
    uint64 *met = g.found + 3 + owner;
    if (fresh(met) == 0 && atomicExch(met, (uint64)1) == 0)
        link(g.parent, top, g.tree_of(owner));
}

constexpr int LOOKED_AT = 4; // ghosts of a peer in a row

// Whether the largest trees of two ranks meet, told by the first of the `some` vertices that come
// first: of most graphs that is enough. A thread looks at one's ghosts of one peer.
extern "C" __global__ void meet_giants(Given g, uint64 some) {
    const VERTEX top = g.parent[*g.giant];
    for (uint64 i = thread_rank(); i < some * g.size; i += num_threads()) {
        uint64 v = i / g.size, peer = i % g.size;
        if (!has_bit(g.inside, v) || g.ghosts[peer] == g.ghosts[peer + 1] ||
            fresh(g.found + 3 + peer))
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

constexpr OFFSET SHORT = 64; // ghosts of a row that one lane looks at by itself

// Links the own vertices outside the largest tree to their ghosts. Those inside look whether they
// have one in the largest tree of another rank, where that is not known yet.
extern "C" __global__ void absorb(Given g) {
    const VERTEX top = g.parent[*g.giant];
    bool apart = false;
    for (uint64 peer = 0; peer < g.size; ++peer)
        apart |= g.ghosts[peer] < g.ghosts[peer + 1] && !fresh(g.found + 3 + peer);
    apart = __any_sync(FULL_WARP, apart);
    uint64 read = 0;
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
        }
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
        while (end > stop) {
            uint64 w = g.neighbours[end - 1];
            if (w < g.owned) {
                begin = end;
                break;
            }
            look(v, within, w, linked);
            --end, ++read;
        }
        for (uint32 rest = __ballot_sync(FULL_WARP, end > begin); rest != 0; rest &= rest - 1) {
            int one = __ffs(rest) - 1;
            uint64 u = __shfl_sync(FULL_WARP, v, one), last = g.size;
            OFFSET from = __shfl_sync(FULL_WARP, begin, one);
            OFFSET to = __shfl_sync(FULL_WARP, end, one);
            bool is_within = __shfl_sync(FULL_WARP, (uint32)within, one);
            for (bool ghosts = true; ghosts && to > from;) {
                bool mine = to - from > (OFFSET)lane();
                uint64 w = mine ? g.neighbours[to - 1 - lane()] : 0;
                mine = mine && w >= g.owned;
                if (mine)
                    look(u, is_within, w, last), ++read;
                ghosts = __all_sync(FULL_WARP, mine);
                to -= to - from < WARP ? to - from : WARP;
            }
        }
    });
    read = block_sum(read);
    if (threadIdx.x == 0 && read > 0)
        atomicAdd(g.found + 2, read);
}

// The label of each tree, and every own vertex a child of its root. Which are in the largest tree,
// anew.
extern "C" __global__ void settle(Given g) {
    const VERTEX top = g.root_of((VERTEX)*g.giant);
    ID least = ~(ID)0;
    const uint64 words = (g.owned + WARP - 1) / WARP;
    for (uint64 first = warp_rank() * AT_ONCE; first < words; first += num_warps() * AT_ONCE) {
        VERTEX up[AT_ONCE];
        ID number[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = (first + j) * WARP + lane();
            if (v < g.owned)
                up[j] = g.parent[v], number[j] = g.numbers[v];
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = (first + j) * WARP + lane();
            VERTEX root = v < g.owned ? g.root_of(up[j]) : top;
            uint32 bits = __ballot_sync(FULL_WARP, root == top);
            if (lane() == 0 && first + j < words)
                g.inside[first + j] = bits;
            if (v >= g.owned)
                continue;
            if (root != up[j])
                g.parent[v] = root;
            if (root != top)
                atomic_min(g.label + root, number[j]);
            else if (number[j] < least)
                least = number[j];
        }
    }
    least = block_reduce(least, ~(ID)0, Smaller());
    if (threadIdx.x == 0)
        atomic_min(g.label + top, least);
}

// Lists the border vertices that are still outside the largest tree.
extern "C" __global__ void list_others(Given g) {
    const VERTEX top = g.root_of((VERTEX)*g.giant);
    if (thread_rank() == 0)
        *g.label_of_giant = g.label[top];
    uint64 of_word = 0;
    auto word_of = [&](uint64 word) {
        uint32 wanted = bits_of_word(word, g.send_starts, g.send_counts, of_word);
        uint32 all = wanted < WARP ? (1u << wanted) - 1 : FULL_WARP;
        return all & ~picked(g.picks, word, wanted, g.inside);
    };
    for_bits(g.send_starts[g.size] / 32, word_of, [&](bool is_one, uint64 i) {
        if (!is_one)
            return;
        uint64 peer = upper_bound(g.send_starts, g.size + 1, i) - 1,
               place = i - g.send_starts[peer];
        VERTEX root = g.parent[g.sends[i]];
        uint64 room = g.other_starts[peer + 1] - g.other_starts[peer];
        if (fresh(g.other_counts + peer) > room) // in vain: then all labels travel
            return;
        uint64 at = atomicAdd(g.other_counts + peer, (uint64)1);
        if (at < room)
            g.others[g.other_starts[peer] + at] = Other{(ID)place, g.label[root]};
    });
}

// The labels that are listed.
extern "C" __global__ void take_others(Given g) {
    for (uint64 i = thread_rank(); i < g.came_starts[g.size]; i += num_threads()) {
        uint64 peer = upper_bound(g.came_starts, g.size + 1, i) - 1;
        if (i - g.came_starts[peer] < g.came_counts[peer])
            g.label[g.ghosts[peer] + g.came[i].place] = g.came[i].label;
    }
}

// The label of each own vertex's tree; instead of list_others.
extern "C" __global__ void name_own(Given g) {
    for (uint64 v = thread_rank(); v < g.owned; v += num_threads())
        g.label[v] = g.label[g.parent[v]];
    if (thread_rank() == 0)
        *g.label_of_giant = g.label[g.root_of((VERTEX)*g.giant)];
}

__device__ void add_pair(const Given &g, ID here, ID there) {
    uint64 place = atomicAdd(g.found, (uint64)1);
    g.pairs[2 * place] = here;
    g.pairs[2 * place + 1] = there;
}

// Lists the label here of each ghost that is linked with that of its tree at the owner, and the
// same of largest trees. A ghost of which the owner tells nothing is in its largest tree. Of ghosts
// that are in two largest trees which meet that pair says all.
extern "C" __global__ void meet(Given g) {
    const VERTEX top = g.root_of((VERTEX)*g.giant);
    for (uint64 peer = thread_rank(); peer < g.size; peer += num_threads()) {
        VERTEX tree = g.tree_of(peer), root = g.root_of(tree);
        if (root != tree)
            add_pair(g, g.label[root], g.giants[peer]);
        if (g.other_counts[peer] > g.other_starts[peer + 1] - g.other_starts[peer])
            g.found[1] = 1;
    }
    auto word_of = [&](uint64 word) { return g.linked[word]; };
    for_bits((g.n - g.owned + WARP - 1) / WARP, word_of, [&](bool is_one, uint64 i) {
        if (!is_one)
            return;
        uint64 ghost = g.owned + i, peer = g.owner_of(ghost);
        VERTEX up = g.parent[ghost];
        VERTEX root = g.root_of(up);
        ID here = g.label[root], told = g.label[ghost];
        ID there = told == ~(ID)0 ? g.giants[peer] : told;
        if (here == there)
            return;
        bool said = root == top && there == g.giants[peer] && g.root_of(g.tree_of(peer)) == top;
        if (!said)
            add_pair(g, here, there);
    });
}

// Joins the pairs of all ranks where none has more than `few`.
extern "C" __global__ void join_first(Given g) {
    for (uint64 i = thread_rank(); i < g.size * g.few; i += num_threads()) {
        uint64 rank = i / g.few;
        if (i % g.few < g.every_found[2 * rank])
            link(g.joined, g.every_pairs[2 * i], g.every_pairs[2 * i + 1]);
    }
}

extern "C" __global__ void join_pairs(const ID *pairs, uint64 number, ID *joined) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        link(joined, pairs[2 * i], pairs[2 * i + 1]);
}

// The label of each own vertex's component. Who reads that of a root after it was written comes to
// the same.
extern "C" __global__ void relabel(Given g) {
    auto joined = [&](ID label) {
        for (ID up = g.joined[label]; up != label; up = g.joined[label])
            label = up;
        return label;
    };
    const ID largest = joined(g.label[g.root_of((VERTEX)*g.giant)]);
    const uint64 words = (g.owned + WARP - 1) / WARP;
    for (uint64 first = warp_rank() * AT_ONCE; first < words; first += num_warps() * AT_ONCE) {
        uint32 bits[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j)
            bits[j] = first + j < words ? g.inside[first + j] : 0;
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = (first + j) * WARP + lane();
            if (v < g.owned)
                g.label[v] = bits[j] >> lane() & 1 ? largest : joined(g.label[g.parent[v]]);
        }
    }
}

// Every label in a tree of its own again, and nothing told of ghosts, as before the run: nothing
// but what is in pairs was joined, and in lists told. As join_first, or of all pairs.
extern "C" __global__ void part_first(Given g) {
    for (uint64 w = thread_rank(); w < (g.n - g.owned + WARP - 1) / WARP; w += num_threads())
        if (g.linked[w] != 0) {
            for (uint32 bits = g.linked[w]; bits != 0; bits &= bits - 1) {
                uint64 ghost = g.owned + w * WARP + __ffs(bits) - 1;
                g.parent[ghost] = (VERTEX)ghost;
            }
            g.linked[w] = 0;
        }
    for (uint64 i = thread_rank(); i < g.came_starts[g.size]; i += num_threads()) {
        uint64 peer = upper_bound(g.came_starts, g.size + 1, i) - 1;
        if (i - g.came_starts[peer] < g.came_counts[peer])
            g.label[g.ghosts[peer] + g.came[i].place] = ~(ID)0;
    }
    for (uint64 i = thread_rank(); i < 2 * g.size * g.few; i += num_threads())
        if (i / 2 % g.few < g.every_found[2 * (i / 2 / g.few)])
            g.joined[g.every_pairs[i]] = g.every_pairs[i];
}

extern "C" __global__ void part_pairs(const ID *pairs, uint64 number, ID *joined) {
    for (uint64 i = thread_rank(); i < 2 * number; i += num_threads())
        joined[pairs[i]] = pairs[i];
}
