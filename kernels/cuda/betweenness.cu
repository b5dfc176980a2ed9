// Betweenness by Brandes' accumulation of dependencies: from each source a search that counts the
// shortest paths, and the same edges again from the farthest vertices to the nearest.
//
// Blocks work in teams, and a search is one team's, with arrays of its own: the whole grid's where
// there are many edges, one block's of many where there are few. Whoever is through with a source
// takes the next.
//
//   count   number of shortest paths from the source, exact up to 2^53.
//   share   (1 + dependency) / count: what each path to a vertex hands back to the vertex before
//   it.
//           It begins with 1 / count and is added to, so rows in pieces take no step of their own.
//   places  where the lists of each superstep begin: the way back goes over the same slices.
//
// Where edges have lengths (WEIGHT), distances are found before, of one source a launch. A vertex
// is then listed when the last of the edges that shortest paths to it end with has added its count:
// `pending` is how many are to come. So all that lead on from it are in later slices.

#include "degree_lists.cuh"

enum Failure : uint64 { MANY_PATHS = 1, LONG_PATHS = 2 };

struct TeamState {
    uint64 barrier;
    uint64 turn;        // which of the sources it is at
    Counts appended[3]; // of supersteps, taking turns as in bfs.cu
};

struct State {
    uint64 next; // source that nobody has taken
    uint64 read, failed;
    TeamState teams[1]; // as many as there are
};
static_assert(sizeof(TeamState) == 88 && sizeof(State) == 24 + 88, "what the host allocates");

struct Search {
    BlockTeam team;
    TeamState *state;
    Worklists lists;
    const OFFSET *offsets;
    const ID *neighbours;
    int32 *level;
    double *count, *share;
    ID *places;
#ifdef WEIGHT
    const WEIGHT *weight;
    const DIST *distance;
    const uint8 *reached;
    uint32 *pending;
#endif

    __device__ __forceinline__ bool leads() const { return team.rank == 0 && threadIdx.x == 0; }

    __device__ __forceinline__ void sync() const {
        team_sync((GridBarrier *)&state->barrier, team);
    }

    __device__ __forceinline__ bool is_reached(uint64 v) const {
#ifdef WEIGHT
        return reached[v];
#else
        return level[v] >= 0;
#endif
    }
};

#ifdef WEIGHT
// Whether a shortest path goes along an edge.
__device__ __forceinline__ bool is_tight(const Search &search, ID u, ID v, OFFSET edge) {
    return v != u && search.distance[u] + (DIST)search.weight[edge] == search.distance[v];
}

// Counts the edges that shortest paths to each vertex end with, zero before. LONG_PATHS if the
// distance does not grow along an edge, or comes to infinity.
__device__ uint64 count_pending(const Search &search, ID *slots) {
    uint64 failed = 0;
    Counts *appended = &search.state->appended[0];
    {
        Appender appender(search.lists, Slice{}, appended, slots);
        uint64 warps = search.team.threads() / WARP;
        for (uint64 w = search.team.thread() / WARP; w * WARP < search.lists.n; w += warps) {
            uint64 v = w * WARP + lane();
            bool wanted = v < search.lists.n && search.reached[v];
            appender.append(wanted, (ID)v,
                            wanted ? search.offsets[v + 1] - search.offsets[v] : (OFFSET)0);
        }
        appender.flush();
    }
    search.sync();
    Slice slice = {};
    slice.count = fresh_counts(appended);
    for_edges(
        search.lists, slice, search.offsets,
        [&](ID u, OFFSET edge, uint32 left, uint32 step) {
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                if (j * step >= left)
                    continue;
                ID v = search.neighbours[edge + j * step];
                DIST near = search.distance[u],
                     beyond = near + (DIST)search.weight[edge + j * step];
                if (v == u)
                    continue;
                if (beyond <= near || beyond - beyond != 0) // the latter: infinite
                    failed = LONG_PATHS;
                else if (beyond == search.distance[v])
                    atomicAdd(search.pending + v, 1);
            }
        },
        search.team);
    search.sync();
    return failed;
}
#endif

