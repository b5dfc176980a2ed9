"""A checksum of 64 bits over a block of bytes, fast enough for every page that is read."""

import numpy as np

from dask_graphgpu.kernels.compile import jit
from dask_graphgpu.kernels.cpu.prefetch import prefetch

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)

# Words: 4 KiB ahead is soon enough; a line of a cache holds eight.
_AHEAD = np.uint64(512)
_LINE = 8


@jit
def checksum(words):
    """Mix of all words and their places; four lanes, as one waits for its own multiplication.

    Parameters
    ----------
    words : uint64, of a length that four divides
    """
    a = np.uint64(1)
    b = np.uint64(2)
    c = np.uint64(3)
    d = np.uint64(4)
    for i in range(0, len(words), 4):
        if i % _LINE == 0:
            prefetch(words, np.uint64(i) + _AHEAD)
        a = (a ^ words[i]) * _PRIME
        b = (b ^ words[i + 1]) * _PRIME
        c = (c ^ words[i + 2]) * _PRIME
        d = (d ^ words[i + 3]) * _PRIME
    h = a
    for lane in (b, c, d):
        h = (h ^ (h >> _SHIFT) ^ lane) * _PRIME
    return h ^ (h >> _SHIFT)
