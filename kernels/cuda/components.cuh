// Trees of connected components: what links them and names them.
//
// parent: id of each vertex's parent in its tree, never larger than the vertex; a root is its own
// parent. Threads link and shorten at the same time: a parent only ever becomes another ancestor,
// so a stale read costs a step and no more.

#include "common.cuh"

constexpr int SAMPLES = 1024; // vertices whose trees are compared to find the largest
constexpr int AT_ONCE = 4;    // vertices that a thread has under way: each is a chain of reads

// Joins the trees of two vertices: the larger root becomes a child of a smaller vertex. The first
// reads may come from the multiprocessor's own cache: most find one root, and all of that are of
// few words. What is tried again has to be read anew. `HALVES`: who is passed on the way up becomes
// a child of its parent's parent, for edges that make long paths where nobody shortens these
// meanwhile.
template <bool HALVES = false, typename T>
__device__ __forceinline__ void link(T *parent, T u, T v) {
    T a = parent[u], b = parent[v];
    while (a != b) {
        T high = a > b ? a : b, low = a > b ? b : a;
        T above = fresh(parent + high);
        if (above == low)
            return;
        if (above == high && compare_and_swap(parent + high, high, low) == high)
            return;
        above = fresh(parent + high);
        a = fresh(parent + above);
        if (HALVES && a != above)
            parent[high] = a; // an ancestor, whoever writes another one meanwhile
        b = fresh(parent + low);
    }
}

// The root of a vertex's tree.
template <typename T> __device__ __forceinline__ T root_of(const T *parent, T v) {
    for (T up = parent[v]; up != v; up = parent[v])
        v = up;
    return v;
}

constexpr int NEAR = 4; // steps to most roots, at most

// The root of `v`, which is below `up`, which is below `top`. On a long way `v` is hung higher as
// it goes, and reads what others that do the same have come to, so that ways halve together.
template <typename T> __device__ __forceinline__ T risen(T *parent, T v, T up, T top) {
    for (int step = 0; up != top; ++step) {
        up = top;
        if (step < NEAR) {
            top = parent[up];
        } else {
            parent[v] = up;
            top = fresh(parent + up);
        }
    }
    return top;
}

// Makes vertices children of their roots, all but those of one root, `spared`, while nobody links,
// so that roots stay roots. Calls use(v, is one, its parent before, root) by all lanes of a warp
// for 32 vertices in a row.
template <typename T, typename Use>
__device__ __forceinline__ void for_roots(T *parent, uint64 n, T spared, Use use) {
    const uint64 step = num_warps() * WARP;
    for (uint64 first = warp_rank() * WARP; first < n; first += AT_ONCE * step) {
        T up[AT_ONCE], top[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            uint64 v = first + j * step + lane();
            up[j] = v < n ? parent[v] : (T)0;
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j)
            top[j] = parent[up[j]];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            if (first + j * step >= n)
                break;
            uint64 v = first + j * step + lane();
            T root = v < n ? risen(parent, (T)v, up[j], top[j]) : (T)0;
            if (v < n && root != up[j] && root != spared)
                parent[v] = root;
            use(v, v < n, up[j], root);
        }
    }
}

// The same for ways that may be long, which a thread goes one after another.
template <typename T>
__device__ __noinline__ void compress(T *parent, uint64 n, BlockTeam team = whole_grid()) {
    for (uint64 v = team.thread(); v < n; v += team.threads()) {
        T up = parent[v], root = risen(parent, (T)v, up, parent[up]);
        if (root != up)
            parent[v] = root;
    }
}

constexpr int HIGHEST = 8; // steps that a sample goes towards its root

struct Frequent {
    ID root;
    uint32 most, of; // how many of the samples have it, of those that count
};

// The root that most of some vertices have, those for which counts(v) holds; by one block, while no
// other links. Where a way is long it is another ancestor, which few of them will have.
template <typename Counts>
__device__ Frequent most_frequent(const ID *parent, uint64 n, Counts counts) {
    constexpr uint32 SLOTS = 2 * SAMPLES;
    __shared__ ID root[SLOTS];
    __shared__ uint32 count[SLOTS];
    __shared__ uint64 best; // count, then the place
    __shared__ uint32 of;
    for (uint32 i = threadIdx.x; i < SLOTS; i += blockDim.x)
        count[i] = 0, root[i] = ~(ID)0;
    if (threadIdx.x == 0)
        best = of = 0;
    __syncthreads();
    for (uint32 i = threadIdx.x; i < SAMPLES; i += blockDim.x) {
        uint64 hash = (i + 1) * 0x9e3779b97f4a7c15ull;
        hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
        ID found = (ID)((hash ^ hash >> 32) % n), up = parent[found];
        if (!counts(found))
            continue;
        for (int step = 0; step < HIGHEST && up != found; ++step) {
            found = up;
            up = parent[found];
        }
        uint32 slot = (uint32)((found * 0x9e3779b97f4a7c15ull) >> 40) % SLOTS;
        while (true) { // half of the slots stay empty
            ID seen = compare_and_swap(root + slot, ~(ID)0, found);
            if (seen == ~(ID)0 || seen == found)
                break;
            slot = (slot + 1) % SLOTS;
        }
        atomicAdd(count + slot, 1);
        atomicAdd(&of, 1);
    }
    __syncthreads();
    for (uint32 i = threadIdx.x; i < SLOTS; i += blockDim.x)
        if (count[i] > 0)
            atomicMax(&best, (uint64)count[i] << 32 | i);
    __syncthreads();
    // Of none that count: any vertex's.
    return {of > 0 ? root[best & 0xffffffff] : root_of(parent, (ID)0), (uint32)(best >> 32), of};
}
