"""Kinds of ids: every one gives the answers of the numbers behind it, in its own type."""

import dask
import numpy as np
import oracles
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KINDS, edge_lists, partitioned

from dask_graphgpu import errors

# 0 -> 1 -> 2 -> 3, 0 -> 2, 4 -> 4: vertex 2 has the highest degree.
EDGES = [(0, 1), (1, 2), (2, 3), (0, 2), (4, 4)]
HOPS = [0, 1, 1, 2, None]

IDS = {
    "int8": (np.arange(-2, 3), "int8"),
    "int32": ([-(2**31), -1, 0, 7, 2**31 - 1], "int32"),
    "int64": ([3, 4, 5, 6, 7], "int64"),
    "negative": ([-9, -7, -5, -3, -1], "int64"),
    "whole range": ([-(2**63), -1, 0, 1, 2**63 - 1], "int64"),
    "close to 2**63": (np.arange(2**63 - 6, 2**63 - 1), "int64"),
    "uint8": ([0, 100, 127, 128, 255], "uint8"),
    "uint64": ([0, 2**53, 2**53 + 1, 2**63, 2**64 - 1], "uint64"),
    "uint64, close": (2**63 - 3 + np.arange(5, dtype="uint64"), "uint64"),
    "uint64, top": (2**64 - 5 + np.arange(5, dtype="object"), "uint64"),
    "Int64": ([-(2**62), 2, 3, 4, 2**62], "Int64"),
    "UInt16": ([0, 1, 2, 3, 65535], "UInt16"),
    "arrow int32": ([-5, 2, 3, 4, 5], pd.ArrowDtype(pa.int32())),
    "arrow uint64": ([0, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1], pd.ArrowDtype(pa.uint64())),
    "str": (["", "a", "aa", "b", "ç"], "str"),
    "unicode": (["\x00", "zß", "Ω", "中文", "🦊"], "str"),
    "object": (["", "A", "a", "a ", "b"], "object"),
    "arrow string": (["", "a", "b", "c", "d"], pd.ArrowDtype(pa.string())),
    "arrow large string": (["", "a", "b", "c", "d"], pd.ArrowDtype(pa.large_string())),
    "categorical": (["", "a", "b", "c", "d"], "category"),
    "categorical numbers": ([1, 5, 9, 11, 2**40], "category"),
    "arrow dictionary": (
        ["", "a", "b", "c", "d"],
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
    ),
}


def edge_frame(ids, dtype):
    ends = zip(*EDGES, strict=True)
    columns = [pd.Series([ids[v] for v in end], dtype=dtype) for end in ends]
    return pd.DataFrame(dict(zip(["src", "dst"], columns, strict=True)))


def hops(frame):
    return [None if pd.isna(d) else d for d in frame["distance"]]


@pytest.mark.parametrize(("ids", "dtype"), IDS.values(), ids=IDS)
@pytest.mark.parametrize("parts", [None, 1, 3])
def test_kind(ids, dtype, parts):
    ids = list(ids)
    frame = edge_frame(ids, dtype)
    edges = frame if parts is None else partitioned(frame, parts)
    lazy = edges.graph.bfs(ids[0], predecessor=True)
    found = lazy if parts is None else lazy.compute()
    assert found["vertex"].tolist() == ids
    assert hops(found) == HOPS
    before = [None if pd.isna(p) else p for p in found["predecessor"]]
    assert before == [None, ids[0], ids[0], ids[2], None]
    component = edges.graph.weakly_connected_components()
    assert (component if parts is None else component.compute())["component"].tolist() == [
        *[ids[0]] * 4,
        ids[4],
    ]
    if parts is not None:
        pd.testing.assert_series_equal(found.dtypes, lazy.dtypes)
    wanted = edges["src"].dtype  # not that of `frame`: Dask has its own type for strings
    if isinstance(wanted, pd.CategoricalDtype):
        wanted = wanted.categories.dtype
    if wanted == pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())):
        wanted = pd.ArrowDtype(pa.string())
    assert found["vertex"].dtype == wanted
    again = found.rename(columns={"vertex": "src", "predecessor": "dst"})
    assert edges.graph.degree().columns.tolist() == ["vertex", "in_degree", "out_degree", "degree"]
    merged = again[["src"]].merge(frame, on="src")  # results join back to the user's frame
    assert len(merged) == len(EDGES)


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ("int32", "int64", "int64"),
        ("int8", "uint8", "int16"),
        ("uint32", "int8", "int64"),
        ("uint8", "uint64", "uint64"),
    ],
)
def test_columns_of_two_widths_have_the_type_that_holds_both(a, b, common):
    frame = pd.DataFrame({"src": np.array([0, 1], a), "dst": np.array([1, 100], b)})
    for edges in (frame, partitioned(frame, 2)):
        found = edges.graph.bfs(0)
        found = found.compute() if edges is not frame else found
        assert found["vertex"].dtype == common
        assert found["vertex"].tolist() == [0, 1, 100]
        assert found["distance"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("uint64", "int64"),
        ("int32", "uint64"),
        ("int64", "str"),
        ("str", "uint8"),
        ("Int64", "str"),
    ],
)
def test_columns_that_no_type_holds_both_of(a, b):
    frame = pd.DataFrame({"src": pd.Series([0, 1], dtype=a), "dst": pd.Series([1, 2], dtype=b)})
    for edges in (frame, partitioned(frame, 2)):
        with pytest.raises(errors.InvalidEdges, match=r"'src' and 'dst' mix the id types .*cast"):
            edges.graph(source="src", destination="dst")


