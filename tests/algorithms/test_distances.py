"""Tables of distances against Dijkstra's search, from whichever end they are found."""

import oracles
import pandas as pd
import pytest
from engines import RANKS
from hypothesis import given
from hypothesis import strategies as st
from places import rows_of, skewed
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors

PAIRS = pd.DataFrame({"src": [1, 1], "dst": [2, 3], "weight": [4, 5]})


@given(
    graph=edge_lists(weights=[None, "int64", "float32"], kinds=KINDS),
    data=st.data(),
    weighted=st.booleans(),
    framed=st.booleans(),
    ranks=st.sampled_from([1, *RANKS]),
    order=st.sampled_from(["input", "degree"]),
)
def test_every_pair_in_the_order_asked(graph, data, weighted, framed, ranks, order):
    some = st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=6)
    sources, targets = data.draw(some), data.draw(some)
    weighted = weighted and graph.weight is not None

    def named(vertices):
        frame = pd.DataFrame({"vertex": graph.column(vertices)})
        return frame if framed else [graph.ids[v] for v in vertices]

    found = graph.graph(ranks=ranks, order=order).distances(
        named(sources), named(targets), weighted=None if weighted else False
    )
    edges = graph.edges if weighted else [edge[:2] for edge in graph.edges]
    found = found.compute() if hasattr(found, "compute") else found
    ends = [(s, t) for s in sources for t in targets]
    assert found["source"].tolist() == [graph.ids[s] for s, _ in ends]
    assert found["target"].tolist() == [graph.ids[t] for _, t in ends]
    far = {s: oracles.dijkstra(graph.n, edges, s, directed=graph.directed) for s in sources}
    for distance, (s, t) in zip(found["distance"].tolist(), ends, strict=True):
        if t not in far[s]:
            assert pd.isna(distance)
        else:  # floats may be added up from the other end
            assert distance == pytest.approx(far[s][t], rel=1e-12 if weighted else 0)


@pytest.mark.parametrize("weighted", [None, False])
def test_everywhere(programs_place, weighted):
    few, many = [3, 990, 5], list(range(0, 990, 9))
    programs_place.same(
        lambda g: g.distances(few, many, weighted=weighted),
        lambda g: g.distances(many, few[:2], weighted=weighted),
        frames=[skewed],
    )


def test_is_what_sssp_gives():
    edges = partitioned(PAIRS, 2)
    found = rows_of(edges.graph().distances([1], [2, 3]))
    wanted = rows_of(edges.graph().sssp([1], target=[2, 3]))
    assert found["distance"].tolist() == wanted["distance"].tolist() == [4, 5]
    found = PAIRS.graph().distances(1, [2, 3])
    assert found.to_dict("list") == {"source": [1, 1], "target": [2, 3], "distance": [4, 5]}


def test_ids_of_two_columns():
    edges = pd.DataFrame({"a": [1, 1], "b": ["x", "y"], "c": [1, 2], "d": ["y", "x"]})
    graph = edges.graph(source=["a", "b"], destination=["c", "d"])
    found = graph.distances([(1, "x")], [(2, "x"), (1, "x")])
    assert list(found.columns) == ["source_a", "source_b", "target_a", "target_b", "distance"]
    assert found["distance"].tolist() == [2, 0]


@pytest.mark.parametrize("ranks", [1, 2])
def test_refuses(ranks):
    graph = PAIRS.graph(ranks=ranks)
    with pytest.raises(errors.UnknownVertex, match="7"):
        graph.distances([1], [7])
    with pytest.raises(errors.UnknownVertex, match="7"):
        graph.distances(pd.DataFrame({"vertex": [1, 7]}), [2])
    for nothing in (None, []):
        with pytest.raises(errors.InvalidArgument, match="targets="):
            graph.distances([1], nothing)
    with pytest.raises(errors.InvalidArgument, match="needs weights"):
        PAIRS[["src", "dst"]].graph(ranks=ranks).distances([1], [2], weighted=True)
