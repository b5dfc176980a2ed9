// Biconnected components by a spanning tree: one look at every edge, a thread an edge.
//
// A traversal of the spanning trees has given each vertex a place, a parent before its children, so
// that what is below a vertex is a range of places. Arrays are by vertex:
//
//   place, up, last  of the vertex, of its parent (a root: its own), and the last one below it.
//   low, high        the first and the last place that an edge which is not of the tree leads to.
//   parent           trees of sets, see components.cuh: the ends of an edge of which neither is
//                    below the other are in one component.

#include "components.cuh"
#include "row_of.cuh"

extern "C" __global__ void look(const OFFSET *offsets, const ID *neighbours, uint64 n, uint64 edges,
                                const ID *place, const ID *up, const ID *last, ID *low, ID *high,
                                ID *parent) {
    RowOf row_of = {offsets, n, 0, false};
    for (uint64 edge = thread_rank(); edge < edges; edge += num_threads()) {
        ID u = (ID)row_of(edge), w = neighbours[edge];
        if (place[u] < place[w]) { // from the later one
            ID earlier = u;
            u = w;
            w = earlier;
        }
        ID later = place[u], earlier = place[w];
        if (later == earlier || up[u] == earlier)
            continue; // of the tree, or a self-loop
        if (earlier < fresh(low + u))
            atomic_min(low + u, earlier);
        if (last[w] >= later)
            continue; // below the other end
        if (fresh(high + w) < later)
            atomic_max(high + w, later);
        link<true>(parent, u, w);
    }
}
