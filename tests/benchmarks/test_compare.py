"""The benchmark runs, at a size that says nothing of speed, and all sides agree on the answers."""

import os
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))

for library in ("duckdb", "graphblas", "igraph", "networkit", "polars"):
    pytest.importorskip(library)

import contender  # noqa: E402
import peers  # noqa: E402
from compare_tables import Row, calls, counts, every_peer, kernel_met, table, whole_met  # noqa: E402
from compare_turns import turns_table  # noqa: E402
from graphs import grid, real, rmat  # noqa: E402
from ours import CALLS, Ours  # noqa: E402
from quality import modularity  # noqa: E402
from side_by_side import Contest, Group, sets_of_cores  # noqa: E402

PEERS = {name: peers.load(name) for name in peers.PEERS}


def directed(folder):
    """A random directed graph that has sinks, and vertices that no path reaches."""
    src, dst = np.random.default_rng(5).integers(0, 60, (2, 150))
    given = folder / "directed.parquet"
    pd.DataFrame({"src": src, "dst": dst}).to_parquet(given)
    return real(given, directed=True, folder=folder / "made")


def cells(lines):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_the_algorithms_of_the_largest_graph_are_two_groups(tmp_path):
    graphs = [grid(4, tmp_path), rmat(6, 8, tmp_path)]
    algorithms = ["components", "ssnsp", "pagerank"]
    groups = Group.of(graphs, algorithms)
    assert [group.graph.name for group in groups] == [
        graphs[1].name,
        graphs[1].name,
        graphs[0].name,
    ]
    parts = [("components", "pagerank"), ("ssnsp",), ("components", "pagerank")]
    assert [group.algorithms for group in groups] == parts  # a grid has too many shortest paths
    keys = [
        (row.graph, row.algorithm) for row in Contest(groups, [], 1).rows_of(graphs, algorithms)
    ]
    assert keys == [
        *((graphs[0].name, each) for each in ("components", "pagerank")),
        *((graphs[1].name, each) for each in algorithms),
    ]


