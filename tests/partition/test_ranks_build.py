"""A graph over many ranks is the graph of one rank."""

import weakref
from unittest import mock

import dask
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import grid, path, rmat
from rank_parts import (
    Chunks,
    assert_same_edges,
    joined,
    listed,
    numbers_of,
    shares,
    shares_and_views,
)
from strategies import KINDS, WEIGHTS, edge_lists

from dask_graphgpu.errors import InvalidEdges
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.io.edges import read_edges
from dask_graphgpu.io.schema import find_columns
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.ranks import homes, shuffle
from dask_graphgpu.partition.ranks.build import build

SIZES = (1, 2, 3, 4, 7)
RULES = ("keep", "min", "max", "sum", "one")


def check(ranks, chunks, layout, rule, *, in_order=True):
    """The rows of all ranks are those of one, and what a rank holds fits together."""
    whole = chunks.whole(layout)
    wanted, number = whole.view(rule), numbers_of(whole.ids)
    for part, view in ranks:
        assert part.num_vertices == view.graph_vertices == whole.num_vertices
        assert part.num_rows == whole.num_rows
        assert part.order == whole.order
        assert view.graph_edges == wanted.num_edges
        assert view.is_weighted == wanted.is_weighted
        assert view.num_vertices == len(part.numbers)
        if not layout.directed:
            assert view.into is view.out
        for rows in (view.out, view.into):
            assert rows.num_vertices == view.num_vertices
            assert not rows.degrees[part.num_owned :].any()
            assert rows.neighbours.dtype == part.numbers.dtype == wanted.id_dtype
            ends, _ = listed(np.arange(view.num_vertices), rows)
            assert (np.lexsort(ends[::-1]) == np.arange(ends.shape[1])).all()
    owned = np.concatenate([part.numbers[: part.num_owned] for part, _ in ranks])
    np.testing.assert_array_equal(np.sort(owned), np.arange(whole.num_vertices))
    for direction in ("out", "into"):
        got = joined([listed(part.numbers, getattr(view, direction)) for part, view in ranks])
        expected = joined([listed(number, getattr(wanted, direction))])
        assert_same_edges(got, expected, in_order=in_order)
    check_border([part for part, _ in ranks])


def check_border(parts):
    """Ghosts are those vertices that the rows need, in the order that the border says."""
    size = len(parts)
    owner = np.empty(parts[0].num_vertices, int)
    place = np.empty_like(owner)
    for j, part in enumerate(parts):
        owner[part.numbers[: part.num_owned]] = j
        place[part.numbers[: part.num_owned]] = np.arange(part.num_owned)
    for j, part in enumerate(parts):
        ghosts = part.numbers[part.num_owned :]
        assert (np.lexsort((place[ghosts], owner[ghosts])) == np.arange(len(ghosts))).all()
        np.testing.assert_array_equal(
            np.diff(part.border.ghosts), np.bincount(owner[ghosts], minlength=size)
        )
        needed = np.concatenate([part.out.neighbours, part.into.neighbours])
        remote = np.unique(needed[needed >= part.num_owned])
        if part.shares.border[j] < part.num_vertices - part.num_owned:
            np.testing.assert_array_equal(remote, np.arange(len(remote)) + part.num_owned)
            assert len(remote) == len(ghosts)
        for k, other in enumerate(parts):
            told = other.numbers[other.border.sends[j]] if k != j else ghosts[:0]
            first, last = part.border.ghosts[k : k + 2]
            np.testing.assert_array_equal(part.numbers[first:last], told)
        user_order = part.ids.in_user_order()
        np.testing.assert_array_equal(
            part.numbers[user_order], np.sort(part.numbers[: part.num_owned])
        )
        assert part.shares.vertices[j] == part.num_owned
        assert part.shares.border[j] == len(ghosts)


