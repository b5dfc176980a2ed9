// Which neighbour is a vertex's predecessor: of those that it can have been reached from, by a rule
// that does not depend on how the search went.
//
// The one of highest degree, then of smallest rank: an order without ties. predecessor: dense id; a
// vertex's own id means that it has none (yet).
// Macros  DIST, WEIGHT, RANK: types of distances, weights and ranks.

struct Preference {
    const OFFSET *offsets;
    const int64 *degree; // null: the lengths of the rows
    const RANK *rank;    // null: the order of the dense ids

    __device__ __forceinline__ int64 degree_of(uint64 v) const {
        return degree != nullptr ? degree[v] : (int64)(offsets[v + 1] - offsets[v]);
    }

    // Whether `u` is preferred to `other`.
    __device__ __forceinline__ bool operator()(uint64 u, uint64 other) const {
        int64 a = degree_of(u), b = degree_of(other);
        if (a != b)
            return a > b;
        return rank != nullptr ? rank[u] < rank[other] : u < other;
    }
};

struct Paths {
    const DIST *distance;
    const bool *reached;
    const WEIGHT *weight; // of the rows that are gone along; null for hops

    // Length of an edge in the type of the distances, so that sums are the ones of the search.
    __device__ __forceinline__ DIST length(OFFSET e) const {
        return weight != nullptr ? (DIST)weight[e] : (DIST)1;
    }

    // Whether `v` can have been reached from `u`, which is strictly nearer, by edge e.
    __device__ __forceinline__ bool fits(ID u, ID v, OFFSET e) const {
        DIST from = distance[u], to = distance[v];
        return from < to && (DIST)(from + length(e)) == to && reached[u] && reached[v];
    }
};

// Makes u the predecessor of v if it is preferred to the one that v has.
__device__ __forceinline__ void offer(ID *predecessor, ID v, ID u, const Preference &preferred) {
    ID best = fresh(predecessor + v);
    while (best == v || preferred(u, best)) {
        ID seen = compare_and_swap(predecessor + v, best, u);
        if (seen == best)
            return;
        best = seen;
    }
}
