"""Bits of words."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from dask_graphgpu.kernels.cpu.bits import lowest_bit


@njit
def call(word):
    return lowest_bit(word)


def test_lowest_bit():
    for place in range(64):
        assert call(np.uint64(1 << place)) == place
        assert call(np.uint64((1 << 63) | (1 << place))) == place


def test_other_types_are_a_typing_error():
    with pytest.raises(TypingError, match="works on a uint64"):
        call(np.int64(1))
