"""Undirected edges of which some are given once, some in both directions: what they are taken for."""

from collections import defaultdict

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

TOLERANCES = {"float64": 1e-12, "float32": 8 * float(np.finfo("float32").eps)}


def once(rows, tolerance=0.0):
    """The edges that rows (source, destination, weight) are; weights None: there are none.

    Of each two vertices, and of each weight between them, the direction that has more rows; of
    equally many that from the smaller vertex.
    """
    between = defaultdict(list)
    for u, v, weight in rows:
        between[min(u, v), max(u, v)].append((weight, u > v))
    edges = []
    for (u, v), found in between.items():
        if u == v:
            edges += [(u, v, weight) for weight, _ in found]
            continue
        for same in clusters(found, tolerance):
            backward = [weight for weight, back in same if back]
            forward = [weight for weight, back in same if not back]
            kept = backward if len(backward) > len(forward) else forward
            edges += [(u, v, weight) for weight in kept]
    return edges


def clusters(found, tolerance):
    """Runs of weights that differ from the next by rounding only."""
    found = sorted(found, key=lambda each: 0 if each[0] is None else each[0])
    made = []
    for each in found:
        before = made[-1][-1][0] if made else None
        if made and (
            each[0] is None
            or each[0] == before
            or (
                tolerance > 0  # integers are equal or not
                and float(each[0]) - float(before) <= tolerance * float(each[0]) < np.inf
            )
        ):
            made[-1].append(each)
        else:
            made.append([each])
    return made


@st.composite
def mixtures(draw, weights=("int64", "float64", "float32", None)):
    """A simple graph, each edge given once or both ways, and NetworkX' graph of the same rows.

    The weights of the two directions are equal, or differ in the last bit.
    """
    n = draw(st.integers(2, 9))
    kind = draw(st.sampled_from(weights))
    pairs = [(u, v) for u in range(n) for v in range(u, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1, max_size=20))
    rows = []
    for u, v in chosen:
        weight = draw(st.integers(1, 9))
        if kind is not None and kind != "int64":
            weight = np.dtype(kind).type(weight) / np.dtype(kind).type(7)
        other = weight
        if kind not in (None, "int64") and draw(st.booleans()):
            other = np.nextafter(weight, np.dtype(kind).type(draw(st.sampled_from([0, 99]))))
        how = "once" if u == v else draw(st.sampled_from(["once", "turned", "both"]))
        if how != "turned":
            rows.append((u, v, weight))
        if how != "once":
            rows.append((v, u, other))
    frame = pd.DataFrame(draw(st.permutations(rows)), columns=["src", "dst", "weight"])
    if kind is None:
        frame = frame.drop(columns="weight")
    else:
        frame = frame.astype({"weight": kind})
    attribute = None if kind is None else "weight"
    return frame, nx.from_pandas_edgelist(frame, "src", "dst", attribute)


def rows(frame):
    """A result as a pandas frame."""
    frame = frame.compute() if hasattr(frame, "compute") else frame
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def values(result, column):
    """A column of a result by vertex."""
    return dict(zip(*(rows(result)[name].tolist() for name in ("vertex", column)), strict=True))


def check_as_networkx(graph, simple, weighted):
    """Answers that count an edge twice if it is there twice."""
    rank = values(graph.pagerank(tolerance=1e-13, max_iterations=1000), "rank")
    weight = "weight" if weighted else None
    wanted = nx.pagerank(simple, tol=1e-13, max_iter=1000, weight=weight)
    assert rank == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    assert values(graph.degree(), "degree") == dict(simple.degree)
    listed = rows(graph.k_core(0))
    assert sorted(map(sorted, listed[["src", "dst"]].to_numpy().tolist())) == sorted(
        map(sorted, simple.edges)
    )
    if weighted:
        length = nx.single_source_dijkstra_path_length(simple, 0) if 0 in simple else {}
        for v, found in values(graph.sssp(0), "distance").items() if length else ():
            assert (length[v] == pytest.approx(found, rel=1e-5)) if v in length else pd.isna(found)
