"""Strings are numbered and ordered as Python's sets and sorted lists of bytes have them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dask_graphgpu.partition import id_table as strings

# Few letters, so that strings repeat, share beginnings, and differ in zero bytes at their ends.
texts = st.one_of(
    st.text("ab", max_size=3),
    st.text("a\0", max_size=40),
    st.text("ab", max_size=18),
    st.text(max_size=20),
)
several = st.lists(st.lists(texts, max_size=40), min_size=1, max_size=4)


def check(parts, kind):
    arrays = [pa.array(part, kind) for part in parts]
    codes, table = strings.numbered(arrays)
    assert table.type == kind
    assert [len(code) for code in codes] == [len(part) for part in parts]
    held = table.to_pylist()
    assert len(set(held)) == len(held)
    assert [[held[c] for c in code] for code in codes] == parts
    assert {c for code in codes for c in code.tolist()} == set(range(len(held)))  # none is unused
    ordered = [held[i] for i in strings.ascending(strings.StringEntries.of(table))]
    assert ordered == sorted(held, key=str.encode)
    ranks, table = strings.ranked(arrays)
    assert table.type == kind
    assert table.to_pylist() == ordered
    assert [[ordered[c] for c in code] for code in ranks] == parts


@settings(deadline=None, max_examples=50)
@given(
    several, st.sampled_from([pa.large_string(), pa.string()]), st.sampled_from(["", "https://"])
)
def test_any_strings(parts, kind, beginning):
    check([[beginning + text for text in part] for part in parts], kind)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 200])
def test_many_buckets_on_threads(length):
    made = np.random.default_rng(length)
    drawn = made.integers(0, 40_000, 100_000)
    texts = [f"{value:0{length}d}" for value in drawn.tolist()]
    check([texts[:30_000], texts[30_000:]], pa.large_string())


def test_parts_of_an_array():
    whole = pa.array(["x", "", "yy", "x", "zzz" * 50, "yy"], pa.large_string())
    codes, table = strings.numbered([whole[3:], whole[1:2]])
    assert [[table[c].as_py() for c in code] for code in codes] == [["x", "zzz" * 50, "yy"], [""]]
    assert table.take(pa.array(strings.ascending(strings.StringEntries.of(table)))).to_pylist() == [
        "",
        "x",
        "yy",
        "zzz" * 50,
    ]
