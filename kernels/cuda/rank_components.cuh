// What components of a graph on several ranks are worked out with (rank_components.cu,
// rank_labels.cu).
//
// Encoding  vertices are local ids: own ones, ghosts, and behind them one for the largest tree of
//           each rank. parent: trees of all these. A tree is known by its label, the smallest
//           number of an own vertex in it. joined: a forest over the numbers of the whole graph;
//           labels that name one component are in one tree of it. All ranks join the same pairs of
//           labels.
// Macros    ID: of a number. VERTEX: of a local id. OFFSET: of a row.

#include "border_bits.cuh"
#include "components.cuh"

// A border vertex that is not in its rank's largest tree: its place among those of the peer.
struct Other {
    ID place, label;
};

struct Given {
    const OFFSET *offsets;
    const VERTEX *neighbours;
    uint64 owned, n;
    const uint64 *ghosts; // of rank j: ghosts[j] .. ghosts[j + 1]
    uint64 rank, size;
    const ID *numbers;
    const VERTEX *firsts; // own vertices of the smallest numbers, ascending
    uint64 number;        // of these
    const uint64 *giant;  // a vertex of what is probably the largest tree here
    uint64 *state;        // of components.cu, of so many words
    uint64 words;
    VERTEX *parent;
    const VERTEX
        *beyond;    // the first neighbour of an own vertex if that is a ghost, else the vertex
    ID *label;      // of roots, then of own vertices; of ghosts as their owners tell it
    uint32 *inside; // own vertices in the largest tree
    uint32 *linked; // ghosts that `absorb` has linked; none between runs
    // Border vertices, of each peer from a word of bits on; how many of each mean something. A bit:
    // whether the vertex is in its rank's largest tree.
    const VERTEX *sends;
    Picks picks; // the same, by which bits are put together
    const uint64 *send_starts, *send_counts, *ghost_starts;
    uint32 *packed;
    const uint32 *received;
    // Lists of the others, as many of each peer's as there is room for: from starts[peer] on.
    // counts: how many there are, or more than there is room for.
    Other *others;
    const uint64 *other_starts;
    uint64 *other_counts;
    const Other *came;
    const uint64 *came_starts, *came_counts;
    ID *giants; // labels of the largest trees of all ranks
    // found[0]: edges that were looked at. found[1 + j]: whether an edge joins the largest trees of
    // this rank and of rank j.
    uint64 *found;
    // told[0]: how many pairs of labels. told[1]: whether a list was too short. Then the pairs.
    uint64 *told;
    const uint64 *every_told; // of all ranks, the first `few` pairs of each
    uint64 *heads;            // the first two words of all ranks
    uint64 few;
    ID *joined;

    __device__ __forceinline__ VERTEX tree_of(uint64 other) const { return (VERTEX)(n + other); }

    // The root of the largest tree here.
    __device__ __forceinline__ VERTEX top() const { return root_of(parent, (VERTEX)*giant); }

    __device__ __forceinline__ uint64 owner_of(uint64 ghost) const {
        return upper_bound(ghosts, size + 1, ghost) - 1;
    }

    // Whether a ghost is in the largest tree of its owner.
    __device__ __forceinline__ bool in_giant(uint64 ghost, uint64 owner) const {
        return has_bit(received + ghost_starts[owner] / 32, ghost - ghosts[owner]);
    }

    __device__ __forceinline__ ID *pairs() const { return (ID *)(told + 2); }

    // What a rank has told.
    __device__ __forceinline__ const uint64 *of_rank(uint64 other) const {
        return every_told + other * (2 + few * 2 * sizeof(ID) / sizeof(uint64));
    }
};

// The place of the bit of a word below which are `below` others that are set.
__device__ __forceinline__ uint32 nth_bit(uint32 word, uint32 below) {
    uint32 place = 0;
#pragma unroll
    for (int width = WARP / 2; width > 0; width /= 2) {
        uint32 there = __popc(word >> place & ((1u << width) - 1));
        if (below >= there) {
            below -= there;
            place += width;
        }
    }
    return place;
}

// Calls use(is one, place) by all lanes until each place whose bit of word_of(i) is set has had a
// lane; a warp takes the bits of 32 words together: few are set, and each is a chain of reads.
template <typename WordOf, typename Use>
__device__ __forceinline__ void for_bits(uint64 words, WordOf word_of, Use use) {
    for (uint64 first = warp_rank() * WARP; first < words; first += num_warps() * WARP) {
        uint32 mine = first + lane() < words ? word_of(first + lane()) : 0;
        uint32 through = warp_inclusive_scan((uint32)__popc(mine));
        uint32 total = __shfl_sync(FULL_WARP, through, WARP - 1);
        for (uint32 begin = 0; begin < total; begin += WARP) {
            uint32 item = begin + lane(), owner = 0; // the words before have no more than so many
#pragma unroll
            for (int step = WARP / 2; step > 0; step /= 2)
                if (__shfl_sync(FULL_WARP, through, owner + step - 1) <= item)
                    owner += step;
            uint32 word = __shfl_sync(FULL_WARP, mine, owner);
            uint32 before = __shfl_sync(FULL_WARP, through, owner) - __popc(word);
            bool is_one = item < total;
            uint64 place = is_one ? nth_bit(word, item - before) : 0;
            use(is_one, WARP * (first + owner) + place);
        }
    }
}