// Adds the counts of the vertices of a slice to those that shortest paths go on to, and lists the
// ones that are complete: of `depth` edges from the source.
__device__ void go_on(const Search &search, const Slice &slice, int32 depth, ID *slots,
                      uint64 &read) {
    Appender appender(search.lists, slice, &search.state->appended[depth % 3], slots);
    for_edges(
        search.lists, slice, search.offsets,
        [&](ID u, OFFSET edge, uint32 left, uint32 step) {
            ID v[BATCH];
            bool wanted[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                wanted[j] = j * step < left;
                v[j] = wanted[j] ? search.neighbours[edge + j * step] : 0;
                read += wanted[j];
            }
            bool any = false;
#ifdef WEIGHT
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                wanted[j] = wanted[j] && is_tight(search, u, v[j], edge + j * step);
                any = any || wanted[j];
            }
#else
            int32 seen[BATCH];
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                seen[j] = wanted[j] ? fresh(search.level + v[j]) : 0;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                wanted[j] = wanted[j] && (seen[j] < 0 || seen[j] == depth);
                any = any || wanted[j];
            }
#endif
            if (!__any_sync(FULL_WARP, any))
                return;
            double paths = any ? fresh(search.count + u) : 0;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                if (!wanted[j])
                    continue;
                atomicAdd(search.count + v[j], paths);
#ifdef WEIGHT
                wanted[j] = atomicAdd(search.pending + v[j], ~0u) == 1;
#else
                wanted[j] = seen[j] < 0 && atomicCAS(search.level + v[j], -1, depth) < 0;
#endif
            }
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
                appender.append(wanted[j], v[j],
                                wanted[j] ? search.offsets[v[j] + 1] - search.offsets[v[j]]
                                          : (OFFSET)0);
        },
        search.team);
    appender.flush();
}

// Takes back the shares of those that shortest paths go on to from the vertices of a slice, which
// are `depth` edges from the source. `along` is null where nobody asks.
__device__ void go_back(const Search &search, const Slice &slice, int32 depth, ID source,
                        double *through, double *along) {
    for_edges(
        search.lists, slice, search.offsets,
        [&](ID u, OFFSET edge, uint32 left, uint32 step) {
            ID v[BATCH];
            bool wanted[BATCH];
            double paths = left > 0 ? search.count[u] : 0, total = 0;
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                wanted[j] = j * step < left;
                v[j] = wanted[j] ? search.neighbours[edge + j * step] : 0;
            }
#pragma unroll
            for (int j = 0; j < BATCH; ++j)
#ifdef WEIGHT
                wanted[j] = wanted[j] && is_tight(search, u, v[j], edge + j * step);
#else
                wanted[j] = wanted[j] && search.level[v[j]] == depth + 1;
#endif
#pragma unroll
            for (int j = 0; j < BATCH; ++j) {
                if (!wanted[j])
                    continue;
                double share = search.share[v[j]];
                total += share;
                if (along != nullptr)
                    atomicAdd(along + edge + j * step, paths * share);
            }
            if (step == WARP)
                total = warp_sum(total);
            if (total > 0 && (step != WARP || lane() == 0)) {
                atomicAdd(search.share + u, total);
                if (u != source)
                    atomicAdd(through + u, paths * total);
            }
        },
        search.team);
}

