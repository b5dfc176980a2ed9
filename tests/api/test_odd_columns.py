"""Columns of types that are rare in frames of edges: taken as what they are, or refused with a way out."""

import numpy as np
import pandas as pd
import pyarrow as pa
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
        odd.graph()
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


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="this Arrow has no such type")
def test_views_of_strings_are_refused():
    column = pd.array(["a", "b"], pd.ArrowDtype(pa.string_view()))
    with pytest.raises(errors.InvalidEdges, match=r"ids of type string_view\[pyarrow\] are not"):
        pd.DataFrame({"src": column, "dst": column}).graph()


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


@pytest.mark.parametrize("source", [(0, 1), {0}, range(2)])
def test_several_vertices_that_are_no_list(source):
    with pytest.raises(errors.UnknownVertex, match="several vertices are given as a list"):
        EDGES.graph().bfs(source)


def test_the_accessor_says_what_it_is():
    assert repr(EDGES.graph) == "<GraphAccessor of DataFrame: call it with columns and options>"