def test_each_contender_in_a_process_of_its_own(tmp_path, monkeypatch):
    """Whose library is missing is left out, and the others are measured."""
    (tmp_path / "missing").mkdir()
    (tmp_path / "missing" / "igraph.py").write_text("raise ImportError('no igraph here')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "missing"), prepend=os.pathsep)
    contest = Contest(Group.of([grid(4, tmp_path)], ["bfs"]), ["igraph", "SciPy"], seconds=600)
    said = list(contest.run(sets_of_cores(1, 1)))
    assert [line.split(",")[0] for line in said] == ["grid 4 x 4"]
    assert list(contest.remarks) == ["igraph is left out: no igraph here"]
    (found,) = contest.rows.values()
    assert found.bound > found.kernel > 0
    assert found.whole > found.kernel
    assert found.kernels.keys() == found.wholes.keys() == {"SciPy"}


def test_what_is_not_done_in_time_is_told(tmp_path):
    graph = grid(4, tmp_path)
    contest = Contest(Group.of([graph], ["bfs"]), ["SciPy"], seconds=0)
    list(contest.run(sets_of_cores(None, 1)))
    assert len(contest.remarks) == 2
    assert all("the time was over" in remark for remark in contest.remarks)
    assert list(counts(contest.rows_of([graph], ["bfs"])))[1].startswith("End to end: 0 of 0 cells")


def test_cells_of_one_process(tmp_path, monkeypatch):
    monkeypatch.setattr(contender, "SHORTEST", 0.0)
    graph = rmat(6, 8, tmp_path)
    assert [name for name, _ in contender.our_cells(graph, list(CALLS))] == list(CALLS)
    for kind in PEERS.values():
        hopeless = dict.fromkeys(list(CALLS)[::2], 1e-9)
        for name, cell in contender.peer_cells(graph, kind, list(CALLS), hopeless):
            assert cell.keys() == ({"kernel"} if name in hopeless else {"kernel", "whole"})


def row(**more):
    given = {"kernel": 10.0, "whole": 50.0, "read": 20.0, "write": 12.0, "kernels": {"a": 30.0}}
    return Row("some graph", "bfs", **(given | {"wholes": {"a": 120.0, "b": 99.0}} | more))


@pytest.mark.parametrize(
    ("more", "met"),
    [
        ({}, "yes: bound"),  # 1.98 times as fast as b, 1.19 times the bound of 42
        ({"whole": 52.6}, "no"),
        ({"whole": 52.5}, "yes: bound"),
        ({"whole": 49.5, "read": 1.0}, "yes: peer"),
        ({"whole": 49.5}, "yes: peer and bound"),
        ({"wholes": {}, "read": 1.0}, "-"),
    ],
)
def test_a_cell_is_met_beside_the_best_peer_or_the_bound(more, met):
    assert whole_met(row(**more)) == met


def test_counts_and_tables():
    rows = [row(), row(whole=40.0), row(whole=49.5, read=1.0), row(whole=90.0), row(kernel=20.0)]
    assert [kernel_met(each) for each in rows] == ["yes"] * 4 + ["no"]
    kernels, whole = counts(rows)
    assert kernels == "Kernels: 4 of 5 cells are met."
    assert "4 of 5 cells are met: 2 at 2 times the best library, 3 within 1.25 times" in whole
    heads, _, first, *_ = cells(table(rows))
    shown = dict(zip(heads, first, strict=True))
    assert shown["end to end: bound"] == "42.0"
    assert shown["end to end: ours / bound"] == "1.19"
    assert shown["end to end: best peer"] == "99.0 b"
    lines = list(calls({"SciPy": PEERS["SciPy"]}, ["bfs", "ssnsp"]))
    assert len(lines) == 3
    assert cells(every_peer(rows, ["a", "b", "c"]))[2][2:] == [
        "30.0 / 120.0",
        "- / 99.0",
        "- / -",
        "20.0",
        "12.0",
    ]


def test_graphs_start_where_the_benchmark_says(tmp_path):
    """Whatever lies beside the file that is given."""
    rows = pd.DataFrame({"src": [1, 1, 2], "dst": [0, 2, 0]})
    for name, start in {"git-v2.0.0": 0, "other": 1}.items():
        rows.to_parquet(tmp_path / f"{name}.parquet")
        made = real(tmp_path / f"{name}.parquet", directed=True, folder=tmp_path / "made")
        assert made.source() == start


def test_rmat_is_skewed_simple_and_the_same_again(tmp_path):
    graph = rmat(9, 8, tmp_path)
    src, dst = graph.arrays("src", "dst")
    assert (src < dst).all()
    assert len(np.unique(src * 512 + dst)) == len(src)
    assert 0.6 * 4096 < len(src) <= 4096
    degree = np.bincount(np.concatenate([src, dst]), minlength=512)
    assert degree.max() > 8 * degree.mean()
    again = rmat(9, 8, tmp_path / "again")
    assert again.path.read_bytes() == graph.path.read_bytes()


def test_turns(tmp_path):
    peers = [PEERS["SciPy"], PEERS["igraph"]]
    lines = list(turns_table([grid(5, tmp_path)], peers, ["betweenness", "bfs", "triangles"], 2))
    heads, _, *found = cells(lines)
    assert heads[2:] == ["dask_graphgpu", "SciPy", "igraph", "ratio to the best"]
    assert [each[1] for each in found] == ["bfs", "triangles"]  # too many shortest paths
    assert [each.count("-") for each in found] == [0, 1]  # SciPy counts no triangles


COMMUNITIES = ("louvain", "leiden")


def of_communities(graph, labels):
    """Modularity of communities of a graph's edges, their directions ignored."""
    ends = graph.arrays("src", "dst")
    made = nx.MultiGraph(zip(*(end.tolist() for end in ends), strict=True))
    groups = pd.Series(range(len(made))).groupby(np.asarray(labels)).indices.values()
    found = nx.community.modularity(made, [set(group.tolist()) for group in groups])
    both = (np.concatenate(each) for each in (ends, ends[::-1]))
    assert modularity(*both, np.asarray(labels)) == pytest.approx(found, abs=1e-12)
    return found


@pytest.mark.parametrize("make", [directed, lambda folder: grid(9, folder)])
@pytest.mark.parametrize("algorithm", COMMUNITIES)
def test_communities_of_both_sides_are_about_as_good(tmp_path, make, algorithm):
    graph = make(tmp_path)
    ours = of_communities(graph, Ours(graph).kernel(algorithm, 0)())
    for peer in PEERS.values():
        if algorithm in peer.calls:
            theirs = of_communities(graph, peer(graph).kernel(algorithm, 0)())
            assert ours > theirs - 0.05


def plain(algorithm, values, directed):
    """Labels by their first vertex; 0 in place of what says that there is no path; edges in order."""
    if isinstance(values, tuple):
        src, dst = (np.asarray(ends, np.int64) for ends in values)
        ends = (src, dst) if directed else (np.minimum(src, dst), np.maximum(src, dst))
        return np.sort(ends[0] * 10**6 + ends[1])
    if algorithm.endswith("components"):
        _, first, label = np.unique(values, return_index=True, return_inverse=True)
        return first[label]
    values = np.asarray(values, float).ravel()
    if algorithm == "shortest path":
        return values[-1:]  # the length: there may be another path as short
    if algorithm in ("spanning forest", "edge betweenness"):
        return np.sort(values)  # of edges in any order
    return np.where((values > 0) & (values < 1e300), values, 0)


@pytest.mark.parametrize("make", [directed, lambda folder: grid(9, folder)])
@pytest.mark.parametrize(
    ("algorithm", "peer"),
    [
        (algorithm, name)
        for name, peer in PEERS.items()
        for algorithm in peer.calls
        if (algorithm, name) != ("ssnsp", "NetworKit")  # keeps its counts to itself
        and algorithm not in COMMUNITIES  # each its own
        and (algorithm != "label propagation" or name == "GraphBLAS")  # the others draw lots
    ],
)
def test_both_sides_compute_the_same(tmp_path, make, algorithm, peer):
    graph = make(tmp_path)
    beside, starts = PEERS[peer](graph), graph.starts_of(algorithm)
    if not beside.does(algorithm):
        assert graph.directed
        assert algorithm == "clustering"
        return
    ours = plain(algorithm, Ours(graph).kernel(algorithm, starts)(), graph.directed)
    theirs = beside.kernel(algorithm, starts)()
    assert np.size(ours) > 0
    if algorithm.startswith("bfs") and peer == "SciPy":  # gives the order of the search
        ours, theirs = (ours > 0).sum() + np.size(starts), len(theirs)
    np.testing.assert_allclose(ours, plain(algorithm, theirs, graph.directed), rtol=1e-4)


def test_a_real_graph_loses_loops_and_repeats(tmp_path):
    rows = pd.DataFrame({"src": [0, 0, 1, 0], "dst": [0, 1, 2, 1]})
    rows.to_parquet(tmp_path / "given.parquet")
    graph = real(tmp_path / "given.parquet", directed=True, folder=tmp_path / "made")
    assert [column.tolist() for column in graph.arrays("src", "dst")] == [[0, 1], [1, 2]]
