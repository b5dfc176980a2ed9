// Trees of connected components: what links them and names them.
//
// parent: id of each vertex's parent in its tree, never larger than the vertex; a root is its own
// parent. Threads link and shorten at the same time: a parent only ever becomes another ancestor,
// so a stale read costs a step and no more.

#include "common.cuh"

constexpr int SAMPLES = 1024; // vertices whose trees are compared to find the largest

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

// Makes every vertex a child of its root. Nobody links meanwhile, so roots stay roots.
__device__ void compress(ID *parent, uint64 n) {
    for (uint64 v = thread_rank(); v < n; v += num_threads()) {
        ID up = parent[v], top = parent[up];
        if (up == top)
            continue;
        while (up != top) {
            up = top;
            top = parent[up];
        }
        parent[v] = top;
    }
}

// The root that most of some vertices have; by one block, while no other links.
__device__ ID most_frequent(const ID *parent, uint64 n) {
    constexpr uint32 SLOTS = 2 * SAMPLES;
    __shared__ ID root[SLOTS];
    __shared__ uint32 count[SLOTS];
    __shared__ uint64 best; // count, then the place
    for (uint32 i = threadIdx.x; i < SLOTS; i += blockDim.x)
        count[i] = 0, root[i] = ~(ID)0;
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    for (uint32 i = threadIdx.x; i < SAMPLES; i += blockDim.x) {
        uint64 hash = (i + 1) * 0x9e3779b97f4a7c15ull;
        hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
        ID found = parent[(hash ^ hash >> 32) % n];
        uint32 slot = (uint32)((found * 0x9e3779b97f4a7c15ull) >> 40) % SLOTS;
        while (true) { // half of the slots stay empty
            ID seen = compare_and_swap(root + slot, ~(ID)0, found);
            if (seen == ~(ID)0 || seen == found)
                break;
            slot = (slot + 1) % SLOTS;
        }
        atomicAdd(count + slot, 1);
    }
    __syncthreads();
    for (uint32 i = threadIdx.x; i < SLOTS; i += blockDim.x)
        if (count[i] > 0)
            atomicMax(&best, (uint64)count[i] << 32 | i);
    __syncthreads();
    return root[best & 0xffffffff];
}
