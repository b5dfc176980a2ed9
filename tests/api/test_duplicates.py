"""Repeated rows, both directions, self-loops and empty partitions."""

import numpy as np
import oracles
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_lists, partitioned

from dask_graphgpu import Field, VertexProgram, errors

# 0 -> 1 comes three times, 1 -> 2 twice, 0 -> 2 once.
REPEATED = pd.DataFrame(
    {"src": [0, 1, 0, 0, 1, 0], "dst": [1, 2, 1, 1, 2, 2], "weight": [5, 1, 2, 9, 4, 7]}
)
RULES = ["auto", "min", "max", "sum", "keep"]


def merged(rule):
    """The repeated rows as plain edges under a rule."""
    if rule == "keep":
        return list(REPEATED.itertuples(index=False, name=None))
    grouped = REPEATED.groupby(["src", "dst"], as_index=False)["weight"].agg(rule)
    return list(grouped.itertuples(index=False, name=None))


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("rule", RULES)
def test_rules_of_paths(rule, parts):
    graph = partitioned(REPEATED, parts).graph(duplicates=rule)
    found = graph.sssp(0, predecessor=True).compute()
    wanted = oracles.dijkstra(3, merged("min" if rule == "auto" else rule), 0)
    assert found["distance"].tolist() == [wanted[v] for v in range(3)]
    hops = graph.bfs(0).compute()
    assert hops["distance"].tolist() == [0, 1, 1]


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("rule", RULES)
def test_rules_of_rank(rule, parts):
    graph = partitioned(REPEATED, parts).graph(duplicates=rule)
    found = graph.pagerank(tolerance=1e-14).compute()["rank"]
    wanted = oracles.pagerank(3, merged("sum" if rule == "auto" else rule))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("rule", "times"), [("auto", 3), ("sum", 3), ("keep", 3), ("min", 1), ("max", 1), ("one", 1)]
)
def test_rank_of_repeated_rows_without_weights(rule, times):
    graph = REPEATED.graph(weight=None, duplicates=rule)
    edges = [(0, 1, times), (1, 2, 1), (0, 2, 1)]
    wanted = oracles.pagerank(3, edges)
    np.testing.assert_allclose(graph.pagerank(tolerance=1e-14)["rank"], wanted, rtol=1e-12)


def test_one_without_weights_and_the_error_with_them():
    assert REPEATED.graph(weight=None, duplicates="one").degree()["degree"].tolist() == [2, 2, 2]
    with pytest.raises(errors.InvalidArgument, match="does not say which weight"):
        REPEATED.graph(duplicates="one")


@pytest.mark.parametrize(
    ("rule", "degrees"), [("auto", [2, 2, 2]), ("keep", [4, 5, 3]), ("sum", [2, 2, 2])]
)
def test_rules_of_degrees(rule, degrees):
    assert REPEATED.graph(duplicates=rule).degree()["degree"].tolist() == degrees


@pytest.mark.parametrize("rule", [*RULES, "one"])
def test_components_and_cores_are_the_same_by_any_rule(rule):
    graph = REPEATED.graph(duplicates=rule, weight=None)
    assert graph.core_number()["core_number"].tolist() == [2, 2, 2]
    assert graph.weakly_connected_components()["component"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("rule", "weights"),
    [
        ("auto", [2, 5, 9, 7, 1, 4]),
        ("keep", [2, 5, 9, 7, 1, 4]),
        ("min", [2, 7, 1]),
        ("sum", [16, 7, 5]),
    ],
)
def test_rules_of_k_core(rule, weights):
    found = REPEATED.graph(duplicates=rule).k_core(2)
    assert found.columns.tolist() == ["src", "dst", "weight"]
    assert found["weight"].tolist() == weights


def test_programs_see_every_row():
    count = VertexProgram(
        state={"seen": Field("int64", initial=0)},
        compute=lambda num_vertices: 1,
        combine="sum",
        apply=lambda message: message,
        active=lambda superstep: superstep < 1,
    )
    for rule, wanted in [("auto", [0, 3, 3]), ("keep", [0, 3, 3]), ("sum", [0, 1, 2])]:
        found = REPEATED.graph(duplicates=rule).run(count, max_supersteps=2)
        assert found["seen"].tolist() == wanted


def test_repeats_with_a_sum_that_overflows():
    frame = pd.DataFrame({"src": [0, 0], "dst": [1, 1], "weight": [2**62, 2**62]})
    for parts in (1, 2):
        graph = partitioned(frame, parts).graph(duplicates="sum")
        with pytest.raises(errors.IntegerOverflow, match="float64"):
            graph.sssp(0).compute()
    assert frame.graph.sssp(0)["distance"].tolist() == [0, 2**62]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float32"])
def test_sums_of_narrow_weights_do_not_wrap(dtype):
    frame = pd.DataFrame({"src": [0] * 4, "dst": [1] * 4, "weight": np.full(4, 100, dtype)})
    found = frame.graph(duplicates="sum").sssp(0)
    assert found["distance"].tolist() == [0, 400]
    chain = pd.DataFrame({"src": range(4), "dst": range(1, 5), "weight": np.full(4, 100, dtype)})
    assert chain.graph.sssp(0)["distance"].tolist() == [0, 100, 200, 300, 400]


def mirrored(frame):
    """Every edge in both directions; a self-loop once."""
    back = frame[frame["src"] != frame["dst"]].rename(columns={"src": "dst", "dst": "src"})
    return pd.concat([frame, back[frame.columns]], ignore_index=True)


