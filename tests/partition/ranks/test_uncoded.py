"""Strings that repeat little are numbered at their homes, without a table on the rank that reads them."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.partition import repeats
from dask_graphgpu.partition.ranks import uncoded
from dask_graphgpu.partition.repeats import Repeats

# Which begin alike, end in zero bytes, or differ behind eight and sixteen bytes.
texts = st.one_of(st.text("a\0é", max_size=20), st.text("ab", max_size=3))
arrays_of_ranks = st.lists(
    st.lists(st.lists(texts, max_size=12), max_size=4), min_size=1, max_size=4
)


@pytest.fixture
def piece(monkeypatch):
    """Strings of a round: three, so that there are several, and arrays are cut and joined."""
    monkeypatch.setattr(uncoded, "PIECE", 3)


@given(parts=arrays_of_ranks.filter(lambda parts: any(map(any, parts))))
def test_numbers_are_places_in_the_order_of_all(parts):
    def on_rank(ranks):
        return uncoded.number_at_homes(
            ranks, [pa.array(part, pa.large_string()) for part in parts[ranks.rank]]
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uncoded, "PIECE", 3)
        patch.setattr(uncoded, "_BYTES", 24)
        made = run_local(len(parts), on_rank)
    every = sorted({text for arrays in parts for each in arrays for text in each}, key=str.encode)
    assert [text for each in made for text in each.ids.to_pylist()] == every
    for arrays, found in zip(parts, made, strict=True):
        numbers = [[every[i] for i in each] for each in found.numbers]
        assert numbers == arrays
        assert len(found.homes) == len(every)


def test_a_round_of_long_strings_is_bounded_by_its_bytes(monkeypatch):
    monkeypatch.setattr(uncoded, "_BYTES", 1 << 16)
    sent, deal = [], uncoded._Ranges.deal

    def dealt(ranges, strings):
        made = deal(ranges, strings)
        sent.append(sum(text.nbytes for text in made[-1]))
        return made

    monkeypatch.setattr(uncoded._Ranges, "deal", dealt)

    def on_rank(ranks):
        rng = np.random.default_rng(ranks.rank)
        texts = [f"{i}" * 200 for i in rng.integers(0, 10_000, 2000)]
        texts[7] = "longest" * 20_000  # goes alone
        return uncoded.number_at_homes(ranks, [pa.array(texts, pa.large_string())])

    run_local(2, on_rank)
    assert sorted(sent)[-2:] == [140_000, 140_000]
    assert sorted(sent)[-3] <= 1 << 16
    assert sum(sent) > 20 * (1 << 16)


@pytest.mark.parametrize("beginning", ["", "https://example.org/"])
def test_homes_have_about_as_many_strings(beginning):
    def on_rank(ranks):
        rng = np.random.default_rng(ranks.rank)
        texts = [f"{beginning}{i}" for i in rng.permutation(20_000)[:10_000]]
        return uncoded.number_at_homes(ranks, [pa.array(texts, pa.large_string())])

    made = run_local(7, on_rank)
    counts = [len(each.ids) for each in made]
    assert max(counts) < 1.1 * min(counts)
    ids = [text for each in made for text in each.ids.to_pylist()]
    assert ids == sorted(set(ids), key=str.encode)


def pairs(rows, distinct, *, ascending=False):
    """Sources and destinations, drawn at random."""
    rng = np.random.default_rng(1)
    ends = rng.integers(0, distinct, (2, rows))
    if ascending:
        ends[0].sort()
    return [pa.array([f"id-{i}" for i in end], pa.large_string()) for end in ends.tolist()]


@pytest.mark.parametrize(
    ("distinct", "ascending", "few"),
    [(1_000_000, False, True), (100_000, False, True), (5_000, False, False), (900, True, False)],
)
def test_repeats_are_told_by_a_sample(distinct, ascending, few):
    source, destination = pairs(70_000, distinct, ascending=ascending)
    known = Repeats(2 * len(source))
    assert known.are_few(source[:35_000], destination[:35_000]) is few
    assert known.are_few(source[35_000:], destination[35_000:]) is few


def test_repeats_of_few_rows_or_of_other_types_are_not_looked_at():
    source, destination = pairs(1000, 1000)
    assert not Repeats(2000).are_few(source, destination)
    numbers = pa.array(range(1000))
    assert not Repeats(1 << 20).are_few(numbers, numbers)
    assert not Repeats(1 << 20).are_few(source.dictionary_encode(), destination)


@pytest.fixture
def always(monkeypatch):
    """Strings have no tables, however many there are and however often they repeat."""
    monkeypatch.setattr(repeats, "_FEWEST", 0)
    monkeypatch.setattr(repeats, "_REPEATED", 0.0)


def write(folder, number, source, destination, weight, **options):
    table = pa.table({"src": source, "dst": destination, "weight": weight})
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{number}.parquet", row_group_size=100, **options)


@pytest.fixture
def folder(tmp_path):
    """Edges of which many are repeated, with other weights; some files have dictionaries, and are read by them."""
    rng = np.random.default_rng(3)
    for number, dictionary in enumerate((False, True, False)):
        ends = [[f"id-{i}" * (1 + i % 3) for i in rng.integers(0, 40, 300)] for _ in range(2)]
        weight = rng.integers(1, 100, 300)
        write(tmp_path / "edges", number, *ends, weight, use_dictionary=dictionary)
    return tmp_path / "edges"


def answers(folder, ranks):
    vertices = dd.from_pandas(pd.DataFrame({"id": ["alone", "id-3", "zero"]}), npartitions=1)
    graph = dd.read_parquet(folder).graph(vertices=vertices, ranks=ranks)
    made = dask.compute(graph.sssp("id-3"), graph.weakly_connected_components())
    return [frame.sort_values(frame.columns[0]).reset_index(drop=True) for frame in made]


@pytest.mark.parametrize("size", [2, 3])
def test_a_graph_is_the_same_with_and_without_tables(folder, size, always, piece, monkeypatch):
    seen = []
    real = uncoded.number_at_homes

    def number(ranks, given):
        seen.append(len(given))
        return real(ranks, given)

    monkeypatch.setattr("dask_graphgpu.partition.ranks.numbering.number_at_homes", number)
    wanted = answers(folder, 1)
    assert not seen
    for frame, expected in zip(answers(folder, size), wanted, strict=True):
        pd.testing.assert_frame_equal(frame, expected)
    assert len(seen) == 2 * size  # with weights and without
    assert max(seen) > 1


def test_damaged_text_is_an_error(tmp_path, always):
    damaged = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.py_buffer(np.array([0, 2, 4], np.int32)), pa.py_buffer(b"a\xff\xfea")],
    )
    write(
        tmp_path / "edges", 0, damaged, pa.array(["b", "c"]), pa.array([1, 2]), use_dictionary=False
    )
    with pytest.raises(InvalidEdges, match="is damaged in row group 0 of"):
        dd.read_parquet(tmp_path / "edges").graph(ranks=2).weakly_connected_components().compute()


def test_strings_that_never_repeat_are_few_however_many_and_in_whatever_pieces():
    names = pa.array([f"v{i}" for i in range(40_000)], pa.large_string())
    for expected in (1 << 18, 10**10):
        known = Repeats(expected)
        for lo, hi in ((0, 50), (50, 10_000), (10_000, 20_000)):
            assert known.are_few(names[lo:hi], names[20_000 + lo : 20_000 + hi])


@pytest.mark.parametrize(("distinct", "few"), [(10_000_000, True), (100_000, False)])
def test_a_hub_is_one_string_that_repeats(distinct, few):
    source, destination = pairs(100_000, distinct)
    hub = pa.scalar("hub", pa.large_string())
    source = pa.compute.if_else(pa.array(np.arange(len(source)) % 250 == 0), hub, source)
    known = Repeats(1 << 23)
    for lo in range(0, len(source), 5000):
        found = known.are_few(source[lo : lo + 5000], destination[lo : lo + 5000])
    assert found is few


@pytest.mark.parametrize("distinct", [1, 50, 500])
def test_few_strings_in_many_rows_repeat_much(distinct):
    source, destination = pairs(400_000, distinct)
    known = Repeats(1 << 23)
    for lo in range(0, len(source), 8192):
        found = known.are_few(source[lo : lo + 8192], destination[lo : lo + 8192])
    assert found is False
