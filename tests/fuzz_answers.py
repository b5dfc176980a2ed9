"""What some methods give on a list of rows (source, destination, weight), by NetworkX and igraph.

Vertices are the user's ids. Repeated rows count as each method says: once, by the least weight, or as a sum.
"""

import math

import igraph
import networkx as nx
import numpy as np
import pandas as pd
from mixed_directions import once


def _graph(rows, directed, vertices, weigh):
    """One edge for repeated rows; ``weigh`` makes one weight of all."""
    made = nx.DiGraph() if directed else nx.Graph()
    made.add_nodes_from(vertices)
    weights = {}
    for u, v, weight in rows:
        key = (u, v) if directed else (min(u, v), max(u, v))
        weights.setdefault(key, []).append(weight)
    for (u, v), found in weights.items():
        made.add_edge(u, v, weight=weigh(found))
    return made


def _smallest(parts):
    return {v: min(part) for part in parts for v in part}


def degree(rows, directed, vertices):
    return dict(_graph(rows, directed, vertices, len).degree())


def bfs(rows, directed, vertices, source):
    made = _graph(rows, directed, vertices, len)
    return nx.single_source_shortest_path_length(made, source)


def sssp(rows, directed, vertices, source):
    made = _graph(rows, directed, vertices, min)
    return nx.single_source_dijkstra_path_length(made, source)


def weakly_connected_components(rows, directed, vertices):
    return _smallest(nx.connected_components(_graph(rows, False, vertices, len)))


def strongly_connected_components(rows, directed, vertices):
    if not directed:
        return weakly_connected_components(rows, directed, vertices)
    return _smallest(nx.strongly_connected_components(_graph(rows, True, vertices, len)))


def _igraph(rows, vertices):
    """A simple undirected graph, and its vertices in order."""
    order = sorted(vertices)
    number = {v: i for i, v in enumerate(order)}
    ends = {(min(u, v), max(u, v)) for u, v, _ in rows if u != v}
    made = igraph.Graph(len(order), [(number[u], number[v]) for u, v in ends])
    return made, order


def core_number(rows, directed, vertices):
    made, order = _igraph(rows, vertices)
    return dict(zip(order, made.coreness(), strict=True))


def triangle_count(rows, directed, vertices):
    made, order = _igraph(rows, vertices)
    counts = [0] * len(order)
    for triangle in made.list_triangles():
        for v in triangle:
            counts[v] += 1
    return dict(zip(order, counts, strict=True))


def pagerank(rows, directed, vertices):
    """Repeated rows add up; of undirected ones each edge that is given both ways counts once."""
    made = _graph(rows if directed else once(rows), directed, vertices, math.fsum)
    size = len(vertices)
    if not size:
        return {}
    matrix = nx.to_numpy_array(made, sorted(vertices), weight="weight")
    out = matrix.sum(axis=1, keepdims=True)
    step = np.where(out > 0, matrix / np.where(out > 0, out, 1), 1 / size).T
    ranks = np.linalg.solve(np.eye(size) - 0.85 * step, np.full(size, 0.15 / size))
    return dict(zip(sorted(vertices), ranks.tolist(), strict=True))


COLUMNS = {
    degree: "degree",
    bfs: "distance",
    sssp: "distance",
    weakly_connected_components: "component",
    strongly_connected_components: "component",
    core_number: "core_number",
    triangle_count: "triangles",
    pagerank: "rank",
}
METHODS = {function.__name__: function for function in COLUMNS}
OF_SOURCE = {"bfs", "sssp"}
WEIGHTED = {"sssp", "pagerank"}
OPTIONS = {"pagerank": {"tolerance": 1e-12, "max_iterations": 2000}}


def answer(name, rows, directed, vertices, *source):
    """The value of every vertex, None where there is none."""
    found = METHODS[name](rows, directed, vertices, *source)
    return {v: found.get(v) for v in vertices}


def difference(name, found, wanted):
    """What is not as wanted in a frame that a method gave; None: nothing."""
    column = COLUMNS[METHODS[name]]
    keys, values = found["vertex"].tolist(), found[column].tolist()
    if sorted(wanted) != keys:
        return f"vertices {keys[:9]} instead of {sorted(wanted)[:9]}"
    for key, value in zip(keys, values, strict=True):
        value, right = None if pd.isna(value) else value, wanted[key]
        same = value == right
        if isinstance(value, float) and right is not None:
            same = math.isclose(value, right, rel_tol=1e-6, abs_tol=1e-9)
        if not same:
            return f"{column} of {key!r}: {value!r} instead of {right!r}"
    return None