@given(
    graph=edge_lists(weights=["int64", "float64"], directed=False),
    rule=st.sampled_from(["auto", "min", "max"]),
)
def test_undirected_once_and_in_both_directions(graph, rule):
    frame = graph.frame()
    both = mirrored(frame)
    one, two = (
        f.graph(directed=False, vertices=graph.vertices(), duplicates=rule).persist()
        for f in (frame, partitioned(both, 3))
    )
    source = graph.ids[0]
    for name, call in {
        "bfs": lambda g: g.bfs(source, predecessor=True),
        "sssp": lambda g: g.sssp(source, predecessor=True),
        "core": lambda g: g.core_number(),
        "wcc": lambda g: g.weakly_connected_components(),
        "degree": lambda g: g.degree(),
    }.items():
        pd.testing.assert_frame_equal(call(one), call(two).compute(), obj=name)


@given(graph=edge_lists(weights=["uint8"], directed=False))
def test_undirected_rank_once_and_in_both_directions(graph):
    unique = graph.frame()
    unique[["src", "dst"]] = np.sort(unique[["src", "dst"]].to_numpy(), axis=1)
    unique = unique.drop_duplicates(["src", "dst"])
    vertices = graph.vertices()
    once = unique.graph(directed=False, vertices=vertices).pagerank(max_iterations=300)
    twice = mirrored(unique).graph(directed=False, vertices=vertices).pagerank(max_iterations=300)
    np.testing.assert_allclose(once["rank"], twice["rank"], rtol=1e-12)


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("duplicates", ["auto", "keep"])
def test_other_weights_in_the_other_direction_are_other_edges(duplicates, ranks):
    """Two roads between two towns, one given each way; also for methods that do not read weights."""
    roads = pd.DataFrame(
        {"src": [0, 1, 1, 2, 0], "dst": [1, 0, 2, 1, 0], "weight": [1, 2, 1, 1, 1]}
    )
    once = pd.DataFrame({"src": [0, 0, 1, 2, 0], "dst": [1, 1, 2, 1, 0], "weight": [1, 2, 1, 1, 1]})
    given = {"directed": False, "duplicates": duplicates, "ranks": ranks}
    for call in (
        lambda g: g.pagerank(weighted=False),
        lambda g: g.hits(weighted=False, max_iterations=500),
        lambda g: g.degree(),
    ):
        wanted = call(once.graph(**given))
        for graph in (roads.graph(**given), roads.graph(**given).persist()):
            pd.testing.assert_frame_equal(call(graph), wanted)
        lazy = partitioned(roads, 2).graph(**given)
        pd.testing.assert_frame_equal(call(lazy).compute(), wanted)


def test_undirected_with_some_edges_in_both_directions():
    """Half given once, half twice: a repeat in the other direction is a repeat."""
    frame = pd.DataFrame({"src": [0, 1, 1], "dst": [1, 0, 2], "weight": [3, 5, 1]})
    graph = frame.graph(directed=False)
    assert graph.sssp(2)["distance"].tolist() == [4, 1, 0]
    assert graph.degree()["degree"].tolist() == [1, 2, 1]
    assert frame.graph(directed=False, duplicates="max").sssp(2)["distance"].tolist() == [6, 1, 0]


def test_self_loops():
    frame = pd.DataFrame({"src": [0, 0, 1], "dst": [0, 1, 1], "weight": [4, 2, 1]})
    for directed in (True, False):
        graph = partitioned(frame, 2).graph(directed=directed)
        assert graph.sssp(0).compute()["distance"].tolist() == [0, 2]
        assert graph.core_number().compute()["core_number"].tolist() == [1, 1]
        edges = [(0, 0, 4), (0, 1, 2), (1, 1, 1)]
        np.testing.assert_allclose(
            graph.pagerank(tolerance=1e-14).compute()["rank"],
            oracles.pagerank(2, edges, directed=directed),
            rtol=1e-12,
        )
    assert frame.graph.degree()["degree"].tolist() == [3, 3]
    assert frame.graph(directed=False).degree()["degree"].tolist() == [3, 3]
    assert len(frame.graph.k_core(1)) == 3


@pytest.mark.parametrize("cuts", [[0, 0, 3], [6, 6, 6], [0, 6], [2, 2, 2, 2]])
def test_empty_partitions(cuts):
    frame = partitioned(REPEATED, cuts)
    assert frame.npartitions == len(cuts) + 1
    lazy = frame.graph.sssp(0)
    assert lazy.npartitions == frame.npartitions
    assert lazy.compute()["distance"].tolist() == [0, 2, 3]
    few = frame.graph.sssp(0, target=1)  # one row over many partitions
    assert few.npartitions == frame.npartitions
    assert few.compute()["vertex"].tolist() == [1]
    for i in range(few.npartitions):
        pd.testing.assert_series_equal(few.partitions[i].compute().dtypes, few.dtypes)


def test_empty_partitions_of_another_type():
    """Readers and joins give empty partitions any dtype."""
    import dask.dataframe as dd

    empty = REPEATED.iloc[:0].astype({"src": "float64", "weight": "object"})
    frame = dd.from_map(
        lambda i: [empty, REPEATED][i], [0, 1], meta=REPEATED.iloc[:0], enforce_metadata=False
    )
    assert frame.graph.sssp(0).compute()["distance"].tolist() == [0, 2, 3]


@pytest.mark.parametrize("ranks", [1, 2])
def test_parquet_without_rows(tmp_path, ranks):
    """What edges would carry is known: weights are of the type that the files have."""
    import dask.dataframe as dd

    edges = REPEATED.astype({"weight": "float64"})
    edges.iloc[:0].to_parquet(tmp_path / "edges.parquet")
    vertices = pd.DataFrame({"vertex": [0, 1]})
    graph = dd.read_parquet(tmp_path / "edges.parquet").graph(vertices=vertices, ranks=ranks)
    assert graph.sswp(0).compute()["width"].isna().tolist() == [False, True]
    assert len(graph.shortest_path(0, 0).compute()) == 0
