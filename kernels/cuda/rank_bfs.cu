// rank_bfs.cu: a level of a direction-optimizing breadth-first search on one of several ranks.
//
// Launch    at the start: clear, start, pack, an exchange. A level: take, work, pack, an exchange.
//           What is queued behind the last level does nothing.
// Encoding  vertices are local ids: own ones, then ghosts, whose rows of in-edges are empty. To
//           each peer goes a segment of `packed`: a Told as a header, then a bit for each border
//           vertex, whether it has been found so far. One of its ghosts comes back in `received`.
// Choice    all ranks add up the same headers, and so decide the same. Each kernel does it anew:
//           what it reads of that is written by the others.
//
// What pushes, pulls and lists is that of bfs.cu.

#include "bfs.cuh"
#include "border_bits.cuh"

// What a rank tells of a level: vertices found, their edges in the whole graph, vertices that a
// pull has left, and looks of a pull.
struct Told {
    uint64 vertices, edges, unvisited, read;
};
constexpr uint32 HEADER = sizeof(Told) / sizeof(uint32);

constexpr uint64 OVER = ~(uint64)0;
constexpr uint64 LEVELS_TOLD = 256;

// What the host looks at comes first.
struct RankState {
    uint64 done;
    uint64 levels; // that have vertices
    Runs runs;
    uint64 level;    // that is worked on, or OVER
    uint64 bitmap;   // that has what it finds
    Search search;   // as `pack` left it
    Told told;       // of the level before
    Told found;      // of this one
    Counts lists[2]; // what was appended, by levels that take turns
};
static_assert(sizeof(RankState) <= 4096, "what the host allocates");

struct Asked {
    int64 source; // a number
    int64 cutoff; // negative: none
    int64 forced; // enum Forced
};

struct Given {
    Graph graph;
    uint64 owned, num_vertices, num_edges; // the last two of the whole graph
    const ID *numbers;
    const int64 *degrees;
    uint64 rank, size;
    // Segments of all peers: whose bits are in their words, where they begin, and how many bits of
    // each mean something.
    Picks sends;
    const uint64 *send_starts, *send_counts, *ghost_starts, *ghost_counts;
    uint32 *packed;
    const uint32 *received;
    const Asked *asked;
    int32 *level;
    uint64 *sizes;   // vertices of the first LEVELS_TOLD levels, on all ranks
    uint32 *visited; // two bitmaps
    ID *queue, *piece_row;
    uint32 *piece;
    uint64 medium, large;
    ID *unvisited; // two lists of n
    RankState *state;

    // Where the words of a peer begin, behind its header; this rank has none for itself.
    __device__ __forceinline__ uint64 words_of(const uint64 *starts, uint64 peer) const {
        return starts[peer] / 32 + HEADER * (peer + 1 - (peer > rank));
    }

    __device__ __forceinline__ Worklists lists() const {
        return {queue, piece_row, piece, graph.n, (uint32)medium, (uint32)large};
    }

    __device__ __forceinline__ uint32 *bitmap(uint32 which) const {
        return visited + which * ((graph.n + 31) / 32);
    }
};

// As `Mark` of bfs.cuh, but that edges are counted of the whole graph, not those that are here.
struct RankMark {
    int32 *level;
    const int64 *degrees;

    __device__ __forceinline__ OFFSET operator()(ID v, int32 depth, const OFFSET *out_offsets,
                                                 Found &found) const {
        level[v] = depth;
        ++found.vertices;
        found.edges += degrees[v];
        return out_offsets[v + 1] - out_offsets[v];
    }
};

__device__ Told all_told(const Given &given) {
    Told all = given.state->told;
    for (uint64 peer = 0; peer < given.size; ++peer) {
        if (peer == given.rank)
            continue;
        uint64 header = given.words_of(given.ghost_starts, peer) - HEADER;
        const Told *one = (const Told *)(given.received + header);
        all.vertices += one->vertices;
        all.edges += one->edges;
        all.unvisited += one->unvisited;
    }
    return all;
}

// The search at the start of a level, with what this one is to do.
__device__ Search decided(const Given &given, Costs costs) {
    const RankState &state = *given.state;
    const Asked &asked = *given.asked;
    Search search = state.search;
    if (search.action == STOP)
        return search;
    Told all = all_told(given);
    bool pulled = search.action == PULL;
    if (search.action == START) {
        search.unread = given.num_edges;
    } else {
        ++search.depth;
        search.unread -= search.edges;
    }
    if (pulled) {
        search.unvisited = state.told.unvisited;
        search.now ^= 1;
        search.list ^= 1;
        search.listed = 1;
    }
    search.vertices = all.vertices;
    search.edges = all.edges;
    search.reached += all.vertices;
    if (is_over(search.vertices, search.depth, 0, asked.cutoff, false)) {
        search.action = STOP;
    } else if (asked.forced == ONLY_PULL) {
        search.action = PULL;
    } else if (pulled) {
        bool goes_on = saving(search, all.unvisited, all.unvisited, costs) > 0;
        search.action = goes_on ? PULL : LISTS; // LISTS: worklists of what was pulled, then push
    } else {
        uint64 left = given.num_vertices - search.reached;
        bool pays = saving(search, left, given.num_vertices, costs) > 0;
        search.action = pays && asked.forced == AUTO ? PULL : PUSH;
        search.listed = 0;
    }
    return search;
}

