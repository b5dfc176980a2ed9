"""Columns of types that are rare in frames of edges: taken as what they are, or refused with a way out."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pytest
from strategies import partitioned

from dask_graphgpu import Field, VertexProgram, errors

EDGES = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 2], "weight": [1.5, 2.5, 3.5, 0.0]})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.arrays.SparseArray([0.0, 0.0, 1.0, 0.0]), r"Sparse\[float64"),
        (np.ones(4, np.longdouble), "float128|longdouble"),
        (pd.Categorical([1, 2, 3, 4]), "category"),
        (pd.array([1, 2, 3, 4], pd.ArrowDtype(pa.decimal128(9))), "decimal128"),
    ],
    ids=["sparse", "long double", "category", "decimal"],
)
def test_numbers_that_no_kernel_takes(values, kind):
    odd = EDGES.assign(weight=values)
    with pytest.raises(
        errors.InvalidEdges, match=rf"^weight column 'weight' is of type .*({kind}).*: cast"
    ):
        odd.graph().sssp(0)
    program = VertexProgram(
        state={"x": Field(dtype="float64", initial=1.0)},
        compute=lambda source_x, edge_cost: source_x * edge_cost,
        combine="sum",
    )
    carried = EDGES.assign(cost=values)
    with pytest.raises(errors.InvalidEdges, match=r"column 'cost' is of type .* numbers of"):
        carried.graph().run(program, max_supersteps=2)


@pytest.mark.parametrize("lazy", [False, True])
def test_integers_of_the_other_byte_order(lazy):
    odd = EDGES.astype({"src": ">i8", "dst": ">i4", "weight": ">f8"})
    given = partitioned(odd, 2) if lazy else odd
    found = given.graph().sssp(0, predecessor=True)
    found = found.compute().reset_index(drop=True) if lazy else found
    pd.testing.assert_frame_equal(found, EDGES.graph().sssp(0, predecessor=True))


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([2**70, 2], "too large"),
        ([2**63 + 1, 2], "too large"),
        (["a", "\ud800"], "surrogates not allowed"),
    ],
)
def test_objects_that_are_no_ids(ids, words):
    odd = pd.DataFrame({"src": pd.Series(ids, dtype=object), "dst": pd.Series(ids, dtype=object)})
    with pytest.raises(
        errors.InvalidEdges, match=rf"id column 'src' has objects in partition 0 .*{words}.*cast"
    ):
        odd.graph().degree()


def runs(values):
    return pa.compute.run_end_encode(pa.array(values))


def views(values):
    return pa.array(values).cast(pa.string_view())


@pytest.mark.parametrize(
    ("layout", "kind", "src", "dst"),
    [
        (views, pa.large_string(), ["a", "a", "b"], ["b", "c", "c"]),
        (runs, pa.int64(), [1, 1, 2], [2, 3, 3]),
    ],
)
def test_newer_layouts_of_arrow(layout, kind, src, dst):
    ids = {"src": layout(src), "dst": layout(dst)}
    odd = pd.DataFrame({name: pd.array(v, pd.ArrowDtype(v.type)) for name, v in ids.items()})
    found = odd.graph.degree()
    assert found["vertex"].dtype == pd.ArrowDtype(kind)
    wanted = pd.DataFrame({"src": src, "dst": dst}).graph.degree()
    assert found["vertex"].tolist() == wanted["vertex"].tolist()
    assert found["degree"].tolist() == wanted["degree"].tolist()


def test_views_of_strings_in_parquet(tmp_path):
    ids = pd.array(views("abc"), pd.ArrowDtype(pa.string_view()))
    pd.DataFrame({"src": ids, "dst": ids}).to_parquet(tmp_path / "edges.parquet")
    found = dd.read_parquet(tmp_path).graph.degree().compute()
    assert found["vertex"].tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("kind", ["runs", "dictionary"])
def test_weights_in_other_layouts(kind):
    values = runs([2, 2, 3]) if kind == "runs" else pa.array([2, 2, 3]).dictionary_encode()
    odd = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
    odd["weight"] = pd.array(values, pd.ArrowDtype(values.type))
    assert odd.graph.sssp(0)["distance"].tolist() == [0, 2, 4, 7]
    nulls = runs([2, None, 3])
    odd["weight"] = pd.array(nulls, pd.ArrowDtype(nulls.type))
    with pytest.raises(errors.InvalidEdges, match=r"'weight' has 1 nulls .*weight=None"):
        odd.graph.sssp(0)


def test_nulls_in_runs_of_ids():
    ids = runs([1, 1, None])
    odd = pd.DataFrame({"src": pd.array(ids, pd.ArrowDtype(ids.type)), "dst": [1, 2, 3]})
    with pytest.raises(errors.InvalidEdges, match="id column 'src' has 1 nulls in partition 0"):
        odd.graph.degree()


def test_text_that_is_not_utf8():
    raw = pa.array([b"a", b"\xff\xfe"], pa.large_binary())
    text = pa.Array.from_buffers(pa.large_string(), 2, raw.buffers())
    odd = pd.DataFrame({"src": pd.array(text, pd.ArrowDtype(text.type))})
    with pytest.raises(errors.InvalidEdges, match=r"damaged in partition 0 \(Invalid UTF8"):
        odd.assign(dst=odd["src"]).graph.degree()
    vertices = odd.rename(columns={"src": "vertex"})
    graph = pd.DataFrame({"src": ["a"], "dst": ["b"]}).graph(vertices=vertices)
    with pytest.raises(errors.InvalidVertices, match=r"the vertices frame: text .* is damaged"):
        graph.degree()


def test_codes_beyond_their_dictionary():
    codes = pa.array([0, 7], pa.int32())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["a"]), safe=False)
    odd = pd.DataFrame({"src": pd.array(column, pd.ArrowDtype(column.type)), "dst": ["a", "b"]})
    with pytest.raises(
        errors.InvalidEdges, match=r"'src' is damaged in partition 0 .*out of bounds"
    ):
        odd.graph.degree()


def test_ids_in_the_index():
    for given in (EDGES.set_index("src"), partitioned(EDGES.set_index("src"), 2)):
        with pytest.raises(errors.InvalidEdges, match=r"index \['src'\] is no column: use \.reset"):
            given.graph.bfs(0)
    values = pd.DataFrame({"p": [1.0]}, index=pd.Index([0], name="vertex"))
    with pytest.raises(errors.InvalidVertices, match=r"^personalization has no id .*\.reset_index"):
        EDGES.graph().pagerank(personalization=values)


@pytest.mark.parametrize(
    ("ids", "words"), [(["0"], "mix the id types int64"), ([0.5], "ids of type float64")]
)
def test_errors_name_the_frame_that_is_meant(ids, words):
    values = pd.DataFrame({"vertex": ids, "p": [1.0]})
    with pytest.raises(errors.InvalidVertices, match=rf"^personalization: .*{words}"):
        EDGES.graph().pagerank(personalization=values)
    with pytest.raises(errors.InvalidVertices, match=rf"^the vertices frame: .*{words}"):
        EDGES.graph(vertices=values)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ((0, 1), errors.UnknownVertex),
        ({0}, errors.InvalidArgument),
        (range(2), errors.InvalidArgument),
    ],
)
def test_several_vertices_that_are_no_list(source, error):
    with pytest.raises(error, match="several vertices are given as a list"):
        EDGES.graph().bfs(source)


def test_the_accessor_says_what_it_is():
    assert repr(EDGES.graph) == "<GraphAccessor of DataFrame: call it with columns and options>"
