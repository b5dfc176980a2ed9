// Simple cycles, depth-first from each edge that one may begin with; the same as of
// kernels/cpu/cycles.py, which has the words.
//
// An edge is searched from by one thread, or by a group of them that deal what follows it among
// themselves. Cycles are written in any order.

#include "common.cuh"

struct Rows {
    const int64 *offsets;
    const uint32 *ends;
    const uint32 *keys;
};

struct Core {
    Rows out;
    Rows into;
    Rows near;          // offsets are those of `into`
    const uint32 *last; // null: all times are near enough
    uint64 length;
    uint64 timed;
    uint64 directed;
};

struct Cycles {
    uint64 *counts; // of each edge; gets them, or where lists are made the next place to write to
    uint64 *found;  // in all, and how long the longest is
    uint64 most;
    uint32 *vertices; // null: cycles are counted
    uint32 *keys;
    uint64 width;
};

// A path and what is left to look at from each of its vertices, of all threads side by side.
struct Stack {
    uint32 *path;
    uint32 *taken;
    int64 *cursor;
    int64 *stop;
    uint64 stride;
    uint64 thread;

    template <typename T> __device__ __forceinline__ T &at(T *values, uint64 depth) const {
        return values[depth * stride + thread];
    }
    __device__ __forceinline__ bool passed(uint64 depth, uint32 x) const {
        for (uint64 i = 0; i <= depth; i++)
            if (at(path, i) == x)
                return true;
        return false;
    }
};

struct Range {
    int64 begin, end;
    __device__ __forceinline__ int64 size() const { return end - begin; }
};

// Edges of a row with keys above `after`, up to `until`.
__device__ __forceinline__ Range between(const Rows &rows, uint32 row, uint32 after, uint32 until) {
    int64 lo = rows.offsets[row], hi = rows.offsets[row + 1];
    int64 begin = lo + (int64)upper_bound(rows.keys + lo, (uint64)(hi - lo), after);
    int64 end = begin + (int64)upper_bound(rows.keys + begin, (uint64)(hi - begin), until);
    return {begin, end};
}

