"""Rows of results on many ranks become the partitions that one rank gives."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_parts import HostLink

from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.io import spread as spread_module
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.results import ColumnType, Values, empty_frame, to_frame
from dask_graphgpu.io.schema import find_columns
from dask_graphgpu.io.spread import _order, spread
from dask_graphgpu.io.vertex_rows import VertexRows
from dask_graphgpu.partition import build as one
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.ranks.build import build
from dask_graphgpu.partition.result_rows import made_rows, rank_of

COLUMNS = {
    "vertex": ColumnType("vertex"),
    "distance": ColumnType("int64", nullable=True),
    "predecessor": ColumnType("vertex", nullable=True),
    "heat": ColumnType("float32"),
}


def edges(kind, n):
    """A cycle over n ids of a kind."""
    ids = np.arange(n) * 3 - 5
    frame = pd.DataFrame({"src": ids, "dst": np.roll(ids, 1)})
    if kind == "strings":
        return frame.map("v{}".format)
    if kind == "arrow":
        return frame.convert_dtypes(dtype_backend="pyarrow")
    return frame.assign(src2=frame["src"] % 2, dst2=frame["dst"] % 2) if kind == "two" else frame


def ends(kind):
    return (["src", "src2"], ["dst", "dst2"]) if kind == "two" else ("src", "dst")


def table(numbers, n):
    """Values that follow from the number of a vertex; what is null holds anything."""
    number = numbers.astype(np.int64)
    return {
        "vertex": Values(number),
        "distance": Values(number**2, number % 3 != 0),
        "predecessor": Values(np.where(number % 2, n - 1 - number, 2**31), number % 2 != 0),
        "heat": Values(number / 7),
    }


def share(ranks, frame, schema):
    chunks = [read_edges(frame, schema, (), "a frame")] if ranks.rank == 0 else []
    return build(ranks, chunks, [], Layout())


@given(
    st.lists(
        st.tuples(st.integers(0, 2**40), st.integers(0, 5) | st.integers(0, 2**40)), max_size=9
    )
)
def test_rows_are_sorted_by_place_and_tie(rows):
    place, tie = (np.array(each, np.int64) for each in ([p for p, _ in rows], [t for _, t in rows]))
    order = _order(place, tie.astype(np.uint64))
    sorted_rows = rows if order is None else [rows[i] for i in order.tolist()]
    assert sorted_rows == sorted(rows)


@pytest.mark.parametrize("kind", ["integers", "strings", "arrow", "two"])
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9), st.randoms())
def test_partitions_are_those_of_one_rank(kind, size, of, n, random):
    frame = edges(kind, n)
    source, destination = ends(kind)
    schema = find_columns(frame, source, destination)
    # Rows anywhere, in any order, two for each vertex.
    owner = [random.randrange(size) for _ in range(2 * n)]
    shuffled = random.sample(range(2 * n), 2 * n)

    def on_rank(ranks):
        part = share(ranks, frame, schema)
        rows = np.array([r for r in shuffled if owner[r] == ranks.rank], np.int64)
        place, tie = rows // 2, rows % 2
        return spread(ranks, table(place, n), COLUMNS, place, tie, of, part.ids, schema)

    made = {i: frame for frames in run_local(size, on_rank) for i, frame in frames.items()}
    assert sorted(made) == list(range(of))
    whole = one.build([read_edges(frame, schema, (), "a frame")], [], Layout())
    expected = np.repeat(np.arange(n), 2)
    for i in range(of):
        rows = slice(i * 2 * n // of, (i + 1) * 2 * n // of)
        wanted = to_frame(table(expected[rows], n), COLUMNS, whole.ids, schema)
        wanted.index += rows.start  # it goes on from partition to partition
        pd.testing.assert_frame_equal(made[i], wanted)


@given(st.integers(1, 4), st.integers(1, 9), st.data())
def test_partitions_have_as_many_rows_however_many_one_place_has(size, of, data):
    """Rows of few places, of equal keys too, in each order on each rank: those of equal keys by the ranks."""
    frame, n = edges("integers", 4), 4
    schema = find_columns(frame)
    keys = st.tuples(st.integers(0, n - 1), st.sampled_from([0, 1, 300, 2**40]))
    rows = data.draw(st.lists(st.lists(keys, max_size=12), min_size=size, max_size=size))
    columns = {
        "vertex": ColumnType("vertex"),
        "tie": ColumnType("int64"),
        "at": ColumnType("int64"),
    }

    def on_rank(ranks):
        ids, mine = share(ranks, frame, schema).ids, rows[ranks.rank]
        place, tie = np.array(mine, np.int64).reshape(-1, 2).T
        at = np.full(len(mine), ranks.rank)
        given = {"vertex": Values(place), "tie": Values(tie), "at": Values(at)}
        return spread(ranks, given, columns, place, tie, of, ids, schema)

    made = {i: frame for frames in run_local(size, on_rank) for i, frame in frames.items()}
    found = pd.concat([made[i] for i in range(of)])
    total = sum(map(len, rows))
    assert [len(made[i]) for i in range(of)] == [
        (i + 1) * total // of - i * total // of for i in range(of)
    ]
    wanted = sorted((*key, rank) for rank, mine in enumerate(rows) for key in mine)
    ids = (np.arange(n) * 3 - 5).tolist()
    assert list(found.itertuples(index=False, name=None)) == [
        (ids[place], tie, rank) for place, tie, rank in wanted
    ]
    assert found.index.tolist() == list(range(total))


@pytest.mark.parametrize("of", [1, 2, 5])
def test_rows_that_are_where_they_belong(of, monkeypatch):
    """In order on the ranks that make them: as of an array of places and of a range, and none is sent."""
    frame, n, size = edges("integers", 11), 11, 2
    schema = find_columns(frame)

    def exchanged(*given):
        raise AssertionError("rows were exchanged")

    monkeypatch.setattr(spread_module, "_exchanged", exchanged)

    def on_rank(ranks):
        ids = share(ranks, frame, schema).ids
        low, high = made_rows(ranks.rank, n, of, size)
        given = table(np.arange(low, high), n), COLUMNS
        return [
            spread(ranks, *given, place, None, of, ids, schema)
            for place in (range(low, high), np.arange(low, high, dtype=np.uint32))
        ]

    found = run_local(size, on_rank)
    whole = one.build([read_edges(frame, schema, (), "a frame")], [], Layout())
    for i in range(of):
        rows = slice(i * n // of, (i + 1) * n // of)
        wanted = to_frame(table(np.arange(n)[rows], n), COLUMNS, whole.ids, schema)
        wanted.index += rows.start
        for made in found[rank_of(i, of, size)]:
            pd.testing.assert_frame_equal(made[i], wanted)


@pytest.mark.parametrize("linked", [False, True])  # the way of GPUs, on NumPy's arrays
@pytest.mark.parametrize("kind", ["integers", "strings", "arrow", "two"])
@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9))
def test_values_of_all_vertices(kind, linked, size, of, n):
    frame = edges(kind, n)
    schema = find_columns(frame, *ends(kind))

    def on_rank(ranks):
        ids = share(ranks, frame, schema).ids
        rows = VertexRows(ranks, ids, of, schema, HostLink(ranks) if linked else None)
        return [rows.frames(table(ids.own_numbers(), n), COLUMNS) for _ in range(2)]

    first, made = (
        {i: frame for frames in of_ranks for i, frame in frames.items()}
        for of_ranks in zip(*run_local(size, on_rank), strict=True)
    )
    assert sorted(first) == sorted(made) == list(range(of))
    # Not by the ranks: pandas mutes warnings of its own meanwhile, for all threads.
    for i in range(of):
        pd.testing.assert_frame_equal(first[i], made[i])
    whole = one.build([read_edges(frame, schema, (), "a frame")], [], Layout())
    for i in range(of):
        numbers = np.arange(i * n // of, (i + 1) * n // of)
        wanted = to_frame(table(numbers, n), COLUMNS, whole.ids, schema)
        wanted.index += i * n // of
        pd.testing.assert_frame_equal(made[i], wanted)


def test_each_partition_is_made_by_its_rank():
    frame = edges("integers", 5)
    schema = find_columns(frame)
    columns = {"vertex": ColumnType("vertex")}
    for size, of in ((3, 7), (4, 2), (2, 2), (1, 3)):

        def on_rank(ranks, of=of):
            part = share(ranks, frame, schema)
            none = np.empty(0, np.int64)
            return spread(
                ranks, {"vertex": Values(none)}, columns, none, None, of, part.ids, schema
            )

        made = run_local(size, on_rank)
        for i in range(of):
            assert [rank for rank in range(size) if i in made[rank]] == [rank_of(i, of, size)]
            pd.testing.assert_frame_equal(
                made[rank_of(i, of, size)][i], empty_frame(columns, schema)
            )


def test_edges_of_one_hub_are_in_all_partitions():
    star = pd.DataFrame({"src": np.zeros(40, np.int64), "dst": np.arange(1, 41)})
    graph = dd.from_pandas(star, npartitions=4).graph(directed=False, ranks=2)
    for name in ("bridges", "biconnected_components", "minimum_spanning_forest"):
        found = getattr(graph, name)()
        assert found.map_partitions(len).compute().tolist() == [10] * 4
        wanted = getattr(star.graph(directed=False), name)()
        pd.testing.assert_frame_equal(found.compute(), wanted)
