"""Louvain and Leiden on many ranks against the same steps in plain Python, whoever owns what."""

import networkx as nx
import numpy as np
import pytest
from cut_graphs import Cut, cut
from hypothesis import given
from hypothesis import strategies as st
from made_graphs import rmat
from small_graphs import on_threads, small_graphs
from synchronous_louvain import leiden as leiden_in_python
from synchronous_louvain import louvain as louvain_in_python

from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.report import Report

IN_PYTHON = {"louvain": louvain_in_python, "leiden": leiden_in_python}


def found(parts, method, resolution=1.0, seed=0):
    """Labels by dense id, the same on all ranks, and the modularity."""
    more = {"iterations": 2} if method == "leiden" else {}

    def run(share):
        labels, value = getattr(ranks, method)(
            share, resolution, seed, **more, report=Report(method)
        )
        assert labels.dtype == share.numbers.dtype
        assert labels.shape == share.numbers.shape
        values.append(value)
        return labels

    values = []
    labels = parts.whole(parts.run(run))
    assert len(set(values)) == 1
    return parts.dense(labels).tolist(), values[0]


def arcs(view):
    """Edges of a view, each once."""
    source = np.repeat(np.arange(view.num_vertices), view.out.degrees).tolist()
    columns = [] if view.out.weight is None else [view.out.weight.tolist()]
    edges = zip(source, view.out.neighbours.tolist(), *columns, strict=True)
    return [edge for edge in edges if view.directed or edge[0] <= edge[1]]


@pytest.mark.parametrize("method", IN_PYTHON)
@given(
    graph=small_graphs((None, "uint8", "float32"), max_edges=60),
    resolution=st.sampled_from([0.3, 1.0, 2.5]),
    seed=st.integers(0, 5),
    size=st.integers(1, 5),
    data=st.data(),
)
def test_any_owners(method, graph, resolution, seed, size, data):
    edges = graph.edges
    if graph.weight:
        edges = [(u, v, int(w) % 8) for u, v, w in edges]
    graph = type(graph)(graph.n, edges, graph.directed, graph.weight, graph.rank, graph.ids)
    owner = data.draw(st.lists(st.integers(0, size - 1), min_size=graph.n, max_size=graph.n))
    parts = Cut(graph.view(), owner, size)
    with on_threads(data.draw(st.sampled_from([1, 3]))):
        labels, modularity = found(parts, method, resolution, seed)
    expected, wanted = IN_PYTHON[method](
        graph.n, edges, resolution=resolution, seed=seed, rank=graph.rank
    )
    assert labels == expected
    assert modularity == pytest.approx(wanted, abs=1e-15)


@pytest.mark.parametrize("method", IN_PYTHON)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_fractions(method, size):
    """Weights that are not whole are counted in units: the answer is the same on any number of ranks."""
    made = rmat(9, 8, directed=True)
    weight = np.random.default_rng(0).random(len(made.source))
    view = type(made)(made.n, made.source, made.destination, directed=True, weight=weight).view()
    labels, modularity = found(cut(view, size, "random", seed=size), method)
    assert (labels, modularity) == found(cut(view, 3, "blocks"), method)
    both = nx.Graph()
    both.add_nodes_from(range(made.n))
    for u, v, w in arcs(view):
        before = both.get_edge_data(u, v, {"weight": 0})["weight"]
        both.add_edge(u, v, weight=before + w)
    communities = {}
    for v, label in enumerate(labels):
        communities.setdefault(label, set()).add(v)
    expected = nx.community.modularity(both, communities.values())
    assert modularity == pytest.approx(expected, abs=1e-9)
    more = [2] if method == "leiden" else []
    alone = getattr(cpu, method)(view, 1.0, 0, *more, Report("one"))[1]
    assert modularity > alone - 0.01