// The first edge of a row of `near` that is behind an end and a key.
__device__ __forceinline__ int64 behind(const Rows &near, int64 lo, int64 hi, uint32 end,
                                        uint32 key) {
    while (lo < hi) {
        int64 middle = (lo + hi) / 2;
        uint32 x = near.ends[middle];
        if (x < end || (x == end && near.keys[middle] <= key))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

struct Search {
    const Core &core;
    const Cycles &cycles;
    const Stack &stack;
    uint64 edge;
    uint32 root;
    uint32 second;
    uint32 until;
    Range backs;
    uint64 found;
    uint64 longest;

    // Notes a cycle: a path of `depth` edges, the vertex `end` unless it is the path's, and an edge
    // back.
    __device__ __forceinline__ void note(uint64 depth, uint32 end, uint32 closing) {
        bool more = end != stack.at(stack.path, depth);
        found++;
        longest = max(longest, depth + more + 1);
        if (!cycles.vertices)
            return;
        uint64 first = cycles.width * atomicAdd(cycles.counts + edge, 1ull);
        for (uint64 i = 0; i <= depth; i++)
            cycles.vertices[first + i] = stack.at(stack.path, i) + 1;
        if (more)
            cycles.vertices[first + ++depth] = end + 1;
        if (cycles.keys) {
            for (uint64 i = 0; i < depth; i++)
                cycles.keys[first + i] = stack.at(stack.taken, i);
            cycles.keys[first + depth] = closing;
        }
    }

    __device__ __forceinline__ bool may_be_last(uint64 depth, uint32 y) const {
        return (core.directed || y > second) && !stack.passed(depth, y);
    }

    // Edges from the end of the path to the root.
    __device__ __forceinline__ void close(uint64 depth, uint32 after) {
        uint32 x = stack.at(stack.path, depth);
        if (!core.directed && (depth == 1 || x < second))
            return;
        int64 hi = core.into.offsets[root + 1];
        int64 i = behind(core.near, core.into.offsets[root], hi, x, after);
        for (; i < hi && core.near.ends[i] == x && core.near.keys[i] <= until; i++)
            note(depth, x, core.near.keys[i]);
    }

    // Two edges from the end of the path to the root; every `step`-th of those by which they are
    // looked for.
    __device__ void pairs(uint64 depth, uint32 after, Range ways, uint64 first, uint64 step) {
        uint32 x = stack.at(stack.path, depth);
        if (ways.size() <= backs.size()) {
            int64 lo = core.into.offsets[root], hi = core.into.offsets[root + 1];
            for (int64 a = ways.begin + (int64)first; a < ways.end; a += (int64)step) {
                uint32 y = core.out.ends[a], key = core.out.keys[a];
                if (!may_be_last(depth, y))
                    continue;
                stack.at(stack.taken, depth) = key;
                int64 i = behind(core.near, lo, hi, y, core.timed ? key : root);
                for (; i < hi && core.near.ends[i] == y && core.near.keys[i] <= until; i++)
                    note(depth, y, core.near.keys[i]);
            }
            return;
        }
        for (int64 b = backs.begin + (int64)first; b < backs.end; b += (int64)step) {
            uint32 y = core.into.ends[b], key = core.into.keys[b];
            if ((core.timed && key <= after) || !may_be_last(depth, y))
                continue;
            int64 hi = core.into.offsets[y + 1];
            int64 i = behind(core.near, core.into.offsets[y], hi, x, after);
            for (; i < hi && core.near.ends[i] == x && (core.near.keys[i] < key || !core.timed);
                 i++) {
                stack.at(stack.taken, depth) = core.near.keys[i];
                note(depth, y, key);
            }
        }
    }

    // All cycles that begin with the edge at the beginning of the path; of the edges that follow it
    // every `step`-th.
    __device__ void run(uint64 first, uint64 step) {
        uint64 depth = 1;
        bool entered = true;
        while (depth > 0) {
            if (entered) {
                entered = false;
                uint32 after = core.timed ? stack.at(stack.taken, depth - 1) : root;
                uint64 from = depth == 1 ? first : 0, by = depth == 1 ? step : 1;
                if (from == 0)
                    close(depth, after);
                stack.at(stack.cursor, depth) = stack.at(stack.stop, depth) = 0;
                if (depth + 2 <= core.length) {
                    Range ways = between(core.out, stack.at(stack.path, depth), after, until);
                    if (depth + 2 < core.length) {
                        stack.at(stack.cursor, depth) = ways.begin + (int64)from;
                        stack.at(stack.stop, depth) = ways.end;
                    } else if (ways.size()) {
                        pairs(depth, after, ways, from, by);
                    }
                }
                if (!cycles.vertices && found > cycles.most)
                    return;
            }
            int64 a = stack.at(stack.cursor, depth);
            if (a >= stack.at(stack.stop, depth)) {
                depth--;
                continue;
            }
            stack.at(stack.cursor, depth) = a + (int64)(depth == 1 ? step : 1);
            uint32 y = core.out.ends[a];
            if (!stack.passed(depth, y)) {
                stack.at(stack.taken, depth) = core.out.keys[a];
                stack.at(stack.path, ++depth) = y;
                entered = true;
            }
        }
    }
};

__device__ __forceinline__ uint32 until_of(const Core &core, uint32 key) {
    return core.last ? core.last[key] : 0xffffffffu;
}

// How much there is to search from each edge, of some from `first` on: the edges that follow it,
// and 1 at least; 0 where no cycle begins with it.
extern "C" __global__ void look(Core core, const uint32 *roots, uint64 first, uint64 number,
                                uint32 *ways) {
    for (uint64 i = thread_rank(); i < number; i += num_threads()) {
        uint32 root = roots[i], v = core.out.ends[first + i], key = core.out.keys[first + i];
        ways[i] = v == root;
        if (v == root || core.length == 1 || (!core.timed && v < root))
            continue;
        uint32 after = core.timed ? key : root, until = until_of(core, key);
        if (between(core.into, root, after, until).size())
            ways[i] = (uint32)min(max(between(core.out, v, after, until).size(), (int64)1),
                                  (int64)0xffffffff);
    }
}

// Cycles from each of the `number` edges that are listed, counted from `first` on; `threads`
// search, `group` of them from an edge.
extern "C" __global__ void search(Core core, const uint32 *roots, uint64 first, const int64 *listed,
                                  uint64 number, uint64 group, uint64 threads, Stack stack,
                                  Cycles cycles) {
    stack.stride = threads;
    stack.thread = thread_rank();
    if (stack.thread >= threads)
        return;
    for (uint64 i = stack.thread / group; i < number; i += threads / group) {
        if (!cycles.vertices && fresh(cycles.found) > cycles.most)
            return;
        uint64 edge = (uint64)listed[i];
        uint32 root = roots[edge], v = core.out.ends[first + edge],
               key = core.out.keys[first + edge];
        uint64 part = stack.thread % group;
        stack.at(stack.path, 0) = root;
        stack.at(stack.taken, 0) = key;
        uint32 after = core.timed ? key : root, until = until_of(core, key);
        Search search = {core, cycles, stack, edge, root, v, until, {0, 0}, 0, 0};
        if (v == root) {
            if (part == 0)
                search.note(0, root, key);
        } else {
            stack.at(stack.path, 1) = v;
            search.backs = between(core.into, root, after, until);
            if (core.timed)
                search.until = core.into.keys[search.backs.end - 1];
            search.run(part, group);
        }
        if (!cycles.vertices && search.found) {
            atomicAdd(cycles.counts + edge, search.found);
            atomicAdd(cycles.found, search.found);
            atomicMax(cycles.found + 1, search.longest);
        }
    }
}