def test_objects_that_mix_integers_and_strings():
    frame = pd.DataFrame({"src": [1, "a"], "dst": ["b", "c"]}, dtype=object)
    with pytest.raises(errors.InvalidEdges, match=r"'src' mixes types in partition 0.*cast"):
        frame.graph.bfs("a")


def test_objects_that_are_integers_here_and_strings_there():
    with dask.config.set({"dataframe.convert-string": False}):
        a = pd.DataFrame({"src": [1], "dst": [2]}, dtype=object)
        b = pd.DataFrame({"src": ["x"], "dst": ["y"]}, dtype=object)
        frame = partitioned(pd.concat([a, b]), 2)
        with pytest.raises(errors.InvalidEdges, match="partitions mix the id types"):
            frame.graph.degree().compute()


@pytest.mark.parametrize("dtype", ["float64", "Float64", "bool", "datetime64[ns]", "complex128"])
def test_types_that_are_no_ids(dtype):
    frame = pd.DataFrame({"src": [0, 1], "dst": [1, 0]}).astype(dtype)
    for edges in (frame, partitioned(frame, 2)):
        with pytest.raises(errors.InvalidEdges, match="use integers or strings"):
            edges.graph()


def several(ids):
    """Two id columns: a country and a number."""
    columns = {}
    for end, (country, number) in (("source", ("from", "from_no")), ("to", ("to", "to_no"))):
        vertices = [edge[end == "to"] for edge in EDGES]
        columns[country] = [ids[v][0] for v in vertices]
        columns[number] = [ids[v][1] for v in vertices]
    return pd.DataFrame(columns)


@pytest.mark.parametrize("parts", [None, 3])
@pytest.mark.parametrize(
    "ids",
    [
        [("", 1), ("", 2), ("a", -1), ("a", 1), ("b", 1)],
        [("a", -3), ("ab", -3), ("b", -3), ("b", 0), ("ç", -9)],
    ],
)
def test_several_columns(ids, parts):
    frame = several(ids)
    edges = frame if parts is None else partitioned(frame, parts)
    graph = edges.graph(source=["from", "from_no"], destination=["to", "to_no"])

    def computed(result):
        return result if parts is None else result.compute()

    found = computed(graph.bfs(ids[0], predecessor=True))
    assert found.columns.tolist() == [
        *["from", "from_no", "distance", "predecessor_from", "predecessor_from_no"]
    ]
    assert list(zip(found["from"], found["from_no"], strict=True)) == ids
    assert hops(found) == HOPS
    names = zip(found["predecessor_from"], found["predecessor_from_no"], strict=True)
    before = [None if pd.isna(a) else (a, b) for a, b in names]
    assert before == [None, ids[0], ids[0], ids[2], None]
    label = computed(graph.weakly_connected_components())
    assert label.columns.tolist() == ["from", "from_no", "component_from", "component_from_no"]
    both = zip(label["component_from"], label["component_from_no"], strict=True)
    assert list(both) == [ids[0]] * 4 + [ids[4]]
    two = computed(graph.bfs([ids[3], ids[0]], target=[ids[2]]))
    assert two.columns.tolist() == ["source_from", "source_from_no", "from", "from_no", "distance"]
    assert two["source_from_no"].tolist() == [ids[3][1], ids[0][1]]
    assert hops(two) == [None, 1]
    core = computed(graph.k_core(1))
    assert core.columns.tolist() == ["from", "from_no", "to", "to_no"]
    with pytest.raises(errors.UnknownVertex, match="not a vertex"):
        computed(graph.bfs(("a", 77)))
    with pytest.raises(errors.InvalidArgument, match="2 columns; give a tuple"):
        computed(graph.bfs("a"))


