"""What is asked of the driver."""

from cupy._kernel import CUDADriverError, occupancy


def occupancyMaxActiveBlocksPerMultiprocessor(func, block, dynamic):
    return occupancy(func, block, dynamic)
