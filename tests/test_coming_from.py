"""The pages for those who come from another library: our calls run, and theirs find the same."""

import ast
import re
from itertools import islice, pairwise
from pathlib import Path

import igraph as ig
import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dask_graphgpu as dg

PAGES = Path(__file__).parents[1] / "docs" / "coming-from"
EDGES = nx.to_pandas_edgelist(nx.karate_club_graph(), "src", "dst")
DIRECTED = EDGES.assign(weight=EDGES["weight"] % 4 + 1)
PROGRAM = dg.VertexProgram(  # the largest weight of a path is as small as can be
    state={"most": dg.Field("float64", initial=None, at_source=0.0)},
    compute=lambda source_most, weight: max(source_most, weight),
    combine="min",
)


def rows(page):
    """Their call, ours and what else is said, of each row of the tables whose second column is ours."""
    ours = False
    for line in (PAGES / f"{page}.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            ours = False
        elif cells[1] == "dask_graphgpu":
            ours = True
        elif ours and not cells[0].startswith("---"):
            calls = [re.fullmatch("`(.*)`", cell) for cell in cells[:2]]
            assert all(calls), f"{page}: {line}"
            yield calls[0][1], calls[1][1], cells[2] if len(cells) > 2 else None


def names():
    return {
        "pd": pd,
        "dg": dg,
        "edges": EDGES,
        "vertices": pd.DataFrame({"id": np.arange(40)}),
        "graph": EDGES.graph(directed=False),
        "directed": DIRECTED.graph(),
        "program": PROGRAM,
        "start": pd.DataFrame({"vertex": [0], "value": [1.0]}),
        "pairs": pd.DataFrame({"src": [0, 2], "dst": [33, 3]}),
        # theirs
        "islice": islice,
        "nx": nx,
        "G": nx.from_pandas_edgelist(EDGES, "src", "dst", edge_attr="weight"),
        "D": nx.from_pandas_edgelist(DIRECTED, "src", "dst", "weight", create_using=nx.DiGraph),
        "g": ig.Graph.DataFrame(EDGES, directed=False),
        "d": ig.Graph.DataFrame(DIRECTED, directed=True),
    }


ALL = [
    (page, *row) for page in ("cugraph", "graphframes", "igraph", "networkx") for row in rows(page)
]


@pytest.mark.parametrize(("page", "theirs", "ours", "said"), ALL, ids=lambda cell: str(cell)[:50])
def test_our_call_runs(page, theirs, ours, said):
    ast.parse(theirs, mode="eval")
    found = eval(ours, names())
    if isinstance(found, pd.DataFrame) and said is not None:
        for column in re.findall("`(.*?)`", said.split(";")[0]):
            assert column in found, f"{ours} has no column {column}: {list(found)}"


def between(edges):
    """Edges as they may be compared: without direction."""
    return {frozenset(edge) for edge in edges}


def path_weight(vertices, weights):
    """Of the edges between vertices that follow each other."""
    return sum(weights[frozenset(step)] for step in pairwise(vertices))


def as_groups(found):
    """A set of vertices for each component, of what libraries give."""
    return {frozenset(group) for group in found}


def compare(theirs, ours, call, said):
    """Assert that two answers are the same, by what kind of answer theirs is."""
    if "modularity is compared" in said:
        given = {True: EDGES, False: DIRECTED}[call.startswith("graph.")]
        G = nx.from_pandas_edgelist(given, "src", "dst", edge_attr="weight")
        right = nx.community.modularity(G, [set(group) for group in theirs])
        groups = ours.groupby("community")["vertex"].agg(set)
        mine = nx.community.modularity(G, list(groups))
        assert mine == pytest.approx(ours["modularity"].iloc[0])
        assert mine >= right - 0.01
    elif "weights are compared" in said:
        weights = {frozenset(edge): weight for *edge, weight in EDGES.itertuples(index=False)}
        edges = theirs.edges if isinstance(theirs, nx.Graph) else theirs.get_edgelist()
        assert len(ours) == len(edges)
        assert ours["weight"].sum() == sum(weights[frozenset(edge)] for edge in edges)
    elif "of the path" in said:
        weights = {frozenset(edge): weight for *edge, weight in EDGES.itertuples(index=False)}
        hops = "weighted=False" in call
        length = len(theirs) - 1 if hops else path_weight(theirs, weights)
        assert ours["distance"].iloc[-1] == length
        assert between(ours[["src", "dst"]].to_numpy()) <= set(weights)
    elif "of each `path`" in said:
        length = ours.groupby("path")["distance"].last()
        assert length.tolist() == [len(path) - 1 for path in theirs]
    elif "each pair" in said:
        assert ours["distance"].tolist() == np.ravel(theirs).tolist()
    elif isinstance(theirs, int):
        assert ours == theirs
    elif isinstance(theirs, nx.Graph) and isinstance(ours, dg.Graph):
        assert (ours.num_vertices(), ours.num_edges()) == (len(theirs), theirs.number_of_edges())
    elif isinstance(theirs, nx.Graph) and isinstance(ours, nx.Graph):
        assert nx.utils.graphs_equal(theirs, ours)
    elif isinstance(theirs, nx.Graph):
        assert between(ours[["src", "dst"]].to_numpy()) == between(theirs.edges)
    elif "each such vertex" in said:
        assert set(ours["vertex"]) == set(theirs)
    elif said == "edges":
        assert between(ours[["src", "dst"]].to_numpy()) == between(theirs)
    elif "component" in said:
        groups = ours.groupby("component")["vertex"]
        assert as_groups(groups.agg(set)) == as_groups(theirs)
        assert (groups.min() == groups.min().index).all()
    elif "pairs" in said or "edges" in said:
        triples = theirs.items() if isinstance(theirs, dict) else theirs
        right = {}
        for one in triples:
            *edge, value = (*one[0], one[1]) if len(one) == 2 else one
            right[frozenset(edge)] = value
        mine = {frozenset(edge): value for *edge, value in ours.itertuples(index=False)}
        assert mine == pytest.approx(right, abs=1e-9)
    else:
        found = ours.set_index("vertex").iloc[:, -1].dropna().to_dict()
        right = theirs if isinstance(theirs, dict) else dict(enumerate(theirs))
        right = {vertex: value for vertex, value in right.items() if np.isfinite(value)}
        assert found == pytest.approx(right, abs=1e-5)


COMPARED = [row for row in ALL if row[0] in ("networkx", "igraph") and row[3] is not None]


@pytest.mark.parametrize(
    ("page", "theirs", "ours", "said"), COMPARED, ids=lambda cell: str(cell)[:50]
)
def test_theirs_finds_the_same(page, theirs, ours, said):
    known = names()
    compare(eval(theirs, known), eval(ours, known), ours, said)


def test_hubs_and_authorities():
    known = names()
    found = known["directed"].hits(max_iterations=1000).set_index("vertex")
    hubs, authorities = nx.hits(known["D"], tol=1e-10, max_iter=1000)
    assert found["hub"].to_dict() == pytest.approx(hubs, abs=1e-6)
    assert found["authority"].to_dict() == pytest.approx(authorities, abs=1e-6)


def test_both_graphs_say_what_differs():
    for page in ("cugraph", "graphframes", "igraph", "networkx"):
        text = (PAGES / f"{page}.md").read_text()
        assert "## What differs" in text
        assert "## What is not here" in text
    assert len(COMPARED) > 45
