"""HyperLogLog counters: which register a hash is for and what it says, and the error of an estimate.

Registers of a counter are bytes, each with the largest rank of the hashes that are for it: one more than the zeros
that a hash begins with, after the bits that choose the register. Counters of two sets become that of both by taking
the larger register of each.

References
----------
.. [1] Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog: the analysis of a near-optimal cardinality estimation
   algorithm", AofA 2007.
.. [2] Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dask_graphgpu.kernels.sizes import SIZES

BITS = 57  # of a hash
# Sums of 2**(MOST_RANK - rank) over the registers are exact in int64.
MOST_RANK = SIZES["hyperball.cu"]["MOST_RANK"]
MOST_PRECISION = 12

_AT_ONCE = 1 << 30  # registers: CuPy scatters within 2**31 elements


def relative_error(precision: int) -> float:
    """Standard error of an estimate by ``2 ** precision`` registers, as a part of it [1]_."""
    return 1.04 / math.sqrt(1 << precision)


def counters(hashes: Any, precision: int) -> Any:
    """A counter for each hash that has counted it alone: uint8, shape (hashes, 2 ** precision)."""
    n, step = len(hashes), max(_AT_ONCE >> precision, 1)
    rest = hashes & ((1 << BITS - precision) - 1)
    rank = np.ones_like(hashes, np.uint8)
    for zeros in range(1, MOST_RANK):
        rank += rest >> (BITS - precision - zeros) == 0
    made = np.zeros_like(hashes, np.uint8, shape=(n, 1 << precision))
    register = hashes >> (BITS - precision)
    for first in range(0, n, step):
        part = slice(first, first + step)
        made[part][np.arange(len(hashes[part]), like=hashes), register[part]] = rank[part]
    return made


def start_of(hashes: Any) -> Any:
    """What `Engine.hyperball` gives of vertices that have counted themselves alone."""
    balls = np.zeros_like(hashes, np.float64, shape=(len(hashes), 6))
    balls[:, 0] = 1
    return balls
