"""Louvain, Leiden and label propagation from groups that are given: in every place, and what they promise."""

import dask.dataframe as dd
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import grid, path, random_small, rmat, star
from oracles import label_propagation
from places import rows_of
from strategies import KINDS, edge_lists
from synchronous_louvain import leiden as leiden_in_python
from synchronous_louvain import louvain as louvain_in_python

import dask_graphgpu as dg
from dask_graphgpu import errors

METHODS = ["louvain", "leiden"]
IN_PYTHON = {"louvain": louvain_in_python, "leiden": leiden_in_python}
ALL = [*METHODS, "label_propagation"]


def frames(directed):
    """Edges without repeats."""
    for made in [*map(random_small, range(1, 9)), star(40), path(30), grid(7), rmat(6)]:
        ends = np.stack([made.source, made.destination])
        if ends.size:
            ends = np.unique(ends if directed else np.sort(ends, axis=0), axis=1)
            yield pd.DataFrame(ends.T, columns=["src", "dst"])


def drawn(frame, seed=0):
    """Groups of most of the vertices, and of two that are gone; some are fixed."""
    rng = np.random.default_rng(seed)
    ids = np.unique(frame[["src", "dst"]])
    ids = rng.permutation(np.append(ids[rng.random(len(ids)) < 0.8], [10**6, 10**6 + 1]))
    group = np.array(["a", "long name", "b", ""])[rng.integers(0, 4, len(ids))]
    return pd.DataFrame({"vertex": ids, "community": group, "stays": rng.random(len(ids)) < 0.2})


def begun(vertices, given):
    """The place of the first vertex of each one's group, and the places of those that are fixed."""
    group = dict(zip(given["vertex"], given["community"], strict=True))
    first, start = {}, []
    for place, id in enumerate(vertices):
        start.append(first.setdefault(group[id], place) if id in group else place)
    fixed = set(given.loc[given["stays"], "vertex"])
    return start, {place for place, id in enumerate(vertices) if id in fixed}


@pytest.mark.parametrize("fixed", [None, "stays"])
@pytest.mark.parametrize("method", METHODS)
def test_every_place(rows_place, method, fixed):
    """On the host as in its other orders in memory; on ranks and GPUs the steps of plain Python."""
    for seed, frame in enumerate(frames(directed=False)):
        given = drawn(frame, seed)
        more = {} if method == "louvain" else {"max_iterations": 1 + seed % 2}

        def call(graph, given=given, seed=seed, more=more):
            return getattr(graph, method)(initial=given, fixed=fixed, seed=seed, **more)

        if rows_place.name in ("host", "threads", "pages"):
            (found,) = rows_place.same(call, frames=[frame], directed=False)
        else:
            found = rows_of(call(rows_place.graph(frame, directed=False)))
            place = {id: v for v, id in enumerate(found["vertex"])}
            start, stays = begun(found["vertex"], given)
            expected, modularity = IN_PYTHON[method](
                len(place),
                list(zip(frame["src"].map(place), frame["dst"].map(place), strict=True)),
                seed=seed,
                start=start,
                fixed=stays if fixed else (),
                **({"iterations": more["max_iterations"]} if more else {}),
            )
            assert found["community"].map(place).tolist() == expected
            assert found["modularity"].tolist() == pytest.approx([modularity] * len(place))
        if fixed:
            check_fixed(dict(zip(found["vertex"], found["community"], strict=True)), given)
        assert dg.last_report().attrs["ignored"] == {"initial": 2}


def check_fixed(community, given):
    """Fixed vertices are together exactly when their groups were the same."""
    stays = given[given["stays"] & given["vertex"].isin(list(community))]
    pairs = set(zip(stays["community"], stays["vertex"].map(community), strict=True))
    assert len(pairs) == stays["community"].nunique() == len({label for _, label in pairs})


@pytest.mark.parametrize("directed", [True, False])
def test_labels_in_every_place(place, directed):
    for seed, frame in enumerate(frames(directed)):
        given = drawn(frame, seed)
        graph = place.graph(frame, directed=directed)
        found = rows_of(graph.label_propagation(1 + seed % 4, initial=given))
        number = {id: v for v, id in enumerate(found["vertex"])}
        start, _ = begun(found["vertex"], given)
        edges = zip(frame["src"].map(number), frame["dst"].map(number), strict=True)
        expected = label_propagation(
            len(number), list(edges), 1 + seed % 4, directed=directed, start=start
        )
        assert found["label"].map(number).tolist() == expected


