"""A rank's share of a graph against the whole graph."""

import numpy as np
import pytest
from cut_graphs import cut
from made_graphs import random_small

from dask_graphgpu.partition.rowwise import row_ids


def weighted(seed, dtype="int64", **given):
    made = random_small(seed, **given)
    weight = np.random.default_rng(seed).integers(0, 9, len(made.source)).astype(dtype)
    return random_small(seed, weight=weight, **given).view()


def shares(seed, size):
    view = weighted(seed)
    return view, cut(view, size, seed=seed)


@pytest.fixture(params=range(8))
def seed(request):
    return request.param


@pytest.fixture(params=[1, 2, 3, 7])
def size(request):
    return request.param


def right_everywhere(whole, parts, found):
    """Check arrays, with their numbers, for ghosts too."""
    for numbers, part in found:
        np.testing.assert_array_equal(part, whole[parts.dense(numbers)])
        assert part.dtype == whole.dtype


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_degrees_are_those_of_the_whole_graph_at_ghosts_too(seed, size, direction):
    view, parts = shares(seed, size)
    for name in ("degrees", "weighted_degrees"):
        found = parts.run(lambda share, name=name: (share.numbers, getattr(share, name)(direction)))
        right_everywhere(getattr(view, name)(direction), parts, found)


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_messages_come_from_all_senders_to_own_vertices(seed, size, direction):
    view, parts = shares(seed, size)
    expected = view.undirected() if direction == "both" else view
    rows = expected.out if direction == "in" and view.directed else expected.into

    def gathered(share):
        toward = share.toward(direction)
        assert toward.into.num_vertices == share.num_vertices
        assert toward.graph_edges == expected.num_edges
        assert toward.degrees("out") is share.degrees(direction)
        return _arcs(toward.into, share.numbers), _arcs(toward.out, share.numbers)

    found = parts.run(gathered)
    of_graph = _arcs(rows, parts.numbers)
    assert sorted(arc for arcs, _ in found for arc in arcs) == sorted(of_graph)
    turned = [(v, u, weight) for u, v, weight in of_graph]
    assert sorted(arc for _, arcs in found for arc in arcs) == sorted(turned)


def _arcs(rows, numbers):
    ends = numbers[row_ids(rows)], numbers[rows.neighbours], rows.columns["weight"]
    return list(zip(*(end.tolist() for end in ends), strict=True))


def test_symmetric_rows_have_each_neighbour_once(seed, size):
    view, parts = shares(seed, size)
    whole = [set() for _ in range(view.num_vertices)]
    for u, v in zip(
        row_ids(view.symmetric).tolist(), view.symmetric.neighbours.tolist(), strict=True
    ):
        whole[u].add(v)

    def check(share):
        rows, dense = share.symmetric, parts.dense(share.numbers)
        own = set(dense[: share.num_owned].tolist())
        for place, v in enumerate(dense.tolist()):
            row = rows.neighbours[rows.offsets[place] : rows.offsets[place + 1]]
            found = dense[row].tolist()
            assert len(found) == len(set(found))
            assert set(found) == (whole[v] if place < share.num_owned else whole[v] & own)

    parts.run(check)


def test_the_largest_weight_is_that_of_the_whole_graph(seed, size):
    view, parts = shares(seed, size)
    found = parts.run(lambda share: (share.max_weight, share.undirected().max_weight))
    assert set(found) == {(view.max_weight, view.max_weight)}
    assert {type(most) for most, _ in found} == {type(view.max_weight)}


def test_views_of_other_columns_share_what_is_known(seed):
    _, parts = shares(seed, 2)

    def check(share):
        degrees = share.degrees("both")
        other = share.with_columns({"a": np.zeros(share.num_vertices)})
        assert other.degrees("both") is degrees
        assert other.vertex_columns.keys() == {"a"}
        assert not share.vertex_columns
        renamed = share.with_edge_column("strength", "weight")
        assert list(renamed.out.columns) == list(renamed.into.columns) == ["strength"]
        assert not renamed.is_weighted
        both = share.undirected()
        assert both.undirected() is both
        assert both.out is both.into
        assert share.undirected().out is both.out

    parts.run(check)


@pytest.mark.parametrize("many", [False, True])
def test_places_of_numbers(seed, size, many):
    view, parts = shares(seed, size)
    asked = np.random.default_rng(seed).integers(view.num_vertices, size=30 if many else 3)

    def check(share):
        places, here = share.places(asked)
        np.testing.assert_array_equal(here, np.isin(asked, share.numbers))
        np.testing.assert_array_equal(share.numbers[places], asked[here])
        owned = places < share.num_owned
        return np.flatnonzero(here)[owned]

    found = np.concatenate(parts.run(check))
    np.testing.assert_array_equal(np.sort(found), np.arange(len(asked)))  # each has one owner


def test_places_of_own_vertices(seed, size):
    """In whichever order they are."""
    view, parts = shares(seed, size)

    def check(share):
        places = [share.own_place(number) for number in range(view.num_vertices + 2)]
        owned = share.numbers[: share.num_owned]
        assert [number for number, place in enumerate(places) if place >= 0] == sorted(owned)
        np.testing.assert_array_equal([places[number] for number in owned], range(len(owned)))

    parts.run(check)
