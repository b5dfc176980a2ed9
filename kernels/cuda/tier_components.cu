// Connected components by linking trees, over edges that come in parts.
//
// Computes  parent[v] = root of v's tree, or that tree's member of smallest rank.
// Launch    start_trees; then for more and more of the edges find_outside and a link_part for each
//           part; shorten after the parts; at the end offer_names and take_names, if there are
//           ranks. find_giant, which find_outside needs where it skips, is one block.
// Why       Where every edge is seen from both ends, the rows of what is probably the largest tree
//           need not be gone along: where rows begin with the hubs', a small part of the edges
//           joins nearly all vertices, and hardly any of the others cross the link.

#include "components.cuh"
#include "edges_of_part.cuh"
#include "members.cuh"

extern "C" __global__ void start_trees(uint64 n, ID *parent) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        parent[v] = (ID)v;
}

extern "C" __global__ void __launch_bounds__(512)
    find_giant(const ID *parent, uint64 n, uint64 *giant) {
    ID found = most_frequent(parent, n, [](ID) { return true; }).root;
    if (threadIdx.x == 0)
        *giant = found;
}

// Those whose edges are to be linked: where `skips`, not of the tree of `giant`.
extern "C" __global__ void find_outside(const ID *parent, uint64 n, const uint64 *giant,
                                        uint32 skips, uint8 *active) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        active[v] = !skips || parent[v] != (ID)*giant;
}

extern "C" __global__ void __launch_bounds__(256) link_part(Part part, ID *parent, uint64 *read) {
    count_read(for_part(part, [&](ID u, ID v) { link<true>(parent, u, v); }), read);
}

extern "C" __global__ void shorten(ID *parent, uint64 n) { compress(parent, n); }

// holder[v] is v before.
extern "C" __global__ void offer_names(const ID *parent, uint64 n, const RANK *rank,
                                       const uint64 *giant, ID *holder) {
    smallest_members(parent, n, Order{rank}, nullptr, 0, (ID)*giant, holder);
}

extern "C" __global__ void take_names(ID *parent, uint64 n, const ID *holder) {
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        parent[v] = holder[parent[v]];
}
