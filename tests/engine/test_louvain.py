"""Louvain and Leiden of the CPU engine: in batches of vertices, which threads share, and pieces of communities."""

from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from unittest import mock

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from engines import of_the_cpu_engine
from made_graphs import MadeGraph, apart, grid, path, rmat, star
from small_graphs import on_threads

from dask_graphgpu import last_report
from dask_graphgpu.engine.communities import Start
from dask_graphgpu.engine.cpu import batches, leiden
from dask_graphgpu.engine.cpu import louvain as find
from dask_graphgpu.engine.cpu.aggregated import aggregated
from dask_graphgpu.engine.cpu.louvain import _moves
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.report import Report

pytestmark = of_the_cpu_engine

CPU = "dask_graphgpu.engine.cpu"
CHOICE, MODULE = f"{CPU}.louvain", f"{CPU}.in_batches"
WEIGHTS = [None, "uint8", "float32", "float64"]


@contextmanager
def in_batches(few=500):
    """Batches and pieces of graphs that are not large."""
    with (
        mock.patch.multiple(CHOICE, MANY_OF_LOUVAIN=0, MANY_OF_LEIDEN=0),
        mock.patch(f"{MODULE}.FEW", few),
        mock.patch.object(batches, "BLOCK", 64),
        mock.patch.object(batches, "SEARCHED", 256),
        mock.patch(f"{CPU}.aggregated.PIECE", 64),
    ):
        yield


@contextmanager
def on_two_sides(few=500):
    """The same for sides."""
    with (
        mock.patch.multiple(f"{CPU}.one_by_one", MANY=0, GROUP=200),
        mock.patch.multiple(f"{CPU}.side_by_side", FEW=few, STEP=64),
        mock.patch.object(threads, "LITTLE_WORK", 256),
        mock.patch(f"{CPU}.aggregated.PIECE", 64),
    ):
        yield


WAYS = pytest.mark.parametrize("way", [in_batches, on_two_sides])


def of(method, view, seed=0, resolution=1.0):
    """Labels and modularity."""
    if method == "louvain":
        return find(view, resolution, seed, Report(""))
    return leiden(view, resolution, seed, 2, Report(""))


