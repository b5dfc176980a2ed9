"""Ascending ids of several ranks are merged into one ascending list."""

import dask
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.partition.ranks import numbering
from dask_graphgpu.partition.ranks.merging import merged


def check(parts, kind):
    """Parts are sets of values."""
    ids, places = merged([pa.array(sorted(part, key=order), kind) for part in parts])
    wanted = sorted(set().union(*parts), key=order)
    assert ids.type == kind
    assert ids.to_pylist() == wanted
    for part, found in zip(parts, places, strict=True):
        assert [wanted[place] for place in found] == sorted(part, key=order)


def order(value):
    return value.encode() if isinstance(value, str) else value


# Of which many begin alike, end in zero bytes, or differ behind eight and sixteen bytes.
texts = st.text(st.sampled_from("a\0é€\U0001f600"), max_size=20)


@given(st.lists(st.sets(texts, max_size=12), min_size=1, max_size=5))
def test_strings(parts):
    check(parts, pa.large_string())


@pytest.mark.parametrize(
    ("kind", "first"), [(pa.int64(), -(2**63)), (pa.uint64(), 2**64 - 40), (pa.int8(), -20)]
)
def test_integers(kind, first):
    @given(st.lists(st.sets(st.integers(first, first + 39)), min_size=1, max_size=5))
    def any_parts(parts):
        check(parts, kind)

    any_parts()


def test_many_strings_by_threads():
    drawn = np.random.default_rng(0).integers(0, 150_000, (3, 100_000))
    parts = [{f"{value * 7919 % 150_001:x}" for value in row} for row in drawn.tolist()]
    with dask.config.set({"graphgpu.threads": 3}):
        check(parts, pa.large_string())


def test_slices_of_one_array():
    ids = pa.array([f"{i:05}" for i in range(50)], pa.large_string())
    found, (first, second) = merged([ids[3:20], ids[10:40]])
    assert found.equals(ids[3:40])
    assert first.tolist() == [*range(17)]
    assert second.tolist() == [*range(7, 37)]


@pytest.mark.parametrize("fewest", [0, 1 << 16])
def test_homes_unite_ids_of_all_ranks(monkeypatch, fewest):
    """Many by merging them, few as what is numbered is."""
    monkeypatch.setattr(numbering, "_MANY", fewest)
    given = ["ab", "k", "m", "z"], ["aa", "k", "zz"]

    def work(ranks):
        own = [pa.array(given[ranks.rank], pa.large_string())]
        ids, homes, numbers = numbering._at_homes(ranks, own, [("m",)])
        assert len(homes) == 6
        return ids[0].to_pylist(), numbers.tolist()

    first, second = run_local(2, work)
    assert first == (["aa", "ab", "k"], [1, 2, 3, 4])
    assert second == (["m", "z", "zz"], [0, 2, 5])