@given(
    graph=edge_lists(weights=(None, *WEIGHTS), kinds=tuple(KINDS)),
    size=st.sampled_from(SIZES),
    rule=st.sampled_from(RULES),
    order=st.sampled_from(["auto", "input", "degree"]),
    by=st.sampled_from(["source", "destination"]),
    partitioner=st.sampled_from(["balanced", "random", "biased_random"]),
    duplication=st.sampled_from(["neighbours", "all"]),
    with_vertices=st.booleans(),
)
def test_ranks_hold_the_graph_of_one(
    graph, size, rule, order, by, partitioner, duplication, with_vertices
):
    with_vertices = with_vertices or not graph.edges
    chunks = Chunks.of(graph.frame(), graph.cuts, graph.vertices() if with_vertices else None)
    layout = Layout(directed=graph.directed, order=order, by=by)
    # Ranks hold consecutive chunks, so that repeats come in the order of the frame.
    at = [i * size // len(chunks.edges) for i in range(len(chunks.edges))]
    chunks = Chunks(chunks.edges, chunks.vertices, at, chunks.vertex_at)
    ranks = shares_and_views(
        size, chunks, layout, rule, partitioner=partitioner, duplication=duplication
    )
    check(ranks, chunks, layout, rule)
    if duplication == "all":
        assert all(len(part.numbers) == part.num_vertices for part, _ in ranks)


@given(
    graph=edge_lists(weights=(None, "float64", "int64"), kinds=("int64 dense", "str", "uint64")),
    size=st.sampled_from(SIZES[1:]),
    rule=st.sampled_from(["keep", "min", "one"]),
    data=st.data(),
)
def test_chunks_may_be_anywhere(graph, size, rule, data):
    chunks = Chunks.of(graph.frame(), graph.cuts, graph.vertices())
    rank = st.integers(0, size - 1)
    at = [data.draw(st.lists(rank, min_size=len(of), max_size=len(of)))
          for of in (chunks.edges, chunks.vertices)]  # fmt: skip
    chunks = Chunks(chunks.edges, chunks.vertices, *at)
    layout = Layout(directed=graph.directed)
    check(shares_and_views(size, chunks, layout, rule), chunks, layout, rule, in_order=False)


def frame_of(made, ids=lambda v: v, weight=None):
    frame = pd.DataFrame({"src": ids(made.source), "dst": ids(made.destination)})
    if weight is not None:
        frame["weight"] = weight
    return frame


def sparse(vertices):
    """Any 64-bit ids, whose order is another."""
    return np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 1 << 12)[vertices]


def words(vertices):
    return np.char.add("v", sparse(vertices).astype(str))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ids", [lambda v: 3 * v - 500, sparse, words])