// Everything of one source: the dependencies on it, added up.
__device__ void accumulate(const Search &search, ID source, double endpoints, double *through,
                           double *along, ID *slots, Slice *shared_slice, uint32 *stops,
                           uint64 &read, uint64 &failed) {
    uint64 n = search.lists.n;
    Slice &slice = *shared_slice;
    for (uint64 v = search.team.thread(); v < n; v += search.team.threads()) {
        search.count[v] = v == source;
#ifdef WEIGHT
        search.pending[v] = 0;
#else
        search.level[v] = v == source ? 0 : -1;
#endif
    }
    if (search.leads())
        for (int i = 0; i < 3; ++i)
            search.state->appended[i] = Counts{};
    search.sync();
#ifdef WEIGHT
    failed = count_pending(search, slots);
    if (search.leads())
        search.state->appended[0] = Counts{};
    search.sync();
#endif
    if (threadIdx.x == 0)
        slice = Slice{};
    __syncthreads();
    if (search.team.rank == 0 && warp_in_block() == 0) {
        Appender appender(search.lists, slice, &search.state->appended[0], slots);
        appender.append(lane() == 0, source, search.offsets[source + 1] - search.offsets[source]);
        appender.flush();
    }
    int32 depth = 0;
    while (true) { // each vertex enters the lists once
        search.sync();
        if (threadIdx.x == 0) {
            slice.advance(fresh_counts(search.state->appended + depth % 3));
            *stops = slice.empty();
            if (search.leads()) {
                ID *place = search.places + 3 * (uint64)depth;
                place[0] = (ID)slice.first.small;
                place[1] = (ID)slice.first.medium;
                place[2] = (ID)slice.first.pieces;
                search.state->appended[(depth + 2) % 3] = Counts{};
            }
        }
        __syncthreads();
        if (*stops)
            break;
        go_on(search, slice, ++depth, slots, read);
    }
    double others = 0;
    for (uint64 v = search.team.thread(); v < n; v += search.team.threads()) {
        if (!search.is_reached(v))
            continue;
        double paths = search.count[v];
        if (paths - paths != 0 && failed == 0) // infinite
            failed = MANY_PATHS;
        search.share[v] = 1 / paths;
        if (endpoints != 0 && v != source) {
            atomicAdd(through + v, endpoints);
            others += endpoints;
        }
    }
    others = warp_sum(others);
    if (lane() == 0 && others > 0)
        atomicAdd(through + source, others);
    while (depth-- > 0) {
        search.sync();
        if (threadIdx.x == 0) {
            const ID *place = search.places + 3 * (uint64)depth;
            slice.first = {fresh(place), fresh(place + 1), fresh(place + 2)};
            slice.count = {fresh(place + 3) - slice.first.small,
                           fresh(place + 4) - slice.first.medium,
                           fresh(place + 5) - slice.first.pieces};
        }
        __syncthreads();
        go_back(search, slice, depth, source, through, along);
    }
}

// `team_size` blocks work together, and there are `num_teams`; the arrays from `level` to `places`
// have a part for each: of n, of `num_pieces`, and of 3 (n + 1). `through` and `along` are added
// to.
extern "C" __global__ void __launch_bounds__(512, 2)
    betweenness(const OFFSET *offsets, const ID *neighbours, uint64 n, const ID *sources,
                uint64 num_sources, double endpoints, uint32 team_size, uint32 num_teams,
                int32 *level, double *count, double *share, ID *queue, ID *piece_row, uint32 *piece,
                uint64 num_pieces, uint32 medium, uint32 large, ID *places,
#ifdef WEIGHT
                const WEIGHT *weight, const DIST *distance, const uint8 *reached,
#endif
                double *through, double *along, State *state) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    __shared__ Slice slice;
    __shared__ uint32 stops;
    uint64 number = blockIdx.x / team_size;
    if (number >= num_teams)
        return;
    Search search;
    search.team = {blockIdx.x % team_size, team_size};
    search.state = state->teams + number;
    search.lists = {queue + number * n,
                    piece_row + number * num_pieces,
                    piece + number * num_pieces,
                    n,
                    medium,
                    large};
    search.offsets = offsets;
    search.neighbours = neighbours;
    search.level = level + number * n;
    search.count = count + number * n;
    search.share = share + number * n;
    search.places = places + number * 3 * (n + 1);
#ifdef WEIGHT
    search.weight = weight;
    search.distance = distance;
    search.reached = reached;
    search.pending = (uint32 *)search.level;
#endif
    uint64 read = 0, failed = 0;
    while (true) {
        if (search.leads())
            search.state->turn = atomicAdd(&state->next, 1ull);
        search.sync();
        uint64 turn = fresh(&search.state->turn);
        if (turn >= num_sources)
            break;
        accumulate(search, sources[turn], endpoints, through, along, slots, &slice, &stops, read,
                   failed);
    }
    read = warp_sum(read);
    if (lane() == 0 && read > 0)
        atomicAdd(&state->read, read);
    if (failed != 0)
        atomic_max(&state->failed, failed);
}
