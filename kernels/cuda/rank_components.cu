// rank_components.cu: components of a graph on several ranks, of the trees that each has linked.
//
// Encoding  a tree is known by its label, the smallest number in it. joined: a forest over the
//           numbers of the whole graph; labels that name one component are in one tree of it. All
//           ranks join the same pairs of labels, their own and the others', so all come to the
//           same. What owners tell of border vertices are labels, of all or of those only that are
//           not in their rank's largest tree, as a list.
// Macros    ID: of a number. VERTEX: of a local id.

#include "components.cuh"

// A border vertex that is not in its rank's largest tree: its place among those of the peer.
struct Other {
    ID place, label;
};

// Every label in a tree of its own; no pairs, no largest tree, nothing listed, no ghost that names
// a tree, and a state of zeros for linking.
extern "C" __global__ void start(ID *joined, uint64 n, uint64 *found, uint64 *counts, uint64 size,
                                 uint8 *names, uint64 num_ghosts, ID *giant, uint64 *state,
                                 uint64 words) {
    for (uint64 label = thread_rank(); label < n; label += num_threads())
        joined[label] = (ID)label;
    for (uint64 i = thread_rank(); i <= size; i += num_threads())
        found[i] = 0;
    for (uint64 i = thread_rank(); i < size; i += num_threads())
        counts[i] = 0;
    for (uint64 i = thread_rank(); i < num_ghosts; i += num_threads())
        names[i] = 0;
    for (uint64 i = thread_rank(); i < words; i += num_threads())
        state[i] = 0;
    if (thread_rank() == 0)
        *giant = ~(ID)0; // nobody's
}

// The label of each own vertex's tree, and of what is probably the largest tree; and which ghosts
// name trees that own vertices are in.
extern "C" __global__ void label_trees(const VERTEX *parent, const ID *numbers, uint64 owned,
                                       const uint64 *giant, ID *label, ID *label_of_giant,
                                       uint8 *names) {
    for (uint64 v = thread_rank(); v < owned; v += num_threads()) {
        VERTEX up = parent[v];
        label[v] = numbers[up];
        if (up >= owned)
            names[up - owned] = 1;
    }
    if (thread_rank() == 0)
        *label_of_giant = numbers[parent[*giant]];
}

// Lists the others, as many of each peer's as there is room for: from starts[peer] on. counts: how
// many there are, or more than there is room for. cuts, lengths: where the border of a peer begins,
// and how many there are.
extern "C" __global__ void list_others(const ID *label, const ID *label_of_giant,
                                       const VERTEX *vertices, uint64 number, const uint64 *cuts,
                                       const uint64 *lengths, uint64 size, Other *others,
                                       const uint64 *starts, uint64 *counts) {
    ID giant = *label_of_giant;
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        ID one = label[vertices[i]];
        if (one == giant)
            continue;
        uint64 peer = upper_bound(cuts, size + 1, i) - 1;
        if (i - cuts[peer] >= lengths[peer])
            continue;
        uint64 room = starts[peer + 1] - starts[peer];
        if (fresh(counts + peer) > room) // in vain: then all labels travel
            continue;
        uint64 place = atomicAdd(counts + peer, (uint64)1);
        if (place < room)
            others[starts[peer] + place] = Other{(ID)(i - cuts[peer]), one};
    }
}

// A ghost that is not listed is in the largest tree of its owner.
extern "C" __global__ void expect(ID *label, const uint64 *ghosts, uint64 size, const ID *giants) {
    for (uint64 v = ghosts[0] + thread_rank(); v < ghosts[size]; v += num_threads())
        label[v] = giants[upper_bound(ghosts, size + 1, v) - 1];
}

// The labels that are listed; `starts` and `counts` are of what has come.
extern "C" __global__ void take_others(ID *label, const uint64 *ghosts, uint64 size,
                                       const Other *others, const uint64 *starts,
                                       const uint64 *counts) {
    for (uint64 i = thread_rank(); i < starts[size]; i += num_threads()) {
        uint64 peer = upper_bound(starts, size + 1, i) - 1;
        if (i - starts[peer] < counts[peer])
            label[ghosts[peer] + others[i].place] = others[i].label;
    }
}

// Lists the label of each ghost's tree here with that of its tree at the owner, which `label` has.
// found[0]: how many pairs. found[1 + j]: whether a ghost of rank j is in the largest tree on both
// sides. Ghosts of rank j: ghosts[j] .. ghosts[j + 1]. Of those in both largest trees one will do.
// Of a ghost that is in no tree here but its own, as its edges were skipped, nobody here has
// anything to tell.
extern "C" __global__ void meet(const VERTEX *parent, const ID *numbers, const ID *label,
                                const uint64 *ghosts, uint64 rank, uint64 size, const ID *giants,
                                const uint8 *names, ID *pairs, uint64 *found) {
    const uint64 owned = ghosts[0], n = ghosts[size];
    for (uint64 first = owned + warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 v = first + lane();
        ID here = 0, there = 0;
        if (v < n) {
            VERTEX up = parent[v];
            here = numbers[up], there = label[v];
            if (up == v && !names[v - owned] && here != giants[rank])
                there = here;
        }
        if (v < n && here == giants[rank]) {
            uint64 owner = upper_bound(ghosts, size + 1, v) - 1;
            if (there == giants[owner]) {
                uint64 *met = found + 1 + owner;
                if (fresh(met) || atomicExch(met, (uint64)1))
                    there = here;
            }
        }
        uint32 votes = __ballot_sync(FULL_WARP, here != there);
        if (votes == 0)
            continue;
        uint64 place = 0;
        if (lane() == 0)
            place = atomicAdd(found, (uint64)__popc(votes));
        place = __shfl_sync(FULL_WARP, place, 0) + __popc(votes & lower_lanes());
        if (here != there) {
            pairs[2 * place] = here;
            pairs[2 * place + 1] = there;
        }
    }
}

extern "C" __global__ void join_pairs(const ID *pairs, uint64 number, ID *joined) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        link(joined, pairs[2 * i], pairs[2 * i + 1]);
}

// The label of each own vertex's component.
extern "C" __global__ void relabel(const VERTEX *parent, const ID *numbers, const ID *joined,
                                   uint64 owned, ID *label) {
    for (uint64 v = thread_rank(); v < owned; v += num_threads()) {
        ID top = numbers[parent[v]];
        for (ID up = joined[top]; up != top; up = joined[top])
            top = up;
        label[v] = top;
    }
}
