"""Edges in words: what is in them, and where there are none."""

import numpy as np
import pytest

from dask_graphgpu.engine.cuda.packing import Packing, whole_range

IDS = np.dtype(np.uint32)
# Name: dtype of a column, its values, bits.
COLUMNS = {
    "small": (np.int64, [1, 64, 7], 6),
    "below zero": (np.int32, [-5, 2, -1], 3),
    "bytes": (np.uint8, [255, 0, 3], 8),
    "large": (np.uint64, [2**64 - 1, 2**64 - 9, 2**64 - 2], 4),
    "lowest": (np.int64, [-(2**63), 9 - 2**63, 4 - 2**63], 4),
    "one": (np.int64, [9, 9, 9], 1),
    "flags": (np.bool_, [True, True, True], 1),
    "floats": (np.float32, [-0.0, np.inf, 1.1], 32),
    "whole floats": (np.float32, [-3.0, 0.0, 12.0], 4),
    "whole doubles": (np.float64, [2.0**61, 2.0**61 + 1024, 2.0**61], 11),
    "far floats": (np.float32, [2.0**60, 1.0, -(2.0**60)], 32),
    "halves": (np.int64, [0, 2**31, 5], 32),
}


def made(columns, num_vertices=1000, ids=IDS):
    arrays = {name: np.array(COLUMNS[name][1], COLUMNS[name][0]) for name in columns}
    found = {name: whole_range(array) for name, array in arrays.items()}
    ranges = {name: ends for name, ends in found.items() if ends is not None}
    types = {name: array.dtype for name, array in arrays.items()}
    return Packing.of(num_vertices, np.dtype(ids), types, ranges), arrays


@pytest.mark.parametrize("names", [*([name] for name in COLUMNS), ["small", "flags", "large"]])
@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
def test_words_hold_what_is_put_into_them(names, ids):
    packing, arrays = made(names, ids=ids)
    ends = np.array([999, 0, 512], ids)
    words = np.empty(3, packing.word)
    packing.put(words, ends, arrays)
    np.testing.assert_array_equal(words & ((1 << packing.id_bits) - 1), ends)
    for column in packing.columns:
        assert column.bits == COLUMNS[column.name][2]
        kept = arrays[column.name]
        bits = [int(word) >> column.shift & (1 << column.bits) - 1 for word in words]
        if not column.whole and column.dtype.kind == "f":
            found = np.array(bits, np.uint32).view(np.float32)
        else:
            found = np.array([each + column.least for each in bits], column.dtype)
        assert found.tobytes() == kept.tobytes()


def test_the_width_of_words():
    for names, num_vertices, ids, expected in (
        (["small"], 2**26, np.uint32, 4),
        (["small"], 2**26 + 1, np.uint32, 8),
        (["bytes"], 2**24, np.uint32, 4),
        (["bytes"], 2**24 + 1, np.uint32, None),  # 5 bytes apart
        (["floats"], 2**32, np.uint32, 8),
        (["far floats"], 2**32, np.uint32, 8),
        (["floats"], 2**33, np.uint64, None),  # more bits than there are
        (["small", "small"], 2**20, np.uint32, 4),
        ([], 2**20, np.uint32, None),
    ):
        packing, _ = made(names, num_vertices, ids)
        assert (None if packing is None else packing.word.itemsize) == expected


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([3, -2, 7], np.int32, (-2, 7)),
        ([2**64 - 1, 2], np.uint64, (2, 2**64 - 1)),
        ([], np.int64, (0, 0)),
        ([True], np.bool_, None),
        ([3.0, -2.0, 0.0], np.float32, (-2, 3)),
        ([2.0**61, 5.0], np.float64, (5, 2**61)),
        ([2.0**62], np.float64, None),
        ([1.5, 2.0], np.float32, None),
        ([1.0, -0.0], np.float64, None),
        ([1.0, np.nan], np.float64, None),
        ([1.0, np.inf], np.float32, None),
    ],
)
def test_whole_numbers(values, dtype, expected):
    assert whole_range(np.array(values, dtype)) == expected


def test_whole_numbers_of_many_blocks(monkeypatch):
    column = np.arange(1 << 20, dtype=np.float64) - 5
    column[5] = 3
    assert whole_range(column) == (-5, (1 << 20) - 6)
    column[-1] += 0.5
    assert whole_range(column) is None
