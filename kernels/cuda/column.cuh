// Columns of integers or floats of 1, 2, 4 or 8 bytes, said at the launch, so that one compiled
// source serves all frames. What is read of integers has no sign.

#include "common.cuh"

struct Column {
    const void *values;
    uint64 bytes; // of a value

    __device__ __forceinline__ uint64 operator[](uint64 i) const {
        switch (bytes) {
        case 1:
            return ((const uint8 *)values)[i];
        case 2:
            return ((const uint16 *)values)[i];
        case 4:
            return ((const uint32 *)values)[i];
        default:
            return ((const uint64 *)values)[i];
        }
    }
};

struct Output {
    void *values;
    uint64 bytes;

    __device__ __forceinline__ void put(uint64 i, uint64 value) const {
        switch (bytes) {
        case 1:
            ((uint8 *)values)[i] = (uint8)value;
            break;
        case 2:
            ((uint16 *)values)[i] = (uint16)value;
            break;
        case 4:
            ((uint32 *)values)[i] = (uint32)value;
            break;
        default:
            ((uint64 *)values)[i] = value;
        }
    }
};
