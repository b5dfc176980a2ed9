"""The benchmark runs, at a size that says nothing of speed, and all sides agree on the answers."""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))

for library in ("graphblas", "igraph", "networkit", "polars"):
    pytest.importorskip(library)

from compare import calls, compare, every_peer, meets, table, turns_table  # noqa: E402
from graphs import grid, real, rmat  # noqa: E402
from ours import CALLS, Ours  # noqa: E402
from peers import PEERS  # noqa: E402
from quality import modularity  # noqa: E402


def directed(folder):
    """A random directed graph that has sinks, and vertices that no path reaches."""
    src, dst = np.random.default_rng(5).integers(0, 60, (2, 150))
    given = folder / "directed.parquet"
    pd.DataFrame({"src": src, "dst": dst}).to_parquet(given)
    return real(given, directed=True, folder=folder / "made")


def test_tables_have_a_row_for_every_algorithm(tmp_path, monkeypatch):
    monkeypatch.setattr("compare.REPEATS", 3)
    peers = list(PEERS.values())
    rows = [
        row for graph in (rmat(6, 8, tmp_path), grid(5, tmp_path)) for row in compare(graph, peers)
    ]
    assert [row.algorithm for row in rows[: len(CALLS)]] == list(CALLS)
    assert len(rows) == 2 * len(CALLS) - 3  # a grid has too many shortest paths
    for lines in (list(table(rows)), list(every_peer(rows, peers)), list(calls(peers))):
        assert all(line.count("|") >= lines[0].count("|") for line in lines[2:])
    assert {flag for row in rows for flag in meets(row)} <= {"yes", "no", "-"}


def test_only_some_algorithms(tmp_path):
    wanted = ["components", "triangles"]
    rows = compare(grid(5, tmp_path), [PEERS["igraph"]], wanted)
    assert [row.algorithm for row in rows] == wanted


def test_turns(tmp_path):
    peers = [PEERS["SciPy"], PEERS["igraph"]]
    lines = list(turns_table([grid(5, tmp_path)], peers, ["betweenness", "bfs", "triangles"], 2))
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0][2:] == ["dask_graphgpu", "SciPy", "igraph", "ratio to the best"]
    assert [row[1] for row in cells[2:]] == ["bfs", "triangles"]  # too many shortest paths
    assert [row.count("-") for row in cells[2:]] == [0, 1]  # SciPy counts no triangles


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