@pytest.mark.parametrize("directed", [True, False])
def test_larger_graphs_in_many_rounds(size, ids, directed):
    made = rmat(9, 8, by_degree=False, directed=True)
    frame = frame_of(made, ids, np.random.default_rng(2).random(len(made.source)))
    chunks = Chunks.of(frame, [100, 101, 2500, 3000], deal=lambda i: i * size // 5)
    layout = Layout(directed=directed)
    with mock.patch.object(homes, "PIECE", 300), mock.patch.object(shuffle, "_PIECE", 97):
        ranks = shares_and_views(size, chunks, layout, "sum", partitioner="biased_random")
    check(ranks, chunks, layout, "sum")


def test_integers_of_a_wide_range_are_sorted():
    # Every chunk's names are a range, and all of them together are far too wide for a table.
    frame = frame_of(path(400))
    frame.loc[200:] += 2**40
    chunks = Chunks.of(frame, [50, 200, 300])
    layout = Layout()
    assert all(chunk.names.first is not None for chunk in chunks.edges)
    check(shares_and_views(3, chunks, layout), chunks, layout, "keep")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("directed", [True, False])
def test_each_edge_given_in_both_directions(size, directed):
    made = rmat(7, 4, by_degree=False, directed=True)
    weight = np.random.default_rng(0).integers(0, 5, len(made.source))
    frame = frame_of(made, weight=weight)
    other = frame.rename(columns={"src": "dst", "dst": "src"})
    layout = Layout(directed=directed)
    # The mirror images are on other ranks than the edges.
    chunks = Chunks.of(pd.concat([frame, other])[["src", "dst", "weight"]], [len(frame)])
    check(shares_and_views(size, chunks, layout), chunks, layout, "keep")
    # All but one of them are there.
    frame = pd.concat([frame, other.iloc[1:]])[["src", "dst", "weight"]]
    chunks = Chunks.of(frame, [300, 700])
    check(shares_and_views(size, chunks, layout), chunks, layout, "keep", in_order=False)


@pytest.mark.parametrize("size", SIZES)
def test_several_id_columns(size):
    rng = np.random.default_rng(3)
    ids = pd.DataFrame({"country": rng.choice(["nl", "de", "fr"], 40), "number": range(40)})
    source, destination = (ids.iloc[rng.integers(0, 40, 150)].reset_index() for _ in range(2))
    frame = pd.concat([source.add_prefix("s_"), destination.add_prefix("d_")], axis=1)
    schema = find_columns(frame, ["s_country", "s_number"], ["d_country", "d_number"])
    edges = [read_edges(piece, schema, [], "") for piece in (frame.iloc[:70], frame.iloc[70:])]
    chunks = Chunks(edges, [], [0, size - 1], [])
    layout = Layout(directed=False)
    ranks = shares_and_views(size, chunks, layout)
    check(ranks, chunks, layout, "keep", in_order=False)
    assert ranks[0][0].ids.kinds == ["large_string", "int64"]


@pytest.mark.parametrize("size", SIZES)
def test_types_are_those_that_hold_every_ranks_values(size):
    narrow = frame_of(path(5)).astype("int8").assign(weight=np.arange(4, dtype="uint8"))
    wide = frame_of(path(5)).astype("uint32").assign(weight=np.linspace(0, 1, 4))
    pair = [Chunks.of(frame).edges[0] for frame in (narrow, wide)]
    chunks = Chunks(pair, [], [0, size - 1], [])
    ranks = shares_and_views(size, chunks, Layout())
    check(ranks, chunks, Layout(), "keep", in_order=False)
    for part, view in ranks:
        assert part.ids.kinds == ["int64"]
        assert view.out.columns["weight"].dtype == np.float64


@pytest.mark.parametrize(
    "kinds", [("int64", "str"), ("uint64", "int8"), ("str", "uint8"), ("int32", "uint64")]
)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_types_that_do_not_go_together_are_refused_as_on_one_rank(kinds, size):
    frames = [frame_of(path(5)).astype(kind) for kind in kinds]
    chunks = Chunks([Chunks.of(frame).edges[0] for frame in frames], [], [0, size - 1], [])
    with pytest.raises(InvalidEdges) as wanted:
        chunks.whole(Layout())
    with pytest.raises(InvalidEdges) as raised:
        shares(size, chunks)
    assert str(raised.value) == str(wanted.value)
    assert "cast" in str(wanted.value)


@pytest.mark.parametrize("size", [1, 3])
def test_no_vertex_anywhere_is_refused_as_on_one_rank(size):
    chunks = Chunks.of(frame_of(path(5)).iloc[:0])
    with pytest.raises(InvalidEdges) as wanted:
        chunks.whole(Layout())
    with pytest.raises(InvalidEdges) as raised:
        shares(size, chunks)
    assert str(raised.value) == str(wanted.value)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("directed", [True, False])
def test_vertices_without_any_edge(size, directed):
    frame = frame_of(path(5), weight=np.arange(4)).iloc[:0]
    chunks = Chunks.of(frame, (), pd.DataFrame({"vertex": [5, 1, 3, 2]}), deal=lambda i: 5)
    layout = Layout(directed=directed)
    check(shares_and_views(size, chunks, layout, "sum"), chunks, layout, "sum")


@pytest.mark.parametrize("size", SIZES)
def test_one_edge(size):
    for frame in (frame_of(path(2)), frame_of(path(2), words), frame_of(path(2)).assign(dst=0)):
        for directed in (True, False):
            chunks, layout = Chunks.of(frame, deal=lambda i: 2), Layout(directed=directed)
            check(shares_and_views(size, chunks, layout), chunks, layout, "keep")


def test_chunks_are_given_up():
    frame = frame_of(rmat(8, 4))

    def on_rank(ranks):
        chunks = Chunks.of(frame, [300]).edges
        codes = [weakref.ref(chunk.source) for chunk in chunks]
        part = build(ranks, chunks, [], Layout())
        assert chunks == []
        assert [code() for code in codes] == [None, None]
        return part.num_rows

    assert run_local(2, on_rank) == [2 * len(frame)] * 2


@pytest.mark.parametrize("size", SIZES)
def test_wide_dense_ids(size):
    chunks = Chunks.of(frame_of(rmat(6, 4, by_degree=False)), [50])
    with dask.config.set({"graphgpu.dense-id-bits": 64}):
        layout = Layout(directed=False)
        ranks = shares_and_views(size, chunks, layout)
        check(ranks, chunks, layout, "keep", in_order=False)
        assert {part.numbers.dtype for part, _ in ranks} == {np.dtype(np.uint64)}


def test_the_order_of_memory_is_that_of_one_rank():
    skewed = rmat(9, 8, by_degree=False)
    shuffled = np.random.default_rng(0).permutation(400)
    for made, ids, order in [
        (skewed, None, "degree"),  # no locality
        (grid(20), None, "input"),
        (grid(20), shuffled, "input"),  # no locality, and no skew
    ]:
        frame = frame_of(made, lambda v, ids=ids: v if ids is None else ids[v])
        frame = frame[frame.src != frame.dst]  # a loop is two ends in one entry
        frame[["src", "dst"]] = np.sort(frame[["src", "dst"]], axis=1)  # none is given both ways
        chunks = Chunks.of(frame, [100, 500])
        ranks = shares_and_views(3, chunks, Layout(directed=False))
        check(ranks, chunks, Layout(directed=False), "keep", in_order=False)
        for part, _ in ranks:
            assert part.order == order
            degrees = part.out.degrees[: part.num_owned]
            numbers = part.numbers[: part.num_owned].astype(np.int64)
            by = (numbers, -degrees) if order == "degree" else (numbers,)
            np.testing.assert_array_equal(np.lexsort(by), np.arange(part.num_owned))


def test_the_sample_for_the_order_is_that_of_one_rank():
    # Every other edge is looked at: those of a star. The ends of the others are close.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"src": rng.integers(0, 999, 140_000)})
    frame["dst"] = frame.src + 1
    frame.loc[::2, "dst"] = 0
    chunks = Chunks.of(frame, [70_000])
    assert chunks.whole(Layout()).order == "degree"
    for size in SIZES:
        assert {part.order for part in shares(size, chunks)} == {"degree"}
    assert Chunks.of(frame[1::2]).whole(Layout()).order == "input"


def test_numbers_do_not_depend_on_ranks():
    frame = frame_of(rmat(8, 4, by_degree=False), words)
    chunks = Chunks.of(frame, [10, 500])
    wanted = chunks.whole(Layout()).ids.columns[0].to_pylist()
    for size in SIZES:
        for part, _ in shares_and_views(size, chunks, Layout()):
            assert part.num_vertices == len(wanted)
        ids = run_local(
            size, lambda ranks: chunks.share(ranks, Layout()).ids.take(np.arange(len(wanted)))
        )
        assert all(column.to_pylist() == wanted for (column,) in ids)


def test_edge_columns_and_views_that_share_rows():
    frame = frame_of(rmat(7, 4)).assign(a=np.arange(512), b=1.5)
    chunks = Chunks.of(frame, [200], columns=("a", "b"))

    def on_rank(ranks):
        part = chunks.share(ranks, Layout())
        one = part.view("keep", columns=("b",))
        assert part.view("keep", columns=("b",)) is one
        assert list(one.out.columns) == ["b"]
        both = part.view("keep", columns=("a", "b"))
        assert list(both.out.columns) == ["a", "b"]
        assert both.graph_edges == 512
        assert list(part.view("one", columns=("a",)).out.columns) == []
        before = part.nbytes
        part.view("sum")  # counts the repeats
        assert part.nbytes > before
        return part.view("sum").weighted_degrees("out")[: part.num_owned].sum()

    assert sum(run_local(3, on_rank)) == 512


def test_rules_make_no_difference_where_nothing_repeats():
    chunks = Chunks.of(frame_of(grid(9), weight=1.0), [40])

    def on_rank(ranks):
        part = chunks.share(ranks, Layout())
        assert part.view("min") is part.view("sum")
        assert part.view("one", weight=False).out.neighbours is part.view("sum").out.neighbours

    run_local(3, on_rank)


def test_repeats_on_one_rank_only_are_merged_on_all():
    frame = pd.DataFrame({"src": [0, 0, 8], "dst": [1, 1, 9], "weight": [3, 4, 5]})
    frame = frame.astype({"weight": "uint8"})
    for directed in (True, False):
        layout = Layout(directed=directed)
        for edges in (frame, frame.drop(columns="weight")):
            for rule in RULES:
                chunks = Chunks.of(edges)
                ranks = shares_and_views(4, chunks, layout, rule)
                check(ranks, chunks, layout, rule)
                assert len({view.out.weight is None for _, view in ranks}) == 1
                kinds = {view.out.weight.dtype for _, view in ranks if view.is_weighted}
                assert len(kinds) <= 1


def test_a_share_after_a_run_that_only_some_ranks_went_on_with():
    chunks = Chunks.of(frame_of(rmat(7, 4)), [100])

    def on_rank(ranks):
        part = chunks.share(ranks, Layout())
        first = part.view("one")
        if ranks.rank == 0:  # as if the others had been stopped before
            part._views.clear()
            part._rows.clear()
            part._plain = None
        other = part.anew()
        view = other.view("one")
        assert view is not first
        assert other.out is part.out
        return view.graph_edges, first.graph_edges

    edges = {len(set(ends)) for ends in run_local(3, on_rank)}
    assert edges == {1}
