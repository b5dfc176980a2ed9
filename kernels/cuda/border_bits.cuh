// Bits of border vertices, put together of a bitmap over own vertices a word at a time.

#include "common.cuh"

// Border vertices of a peer that stand in one word of the bitmap.
struct Pick {
    uint32 word, mask;
};

// Whose bits go to each word of the segments: from pick `begins >> 5` on, but for the first
// `begins & 31` of its bits.
struct Picks {
    const Pick *picks;
    const uint64 *begins;
};

// The bits of `word` where `mask` has some, moved together to the lower end (Warren, Hacker's
// Delight, 7-4: parallel suffix).
__device__ __forceinline__ uint32 compressed(uint32 word, uint32 mask) {
    if (mask == ~0u)
        return word;
    word &= mask;
    uint32 zeros = ~mask << 1; // those below a bit are counted
#pragma unroll
    for (int i = 0; i < 5; ++i) {
        uint32 odd = zeros ^ zeros << 1;
        odd ^= odd << 2;
        odd ^= odd << 4;
        odd ^= odd << 8;
        odd ^= odd << 16;
        uint32 moving = odd & mask, bits = word & moving;
        mask = (mask ^ moving) | moving >> (1 << i);
        word = (word ^ bits) | bits >> (1 << i);
        zeros &= ~odd;
    }
    return word;
}

// The word `at` of the segments, which has `wanted` bits.
__device__ __forceinline__ uint32 picked(const Picks &from, uint64 at, uint32 wanted,
                                         const uint32 *bitmap) {
    uint64 begin = wanted > 0 ? from.begins[at] : 0;
    const Pick *pick = from.picks + (begin >> 5);
    uint32 skip = begin & 31, bits = 0;
    for (uint32 got = 0; got < wanted; skip = 0, ++pick) {
        Pick one = *pick;
        bits |= compressed(bitmap[one.word], one.mask) >> skip << got;
        got += __popc(one.mask) - skip;
    }
    return wanted < WARP ? bits & ((1u << wanted) - 1) : bits;
}

// How many bits the word `at` of the segments has; `peer` is that of a word before, at first 0.
__device__ __forceinline__ uint32 bits_of_word(uint64 at, const uint64 *starts,
                                               const uint64 *counts, uint64 &peer) {
    while (32 * at >= starts[peer + 1])
        ++peer;
    uint64 place = 32 * at - starts[peer];
    uint64 left = counts[peer] > place ? counts[peer] - place : 0;
    return left < WARP ? (uint32)left : WARP;
}
