"""Names of a result's columns: the user's columns are kept, the method's give way or are chosen."""

import pandas as pd
import pytest
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors

PAIRS = pd.DataFrame({"country": ["it", "it"], "rank": [1, 2], "c": ["it", "fr"], "r": [2, 1]})
SEVERAL = {"source": ["country", "rank"], "destination": ["c", "r"]}
LEGS = pd.DataFrame({"src": ["a", "b"], "dst": ["b", "c"], "distance": [2.0, 3.0]})
PROGRAM = dg.VertexProgram(
    state={"vertex": dg.Field("int64", initial=1)},
    compute=lambda source_vertex: source_vertex,
    combine="max",
)


def whole(frame):
    return frame.compute().reset_index(drop=True) if hasattr(frame, "compute") else frame


def test_a_weight_that_is_called_as_the_length_of_a_path():
    wanted = LEGS.assign(shortest_path_distance=[2.0, 5.0])
    for edges in (LEGS, partitioned(LEGS, 2)):
        found = whole(edges.graph(weight="distance").shortest_path("a", "c"))
        pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
        assert list(found["shortest_path_distance"]) == [2.0, 5.0]
    found = LEGS.graph(weight="distance").shortest_path("a", "c", columns={"distance": "so_far"})
    assert list(found.columns) == ["src", "dst", "distance", "so_far"]


def test_ids_that_are_called_as_the_column_of_a_method():
    for edges in (PAIRS, partitioned(PAIRS, 2)):
        graph = edges.graph(**SEVERAL)
        found = whole(graph.pagerank())
        assert list(found.columns) == ["country", "rank", "pagerank_rank"]
        assert list(found["rank"]) == [1, 1, 2]
        assert found["pagerank_rank"].sum() == pytest.approx(1)
        assert list(graph.pagerank(columns={"rank": "score"}).columns) == [
            "country",
            "rank",
            "score",
        ]
        assert list(graph.degree().columns[:2]) == ["country", "rank"]


def test_on_ranks():
    graph = partitioned(PAIRS, 2).graph(ranks=2, **SEVERAL)
    found = graph.weakly_connected_components(columns={"component_rank": "cluster"})
    assert list(found.columns) == ["country", "rank", "component_country", "cluster"]
    assert list(whole(found).columns) == list(found.columns)
    found = partitioned(LEGS, 2).graph(weight="distance", ranks=2).shortest_path("a", "c")
    assert whole(found).to_dict("list") == {
        "src": ["a", "b"],
        "dst": ["b", "c"],
        "distance": [2.0, 3.0],
        "shortest_path_distance": [2.0, 5.0],
    }


def test_edges_whose_end_is_called_as_a_column():
    frame = pd.DataFrame({"from": [0, 1], "jaccard": [1, 2]})
    found = frame.graph(source="from", destination="jaccard").jaccard()
    assert found.to_dict("list") == {"from": [0], "jaccard": [2], "jaccard_jaccard": [1.0]}


def test_predecessors_and_sources_give_way_too():
    frame = pd.DataFrame({"distance": [0], "source_distance": [1], "c": [1], "d": [1]})
    graph = frame.graph(source=["distance", "source_distance"], destination=["c", "d"])
    found = graph.bfs([(0, 1)])
    assert list(found.columns) == [
        "bfs_source_distance",
        "source_source_distance",
        "distance",
        "source_distance",
        "bfs_distance",
    ]
    assert found["bfs_distance"].tolist() == [0, 1]


def test_the_vertex_has_another_name():
    found = whole(partitioned(LEGS, 2).graph().degree(columns={"vertex": "stop", "degree": "n"}))
    assert list(found.columns) == ["stop", "in_degree", "out_degree", "n"]
    assert found["stop"].tolist() == ["a", "b", "c"]


def test_a_field_that_is_called_vertex():
    found = LEGS.graph().run(PROGRAM)
    assert list(found.columns) == ["vertex", "run_vertex"]
    assert found["vertex"].tolist() == ["a", "b", "c"]
    found = LEGS.graph().run(PROGRAM, columns={"run_vertex": "level"})
    assert list(found.columns) == ["vertex", "level"]


def test_results_of_other_names_are_other_results():
    graph = partitioned(LEGS, 2).graph()
    names = {graph.degree()._name, graph.degree(columns={"degree": "n"})._name}
    assert len(names) == 2
    assert graph.degree(columns={"degree": "n"})._name in names


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"score": "rank"}, r"names 'score', .* pagerank makes; it makes \['vertex', 'rank'\]"),
        ({"rank": 1}, r"columns\['rank'\]=1; allowed is the new name"),
        ({"rank": ""}, r"columns\['rank'\]=''; allowed"),
        ({1: "rank"}, r"columns=\{1: 'rank'\}; give a dict of names to names"),
        ("score", "columns='score'; give a dict"),
        ({"rank": "vertex"}, r"two columns named 'vertex': .* with columns=\{'vertex': \.\.\.\}"),
    ],
)
def test_names_that_cannot_be(columns, match):
    with pytest.raises(errors.InvalidArgument, match=match):
        partitioned(LEGS, 2).graph().pagerank(columns=columns)


def test_names_that_meet_columns_of_the_user():
    with pytest.raises(
        errors.InvalidArgument, match=r"named 'rank': give pagerank's .* columns=\{'rank': \.\.\.\}"
    ):
        PAIRS.graph(**SEVERAL).pagerank(columns={"rank": "rank"})
    both = pd.DataFrame({"rank": [1], "pagerank_rank": [2], "a": [2], "b": [2]})
    graph = both.graph(source=["rank", "pagerank_rank"], destination=["a", "b"])
    with pytest.raises(errors.InvalidArgument, match=r"named 'pagerank_rank': give pagerank's own"):
        graph.pagerank()
    assert list(graph.pagerank(columns={"rank": "x"}).columns) == ["rank", "pagerank_rank", "x"]
    with pytest.raises(errors.InvalidArgument, match=r"two columns of the edge frame named 'a'"):
        both.graph(source="a", destination="a").k_core(0)
