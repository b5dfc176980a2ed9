// Breadth-first levels over edges that come in parts, by either end of them.
//
// Computes  level[v] = fewest edges from the source to v, -1 where there is no path.
// Launch    start_search once. Then for each level that has many edges: [next_level survey] creep
//           survey choose_rows, and a level_part for each part; the host reads Search before the
//           parts. All of them do nothing once no vertex is left that sends.
// Encoding  The frontier is who has level `depth`. A step's part brings the rows of `active`: those
//           of the frontier, which give their neighbours the next level, or (`pulls`, where rows
//           are in-edges too) those of all that have no level, which look for a neighbour in it.
// Why       A vertex of the frontier sends along all its edges, most of which lead back. In the
//           last levels of graphs of small diameter the rows of those not yet found are a
//           fraction of that, and the link is what takes the time. Levels of few edges, on the
//           other hand, cost the host's looks: `creep` goes from one to the next by itself, and
//           reads rows where they lie.

#include "edges_of_part.cuh"
#include "tier_frontier.cuh"

// Rows of some vertices: all of their edges; those that are not on the device, and how many rows
// have any.
struct Rows {
    uint64 all, edges, rows;
};

// The host reads the first words.
struct Search {
    uint64 depth, found, pulls; // of the level whose rows are brought next; vertices that send
    uint64 read;                // edges of parts
    uint64 crept, passed, walked, behind; // by `creep`: levels, vertices, edges, edges on the host
    uint64 surveyed;                      // the depth that `front` and `left` are of, + 1
    Rows front, left;                     // of the frontier, and of vertices without a level
    Frontier steps[3];                    // of levels in turn: one is read, one added to, one zero
    uint64 barrier;
};
static_assert(sizeof(Search) <= 512, "what the host allocates");

// Bytes over the link that a row's first and last line have beside it, about, and edges on the
// device that take as long as a byte.
constexpr uint64 BESIDE = 128, ON_DEVICE = 16;

extern "C" __global__ void start_search(Edges edges, ID source, int32 *level, Search *search,
                                        Lists lists) {
    for (uint64 v = thread_rank(); v < edges.n; v += num_threads())
        level[v] = v == source ? 0 : -1;
    if (thread_rank() > 0)
        return;
    uint64 degree = edges.offsets[source + 1] - edges.offsets[source];
    *search = Search{};
    search->steps[0] = Frontier{1, degree, degree <= FEW, degree > FEW};
    *(degree <= FEW ? lists.few(0) : lists.many(0)) = source;
}

// After the parts of a level. One thread.
extern "C" __global__ void next_level(Search *search) {
    if (threadIdx.x > 0)
        return;
    search->depth += 1;
    search->surveyed = search->depth + 1;
    search->front = search->left = Rows{};
    search->steps[search->depth % 3] = search->steps[(search->depth + 1) % 3] = Frontier{};
}

__device__ __forceinline__ void add_rows(Rows *sum, const Rows &mine) {
    add_block(&sum->all, mine.all);
    add_block(&sum->edges, mine.edges);
    add_block(&sum->rows, mine.rows);
}

// What there is to bring of the frontier, and of the vertices without a level. `lists` is null but
// after parts, when the frontier is counted and listed too: with it `creep` begins.
extern "C" __global__ void __launch_bounds__(256)
    survey(Edges edges, const int32 *level, Search *search, Lists lists) {
    uint64 depth = search->depth, size = 0;
    if (lists.rows == nullptr && search->surveyed == depth + 1)
        return; // it is known
    Frontier *step = search->steps + depth % 3;
    Rows front = {}, left = {};
    for (uint64 base = warp_rank() * WARP; base < edges.n; base += num_warps() * WARP) {
        uint64 v = base + lane();
        bool in = v < edges.n && level[v] == (int32)depth, out = v < edges.n && level[v] < 0;
        uint64 begin = 0, end = 0;
        if (in || out) {
            begin = edges.offsets[v];
            end = edges.offsets[v + 1];
        }
        uint64 length = end - begin;
        bool listed = lists.rows != nullptr && in && fresh(&step->few) <= lists.most;
        if (__any_sync(FULL_WARP, listed)) // else there are too many
            append_row(listed, (ID)v, length, step, lists, depth);
        if (!in && !out)
            continue;
        const uint64 resident = edges.neighbours.resident;
        begin = begin < resident ? resident : begin;
        uint64 behind = begin < end ? end - begin : 0;
        Rows &rows = in ? front : left;
        rows.all += length;
        rows.edges += behind;
        rows.rows += behind > 0;
        size += in;
    }
    add_rows(&search->front, front);
    add_rows(&search->left, left);
    if (lists.rows == nullptr)
        return;
    add_block(&step->size, size);
    add_block(&step->edges, front.all);
}

// Level after level up to `last`, as long as these have fewer than `few` edges. Cooperative.
extern "C" __global__ void __launch_bounds__(256)
    creep(Edges edges, int32 *level, Search *search, Lists lists, uint64 last, uint64 few) {
    uint64 first = fresh(&search->depth);
    GridBarrier *barrier = (GridBarrier *)&search->barrier;
    Crept crept =
        creep_on(edges, search->steps, barrier, lists, first, last, few, [&](ID, uint64 depth) {
            return [=](ID v) {
                return fresh(level + v) < 0 && atomicCAS(level + v, -1, (int32)depth + 1) < 0;
            };
        });
    add_block(&search->walked, crept.edges);
    add_block(&search->behind, crept.behind);
    if (thread_rank() > 0)
        return;
    search->depth = crept.depth;
    search->crept += crept.depth - first;
    search->passed += crept.vertices;
    search->found = crept.depth < last ? crept.size : 0;
    if (search->surveyed != crept.depth + 1)
        search->front = search->left = Rows{};
}

// Bytes over the link, about, with a little for what is on the device.
__device__ __forceinline__ uint64 cost(const Rows &rows, uint64 most) {
    uint64 bytes = rows.edges * sizeof(ID) + rows.rows * BESIDE;
    return (bytes < most ? bytes : most) + rows.all / ON_DEVICE;
}

// Whose rows are brought next: of the frontier, or where these are fewer (`may_pull`) of those that
// have no level.
extern "C" __global__ void __launch_bounds__(256)
    choose_rows(uint64 n, uint64 behind, uint32 may_pull, const int32 *level, Search *search,
                uint8 *active) {
    uint64 most = behind * sizeof(ID);
    bool sends = search->found > 0;
    bool pulls = sends && may_pull && cost(search->left, most) < cost(search->front, most);
    int32 depth = (int32)search->depth;
    for (uint64 v = thread_rank(); v < n; v += num_threads())
        active[v] = sends && (pulls ? level[v] < 0 : level[v] == depth);
    if (thread_rank() == 0)
        search->pulls = pulls;
}

// Many write the same.
extern "C" __global__ void __launch_bounds__(256)
    level_part(Part part, int32 *level, Search *search) {
    int32 depth = (int32)search->depth;
    uint64 mine;
    if (search->pulls)
        mine = for_part(part, [&](ID u, ID v) {
            if (fresh(level + v) == depth)
                level[u] = depth + 1;
        });
    else
        mine = for_part(part, [&](ID u, ID v) {
            if (fresh(level + v) < 0)
                level[v] = depth + 1;
        });
    count_read(mine, &search->read);
}
