"""Vertices that wait, dealt to batches by hashes of their numbers: who is in which does not depend on the threads.

Encoding
--------
waiting : whether each vertex waits.
together : vertices whose numbers are alike but for so many low bits are in one batch: neighbours in the order of
    numbers are often neighbours in the graph as well, and then in the cache.
batch_of : the batch of each of the values of ten bits of a hash.
salt : what batches are drawn with.
"""

import numpy as np

from dask_graphgpu.kernels.compile import inner, jit
from dask_graphgpu.kernels.cpu.fingerprint import mixed

HASH_BITS = 10
STEPS = 4  # of a batch, at most, after each of which threads wait for each other; see `in_step`

_ONE = np.uint64(1)
_SHIFT = np.uint64(64 - HASH_BITS)


@inner
def _batch(v, together, salt, batch_of):
    return np.uint64(batch_of[mixed((v >> together) ^ salt) >> _SHIFT])


@jit
def count(lo, hi, bounds, waiting, together, salt, batch_of, offsets, counts, entries):
    """Vertices of each batch in some blocks, ``counts[batch, block]``, and the entries of their rows."""
    for i in range(lo, hi):
        read = np.uint64(0)
        for v in range(np.uint64(bounds[i]), np.uint64(bounds[i + 1])):
            if waiting[v]:
                counts[_batch(v, together, salt, batch_of), i] += 1
                read += offsets[v + _ONE] - offsets[v]
        entries[i] = read


@jit
def deal(lo, hi, bounds, waiting, together, salt, batch_of, places, listed):
    """Write vertices of some blocks from ``places[batch, block]`` on, which are moved along."""
    for i in range(lo, hi):
        for v in range(np.uint64(bounds[i]), np.uint64(bounds[i + 1])):
            if waiting[v]:
                batch = _batch(v, together, salt, batch_of)
                listed[places[batch, i]] = v
                places[batch, i] += 1