def test_labels_of_many_edges(place):
    """Where the first step is another one if all labels differ."""
    made = rmat(12, 32)
    ends = np.unique(np.sort(np.stack([made.source, made.destination]), axis=0), axis=1)
    frame = pd.DataFrame(ends.T, columns=["src", "dst"])
    given = pd.DataFrame({"id": np.arange(made.n), "group": np.arange(made.n) // 100})
    place.same(lambda graph: graph.label_propagation(2, initial=given), frames=[frame])


@pytest.mark.parametrize("method", METHODS)
@given(
    graph=edge_lists(weights=[None, "float32"], kinds=KINDS),
    groups=st.lists(st.integers(0, 3), min_size=30, max_size=30),
    resolution=st.sampled_from([0.5, 1.0, 2.0]),
    ranks=st.sampled_from([1, 3]),
    left_out=st.integers(0, 2),
)
def test_no_worse_than_the_groups_given(method, graph, groups, resolution, ranks, left_out):
    made = graph.as_given
    edges = [(u, v, *(w % 5 for w in weight)) for u, v, *weight in made.edges]
    made = type(graph)(
        graph.n, edges, graph.directed, graph.weight, graph.kind, graph.ids, graph.cuts
    )
    named = range(left_out, graph.n)
    given = pd.DataFrame(
        {"vertex": graph.column(named), "g": pd.Series([groups[v % 30] for v in named], dtype=int)}
    )
    built = made.graph(ranks=ranks)
    found = getattr(built, method)(initial=given, resolution=resolution).compute()
    number = {id: v for v, id in enumerate(graph.ids)}
    label = {v: number[id] for v, id in graph.answers(found, "community").items()}
    parts = {}
    for v, community in label.items():
        parts.setdefault(community, set()).add(v)
    for community, part in parts.items():
        assert community == min(part, key=graph.rank.__getitem__)
    other = nx.Graph()
    other.add_nodes_from(range(graph.n))
    for u, v, *weight in made.as_given.edges:
        before = other.get_edge_data(u, v, {"weight": 0})["weight"]
        other.add_edge(u, v, weight=before + (weight[0] if weight else 1))
    if method == "leiden":
        heavy = nx.Graph((u, v) for u, v, w in other.edges(data="weight") if w > 0)
        heavy.add_nodes_from(other)
        assert all(nx.is_connected(heavy.subgraph(part)) for part in parts.values())
    if other.size(weight="weight"):
        start = {}
        for v in range(graph.n):
            start.setdefault(groups[v % 30] if v in named else -1 - v, set()).add(v)
        least = nx.community.modularity(other, start.values(), resolution=resolution)
        reached = nx.community.modularity(other, parts.values(), resolution=resolution)
        assert reached >= least - 1e-6
        assert found["modularity"].iloc[0] == pytest.approx(reached, abs=1e-6)


def planted(groups_of=12, size=60, seed=0):
    """Edges with communities, and the community of each vertex."""
    made = nx.planted_partition_graph(groups_of, size, 0.4, 0.01, seed=seed)
    edges = pd.DataFrame(np.array(made.edges) + 100, columns=["src", "dst"])
    return edges, pd.DataFrame(
        {"vertex": np.arange(len(made)) + 100, "of": np.arange(len(made)) // size}
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_best_division_stays(method, ranks):
    edges, truth = planted()
    found = getattr(edges.graph(directed=False, ranks=ranks), method)(initial=truth, seed=3)
    assert found["community"].tolist() == (100 + truth["of"] * 60).tolist()


@pytest.mark.parametrize("ranks", [1, 2])
def test_leiden_from_components_takes_more_rounds(ranks):
    """One group of all vertices, from which no single vertex gains to go."""
    edges, _ = planted()
    graph = edges.graph(directed=False, ranks=ranks)
    components = graph.weakly_connected_components()
    assert graph.leiden(initial=components)["community"].nunique() == 1
    found = graph.leiden(initial=components, max_iterations=4)
    assert found["modularity"].iloc[0] > 0.98 * graph.leiden()["modularity"].iloc[0]


def changed(edges, part=0.015):
    """Some edges replaced by random ones, and the vertices at none of these."""
    rng = np.random.default_rng(0)
    gone = rng.random(len(edges)) < part / 2
    new = pd.DataFrame(
        rng.choice(np.unique(edges), (int(gone.sum()), 2)), columns=["src", "dst"]
    ).query("src != dst")
    touched = np.unique(pd.concat([edges[gone], new]))
    after = pd.concat([edges[~gone], new], ignore_index=True)
    return after, np.setdiff1d(np.unique(edges), touched)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", ["ego-twitter", "email-enron", "planted"])
def test_communities_from_yesterdays(graphs, method, ranks, name):
    """As good as from nothing, by which other seeds differ as well, and most vertices are where they were."""
    if name == "planted":
        edges, _ = planted()
    else:
        edges = pd.read_parquet(graphs / f"{name}.parquet", columns=["src", "dst"])
    after, same = changed(edges)
    yesterday = edges.graph(directed=False, ranks=ranks).leiden()
    graph = after.graph(directed=False, ranks=ranks).persist()
    today = getattr(graph, method)(initial=yesterday)
    whole = np.mean([getattr(graph, method)(seed=seed)["modularity"].iloc[0] for seed in range(3)])
    assert today["modularity"].iloc[0] >= 0.99 * whole
    both = yesterday[yesterday["vertex"].isin(same)].merge(today, on="vertex")
    most = both.groupby("community_x")["community_y"].agg(lambda c: c.value_counts().max())
    assert most.sum() >= 0.98 * len(both)


def test_quality_beside_igraph(graphs):
    """From the same groups, one round of each."""
    edges = pd.read_parquet(graphs / "email-enron.parquet", columns=["src", "dst"])
    yesterday = edges.graph(directed=False).leiden()
    after, _ = changed(edges)
    n = int(edges.max(axis=None)) + 1
    group = np.arange(n)
    group[yesterday["vertex"]] = yesterday["community"]
    simple = np.unique(np.sort(after.to_numpy(), axis=1), axis=0).tolist()
    other = igraph.Graph(n, simple).community_leiden(
        "modularity",
        initial_membership=np.unique(group, return_inverse=True)[1].tolist(),
        n_iterations=1,
    )
    found = after.graph(directed=False).leiden(initial=yesterday)
    assert found["modularity"].iloc[0] > other.modularity - 0.005


def test_groups_that_are_not_connected():
    """Louvain keeps them where nobody gains, Leiden does not; vertices that are fixed stay together in both."""
    edges = pd.DataFrame({"src": [0, 1, 2, 4, 5, 6, 8], "dst": [1, 2, 0, 5, 6, 4, 9]})
    given = pd.DataFrame({"vertex": [0, 1, 2, 4, 5, 6], "group": [0, 0, 0, 1, 1, 1]})
    given = pd.concat([given, pd.DataFrame({"vertex": [8, 9, 11], "group": [7, 7, 7]})])
    given["stays"] = given["vertex"].isin([9, 11, 0])
    for ranks in (1, 2):
        vertices = pd.DataFrame({"vertex": range(12)})
        graph = edges.graph(directed=False, vertices=vertices, ranks=ranks)
        alone = [0, 0, 0, 3, 4, 4, 4, 7, 8, 8, 10, 11]
        together = [*alone[:-1], 8]
        louvain = graph.louvain(initial=given[["vertex", "group"]])
        assert louvain["community"].tolist() == together
        assert graph.leiden(initial=given[["vertex", "group"]])["community"].tolist() == alone
        for method in METHODS:
            found = getattr(graph, method)(initial=given, fixed="stays")
            assert found["community"].tolist() == together


@pytest.mark.parametrize("method", ALL)
def test_any_kind_of_frame(method):
    edges, truth = planted(3, 20)
    truth["of"] = "c" + truth["of"].astype(str)
    vertices = truth.assign(of=truth["of"].str[1:].astype(int))
    for ranks in (1, 2):
        graph = edges.graph(directed=False, ranks=ranks, vertices=vertices)
        call = getattr(graph, method)
        wanted = call(initial=truth)
        kinds = [pl.from_pandas(truth), pa.table(truth), dd.from_pandas(truth, npartitions=3), "of"]
        kinds += [truth.astype({"of": "category"}), truth[::-1].rename(columns={"vertex": "id"})]
        for each in kinds:
            pd.testing.assert_frame_equal(rows_of(call(initial=each)), wanted)
    lazy = dd.from_pandas(edges, npartitions=2).graph(directed=False)
    pd.testing.assert_frame_equal(
        getattr(lazy, method)(initial=dd.from_pandas(truth, npartitions=2)).compute(), wanted
    )


@pytest.mark.parametrize("ranks", [1, 2])
def test_results_as_they_are(ranks):
    """Also those with more columns, with several id columns, and of a frame without rows."""
    edges, _ = planted(3, 20)
    pairs = edges.assign(a=edges["src"] % 2, b=edges["dst"] % 2)
    several = {"source": ["src", "a"], "destination": ["dst", "b"]}
    for graph in (
        edges.graph(directed=False, ranks=ranks),
        pairs.graph(directed=False, ranks=ranks, **several),
    ):
        for method in ALL:
            call = getattr(graph, method)
            for earlier in (*ALL, "weakly_connected_components"):
                call(initial=getattr(graph, earlier)())
            pd.testing.assert_frame_equal(
                call(initial=graph.louvain()[:0], **rounds(method)), call()
            )
        found = graph.leiden()
        pd.testing.assert_frame_equal(graph.leiden(initial=found), found)


def rounds(method):
    return {"max_iterations": 2} if method == "leiden" else {}


@pytest.mark.parametrize("ranks", [1, 2])
def test_columns_of_the_vertices_frame(ranks):
    """Vertices without a value are alone at first."""
    edges, truth = planted(3, 20)
    vertices = truth.astype({"of": float}).assign(stays=truth["vertex"] < 110)
    vertices.loc[[0, 5, 30], "of"] = np.nan
    graph = edges.graph(directed=False, vertices=vertices, ranks=ranks)
    given = vertices.dropna().astype({"of": int})
    for method in METHODS:
        call = getattr(graph, method)
        pd.testing.assert_frame_equal(call(initial="of"), call(initial=given[["vertex", "of"]]))
        pd.testing.assert_frame_equal(
            call(initial="of", fixed="stays"), call(initial=given, fixed="stays")
        )


def test_no_vertex_and_no_edge():
    none = pd.DataFrame({"src": [], "dst": []}, dtype="int64")
    given = pd.DataFrame({"vertex": [1, 2, 5], "group": [3, 3, 3], "stays": [False, True, True]})
    vertices = pd.DataFrame({"vertex": [1, 2, 3, 5]})
    for ranks in (1, 2):
        for method in ALL:
            assert not len(
                getattr(none.graph(ranks=ranks), method)(initial=given[["vertex", "group"]])
            )
        graph = none.graph(vertices=vertices, ranks=ranks)
        assert graph.louvain(initial=given, fixed="stays")["community"].tolist() == [1, 1, 3, 1]
        assert graph.leiden(initial=given, fixed="stays")["community"].tolist() == [1, 2, 3, 2]
        assert graph.leiden(initial=given[["vertex", "group"]])["community"].tolist() == [
            1,
            2,
            3,
            5,
        ]


@pytest.mark.parametrize("ranks", [1, 2])
def test_errors(ranks):
    edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
    graph = edges.graph(ranks=ranks)
    given = pd.DataFrame({"vertex": [0, 1], "group": [5, 5], "stays": [True, False]})
    refused = errors.InvalidArgument
    for method in ALL:
        call = getattr(graph, method)
        with pytest.raises(
            refused, match=r"one other column .* it has \['vertex', 'group', 'stays'\]"
        ):
            call(initial=given)
        with pytest.raises(refused, match="initial: 1 of its rows name a vertex again"):
            call(initial=pd.concat([given, given[:1]])[["vertex", "group"]])
        with pytest.raises(refused, match="initial is a list; give a frame"):
            call(initial=[0, 0, 1])
        for nulls in ("group", "vertex"):
            bad = given[["vertex", "group"]].astype({nulls: "Int64"})
            bad.loc[0, nulls] = pd.NA
            with pytest.raises(errors.InvalidVertices, match=f"initial: .*{nulls}.* null"):
                call(initial=bad)
        with pytest.raises(errors.InvalidVertices, match="no column 'group'"):
            call(initial="group")
    for method in METHODS:
        call = getattr(graph, method)
        with pytest.raises(refused, match="'stays' names a column of initial, which is not given"):
            call(fixed="stays")
        with pytest.raises(refused, match="allowed is the name of a column"):
            call(initial=given, fixed=[True, False])
        with pytest.raises(refused, match="initial has no column 'free'"):
            call(initial=given, fixed="free")
        with pytest.raises(refused, match="allowed is a column of truth values"):
            call(initial=given.assign(stays=[1, 2]), fixed="stays")
        with pytest.raises(refused, match="initial: its column 'stays' has nulls"):
            call(
                initial=given.assign(stays=pd.array([True, None], "boolean")),
                fixed="stays",
            )
