// Sources cut into blocks whose values fit the shared memory of a multiprocessor: what the kernels
// that build it (blocked.cu) and those that add up (program_blocked.cu) agree on.
//
// The edges of a row from the first block are *near*, the others *far*. Both are kept as quads of
// four 16-bit places, a row's own, so that a thread reads four at once; where a row's edges end in
// the middle of a quad the other places are that of a zero. Near places are of the value within the
// first block; far ones of the value within the row's chunk: a run of rows, or a part of a long
// row, whose far values fit shared memory as well. A tile is what one block of sources sends to one
// chunk: a run of these values, of whole quads: what is left over is of a zero.

// As engine/gpu/blocked.py lays it out, in words of 64 bits.
struct Chunk {
    uint64 begin, end;  // quads
    uint64 row, rows;   // a part of a long row: that row alone
    uint64 first_value; // of the far values, by chunk
    uint64 values;
    int64 slot;   // of a part of a long row, for its sum; else -1
    uint64 lanes; // for a row; more than a warp's for fewer rows than a block has warps
};

struct Quads {
    const OFFSET *first; // of each row, and the end
    uint64 *quads;

    // Those of a row that are the chunk's.
    __device__ __forceinline__ void bounds(const Chunk &chunk, uint64 v, OFFSET &begin,
                                           OFFSET &end) const {
        begin = first[v], end = first[v + 1];
        begin = begin > chunk.begin ? begin : (OFFSET)chunk.begin;
        end = end < chunk.end ? end : (OFFSET)chunk.end;
    }
};

__device__ __forceinline__ uint32 place_in(uint64 quad, int k) {
    return (uint32)(quad >> (16 * k)) & 0xffff;
}
