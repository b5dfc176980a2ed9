"""One-to-one links against repeated mutual best links, stable matchings and the largest sums."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import skewed, sparse
from scipy.optimize import linear_sum_assignment
from strategies import KINDS, edge_lists

import dask_graphgpu as dg


def mutual_best(links):
    """Links that are the best of both ends, taken again and again: (end, end, score) by any ends."""
    links, taken = sorted(links, key=lambda link: (-link[2], *link[:2])), set()
    while links:
        best = {}
        for link in links:
            for end in link[:2]:
                best.setdefault(end, link)
        mutual = {link for link in links if best[link[0]] == best[link[1]] == link}
        taken |= mutual
        gone = {end for link in mutual for end in link[:2]}
        links = [link for link in links if not gone & set(link[:2])]
    return taken


def ends_of(graph, ends, directed):
    """What the two ends of a row are; of an undirected graph the smaller one first."""
    u, v = (graph.rank[end] for end in ends)
    return (("left", u), ("right", v)) if directed else ((min(u, v),), (max(u, v),))


@given(
    graph=edge_lists(weights=["int64", "uint8", "float64"], kinds=KINDS),
    order=st.sampled_from(["input", "degree"]),
    ranks=st.sampled_from([1, 1, 2, 3]),
)
def test_mutual_best_links_again_and_again(graph, order, ranks):
    found = graph.graph(order=order, ranks=ranks).best_links().compute()
    assert found.columns.tolist() == ["src", "dst", "weight"]
    scores = {}
    for u, v, w in graph.edges:
        ends = ends_of(graph, (u, v), graph.directed)
        if ends[0] != ends[1]:
            scores[ends] = max(w, scores.get(ends, w))
    wanted = mutual_best({(*ends, w) for ends, w in scores.items()})
    place = {each: v for v, each in enumerate(graph.ids)}
    rows = [
        (*ends_of(graph, (place[u], place[v]), graph.directed), w)
        for u, v, w in found.itertuples(index=False)
    ]
    assert rows == sorted(wanted)


@pytest.mark.parametrize("directed", [True, False])
def test_every_place_with_room(memory_place, directed):
    def links(graph):
        return graph.best_links()

    for found in memory_place.same(links, directed=directed):
        assert found["src"].is_unique
        assert found["dst"].is_unique
        assert directed or not set(found["src"]) & set(found["dst"])


@pytest.mark.parametrize("directed", [True, False])
def test_rows_on_disk(rows_place, directed):
    """Many links of the same weight as well, of which vertices displace each other's; repeats that stay."""
    frames = [skewed, sparse, lambda: skewed().assign(weight=skewed()["src"] % 2)]
    rows_place.same(lambda graph: graph.best_links(), frames=frames, directed=directed)
    rows_place.same(
        lambda graph: graph.best_links(), frames=frames[:1], directed=directed, duplicates="keep"
    )


@pytest.mark.parametrize("kind", ["uint8", "int64", "uint64", "float32"])
def test_small_graphs(memory_place, kind):
    memory_place.same_small(lambda graph: graph.best_links(), kind=kind)


def test_stable_and_at_least_half_of_the_largest_sum():
    rng = np.random.default_rng(4)
    for n in (5, 30, 80):
        score = rng.permutation(n * n).reshape(n, n)
        left, right = np.divmod(np.arange(n * n), n)
        frame = pd.DataFrame({"left": left, "right": right, "score": score.ravel()})
        graph = frame.graph(source="left", destination="right", weight="score")
        found = graph.best_links()
        assert len(found) == n
        rows, columns = linear_sum_assignment(score, maximize=True)
        assert 2 * found["score"].sum() >= score[rows, columns].sum()
        mine = found.set_index("left")["score"].reindex(range(n)).to_numpy()
        theirs = found.set_index("right")["score"].reindex(range(n)).to_numpy()
        assert not ((score > mine[:, None]) & (score > theirs[None, :])).any()


def test_one_id_in_both_tables_is_two_records():
    frame = pd.DataFrame(
        [(1, 1, 0.9), (1, 2, 0.8), (2, 1, 0.7), (2, 2, 0.1)], columns=["a", "b", "s"]
    )
    names = {"source": "a", "destination": "b", "weight": "s"}
    assert frame.graph(**names).best_links().to_numpy().tolist() == [[1, 1, 0.9], [2, 2, 0.1]]
    one = frame.graph(**names, directed=False).best_links()
    assert one.to_numpy().tolist() == [[1, 2, 0.8]]


def test_ties_go_to_smaller_ids_whatever_the_order_of_rows():
    frame = pd.DataFrame({"src": list("bbaa"), "dst": list("xyxy"), "weight": [1] * 4})
    for rows in (frame, frame[::-1], frame.sample(frac=1, random_state=2)):
        assert rows.graph().best_links()[["src", "dst"]].to_numpy().tolist() == [
            ["a", "x"],
            ["b", "y"],
        ]


def test_a_chain_of_ever_better_links():
    """Of which only the last is the best one of both of its ends."""
    n = 100_001
    frame = pd.DataFrame(
        {"src": np.arange(n - 1), "dst": np.arange(1, n), "weight": np.arange(n - 1)}
    )
    found = frame.graph(directed=False).best_links()
    assert found["src"].tolist() == list(range(1, n - 1, 2))


def test_weights_are_needed():
    with pytest.raises(dg.errors.InvalidArgument, match="best_links needs weights"):
        pd.DataFrame({"src": [1], "dst": [2]}).graph().best_links()
    none = pd.DataFrame({"src": [1], "dst": [2], "weight": [0.5]}).iloc[:0]
    assert none.graph().best_links().columns.tolist() == ["src", "dst", "weight"]
