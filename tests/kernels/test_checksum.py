"""The checksum of pages, and what is asked for before it is read."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from dask_graphgpu.kernels.cpu.checksum import checksum
from dask_graphgpu.kernels.cpu.prefetch import prefetch


def by_hand(words):
    whole, prime = 2**64, 0x9E3779B97F4A7C15
    lanes = [1, 2, 3, 4]
    for i, word in enumerate(words.tolist()):
        lanes[i % 4] = (lanes[i % 4] ^ word) * prime % whole
    mixed = lanes[0]
    for lane in lanes[1:]:
        mixed = (mixed ^ (mixed >> 29) ^ lane) * prime % whole
    return mixed ^ (mixed >> 29)


@pytest.mark.parametrize("length", [0, 4, 8, 12, 508, 516, 2048])
def test_checksum(length):
    words = np.random.default_rng(length).integers(0, 2**64, length, dtype=np.uint64)
    assert int(checksum(words)) == by_hand(words)


@njit
def ask(array, index):
    prefetch(array, index)
    return array[0]


def test_any_place_may_be_asked_for():
    for array in (np.arange(3, dtype=np.uint32), np.ones(1)):
        for index in (0, 5, 1 << 40, 2**61 - 1):
            assert ask(array, np.uint64(index)) == array[0]


def test_it_is_in_the_machine_code():
    ask(np.ones(1), np.uint64(0))
    for code in ask.inspect_asm().values():
        assert "prefetch" in code or "prfm" in code


@pytest.mark.parametrize(
    ("array", "index"), [(np.ones((2, 2)), np.uint64(0)), (np.ones(2), np.int64(0))]
)
def test_other_types_are_a_typing_error(array, index):
    with pytest.raises(TypingError, match="one-dimensional array and a uint64"):
        ask(array, index)
