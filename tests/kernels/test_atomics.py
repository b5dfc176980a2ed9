"""Atomic operations: what they return and store, for every type, and under contention."""

import threading

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from dask_graphgpu.kernels.cpu.atomics import (
    atomic_add,
    atomic_compare_exchange,
    atomic_load,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_store,
)

INTEGERS = ["int8", "uint8", "int32", "uint32", "int64", "uint64"]
FLOATS = ["float32", "float64"]


@njit(nogil=True)
def call_min(array, index, value):
    return atomic_min(array, index, value)


@njit(nogil=True)
def call_max(array, index, value):
    return atomic_max(array, index, value)


@njit(nogil=True)
def call_add(array, index, value):
    return atomic_add(array, index, value)


@njit(nogil=True)
def call_or(array, index, value):
    return atomic_or(array, index, value)


@njit(nogil=True)
def call_store_load(array, index, value):
    atomic_store(array, index, value)
    return atomic_load(array, index)


@njit(nogil=True)
def call_compare_exchange(array, index, expected, value):
    return atomic_compare_exchange(array, index, expected, value)


def extremes(dtype):
    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    values = [info.min, info.min + 1 if np.dtype(dtype).kind in "iu" else -1.5, 0, 1, 2, info.max]
    if np.dtype(dtype).kind == "f":
        values += [-np.inf, np.inf, -1e-30, 1e-30]
    return np.array(values, dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
@pytest.mark.parametrize(("call", "best"), [(call_min, min), (call_max, max)])
def test_min_max_of_any_sign(dtype, call, best):
    values = extremes(dtype)
    for old in values:
        for new in values:
            array = np.array([7, old, 7], dtype=dtype)
            returned = call(array, 1, new)
            assert returned == old
            assert array.tolist() == [7, best(old, new), 7]


@pytest.mark.parametrize("call", [call_min, call_max])
def test_nan_neither_enters_nor_leaves(call):
    array = np.array([1.0, np.nan])
    assert call(array, 0, np.nan) == 1.0
    assert np.isnan(call(array, 1, 1.0))
    assert array[0] == 1.0
    assert np.isnan(array[1])


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_add_returns_the_old_value(dtype):
    array = np.array([5, 100], dtype=dtype)
    assert call_add(array, 1, array.dtype.type(2)) == 100
    assert array.tolist() == [5, 102]


def test_add_wraps_integers():
    array = np.array([2**63 - 1], dtype=np.int64)
    assert call_add(array, 0, 1) == 2**63 - 1
    assert array[0] == -(2**63)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_or(dtype):
    array = np.array([0b0101, 0], dtype=dtype)
    assert call_or(array, 0, array.dtype.type(0b0011)) == 0b0101
    assert array.tolist() == [0b0111, 0]


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_load_gives_what_store_stored(dtype):
    for value in extremes(dtype):
        array = np.zeros(3, dtype=dtype)
        assert call_store_load(array, 2, value) == value
        assert array.tolist() == [0, 0, value]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_compare_exchange(dtype):
    array = np.array([3, 4], dtype=dtype)
    one = array.dtype.type
    assert call_compare_exchange(array, 1, one(4), one(9)) == 4
    assert call_compare_exchange(array, 1, one(4), one(8)) == 9
    assert array.tolist() == [3, 9]


@pytest.mark.parametrize("index", [np.uint32(1), np.uint64(1), np.int32(1)])
def test_index_of_any_integer_type_and_strided_array(index):
    base = np.arange(6.0)
    assert call_add(base[::2], index, 10) == 2.0
    assert base.tolist() == [0, 1, 12, 3, 4, 5]


def test_value_is_converted_to_the_type_of_the_array():
    array = np.array([10], dtype=np.uint32)
    assert call_min(array, 0, np.int64(3)) == 10
    assert array[0] == 3


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2)), np.zeros(2, dtype=bool), np.zeros(2, dtype=complex)]
)
def test_other_arrays_are_a_typing_error(array):
    with pytest.raises(TypingError, match="one-dimensional array of integers or floats"):
        call_min(array, 0, 1)


def test_or_of_floats_is_a_typing_error():
    with pytest.raises(TypingError, match="array of integers, not"):
        call_or(np.zeros(2), 0, 1)


@njit(nogil=True)
def hammer(seed, rounds, total, total_float, lowest, highest, bits):
    """Every thread adds 1 `rounds` times, offers pseudo-random floats and sets bits."""
    x = np.uint64(seed)
    low = np.inf
    high = -np.inf
    for i in range(rounds):
        x = x * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        value = np.float64(x >> np.uint64(11)) / 2.0**53 - 0.5
        low = min(low, value)
        high = max(high, value)
        atomic_add(total, 0, 1)
        atomic_add(total_float, 0, 1.0)
        atomic_min(lowest, 0, value)
        atomic_max(highest, 0, value)
        atomic_or(bits, i & 63, np.uint64(1) << np.uint64((i >> 6) & 31 | (seed & 1) << 5))
    return low, high


def test_no_update_is_lost_under_contention():
    rounds = 300_000
    total = np.zeros(1, dtype=np.uint64)
    total_float = np.zeros(1)
    lowest = np.array([np.inf])
    highest = np.array([-np.inf])
    bits = np.zeros(64, dtype=np.uint64)
    hammer(0, 0, total, total_float, lowest, highest, bits)  # compiled before the race starts
    found = {}
    start = threading.Barrier(2)

    def run(seed):
        start.wait()
        found[seed] = hammer(seed, rounds, total, total_float, lowest, highest, bits)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 2 * rounds
    assert total_float[0] == 2 * rounds
    assert lowest[0] == min(low for low, _ in found.values()) < 0
    assert highest[0] == max(high for _, high in found.values()) > 0
    assert (bits == np.uint64(2**64 - 1)).all()


@njit(nogil=True)
def claim_all(claimed, thread):
    """Count the elements that this thread was first to claim."""
    won = 0
    for i in range(claimed.size):
        if atomic_compare_exchange(claimed, i, 0, thread) == 0:
            won += 1
    return won


def test_an_element_is_claimed_once():
    claimed = np.zeros(1_000_000, dtype=np.int32)
    claim_all(claimed[:0], 1)
    won = {}
    start = threading.Barrier(2)

    def run(thread):
        start.wait()
        won[thread] = claim_all(claimed, thread)

    threads = [threading.Thread(target=run, args=(thread,)) for thread in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(won.values()) == claimed.size
    assert won[1] == np.count_nonzero(claimed == 1)
