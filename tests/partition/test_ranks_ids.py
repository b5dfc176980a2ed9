"""Ids and vertex columns of a graph on many ranks are those of one."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_parts import Chunks, shares
from strategies import KINDS, edge_lists

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, InvalidVertices, UnknownVertex
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.schema import find_columns
from dask_graphgpu.partition.layout import Layout

SIZES = (1, 2, 3, 4, 7)


def on_ranks(size, chunks, function, **options):
    """What ``function(ranks, ids)`` gives on each rank."""

    def on_rank(ranks):
        return function(ranks, chunks.share(ranks, Layout(), **options).ids)

    return run_local(size, on_rank)


@given(
    graph=edge_lists(kinds=tuple(KINDS)),
    size=st.sampled_from(SIZES),
    partitioner=st.sampled_from(["balanced", "random"]),
    data=st.data(),
)
def test_ids_are_found_and_taken_as_on_one_rank(graph, size, partitioner, data):
    chunks = Chunks.of(graph.frame(), graph.cuts, graph.vertices())
    whole = chunks.whole(Layout(order="input")).ids
    number = st.integers(0, graph.n - 1)
    wanted = [data.draw(st.lists(number)) for _ in range(size)]
    masks = [data.draw(st.lists(st.booleans(), min_size=len(w), max_size=len(w))) for w in wanted]
    values = [graph.ids[v] for v in wanted[0]]

    def ask(ranks, ids):
        assert len(ids) == len(whole)
        assert ids.kinds == whole.kinds
        numbers = np.array(wanted[ranks.rank], np.int64)
        valid = np.array(masks[ranks.rank], bool)
        taken = ids.take(numbers)
        assert taken[0].equals(whole.take(numbers)[0])
        (some,) = ids.take(np.where(valid, numbers, 10**6), valid)
        assert some.equals(whole.take(numbers, valid)[0])
        np.testing.assert_array_equal(ids.find(values), whole.find(values))
        found, known = ids.find_rows(taken)
        np.testing.assert_array_equal(found, numbers)
        assert known.all()
        places, here = ids.own_places(numbers)
        np.testing.assert_array_equal(here, np.flatnonzero(np.isin(numbers, ids.own_numbers())))
        np.testing.assert_array_equal(ids.places.own[places], numbers[here])
        return ids.in_user_order()

    on_ranks(size, chunks, ask, partitioner=partitioner)


@pytest.mark.parametrize("size", SIZES)
def test_ids_that_are_no_vertices(size):
    frame = pd.DataFrame({"src": [10, 30, 50], "dst": [20, 40, 60]}, dtype="int16")
    chunks = Chunks.of(frame, [1, 2])
    whole = chunks.whole(Layout(order="input")).ids

    def ask(ranks, ids):
        for value in (25, 5, 70, 2**70, "10", 10.0, True, None, (10,)):
            with pytest.raises(UnknownVertex) as wanted:
                whole.find([10, value])
            with pytest.raises(UnknownVertex) as raised:
                ids.find([10, value])
            assert str(raised.value) == str(wanted.value)
        assert ids.find([]).tolist() == []
        # Of any type that goes together with the graph's, and of another one on each rank.
        kind = (pa.int64(), pa.uint8(), pa.int16())[ranks.rank % 3]
        table = pa.array([40, 41, 0, 10, 40, 60, 61][ranks.rank % 3 :]).cast(kind)
        numbers, known = ids.find_rows([table])
        wanted, really = whole.find_rows([table])
        np.testing.assert_array_equal(known, really)
        np.testing.assert_array_equal(numbers[known], wanted[known])
        # A rank without rows may give any type.
        empty = pa.array([], pa.large_string())
        numbers, known = ids.find_rows([table if ranks.rank == 0 else empty])
        assert len(numbers) == len(known) == (len(table) if ranks.rank == 0 else 0)

    on_ranks(size, chunks, ask)
    with pytest.raises(InvalidEdges, match="the graph's ids and those given mix the id types"):
        on_ranks(size, chunks, lambda ranks, ids: ids.find_rows([pa.array(["a"])]))


@pytest.mark.parametrize("size", SIZES)
def test_several_id_columns(size):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "s_a": rng.choice(["nl", "de", "fr"], 60),
            "s_b": rng.integers(0, 9, 60),
            "d_a": rng.choice(["nl", "de", "es"], 60),
            "d_b": rng.integers(5, 12, 60),
        }
    )
    schema = find_columns(frame, ["s_a", "s_b"], ["d_a", "d_b"])
    edges = [read_edges(frame.iloc[part], schema, [], "") for part in (slice(20), slice(20, 60))]
    chunks = Chunks(edges, [], [0, 1], [])
    whole = chunks.whole(Layout(order="input")).ids
    rows = list(zip(*(column.to_pylist() for column in whole.columns), strict=True))

    def ask(ranks, ids):
        assert ids.kinds == whole.kinds
        numbers = rng.permutation(len(rows))
        taken = ids.take(numbers)
        assert list(zip(*(c.to_pylist() for c in taken), strict=True)) == [rows[v] for v in numbers]
        found, known = ids.find_rows(taken)
        assert known.all()
        np.testing.assert_array_equal(found, numbers)
        other = [taken[0], pa.array(np.asarray(taken[1]) + 100)]
        assert not ids.find_rows(other)[1].any()
        assert ids.find(rows[::-1]).tolist() == list(range(len(rows)))[::-1]
        with pytest.raises(UnknownVertex, match=r"\('nl', 77\) is not a vertex of this graph"):
            ids.find([("nl", 77)])
        with pytest.raises(InvalidArgument, match="tuple"):
            ids.find(["nl"])

    on_ranks(size, chunks, ask)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("partitioner", ["balanced", "random"])
def test_rows_go_to_the_owners_of_their_vertices(size, partitioner):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"src": rng.integers(0, 50, 99), "dst": rng.integers(0, 50, 99)})
    chunks = Chunks.of(frame, [30, 60])
    vertices = chunks.whole(Layout()).num_vertices
    given = [rng.integers(0, vertices, 20 * (j % 3)) for j in range(size)]

    def ask(ranks):
        part = chunks.share(ranks, Layout(), partitioner=partitioner)
        own = given[ranks.rank]
        values = [own * 2.5, np.arange(len(own), dtype=np.int32), own % 2 == 0]
        local, columns = part.ids.to_owners(own, values)
        assert (local < part.num_owned).all()
        assert [column.dtype for column in columns] == [np.float64, np.int32, bool]
        numbers = part.numbers[local].astype(np.int64)
        np.testing.assert_array_equal(columns[0], numbers * 2.5)
        np.testing.assert_array_equal(columns[2], numbers % 2 == 0)
        return numbers, columns[1], part.numbers[: part.num_owned]

    got = run_local(size, ask)
    every = np.sort(np.concatenate([numbers for numbers, _, _ in got]))
    np.testing.assert_array_equal(every, np.sort(np.concatenate(given)))
    for numbers, places, owned in got:
        for number in owned:  # in the order of the ranks and of the rows of each
            wanted = [places for rows in given for places in np.flatnonzero(rows == number)]
            assert places[numbers == number].tolist() == wanted


def of_vertices(frame, vertices, columns, size):
    chunks = Chunks.of(frame, [2], vertices, vertex_columns=columns)
    whole = chunks.whole(Layout(order="input"))
    return whole.vertex_columns, shares(size, chunks), whole.num_vertices


@pytest.mark.parametrize("size", SIZES)
def test_vertex_columns_are_at_the_owners(size):
    frame = pd.DataFrame({"src": [7, 3, 9, 1], "dst": [3, 9, 1, 7]})
    vertices = pd.DataFrame({"vertex": [9, 7, 100, 3, 1], "a": [90, 70, 0, 30, 10]})
    vertices["b"] = [0.5, None, 1.5, 2.5, None]
    whole, parts, n = of_vertices(frame, vertices, ("a", "b"), size)
    for part in parts:
        columns = part.vertex_columns
        numbers = part.numbers[: part.num_owned]
        assert list(columns) == list(whole)
        assert len(columns["a"]) == len(part.numbers)
        assert columns["a"].dtype == whole["a"].dtype
        np.testing.assert_array_equal(columns["a"][: part.num_owned], whole["a"][numbers])
        for column, wanted in zip(columns.with_gaps("b"), whole.with_gaps("b"), strict=True):
            np.testing.assert_array_equal(column[: part.num_owned], wanted[numbers])
        assert columns.with_gaps("a")[1].all()
        for name in ("b", "c"):
            with pytest.raises(InvalidVertices) as wanted:
                whole[name]
            with pytest.raises(InvalidVertices) as raised:
                columns[name]
            assert str(raised.value) == str(wanted.value)
    assert n == 5


@pytest.mark.parametrize("size", SIZES)
def test_values_that_are_missing_or_repeated_are_counted_over_all_ranks(size):
    frame = pd.DataFrame({"src": [7, 3, 9, 1], "dst": [3, 9, 1, 7]})
    few = pd.DataFrame({"vertex": [9], "a": [90]})
    twice = pd.DataFrame({"vertex": [9, 7, 9, 3, 1, 9, 7], "a": range(7)})
    for vertices, why in ((few, "no value for 3 of 4 vertices"), (twice, "gives 3 ids more than")):
        whole, parts, _ = of_vertices(frame, vertices, ("a",), size)
        with pytest.raises(InvalidVertices, match=why) as wanted:
            whole["a"]
        for part in parts:
            with pytest.raises(InvalidVertices) as raised:
                part.vertex_columns["a"]
            assert str(raised.value) == str(wanted.value)


def test_vertex_columns_take_the_type_that_holds_all():
    frame = pd.DataFrame({"src": [7, 3], "dst": [3, 9]})
    halves = [
        pd.DataFrame({"vertex": [7, 3], "a": [1, 2]}),
        pd.DataFrame({"vertex": [9], "a": 0.5}),
    ]
    rows = [Chunks.of(frame, (), half, vertex_columns=("a",)).vertices for half in halves]
    rows = [chunk for part in rows for chunk in part if len(chunk)]
    chunks = Chunks(Chunks.of(frame).edges, rows, [0], [k % 3 for k in range(len(rows))])
    found = {}
    for part in shares(3, chunks):
        values = part.vertex_columns["a"]
        assert values.dtype == np.float64
        found |= dict(zip(part.numbers.tolist(), values[: part.num_owned].tolist(), strict=False))
    assert found == {0: 2.0, 1: 1.0, 2: 0.5}


@pytest.mark.parametrize("kind", ["integers", "strings"])
def test_ids_of_many_and_of_few(kind):
    """Some ranks ask for many, one for one, one for nothing."""
    ids = np.arange(50) * 3
    frame = pd.DataFrame({"src": ids, "dst": np.roll(ids, 1)})
    if kind == "strings":
        frame = frame.map("v{}".format)
    chunks = Chunks.of(frame, [20, 40])
    whole = chunks.whole(Layout(order="input")).ids
    random = np.random.default_rng(1)
    asked = [random.integers(0, 50, 80), np.array([7]), np.arange(50)[::-1], np.empty(0, np.int64)]

    def ask(ranks, ids):
        numbers = asked[ranks.rank]
        valid = numbers % 3 != 0
        assert ids.take(numbers)[0].equals(whole.take(numbers)[0])
        assert ids.take(numbers, valid)[0].equals(whole.take(numbers, valid)[0])

    on_ranks(4, chunks, ask)