def test_three_columns_whose_codes_would_collide():
    rng = np.random.default_rng(5)
    ids = rng.integers(0, 4, (60, 6))
    frame = pd.DataFrame(ids, columns=["a", "b", "c", "d", "e", "f"])
    graph = partitioned(frame, 4).graph(source=["a", "b", "c"], destination=["d", "e", "f"])
    label = graph.weakly_connected_components().compute()
    number = ids[:, [0, 3]] * 16 + ids[:, [1, 4]] * 4 + ids[:, [2, 5]]
    flat = pd.DataFrame(number, columns=["src", "dst"]).graph.weakly_connected_components()
    assert (label["a"] * 16 + label["b"] * 4 + label["c"]).tolist() == flat["vertex"].tolist()
    joined = label["component_a"] * 16 + label["component_b"] * 4 + label["component_c"]
    assert joined.tolist() == flat["component"].tolist()


@pytest.mark.parametrize(
    "source",
    [1, np.int64(1), np.uint8(1), np.int32(1)],
    ids=lambda s: type(s).__name__,
)
def test_a_source_may_be_a_scalar_of_any_integer_type(source):
    frame = pd.DataFrame({"src": np.array([1, 2], "uint64"), "dst": np.array([2, 3], "uint64")})
    assert frame.graph.bfs(source)["distance"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "source", [7, -1, 2**64, 2**70, 1.0, 1.5, float("nan"), "1", b"1", True, pd.NA, (), {}]
)
def test_a_source_that_is_no_vertex(source):
    frame = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
    with pytest.raises(errors.GraphError, match=r"not a vertex|allowed is a vertex id"):
        frame.graph.bfs(source)


@pytest.mark.parametrize("source", [[1], np.array([1]), pd.Series([1]), pd.Index([1])])
def test_lists_of_one_source(source):
    found = pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).graph.bfs(source)
    assert found.columns.tolist() == ["source", "vertex", "distance"]
    assert found["source"].tolist() == [1, 1, 1]
    assert hops(found) == [None, 0, 1]


def test_a_repeated_source_has_its_rows_twice():
    found = pd.DataFrame({"src": [0], "dst": [1]}).graph.bfs([0, 0])
    assert found["source"].tolist() == [0, 0, 0, 0]
    assert found["vertex"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=8)
@given(data=st.data())
def test_order_and_width_of_dense_ids_do_not_show(kind, data):
    graph = data.draw(edge_lists(kinds=[kind]))
    order = data.draw(st.sampled_from(["auto", "input", "degree"]))
    with dask.config.set({"graphgpu.dense-id-bits": data.draw(st.sampled_from([None, 64]))}):
        built = graph.graph(order=order).persist()
        found = graph.answers(built.bfs(graph.ids[0]), "distance")
        component = graph.answers(built.weakly_connected_components(), "component")
        core = graph.answers(built.core_number(), "core_number")
    hops = oracles.bfs(graph.n, graph.edges, 0, directed=graph.directed)
    assert found == {v: hops.get(v) for v in range(graph.n)}
    smallest = oracles.components(graph.n, graph.edges, graph.rank)
    assert component == {v: graph.ids[smallest[v]] for v in range(graph.n)}
    assert core == dict(enumerate(oracles.core_numbers(graph.n, graph.edges)))
