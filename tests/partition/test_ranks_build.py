"""A graph over many ranks is the graph of one rank."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_parts import (
    Chunks,
    assert_same_edges,
    joined,
    listed,
    numbers_of,
    shares_and_views,
)
from strategies import KINDS, WEIGHTS, edge_lists

from dask_graphgpu.partition.layout import Layout

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
@settings(max_examples=150)
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
