// Values of neighbours brought together, several columns at once.
//
// Computes  of the values x of the neighbours of each row that are not NaN, by column: the sum of
//           weight * x, the sum of the weights, how many, the least and the largest, as far as
//           asked
// Launch    `short_rows`, which lists the long ones, then `long_rows`; for each direction of edges
//           and, of more columns than a warp has lanes, for some columns after others
// Why       Lanes side by side take the columns of one neighbour, which lie side by side, and some
//           neighbours at once. Each row is added up in one order, so that sums are the same in
//           every run.

#include "common.cuh"

struct Partial {
    double sum, weight, least, most;
    int64 count;

    static __device__ __forceinline__ Partial none() {
        double infinite = __longlong_as_double(0x7ff0000000000000);
        return {0, 0, infinite, -infinite, 0};
    }

    __device__ __forceinline__ void take(double x, double w) {
        if (x != x)
            return;
        sum += w * x;
        weight += w;
        least = x < least ? x : least;
        most = x > most ? x : most;
        ++count;
    }

    __device__ __forceinline__ void take(const Partial &other) {
        sum += other.sum;
        weight += other.weight;
        least = other.least < least ? other.least : least;
        most = other.most > most ? other.most : most;
        count += other.count;
    }

    // What the lane that differs in one bit of its number has, too.
    __device__ __forceinline__ void take_lane(int bit) {
        Partial other;
        other.sum = __shfl_xor_sync(FULL_WARP, sum, bit);
        other.weight = __shfl_xor_sync(FULL_WARP, weight, bit);
        other.least = __shfl_xor_sync(FULL_WARP, least, bit);
        other.most = __shfl_xor_sync(FULL_WARP, most, bit);
        other.count = __shfl_xor_sync(FULL_WARP, count, bit);
        take(other);
    }
};

// What there is so far, of shape (rows, width); null: not asked for.
struct Results {
    double *sum, *weight;
    int64 *count;
    double *least, *most;

    __device__ __forceinline__ void take(uint64 at, const Partial &found) const {
        if (sum != nullptr)
            sum[at] += found.sum;
        if (weight != nullptr)
            weight[at] += found.weight;
        if (count != nullptr)
            count[at] += found.count;
        if (least != nullptr && found.least < least[at])
            least[at] = found.least;
        if (most != nullptr && found.most > most[at])
            most[at] = found.most;
    }
};

// `weight` null: all are 1. Columns from `first` to before `last`, of `width`, a lane each; lanes
// of them are `stride`, a power of 2.
struct Job {
    const OFFSET *offsets;
    const ID *neighbours;
    const WEIGHT *weight;
    const double *values;
    uint64 width, first, last, stride;
    Results results;

    // Every so many one of some edges, for one column.
    __device__ __forceinline__ Partial over(uint64 e, uint64 end, uint64 step,
                                            uint64 column) const {
        Partial found = Partial::none();
        for (; e < end; e += step)
            found.take(values[neighbours[e] * width + column],
                       weight == nullptr ? 1.0 : (double)weight[e]);
        return found;
    }
};

// `lanes` of a warp take a row: a power of 2. Long rows go to `longs`, `size` of them.
extern "C" __global__ void __launch_bounds__(BLOCK)
    short_rows(const Job job, uint64 n, uint32 lanes, ID *longs, uint32 *size) {
    uint32 in_group = lane() % lanes;
    uint64 column = job.first + in_group % job.stride;
    uint64 groups = WARP / lanes;
    for (uint64 first = warp_rank() * groups; first < n; first += num_warps() * groups) {
        uint64 row = first + lane() / lanes;
        uint64 begin = 0, end = 0;
        if (row < n) {
            begin = job.offsets[row];
            end = job.offsets[row + 1];
        }
        bool is_long = end - begin >= LONG;
        warp_append(is_long && in_group == 0, (ID)row, longs, size);
        Partial found = Partial::none();
        if (!is_long && column < job.last)
            found = job.over(begin + in_group / job.stride, end, lanes / job.stride, column);
        for (uint32 bit = job.stride; bit < lanes; bit *= 2)
            found.take_lane(bit);
        if (!is_long && end > begin && in_group < job.stride && column < job.last)
            job.results.take(row * job.width + column, found);
    }
}

// A block takes a row.
extern "C" __global__ void __launch_bounds__(BLOCK)
    long_rows(const Job job, const ID *longs, const uint32 *size) {
    __shared__ Partial parts[BLOCK / WARP][WARP];
    uint64 column = job.first + threadIdx.x % job.stride;
    for (uint64 i = blockIdx.x; i < *size; i += gridDim.x) {
        uint64 row = longs[i];
        Partial found = Partial::none();
        if (column < job.last)
            found = job.over(job.offsets[row] + threadIdx.x / job.stride, job.offsets[row + 1],
                             BLOCK / job.stride, column);
        for (uint32 bit = job.stride; bit < WARP; bit *= 2)
            found.take_lane(bit);
        if (lane() < job.stride)
            parts[warp_in_block()][lane()] = found;
        __syncthreads();
        if (threadIdx.x < job.stride && column < job.last) {
            for (int warp = 1; warp < BLOCK / WARP; ++warp)
                found.take(parts[warp][lane()]);
            job.results.take(row * job.width + column, found);
        }
        __syncthreads();
    }
}