extern "C" __global__ void clear(Given given) {
    uint64 n = given.graph.n, words = (n + 31) / 32;
    for (uint64 w = thread_rank(); w < words; w += num_threads())
        given.visited[w] = w == words - 1 && n % 32 ? ~0u << (n % 32) : 0;
    if (thread_rank() == 0) {
        *given.state = RankState{};
        start_runs(&given.state->runs);
    }
}

constexpr int AT_ONCE = 8; // numbers that a lane has under way

// The source, where it is an own vertex.
extern "C" __global__ void __launch_bounds__(512) start(Given given) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    RankState *state = given.state;
    RankMark mark = {given.level, given.degrees};
    Appender appender(given.lists(), Slice{}, state->lists, slots);
    uint64 source = (uint64)given.asked->source;
    for (uint64 first = warp_rank() * WARP * AT_ONCE; first < given.owned;
         first += num_warps() * WARP * AT_ONCE) {
        uint64 at = given.owned;
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = first + j * WARP + lane();
            if (v < given.owned && given.numbers[v] == source)
                at = v;
        }
        bool is_source = at < given.owned;
        if (!__any_sync(FULL_WARP, is_source))
            continue;
        OFFSET row = 0;
        if (is_source) {
            Found found;
            row = mark((ID)at, 0, given.graph.out_offsets, found);
            set_bit(given.visited, at);
            state->found.vertices = found.vertices;
            state->found.edges = found.edges;
        }
        appender.append(is_source, (ID)at, row);
    }
    appender.flush();
}

// Appends those of 32 vertices from each lane's `base` on whose bits are set.
__device__ void append_bits(uint32 bits, uint64 base, const OFFSET *offsets, Appender &appender) {
    for (uint32 votes = __ballot_sync(FULL_WARP, bits != 0); votes != 0; votes &= votes - 1) {
        int owner = __ffs(votes) - 1;
        uint32 word = __shfl_sync(FULL_WARP, bits, owner);
        uint64 v = __shfl_sync(FULL_WARP, base, owner) + lane();
        bool wanted = word >> lane() & 1;
        OFFSET row = wanted ? offsets[v + 1] - offsets[v] : (OFFSET)0;
        appender.append(wanted, (ID)v, row);
    }
}

// Ghosts that the level before has found, of those that their owners tell of; after a pull also
// worklists of what it has found here.
extern "C" __global__ void __launch_bounds__(512)
    take(Given given, float push_cost, float vertex_cost) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    __shared__ Search search;
    RankState *state = given.state;
    if (threadIdx.x == 0)
        search = decided(given, Costs{push_cost, vertex_cost});
    __syncthreads();
    if (thread_rank() == 0) {
        state->level = search.action == STOP ? OVER : search.depth + 1;
        state->bitmap = search.action == PULL ? 1 - search.now : search.now;
    }
    if (search.action == STOP)
        return;
    const OFFSET *offsets = given.graph.out_offsets;
    uint32 *now = given.bitmap(search.now), *before = given.bitmap(1 - search.now);
    Appender appender(given.lists(), search.slice, state->lists + search.step % 2, slots);
    uint64 total = given.ghost_starts[given.size] / 32;
    for (uint64 first = warp_rank() * WARP; first < total; first += num_warps() * WARP) {
        uint64 word = first + lane(), base = 0;
        uint32 bits = 0;
        if (word < total) {
            uint64 peer = upper_bound(given.ghost_starts, given.size + 1, 32 * word) - 1;
            uint64 place = word - given.ghost_starts[peer] / 32;
            base = given.owned + 32 * place;
            for (uint64 other = 0; other < peer; ++other)
                base += given.ghost_counts[other];
            bits = given.received[given.words_of(given.ghost_starts, peer) + place];
            // Nobody else sets these bits.
            uint32 shift = base % 32;
            if (bits != 0)
                bits &= ~(fresh(now + base / 32) >> shift);
            if (shift != 0 && bits >> (32 - shift) != 0) {
                bits &= ~(fresh(now + base / 32 + 1) << (32 - shift));
                if (bits >> (32 - shift) != 0)
                    atomicOr(now + base / 32 + 1, bits >> (32 - shift));
            }
            if (bits << shift != 0)
                atomicOr(now + base / 32, bits << shift);
        }
        if (search.action != PULL)
            append_bits(bits, base, offsets, appender);
    }
    if (search.action == LISTS) {
        uint64 words = (given.owned + 31) / 32;
        for (uint64 first = warp_rank() * WARP; first < words; first += num_warps() * WARP) {
            uint64 w = first + lane();
            uint32 bits = w < words ? fresh(now + w) & ~before[w] : 0;
            if (w == given.owned / 32) // bits of ghosts come in meanwhile
                bits &= (1u << (given.owned % 32)) - 1;
            append_bits(bits, 32 * w, offsets, appender);
        }
    }
    appender.flush();
}

