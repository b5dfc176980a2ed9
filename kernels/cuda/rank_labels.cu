// rank_labels.cu: what the components of a graph on several ranks are called, once each knows the
// trees of its vertices and ghosts (rank_components.cu).
//
// Launch    labels of border vertices: list_others, an exchange, take_others, or name_own and an
//           exchange of all labels; then meet, an all-gather of pairs, join_first, relabel,
//           part_first. Where there are more pairs: an exchange of them, join_pairs, relabel,
//           part_pairs.

#include "rank_components.cuh"

// Lists the border vertices that are still outside the largest tree.
extern "C" __global__ void list_others(Given g) {
    if (thread_rank() == 0)
        g.giants[g.rank] = g.label[g.top()];
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
    const VERTEX top = g.top();
    for (uint64 v = thread_rank(); v < g.owned; v += num_threads())
        g.label[v] = g.label[has_bit(g.inside, v) ? top : g.parent[v]];
    if (thread_rank() == 0)
        g.giants[g.rank] = g.label[top];
}

__device__ void add_pair(const Given &g, ID here, ID there) {
    uint64 place = atomicAdd(g.told, (uint64)1);
    g.pairs()[2 * place] = here;
    g.pairs()[2 * place + 1] = there;
}

// Lists the label here of each ghost that is linked with that of its tree at the owner, and the
// same of largest trees. A ghost of which the owner tells nothing is in its largest tree. Of ghosts
// that are in two largest trees which meet that pair says all.
extern "C" __global__ void meet(Given g) {
    const VERTEX top = g.top();
    for (uint64 peer = thread_rank(); peer < g.size; peer += num_threads()) {
        VERTEX tree = g.tree_of(peer), root = root_of(g.parent, tree);
        if (root != tree)
            add_pair(g, g.label[root], g.giants[peer]);
        if (g.other_counts[peer] > g.other_starts[peer + 1] - g.other_starts[peer])
            g.told[1] = 1;
    }
    auto word_of = [&](uint64 word) { return g.linked[word]; };
    for_bits((g.n - g.owned + WARP - 1) / WARP, word_of, [&](bool is_one, uint64 i) {
        if (!is_one)
            return;
        uint64 ghost = g.owned + i, peer = g.owner_of(ghost);
        VERTEX up = g.parent[ghost];
        VERTEX root = root_of(g.parent, up);
        ID here = g.label[root], told = g.label[ghost];
        ID there = told == ~(ID)0 ? g.giants[peer] : told;
        if (here == there)
            return;
        bool said =
            root == top && there == g.giants[peer] && root_of(g.parent, g.tree_of(peer)) == top;
        if (!said)
            add_pair(g, here, there);
    });
}

// Joins the pairs of all ranks where none has more than `few`.
extern "C" __global__ void join_first(Given g) {
    for (uint64 i = thread_rank(); i < g.size * g.few; i += num_threads()) {
        const uint64 *told = g.of_rank(i / g.few);
        const ID *pair = (const ID *)(told + 2) + 2 * (i % g.few);
        if (i % g.few < told[0])
            link(g.joined, pair[0], pair[1]);
    }
    for (uint64 i = thread_rank(); i < 2 * g.size; i += num_threads())
        g.heads[i] = g.of_rank(i / 2)[i % 2];
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
    const ID largest = joined(g.label[g.top()]);
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
    for (uint64 i = thread_rank(); i < 2 * g.size * g.few; i += num_threads()) {
        const uint64 *told = g.of_rank(i / (2 * g.few));
        if (i / 2 % g.few < told[0]) {
            ID label = ((const ID *)(told + 2))[i % (2 * g.few)];
            g.joined[label] = label;
        }
    }
}

extern "C" __global__ void part_pairs(const ID *pairs, uint64 number, ID *joined) {
    for (uint64 i = thread_rank(); i < 2 * number; i += num_threads())
        joined[pairs[i]] = pairs[i];
}