def drawn(n, size, *, directed, weight, ids="uint32", seed=0):
    """With loops, repeated rows, weights of 0 and hubs."""
    rng = np.random.default_rng(seed)
    source, destination = rng.integers(0, n, (2, size))
    source[: size // 8] = rng.integers(0, 3, size // 8)
    again = size // 16
    source[-again:] = source[:again]
    destination[-again:] = destination[:again]
    values = None
    if weight is not None:
        values = (rng.integers(0, 5, size) / (1 if weight == "uint8" else 3)).astype(weight)
    rank = rng.permutation(n)
    return MadeGraph(n, source, destination, directed, ids, values, rank)


GRAPHS = [
    *(drawn(700, 6000, directed=d, weight=w, seed=s) for s, (d, w) in enumerate(
        (d, w) for d in (False, True) for w in WEIGHTS
    )),
    drawn(700, 6000, directed=True, weight="float64", ids="uint64"),
    rmat(9), rmat(9, by_degree=False), star(900), path(1500), grid(40), apart(60, 20),
]  # fmt: skip


@WAYS
@pytest.mark.parametrize("method", ["louvain", "leiden"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_answers_do_not_depend_on_the_threads(method, graph, way):
    """Nor on when a thread comes, as far as some runs show."""
    view = graph.view()
    with way():
        answers = []
        for number in (1, 2, 3, 8, 8):
            with on_threads(number):
                answers.append(of(method, view))
    labels, modularity = answers[0]
    for other, of_other in answers[1:]:
        np.testing.assert_array_equal(other, labels)
        assert of_other == modularity


@pytest.mark.parametrize("method", ["louvain", "leiden"])
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("directed", [False, True])
@WAYS
def test_answers_do_not_depend_on_the_order_in_memory(method, weight, directed, way):
    graph = drawn(600, 5000, directed=directed, weight=weight)
    rank = graph.rank
    plain = replace(
        graph, source=rank[graph.source], destination=rank[graph.destination], rank=None
    )
    with way():
        labels, modularity = of(method, graph.view())
        wanted, of_plain = of(method, plain.view())
    np.testing.assert_array_equal(rank[labels][np.argsort(rank)], wanted)
    assert modularity == of_plain


@WAYS
@pytest.mark.parametrize("graph", GRAPHS)
def test_communities_of_leiden_are_connected(graph, way):
    with way():
        labels, _ = of("leiden", graph.view())
    heavy = nx.Graph((u, v) for u, v, *w in graph.edges() if not w or w[0] > 0)
    heavy.add_nodes_from(range(graph.n))
    for label in np.unique(labels):
        assert nx.is_connected(heavy.subgraph(np.flatnonzero(labels == label).tolist()))


@pytest.mark.parametrize("graph", GRAPHS)
def test_groups_of_communities_are_refined_as_all_at_once(graph):
    view, found = graph.view(), []
    for entries in (1, 300, 1 << 40):
        with mock.patch(f"{CPU}.one_by_one.GROUP", entries), on_threads(3):
            found.append(of("leiden", view))
    (one, modularity), *others = found
    for other, same in others:
        np.testing.assert_array_equal(other, one)
        assert same == modularity


@pytest.mark.parametrize("graph", GRAPHS)
def test_parts_and_rows_of_a_level(graph):
    """Sums of the next level are those of the edges of this one."""
    view = graph.view()
    with in_batches(), on_threads(3):
        moves = _moves(view, 1.0, 0, Report(""), 0)
        level = moves.first
        labels, count = moves.moved(level, moves.alone(level), None)
        after = aggregated(level, labels, count)
    n = len(level)
    rows = np.repeat(np.arange(n), np.diff(level.offsets.view(np.int64)))
    weight = level.weight if len(level.weight) else np.ones(len(rows))
    kept = rows != level.neighbours
    between = np.zeros((count, count))
    np.add.at(
        between, (labels[rows[kept]], labels[level.neighbours[kept].astype(np.intp)]), weight[kept]
    )
    loops = np.bincount(labels, level.loops, count) + between.diagonal()
    np.fill_diagonal(between, 0)
    found = np.zeros((count, count))
    rows = np.repeat(np.arange(count), np.diff(after.offsets.view(np.int64)))
    assert len(set(zip(rows.tolist(), after.neighbours.tolist(), strict=True))) == len(rows)
    found[rows, after.neighbours.astype(np.intp)] = after.weight
    np.testing.assert_allclose(found, between, rtol=1e-12)
    np.testing.assert_allclose(after.loops, loops, rtol=1e-12)
    np.testing.assert_allclose(after.degree, np.bincount(labels, level.degree, count), rtol=1e-12)


@pytest.mark.parametrize("method", ["louvain", "leiden"])
@pytest.mark.parametrize("graph", GRAPHS)
@WAYS
def test_from_a_start(method, graph, way):
    """The same on any number of threads; who is fixed stays with the others of its label, and only these."""
    view, rng = graph.view(), np.random.default_rng(1)
    group = rng.integers(0, 8, graph.n)
    members = [np.flatnonzero(group == g) for g in range(8)]
    fixed = rng.random(graph.n) < 0.1
    labels = np.array([members[g][0] for g in group])
    found = []
    for number in (1, 3):
        with way(), on_threads(number):
            start = Start(labels, fixed)
            given = [1] if method == "leiden" else []
            made = leiden if method == "leiden" else find
            found.append(made(view, 1.0, 0, *given, Report(""), start))
    (one, modularity), (other, same) = found
    assert one.tolist() == other.tolist()
    assert modularity == same
    pairs = set(zip(group[fixed].tolist(), one[fixed].tolist(), strict=True))
    assert len(pairs) == len({g for g, _ in pairs}) == len({label for _, label in pairs})


@pytest.mark.parametrize("method", ["louvain", "leiden"])
@pytest.mark.parametrize("name", ["as-caida20071105", "email-enron", "cit-hep-ph", "osm-andorra"])
def test_batches_and_sides_are_as_good_as_one_by_one(graphs, method, name):
    """In the mean of some seeds, of which each varies by up to a hundredth."""
    edges = pd.read_parquet(graphs / f"{name}.parquet", columns=["src", "dst"])
    ends = np.unique(np.sort(edges.to_numpy(), axis=1), axis=0).T
    ends = np.concatenate([ends, ends[::-1, ends[0] != ends[1]]], axis=1)
    view = View.of(from_edges(int(ends.max()) + 1, *ends.astype(np.uint32)), directed=False)
    with mock.patch(f"{CPU}.one_by_one.MANY", 1 << 40):
        alone = np.mean([of(method, view, seed)[1] for seed in range(4)])
    with mock.patch(f"{CPU}.one_by_one.MANY", 0):
        on_sides = np.mean([of(method, view, seed)[1] for seed in range(4)])
    with (
        mock.patch.multiple(CHOICE, MANY_OF_LOUVAIN=0, MANY_OF_LEIDEN=0),
        mock.patch(f"{MODULE}.FEW", 1 << 12),
    ):
        batched = np.mean([of(method, view, seed)[1] for seed in range(4)])
    assert batched > alone - 0.006
    assert on_sides > alone - 0.006


@pytest.mark.parametrize(
    ("way", "module"), [(in_batches, MODULE), (on_two_sides, f"{CPU}.side_by_side")]
)
def test_a_level_ends_though_rounds_might_not(way, module):
    """After so many vertices move one by one."""
    view = rmat(9).view()
    with way(few=0), mock.patch(f"{module}.ROUNDS", 2):
        labels, modularity = of("louvain", view)
    alone = of("louvain", view)
    assert len(np.unique(labels)) < 100
    assert modularity > alone[1] - 0.02


def test_two_sides_do_not_change_places_for_ever():
    """Few vertices with long rows: what one side does in a step, the other does not see."""
    rng = np.random.default_rng(1)
    pairs = np.repeat(np.array([*combinations(range(6), 2)]), 4000, axis=0)
    for _ in range(12):
        frame = pd.DataFrame(rng.permutation(pairs), columns=["src", "dst"])
        frame["weight"] = rng.random(len(frame))
        with on_two_sides():
            frame.graph(directed=False, duplicates="keep").louvain()
        assert last_report().edges.sum() < 12 * 2 * len(frame)
