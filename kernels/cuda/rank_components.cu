// rank_components.cu: components of a graph on several ranks, of the trees that each has linked.
//
// Encoding  a tree is known by its label, the smallest number in it. joined: a forest over the
//           numbers of the whole graph; labels that name one component are in one tree of it. All
//           ranks join the same pairs of labels, so all come to the same.
// Macros    ID: of a number. VERTEX: of a local id.

#include "components.cuh"

// Every label in a tree of its own; no pairs, no largest tree, and a state of zeros for linking.
extern "C" __global__ void start(ID *joined, uint64 n, uint64 *found, uint64 size, ID *giant,
                                 uint64 *state, uint64 words) {
    for (uint64 label = thread_rank(); label < n; label += num_threads())
        joined[label] = (ID)label;
    for (uint64 i = thread_rank(); i <= size; i += num_threads())
        found[i] = 0;
    for (uint64 i = thread_rank(); i < words; i += num_threads())
        state[i] = 0;
    if (thread_rank() == 0)
        *giant = ~(ID)0; // nobody's
}

// The label of each vertex's tree, and of what is probably the largest tree.
extern "C" __global__ void label_trees(const VERTEX *parent, const ID *numbers, uint64 n,
                                       const uint64 *giant, ID *label, ID *label_of_giant) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        label[v] = numbers[parent[v]];
    if (thread_rank() == 0)
        *label_of_giant = numbers[parent[*giant]];
}

// Joins the label of each ghost's tree here with that of its tree at the owner, which `label` has.
// found[1 + j]: whether a ghost of rank j is in the largest tree on both sides. Ghosts of rank j:
// ghosts[j] .. ghosts[j + 1].
extern "C" __global__ void meet(const VERTEX *parent, const ID *numbers, const ID *label,
                                const uint64 *ghosts, uint64 rank, uint64 size, const ID *giants,
                                ID *joined, uint64 *found) {
    for (uint64 v = ghosts[0] + thread_rank(); v < ghosts[size]; v += num_threads()) {
        ID here = numbers[parent[v]], there = label[v];
        if (here != there)
            link(joined, here, there);
        if (here != giants[rank])
            continue;
        uint64 owner = upper_bound(ghosts, size + 1, v) - 1;
        if (there == giants[owner] && !fresh(found + 1 + owner))
            found[1 + owner] = 1;
    }
}

// Every label that is in the tree of another, with the smallest one of that tree; found[0]: how
// many.
extern "C" __global__ void list_joined(ID *joined, uint64 n, ID *pairs, uint64 *found) {
    for (uint64 first = warp_rank() * WARP; first < n; first += num_warps() * WARP) {
        uint64 label = first + lane();
        ID top = (ID)label;
        if (label < n) {
            for (ID up = fresh(joined + top); up != top; up = fresh(joined + top))
                top = up;
            if (top != label)
                joined[label] = top;
        }
        bool moved = label < n && top != label;
        uint64 place = warp_places(moved, found);
        if (moved) {
            pairs[2 * place] = (ID)label;
            pairs[2 * place + 1] = top;
        }
    }
}

extern "C" __global__ void join_pairs(const ID *pairs, uint64 number, ID *joined) {
    for (uint64 i = thread_rank(); i < number; i += num_threads())
        link(joined, pairs[2 * i], pairs[2 * i + 1]);
}

extern "C" __global__ void compress_joined(ID *joined, uint64 n) { compress(joined, n); }

// The label of each vertex's component.
extern "C" __global__ void relabel(const VERTEX *parent, const ID *numbers, const ID *joined,
                                   uint64 n, ID *label) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        label[v] = joined[numbers[parent[v]]];
}
