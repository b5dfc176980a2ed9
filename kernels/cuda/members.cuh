// The member of each component that is smallest in the order of the user's ids.

#include "common.cuh"

// Places of vertices in the order of the user's ids; `rank` is null where that is the dense order.
struct Order {
    const RANK *rank;

    __device__ __forceinline__ uint64 operator()(ID v) const {
        return rank == nullptr ? (uint64)v : (uint64)rank[v];
    }
};

// The member of smaller rank.
__device__ __forceinline__ void offer(ID *holder, ID root, ID v, const Order &order) {
    ID best = fresh(holder + root);
    while (order(v) < order(best)) {
        ID seen = compare_and_swap(holder + root, best, v);
        if (seen == best)
            return;
        best = seen;
    }
}

// holder[r] becomes the member of smallest rank of the tree of root r, for which it is r at first.
// The largest tree's is looked for among `firsts`, the `number` vertices of smallest rank, which
// ascend; where none is in it, its members are compared in registers, for its holder is one word
// for nearly all.
__device__ void smallest_members(const ID *parent, uint64 n, const Order &order, const ID *firsts,
                                 uint64 number, ID giant, ID *holder) {
    ID root_of_giant = parent[giant], best = root_of_giant;
    bool found = false;
    for (uint64 i = lane(); __any_sync(FULL_WARP, i < number); i += WARP) {
        uint32 votes = __ballot_sync(FULL_WARP, i < number && parent[firsts[i]] == root_of_giant);
        if (votes != 0) {
            best = firsts[i - lane() + __ffs(votes) - 1];
            found = true;
            break;
        }
    }
    uint64 least = order(best);
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        ID root = parent[v];
        if (root == root_of_giant) {
            if (!found && order((ID)v) < least) {
                least = order((ID)v);
                best = (ID)v;
            }
        } else if (root != v) {
            offer(holder, root, (ID)v, order);
        }
    }
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        ID other = __shfl_xor_sync(FULL_WARP, best, offset);
        if (order(other) < order(best))
            best = other;
    }
    if (lane() == 0)
        offer(holder, root_of_giant, best, order);
}
