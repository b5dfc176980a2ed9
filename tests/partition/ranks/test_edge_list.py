"""Edges that stay where they were read, and the components that ranks find of them together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_parts import Chunks, numbers_of
from strategies import KINDS, edge_lists

from dask_graphgpu.engine import cpu
from dask_graphgpu.engine.ranks.linked_edges import linked_components
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.partition.layout import Layout
from dask_graphgpu.partition.ranks.edge_list import list_edges
from dask_graphgpu.report import Report


def shares(size, chunks):
    return run_local(size, lambda ranks: list_edges(ranks, *chunks.on(ranks.rank, size)))


def linked(size, chunks):
    """The share of each rank, and the components of the vertices that it is home to."""

    def on_rank(ranks):
        share = list_edges(ranks, *chunks.on(ranks.rank, size))
        return share, linked_components(share, Report("ranks"))

    return run_local(size, on_rank)


def smallest(chunks):
    """Of one rank: by number the smallest number in the component of each vertex."""
    whole = chunks.whole(Layout())
    number = numbers_of(whole.ids)
    found = np.empty(len(number), np.int64)
    found[number] = number[cpu.components(whole.view("one", False), Report("one"))]
    return found


def dealt(data, graph, with_vertices):
    size = data.draw(st.sampled_from([1, 2, 3, 4, 7]))
    at = data.draw(st.lists(st.integers(0, size - 1), min_size=9, max_size=9))
    vertices = graph.vertices() if with_vertices or not graph.edges else None
    chunks = Chunks.of(graph.frame(), graph.cuts, vertices, deal=lambda i: at[i % len(at)])
    return size, chunks


@given(st.data(), edge_lists(kinds=tuple(KINDS)), st.booleans())
def test_components_of_any_dealing_are_those_of_one_rank(data, graph, with_vertices):
    size, chunks = dealt(data, graph, with_vertices)
    wanted = smallest(chunks)
    parts = linked(size, chunks)
    numbers = np.concatenate([share.numbers for share, _ in parts])
    np.testing.assert_array_equal(numbers, np.arange(len(wanted)))
    found = np.concatenate([label for _, label in parts])
    assert found.dtype == numbers.dtype
    np.testing.assert_array_equal(found, wanted)


@given(st.data(), edge_lists(kinds=tuple(KINDS)))
def test_every_edge_stays_where_it_was_read(data, graph):
    size, chunks = dealt(data, graph, with_vertices=True)
    whole = chunks.whole(Layout())
    number, rows = numbers_of(whole.ids), whole.given
    each = shares(size, chunks)
    pairs = [share.seen.astype(np.int64)[np.stack(ends)] for share in each for ends in share.edges]
    found = np.concatenate([np.empty((2, 0), np.int64), *pairs], axis=1)
    wanted = np.stack([np.repeat(number, rows.degrees), number[rows.neighbours]])
    codes = [np.sort(source * len(number) + destination) for source, destination in (found, wanted)]
    np.testing.assert_array_equal(*codes)
    for rank, share in enumerate(each):
        mine, _ = chunks.on(rank, size)
        assert share.shares.edges[rank] == sum(map(len, mine))
        assert share.shares.vertices[rank] == share.num_owned
        assert share.num_rows == len(graph.edges)
        assert share.num_vertices == len(number)


@pytest.mark.parametrize("order", ["ascending", "random"])
def test_a_path_from_rank_to_rank_takes_few_rounds(order):
    size, n = 7, 3_000
    names = np.arange(n) if order == "ascending" else np.random.default_rng(5).permutation(n)
    frame = pd.DataFrame({"src": names[:-1], "dst": names[1:]})
    chunks = Chunks.of(frame, range(10, n - 1, 10), deal=lambda i: i % size)
    steps = []

    def on_rank(ranks):
        share = list_edges(ranks, *chunks.on(ranks.rank, size))
        step, count = ranks.step, [0]

        def counted(*arguments):
            count[0] += 1
            return step(*arguments)

        ranks.step = counted
        assert not linked_components(share, Report("ranks")).any()
        steps.append(count[0])

    run_local(size, on_rank)
    (taken,) = set(steps)
    # Of each round: who has news, how many messages, and two columns. News goes down, questions twice as far each time.
    assert taken <= 4 * (size - 1) + 1 + 4 * 3 + 1
