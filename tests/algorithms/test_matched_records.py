"""The terms of entity resolution as Splink's documentation defines them, worked out by hand or in plain Python.

There an edge counts from a threshold of ``match_probability`` on; density is edges of all that there might be; degree
centralisation is Freeman's; a bridge is an edge without which its cluster falls apart; single best links join those
that are each other's best ones, again and again, with one record of each table at most.
"""

import math

import networkx as nx
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_graphgpu  # noqa: F401

COLUMNS = ["unique_id_l", "unique_id_r", "match_probability"]
ENDS = {"source": "unique_id_l", "destination": "unique_id_r", "weight": "match_probability"}
# Three who know each other with a tail of two, a star, four that are all joined, a ring, a pair; and one alone.
PREDICTIONS = pd.DataFrame(
    [
        *[
            ("a1", "a2", 0.97),
            ("a2", "a3", 0.99),
            ("a1", "a3", 0.95),
            ("a3", "a4", 0.81),
            ("a4", "a5", 0.92),
        ],
        *[("b1", f"b{i}", 0.9 + i / 1000) for i in range(2, 6)],
        *[(f"c{i}", f"c{j}", 0.98) for i in range(1, 5) for j in range(i + 1, 5)],
        *[("d1", "d2", 0.93), ("d2", "d3", 0.94), ("d3", "d4", 0.85), ("d1", "d4", 0.96)],
        ("e1", "e2", 0.6),
    ],
    columns=COLUMNS,
)
RECORDS = [
    *(f"{a}{i}" for a, n in zip("abcdef", (5, 5, 4, 4, 2, 1), strict=True) for i in range(1, n + 1))
]
# Edges, density, centralisation and bridges of each.
BY_HAND = {
    "a1": (5, 5 / 10, ((3 - 2) * 3 + (3 - 3) + (3 - 1)) / (4 * 3), 2),
    "b1": (4, 4 / 10, 4 * (4 - 1) / (4 * 3), 4),
    "c1": (6, 1.0, 0.0, 0),
    "d1": (4, 4 / 6, 0.0, 0),
    "e1": (1, 1.0, None, 1),
    "f1": (0, None, None, 0),
}


def graph_of(predictions, records=RECORDS, **options):
    vertices = pd.DataFrame({"vertex": records})
    return predictions.graph(**ENDS, directed=False, vertices=vertices, **options)


def test_cluster_metrics():
    found = graph_of(PREDICTIONS).cluster_metrics().set_index("cluster")
    for cluster, (edges, density, centralization, bridges) in BY_HAND.items():
        row = found.loc[cluster]
        assert (row["edges"], row["bridges"]) == (edges, bridges)
        for column, wanted in (("density", density), ("centralization", centralization)):
            assert pd.isna(row[column]) if wanted is None else math.isclose(row[column], wanted)
    assert found["vertices"].to_dict() == {"a1": 5, "b1": 5, "c1": 4, "d1": 4, "e1": 2, "f1": 1}


def test_bridges_are_edges_whose_cluster_falls_apart_without_them():
    found = {tuple(row) for row in graph_of(PREDICTIONS).bridges().itertuples(index=False)}
    whole = nx.from_pandas_edgelist(PREDICTIONS, *COLUMNS[:2])
    parts = nx.number_connected_components(whole)
    wanted = set()
    for pair in whole.edges:
        left = nx.restricted_view(whole, [], [pair])
        wanted |= {tuple(sorted(pair))} if nx.number_connected_components(left) > parts else set()
    assert found == wanted
    assert len(found) == 7


@pytest.mark.parametrize("records", [RECORDS, None], ids=["all records", "of the pairs"])
def test_clusters_at_several_thresholds(records):
    thresholds = [0.5, 0.6, 0.85, 0.9, 0.95, 0.98, 1.0]
    options = {} if records is None else {"vertices": pd.DataFrame({"vertex": records})}
    graph = PREDICTIONS.graph(**ENDS, directed=False, **options)
    found = graph.weakly_connected_components(thresholds=thresholds).set_index("vertex")
    clusters = {}
    for threshold in thresholds:
        kept = PREDICTIONS[PREDICTIONS["match_probability"] >= threshold]
        plain = nx.from_pandas_edgelist(kept, *COLUMNS[:2])
        plain.add_nodes_from(found.index)
        wanted = {v: min(part) for part in nx.connected_components(plain) for v in part}
        assert found[f"component_{threshold}"].to_dict() == wanted
        clusters[threshold] = len(set(wanted.values()))
    # What the summary of thresholds there shows: clusters fall apart, and none grows.
    assert list(clusters.values()) == sorted(clusters.values())
    assert clusters[0.6] == clusters[0.5]
    assert clusters[1.0] == len(found)


def mutual_best(links):
    """Pairs that are each other's best, until none is left; equal scores by the smaller id of the first table."""
    links, kept = sorted(links, key=lambda link: (-link[2], link[0], link[1])), []
    while links:
        best_l = {link[0]: link for link in reversed(links)}
        best_r = {link[1]: link for link in reversed(links)}
        both = [link for link in links if best_l[link[0]] is link is best_r[link[1]]]
        kept += both
        taken = {link[0] for link in both}, {link[1] for link in both}
        links = [link for link in links if link[0] not in taken[0] and link[1] not in taken[1]]
    return sorted(kept)


LINKS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 20)),
    unique_by=lambda link: link[:2], max_size=25,
)  # fmt: skip


@given(LINKS)
def test_one_to_one_links_are_mutual_best_ones(links):
    links = [(f"l{a}", f"r{b}", score / 20) for a, b, score in links]
    if not links:
        return
    found = pd.DataFrame(links, columns=COLUMNS).graph(**ENDS).best_links()
    assert [tuple(row) for row in found.itertuples(index=False)] == mutual_best(links)


def test_a_record_goes_to_the_one_that_it_is_best_for():
    """Of two that want the same partner the better one has it, and the other one has its next best."""
    links = [
        ("l0", "r0", 0.90),
        ("l1", "r0", 0.95),
        ("l0", "r1", 0.70),
        ("l2", "r1", 0.60),
        ("l2", "r2", 0.55),
    ]
    found = pd.DataFrame(links, columns=COLUMNS).graph(**ENDS).best_links()
    assert [tuple(row) for row in found.itertuples(index=False)] == [
        ("l0", "r1", 0.70),
        ("l1", "r0", 0.95),
        ("l2", "r2", 0.55),
    ]
    at_most = found.graph(**ENDS, directed=False).cluster_metrics()["vertices"]
    assert at_most.max() == 2