// The levels of own vertices that were not found; those of ghosts are never anything else.
__device__ void leave_out(const Given &given, const uint32 *found) {
    for (uint64 first = warp_rank() * WARP; first < given.owned; first += num_warps() * WARP)
        if (first + lane() < given.owned && !(found[first / WARP] >> lane() & 1))
            given.level[first + lane()] = -1;
}

// Own vertices that the frontier leads to; at the end, those that it never did.
extern "C" __global__ void __launch_bounds__(512, BLOCKS)
    work(Given given, float push_cost, float vertex_cost) {
    __shared__ ID slots[MOST_WARPS * 2 * HELD];
    __shared__ Search search;
    __shared__ Told sums;
    RankState *state = given.state;
    if (threadIdx.x == 0) {
        search = decided(given, Costs{push_cost, vertex_cost});
        search.slice.advance(state->lists[search.step % 2]);
        sums = Told{};
    }
    __syncthreads();
    if (search.action == STOP) {
        if (!fresh(&state->done))
            leave_out(given, given.bitmap(search.now));
        return;
    }
    const Graph &graph = given.graph;
    Worklists lists = given.lists();
    uint32 *now = given.bitmap(search.now), *other = given.bitmap(1 - search.now);
    ID *list = given.unvisited + search.list * graph.n;
    ID *other_list = given.unvisited + (1 - search.list) * graph.n;
    Appender appender(lists, search.slice, state->lists + (search.step + 1) % 2, slots);
    RankMark mark = {given.level, given.degrees};
    int32 depth = (int32)search.depth + 1;
    Found found;
    if (search.action != PULL)
        push(graph, lists, search.slice, depth, now, mark, appender, found);
    else if (search.listed)
        pull_listed(graph, depth, lists.medium, now, other, mark, list, search.unvisited,
                    other_list, &state->found.unvisited, slots, found);
    else {
        Graph own = graph; // ghosts have no rows
        own.n = given.owned;
        pull_all(own, depth, lists.medium, now, other, mark, other_list, &state->found.unvisited,
                 slots, found);
        uint64 first = (given.owned + 31) / 32 + thread_rank();
        for (uint64 w = first; w < (graph.n + 31) / 32; w += num_threads())
            other[w] = now[w];
    }
    appender.flush();
    uint64 edges = warp_sum(found.edges), read = warp_sum(found.read);
    uint32 vertices = warp_sum(found.vertices);
    if (lane() == 0 && vertices + read > 0) {
        atomicAdd(&sums.vertices, (uint64)vertices);
        atomicAdd(&sums.edges, edges);
        atomicAdd(&sums.read, read);
    }
    __syncthreads();
    if (threadIdx.x == 0 && sums.vertices + sums.read > 0) {
        atomicAdd(&state->found.vertices, sums.vertices);
        atomicAdd(&state->found.edges, sums.edges);
        atomicAdd(&state->found.read, sums.read);
    }
}

// What the peers are told of the level, which ends. By one thread.
__device__ void close(const Given &given, Costs costs) {
    RankState *state = given.state;
    if (state->search.step > 0 || state->level > 0) { // not at the start
        Search search = decided(given, costs);
        if (search.action == STOP) {
            state->search = search;
            state->done = 1;
            return;
        }
        Counts &taken = state->lists[search.step % 2];
        search.slice.advance(taken);
        taken = Counts{};
        ++search.step;
        if (search.depth < LEVELS_TOLD)
            given.sizes[search.depth] = search.vertices;
        state->levels = search.depth + 1;
        bool pulls = search.action == PULL;
        note_run(&state->runs, pulls ? PULL : PUSH, 1, search.vertices,
                 pulls ? state->found.read : search.edges);
        state->search = search;
    }
    state->told = state->found;
    state->found = Told{};
    for (uint64 peer = 0; peer < given.size; ++peer)
        if (peer != given.rank)
            *(Told *)(given.packed + given.words_of(given.send_starts, peer) - HEADER) =
                state->told;
}

extern "C" __global__ void __launch_bounds__(512)
    pack(Given given, float push_cost, float vertex_cost) {
    uint64 level = fresh(&given.state->level), bitmap = fresh(&given.state->bitmap);
    __syncthreads();
    if (thread_rank() == 0)
        close(given, Costs{push_cost, vertex_cost});
    if (level == OVER)
        return;
    const uint32 *found = given.bitmap((uint32)bitmap);
    uint64 total = given.send_starts[given.size] / 32, peer = 0;
    for (uint64 at = thread_rank(); at < total; at += num_threads()) {
        uint32 wanted = bits_of_word(at, given.send_starts, given.send_counts, peer);
        uint64 place = at - given.send_starts[peer] / 32;
        given.packed[given.words_of(given.send_starts, peer) + place] =
            picked(given.sends, at, wanted, found);
    }
}
