"""What every rank of a run does in tests of the exchange, on threads and between processes alike.

Each case is called with the ranks and a seed that all of them share, asserts what it can, and gives
back what the test compares. Every rank draws what all ranks send, so it knows what must arrive.
"""

import time

import numpy as np
import pytest

from dask_graphgpu.errors import InvalidArgument

DTYPES = ("bool", "uint8", "int16", "float32", "uint32", "int64", "uint64", "float64")
LEAST, GREATEST = -(2**63), 2**63 - 1


def drawn(random, dtype, shape):
    """An array of any bits."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]


def lengths(random, size, most):
    """Lengths of a message from every rank to every rank; many of them are 0."""
    return random.integers(0, most, (size, size)) * random.integers(0, 2, (size, size))


def assert_same(got, expected):
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


def steps(ranks, seed):
    """Raw steps; what is received stays as it came while the sender's arrays change."""
    random = np.random.default_rng(seed)
    kept = []
    for number in range(6):
        most = [4, 100, 5000, 400_000, 3, 2_000_000][number]
        sizes = lengths(random, ranks.size, most)
        data = [
            [drawn(random, np.uint8, (n,)) if n else None for n in row] for row in sizes.tolist()
        ]
        k = int(random.integers(0, 17))
        scalars = drawn(random, ("int64", "float64")[number % 2], (ranks.size, k))
        own = [None if each is None else each.copy() for each in data[ranks.rank]]
        received, every = ranks.step(own, scalars[ranks.rank])
        for j, array in enumerate(own):
            if array is not None and j != ranks.rank:
                array[:] = 77
        assert_same(every, scalars)
        assert len(received) == ranks.size
        kept += [(received[j], data[j][ranks.rank]) for j in range(ranks.size)]
    for array, sent in kept:
        assert_same(array, np.empty(0, np.uint8) if sent is None else sent)
        array[:] = 1  # nobody else's
    return ranks.rank


def all_to_all(ranks, seed):
    random = np.random.default_rng(seed)
    for dtype in DTYPES:
        for trailing in ((), (3,), (2, 2)):
            sizes = lengths(random, ranks.size, 50)
            data = [[drawn(random, dtype, (n, *trailing)) for n in row] for row in sizes]
            own = data[ranks.rank]
            received = ranks.all_to_all(own)
            assert received[ranks.rank] is own[ranks.rank]
            for j in range(ranks.size):
                assert_same(received[j], data[j][ranks.rank])
    backwards = np.arange(10 * ranks.size).reshape(ranks.size, 10)[:, ::-2]  # not contiguous
    for got in ranks.all_to_all(list(backwards)):
        assert_same(got, backwards[ranks.rank])


def all_gather(ranks, seed):
    random = np.random.default_rng(seed)
    for dtype in DTYPES:
        data = [drawn(random, dtype, (n, 2)) for n in random.integers(0, 4, ranks.size)]
        received = ranks.all_gather(data[ranks.rank])
        assert received[ranks.rank] is data[ranks.rank]
        for got, expected in zip(received, data, strict=True):
            assert_same(got, expected)
    texts = [b"x" * int(n) for n in random.integers(0, 3, ranks.size)]
    assert ranks.all_gather_bytes(texts[ranks.rank]) == texts
    table = [[bytes([i, j]) * (i != j) for j in range(ranks.size)] for i in range(ranks.size)]
    received = ranks.all_to_all_bytes(table[ranks.rank])
    assert received == [row[ranks.rank] for row in table]


def scalars(ranks, seed):
    me, size = ranks.rank, ranks.size
    assert ranks.sum(me + 1) == size * (size + 1) // 2
    assert ranks.sum(GREATEST) == size * GREATEST
    assert ranks.min(LEAST if me == size - 1 else 0) == LEAST
    assert ranks.max(GREATEST if me == 0 else -1) == GREATEST
    assert ranks.max(np.uint32(me)) == size - 1
    assert isinstance(ranks.sum(True), int)
    assert ranks.sum(0.5) == size / 2
    assert isinstance(ranks.max(0.5), float)
    assert np.isnan(ranks.min(float("nan") if me == 0 else 1.0))
    both = ranks.scalars([me, GREATEST])
    assert_same(both, np.array([[j, GREATEST] for j in range(size)]))
    assert_same(ranks.scalars([me, 0.25]), np.array([[j, 0.25] for j in range(size)]))
    assert ranks.scalars([]).shape == (size, 0)
    assert ranks.scalars([1.0] * 16).shape == (size, 16)
    ranks.barrier()


def refused(ranks, seed):
    """Arguments that no step takes; no rank has sent anything then, so the run goes on."""
    empty = np.empty(0, np.int64)
    for send, values, words in (
        ([None] * (ranks.size + 1), empty, "messages for"),
        ([None] * ranks.size, np.zeros(17), "at most 16"),
        ([None] * ranks.size, np.zeros(1, np.int32), "int64 or float64"),
        ([None] * ranks.size, np.zeros((1, 1)), r"\(k,\)"),
        ([np.array([None])] * ranks.size, empty, "Python objects"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            ranks.step(send, values)
    with pytest.raises(InvalidArgument, match="give floats"):
        ranks.sum(2**63)
    if ranks.size > 1:
        with pytest.raises(InvalidArgument, match="same dtype"):
            ranks.all_to_all([np.zeros(1)] * (ranks.size - 1) + [np.zeros(1, "f4")])
    with pytest.raises(InvalidArgument, match="one for each"):
        ranks.all_to_all([np.zeros(1)] * (ranks.size + 1))
    with pytest.raises(InvalidArgument, match="same axes"):
        ranks.all_gather(np.zeros(()))
    ranks.barrier()


COLLECTIVES = (steps, all_to_all, all_gather, scalars, refused)


# -- what ranks do while something is done to them -------------------------------------------------


def everything(ranks, seed):
    for case in COLLECTIVES:
        case(ranks, seed)
    return ranks.rank


def checks(ranks):
    while True:
        ranks.check()
        time.sleep(0.005)


def for_ever(ranks, nbytes):
    data = np.zeros(nbytes, np.uint8)
    while True:
        ranks.step([data] * ranks.size, np.zeros(1))


def slowly(ranks, seconds):
    """The last rank is slow."""
    for _ in range(2):
        if ranks.rank == ranks.size - 1:
            time.sleep(seconds)
        ranks.barrier()
    return ranks.rank


def one_raises(ranks, late):
    ranks.barrier()
    if (ranks.rank == 1) == late:
        time.sleep(0.1)
    if ranks.rank == 1:
        raise ZeroDivisionError("here")
    ranks.barrier()


def one_returns(ranks, late):
    ranks.barrier()
    if (ranks.rank == 1) == late:
        time.sleep(0.1)
    if ranks.rank != 1:
        ranks.barrier()


def long_messages(ranks, least):
    """Messages of lengths around which they go another way; how many bytes were shared."""
    for number, n in enumerate([least, least - 1, least, 5_000_001, 4 << 20, 20_000_000]):
        random = np.random.default_rng(number)
        data = [random.integers(0, 256, n, np.uint8) for _ in range(ranks.size)]
        for got, expected in zip(ranks.all_gather(data[ranks.rank]), data, strict=True):
            assert np.array_equal(got, expected)
        ranks.barrier()  # an answer to the offer is here now
    return ranks.shared_bytes
