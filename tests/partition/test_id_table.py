"""Ids are numbered and ordered as Python's sets and sorted lists have them, strings by their bytes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_graphs import on_threads

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.cpu.threads import for_blocks
from dask_graphgpu.partition import id_table, string_entries, string_order
from dask_graphgpu.partition.string_entries import taken

# Few letters, so that strings repeat, share beginnings, and differ in zero bytes at their ends.
texts = st.one_of(
    st.text("ab", max_size=3),
    st.text("a\0", max_size=40),
    st.text("ab", max_size=18),
    st.text(max_size=20),
)
several = st.lists(st.lists(texts, max_size=40), min_size=1, max_size=4)


@pytest.fixture(autouse=True)
def by_our_kernels(monkeypatch):
    """Where strings are many, whether or not the kernels have been compiled before."""
    monkeypatch.setattr(string_order, "_UNCOMPILED", 0)


@pytest.fixture(params=[0, string_order._FEW])
def few(request, monkeypatch):
    """Strings that Arrow orders: none, and as many as always."""
    monkeypatch.setattr(string_order, "_FEW", request.param)


def check(parts, kind):
    arrays = [pa.array(part, kind) for part in parts]
    codes, table = id_table.numbered(arrays)
    assert table.type == kind
    assert [len(code) for code in codes] == [len(part) for part in parts]
    held = table.to_pylist()
    assert len(set(held)) == len(held)
    assert [[held[c] for c in code] for code in codes] == parts
    assert {c for code in codes for c in code.tolist()} == set(range(len(held)))  # none is unused
    ranks, table = id_table.ranked(arrays)
    ordered = table.to_pylist()
    assert table.type == kind
    assert ordered == sorted(held, key=str.encode)
    assert [[ordered[c] for c in code] for code in ranks] == parts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=several,
    kind=st.sampled_from([pa.large_string(), pa.string()]),
    beginning=st.sampled_from(["", "https://"]),
)
def test_any_strings(few, parts, kind, beginning):
    check([[beginning + text for text in part] for part in parts], kind)


@pytest.mark.parametrize("length", [1, 7, 8, 9, 200])
def test_many_buckets_on_threads(length):
    made = np.random.default_rng(length)
    drawn = made.integers(0, 40_000, 100_000)
    texts = [f"{value:0{length}d}" for value in drawn.tolist()]
    check([texts[:30_000], texts[30_000:]], pa.large_string())


def test_parts_of_an_array():
    whole = pa.array(["x", "", "yy", "x", "zzz" * 50, "yy"], pa.large_string())
    codes, table = id_table.ranked([whole[3:], whole[1:2]])
    assert table.to_pylist() == ["", "x", "yy", "zzz" * 50]
    assert [code.tolist() for code in codes] == [[1, 3, 2], [0]]


@pytest.mark.parametrize(
    ("kind", "least", "largest"),
    [
        (pa.int64(), -(2**63), 2**63 - 1),
        (pa.uint64(), 0, 2**64 - 1),
        (pa.int16(), -(2**15), 2**15 - 1),
        (pa.uint8(), 0, 255),
    ],
)
@pytest.mark.parametrize("sorts", [0, id_table._FEW_INTEGERS])
def test_integers(few, kind, least, largest, sorts, monkeypatch):
    """By the table, and few of them by sorting."""
    monkeypatch.setattr(id_table, "_FEW_INTEGERS", sorts)
    rng = np.random.default_rng(3)
    drawn = [int(x) for x in rng.integers(-90, 90, 500)]
    some = [least, largest, 0, *(x for x in drawn if least <= x <= largest), least]
    far = [least + x for x in range(0, 100, 7)] + [largest - x for x in range(50)]
    parts = [pa.array(some, kind), pa.array([], kind), pa.array(far, kind)]
    codes, table = id_table.ranked(parts)
    assert table.type == kind
    assert table.to_pylist() == sorted({*some, *far})
    assert [table.take(pa.array(code)).to_pylist() for code in codes] == [some, [], far]
    codes, table = id_table.numbered(parts)
    assert [table.take(pa.array(code)).to_pylist() for code in codes] == [some, [], far]


@pytest.mark.parametrize("bits", [10, string_entries._MANY_BITS])
def test_threads_bring_arrays_to_one_table(bits, monkeypatch):
    """Each brings many strings of its own and some that all have, short ones and long ones."""
    monkeypatch.setattr(string_entries, "_MANY_BITS", bits)
    texts = [f"{i:0{7 + i % 40}d}" for i in range(200_000)]
    arrays = [pa.array(texts[i * 20_000 : (i + 2) * 20_000] + texts[:5000]) for i in range(8)]
    table = id_table.IdTable(300_000, pa.large_string())
    with on_threads(4):
        codes = for_blocks(lambda i, _: table.codes(arrays[i]), np.arange(9))
        ids = table.distinct(codes)
    assert ids.to_pylist() == sorted({text for each in arrays for text in each.to_pylist()})
    for array, code in zip(arrays, codes, strict=True):
        assert ids.take(pa.array(code)).to_pylist() == array.to_pylist()


@pytest.mark.parametrize("kind", [pa.large_string(), pa.int64()])
@pytest.mark.parametrize(("threads", "batches"), [(2, 3), (8, 2), (16, 1)])
def test_many_threads_take_larger_batches(kind, threads, batches, monkeypatch):
    """Each shard of a batch is a call that they wait for one another for."""
    deal, dealt = kernels.string_table.deal, []

    def counted(*arguments):
        dealt.append(arguments[:2])
        deal(*arguments)

    monkeypatch.setattr(kernels.string_table, "deal", counted)
    values = np.random.default_rng(2).integers(-(10**6), 10**6, 300_000)
    given = pa.array(values).cast(kind)
    with on_threads(threads):
        table = id_table.IdTable(1 << 26, kind)
        codes = [table.codes(given)]
        ids = table.distinct(codes)
    assert len(dealt) == batches
    assert ids.take(pa.array(codes[0])).equals(given)


def test_strings_of_a_dictionary_that_stand_in_no_row():
    coded = pa.DictionaryArray.from_arrays(
        pa.array([3, 1, 3], pa.int8()), pa.array(["d", "c", "b", "a"])
    )
    codes, table = id_table.ranked([coded])
    assert (table.to_pylist(), codes[0].tolist()) == (["a", "c"], [0, 1, 0])


@pytest.mark.parametrize("texts", [["a"] * 3, ["", "long " * 20, "é", "eight ch", "123456789"]])
def test_strings_are_taken_by_threads(texts):
    held = pa.array(["beside", *texts], pa.large_string())[1:]
    places = np.random.default_rng(1).integers(0, len(held), 70_000).astype(np.uint32)
    with on_threads(3):
        found = taken(held, places)
    found.validate(full=True)
    assert found.equals(held.take(pa.array(places)))


def test_zero_bytes_up_to_a_long_end(few):
    """Those that end are not looked at again for each eight bytes of the longest."""
    texts = [*("\0" * i for i in range(3000)), "\0" * 3_000_000, "\0" * 50 + "x"]
    _, table = id_table.ranked([pa.array(texts[::-1], pa.large_string())])
    assert table.to_pylist() == sorted(texts)


def test_lengths_that_an_entry_has_no_room_for(few):
    """From 65,535 bytes on they stand before the string; some begin and end as others do."""
    lengths = [16, 17, 65_533, 65_534, 65_535, 65_536, 70_000, 140_000]
    texts = ["eight ch" + "m" * (n - 16) + "and here" for n in lengths]
    check([texts, [*texts[::-1], "short"], ["m" * 65_535]], pa.large_string())


def test_memory_that_runs_out_while_a_shard_grows(monkeypatch):
    """The table is as before, and other threads go on with it."""
    table = id_table.IdTable(10, pa.int64())
    real, refused = np.zeros, []

    def zeros(shape, dtype=float):
        if shape == (2, 128) and not refused:
            refused.append(shape)
            raise MemoryError
        return real(shape, dtype)

    values = np.arange(400) << 42
    monkeypatch.setattr(id_table.np, "zeros", zeros)
    with pytest.raises(MemoryError):
        table.codes(pa.array(values))
    assert refused
    codes = [table.codes(pa.array(values[::-1])), table.codes(pa.array(values + 7))]
    assert table.distinct(codes).to_pylist() == sorted([*values.tolist(), *(values + 7).tolist()])


def test_an_interrupt_behind_the_kernel(monkeypatch):
    """What has been entered is counted."""
    real = id_table.kernels.string_table.number

    def interrupted(*given):
        real(*given)
        monkeypatch.setattr(id_table.kernels.string_table, "number", real)
        raise KeyboardInterrupt

    table = id_table.IdTable(10, pa.int64())
    monkeypatch.setattr(id_table.kernels.string_table, "number", interrupted)
    with pytest.raises(KeyboardInterrupt):
        table.codes(pa.array(np.arange(400) << 40))
    values = (np.arange(400) << 42) + 7
    codes = [table.codes(pa.array(values))]
    ids = table.distinct(codes)
    assert ids.take(pa.array(codes[0])).to_pylist() == values.tolist()


def test_more_strings_than_rows_have_numbers():
    room = string_entries.EntryRoom(10)
    room.claimed = (1 << 32) - 1024
    with pytest.raises(InvalidEdges, match="number them first"):
        room.claim()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_offsets_are_compiled_for_once_whoever_made_the_strings(kind):
    """Arrow's own memory may be written, what it was given may not."""
    made = pa.array(["a", "bc", "d"], kind)
    _, where, data = made.buffers()
    given = pa.py_buffer(where.to_pybytes())
    for strings in (made, pa.Array.from_buffers(kind, 3, [None, given, data]), made[:0]):
        offsets, _ = string_entries.buffers(strings)
        assert not offsets.flags.writeable
        assert offsets.tolist() == [0, 1, 3, 4][: len(strings) + 1]
