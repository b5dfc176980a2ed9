"""Frames that make no graph get an error that says what is wrong, where, and what to do."""

from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from strategies import partitioned

from dask_graphgpu import errors

GOOD = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0], "weight": [1.0, 2.0, 3.0, 4.0]})


def with_bad(column, row, value, dtype=None):
    """The good edges with one bad value."""
    frame = GOOD.astype({column: dtype}) if dtype else GOOD.copy()
    frame.loc[row, column] = value
    return frame


def as_declared(parts):
    """A Dask frame that declares the good edges' types, whatever its partitions are."""
    return dd.from_map(lambda i: parts[i], [0, 1], meta=GOOD.iloc[:0], enforce_metadata=False)


# Columns


def test_no_default_columns():
    frame = GOOD.rename(columns={"src": "von", "dst": "nach"})
    for given in (frame, partitioned(frame, 2)):
        with pytest.raises(
            errors.InvalidEdges, match=r"'src' and 'dst'.*it has \['von', 'nach', 'weight'\]"
        ):
            given.graph.bfs(0)


@pytest.mark.parametrize(
    "options",
    [
        {"source": "from", "destination": "dst"},
        {"source": "src", "destination": "from"},
        {"weight": "from"},
        {"source": ["src", "from"], "destination": ["dst", "src"]},
    ],
)
def test_a_missing_column(options):
    for given in (GOOD, partitioned(GOOD, 2)):
        with pytest.raises(
            errors.InvalidEdges, match=r"no column 'from'; it has \['src', 'dst', 'weight'\]"
        ):
            given.graph(**options)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"source": "src"}, "both source= and destination="),
        ({"source": ["src"], "destination": ["dst", "src"]}, "1 columns and destination= 2"),
        ({"source": [], "destination": []}, "0 columns"),
        ({"weight": "label"}, "'label' is of type .*; weights are integers or floats"),
        ({"source": "label", "destination": "dst"}, "mix the id types"),
    ],
)
def test_columns_that_make_no_graph(options, match):
    frame = GOOD.assign(label=["a", "b", "c", "d"])
    for given in (frame, partitioned(frame, 2)):
        with pytest.raises(errors.InvalidEdges, match=match):
            given.graph(**options)


@pytest.mark.parametrize("source", [0, ("a", 1), [0], None, {"src"}])
def test_names_that_are_no_strings(source):
    with pytest.raises(
        errors.InvalidEdges, match="names no column: give a string or a list of them"
    ):
        GOOD.graph(source=source, destination="dst")


@pytest.mark.parametrize("lazy", [False, True])
def test_columns_whose_names_are_no_text(lazy):
    """As `groupby(...).agg(...)` and frames of arrays have them: they cannot be named as they are shown."""
    levels = pd.DataFrame(
        [[0, 1, 2.0]], columns=pd.MultiIndex.from_product([["src", "dst", "w"], [""]])
    )
    numbers = pd.DataFrame([[0, 1, 2.0]])
    for frame, here, words in (
        (levels, r"\('src', ''\), .*", "set others first, as frame.columns = "),
        (numbers, "0, 1, 2", r"renamed first, with \.rename\(columns=str\)"),
    ):
        given = dd.from_pandas(frame, npartitions=1) if lazy else frame
        for options in ({}, {"source": "0", "destination": "1"}):
            with pytest.raises(errors.InvalidEdges, match=rf"it has \[{here}\].*{words}"):
                given.graph(**options)


def test_a_column_that_is_there_twice():
    frame = pd.DataFrame([[0, 1, 2]], columns=["src", "dst", "dst"])
    with pytest.raises(errors.InvalidEdges, match="2 columns named 'dst'; rename"):
        frame.graph()


@pytest.mark.parametrize("call", ["clusters", "initial", "start"])
@pytest.mark.parametrize("lazy", [False, True])
def test_columns_of_an_argument_that_are_there_twice_or_have_no_text(call, lazy):
    def method(frame):
        frame = dd.from_pandas(frame, npartitions=1) if lazy else frame
        graph = GOOD.graph()
        if call == "clusters":
            return graph.cluster_metrics(frame)
        return graph.louvain(initial=frame) if call == "initial" else graph.pagerank(start=frame)

    with pytest.raises(errors.InvalidArgument, match="the column 0, whose name is no text"):
        method(pd.DataFrame([[0, 1]], columns=["vertex", 0]))
    with pytest.raises(
        errors.InvalidArgument, match=r"2 columns named 'label'|one column of values"
    ):
        method(pd.DataFrame([[0, 1, 2]], columns=["vertex", "label", "label"]))


@pytest.mark.parametrize(
    "weight", [["a", "b"], "heavy", Decimal("1.50"), True, pd.Timestamp(0), pd.Timedelta(1)]
)
@pytest.mark.parametrize("lazy", [False, True])
def test_weights_that_are_no_numbers(weight, lazy):
    """They are judged by what reads them, or where they are named."""
    frame = GOOD.assign(weight=[weight] * 4)
    given = partitioned(frame, 2) if lazy else frame
    for call in ("degree", "weakly_connected_components", "core_number"):
        (found,) = dask.compute(getattr(given.graph, call)())
        wanted = getattr(GOOD.graph, call)()
        pd.testing.assert_frame_equal(found.reset_index(drop=True), wanted)
    message = r"weight column 'weight' is of type .*: cast the column first, or .*weight=None"
    for call in (
        lambda: given.graph.pagerank(),
        lambda: given.graph.sssp(0),
        lambda: given.graph.k_core(1),
        lambda: given.graph(directed=False).pagerank(weighted=False),
        lambda: given.graph.persist().sssp(0),
        lambda: given.graph(weight="weight"),
    ):
        with pytest.raises(errors.InvalidEdges, match=message):
            call()
    (found,) = dask.compute(given.graph(weight=None).pagerank())
    assert found["rank"].sum() == pytest.approx(1)


@pytest.mark.parametrize("bad", [-3.0, np.nan, np.inf])
@pytest.mark.parametrize(
    "call",
    [
        lambda g: g().sssp(0),
        lambda g: g().pagerank(),
        lambda g: g(duplicates="min").k_core(2),
        lambda g: g(directed=False).louvain(),
    ],
)
def test_errors_about_weights_say_how_to_leave_them_out(call, bad):
    with pytest.raises(errors.InvalidEdges, match="or leave weights out, with weight=None"):
        call(with_bad("weight", 2, bad).graph)


# Values


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        (with_bad("src", 3, pd.NA, "Int64"), r"id column 'src' has 1 nulls in partition 1; drop"),
        (with_bad("dst", 0, None, pd.ArrowDtype(pa.int64())), "'dst' has 1 nulls in partition 0"),
        (
            with_bad("weight", 2, np.nan),
            r"'weight' has 1 nulls or NaN in partition 1; fill or drop",
        ),
        (with_bad("weight", 2, pd.NA, "Float64"), "'weight' has 1 nulls or NaN in partition 1"),
        (with_bad("weight", 1, np.inf), "'weight' has 1 infinite weights in partition 0"),
        (with_bad("weight", 1, -np.inf), "'weight' has 1 infinite weights in partition 0"),
        (with_bad("weight", 3, -1e-300), "'weight' has 1 negative weights in partition 1"),
        (with_bad("weight", 3, -1, "int8"), "'weight' has 1 negative weights in partition 1"),
        (with_bad("weight", 0, 2**63, "uint64"), r"'weight' has 1 2\*\*63 or larger weights"),
    ],
    ids=lambda bad: None if isinstance(bad, str) else "",
)
def test_bad_values(bad, match):
    with pytest.raises(errors.InvalidEdges, match=match):
        partitioned(bad, 2).graph.sssp(0).compute()
    with pytest.raises(errors.InvalidEdges, match=match.replace("partition 1", "partition 0")):
        bad.graph.sssp(0)


def test_null_strings():
    frame = pd.DataFrame({"src": ["a", None, None], "dst": ["b", "c", "d"]})
    for given in (frame, frame.astype("category"), frame.astype(object)):
        with pytest.raises(errors.InvalidEdges, match="id column 'src' has 2 nulls in partition 0"):
            given.graph.bfs("a")
    with pytest.raises(errors.InvalidEdges, match=r"id column 'src' has 1 nulls in partition [12]"):
        partitioned(frame, 3).graph.bfs("a").compute()


def test_bad_weights_do_not_matter_where_weights_are_not_read():
    frame = with_bad("weight", 2, np.nan)
    assert frame.graph.bfs(0)["distance"].tolist() == [0, 1, 2, 3]
    assert frame.graph(weight=None).pagerank()["rank"].sum() == pytest.approx(1)
    with pytest.raises(errors.InvalidEdges, match="nulls or NaN"):
        frame.graph.pagerank()


def test_vertices_without_any_edge_are_a_graph():
    graph = partitioned(GOOD.iloc[:0], 2).graph(vertices=pd.DataFrame({"vertex": [3, 4]}))
    assert graph.bfs(3).compute()["distance"].tolist() == [0, pd.NA]
    assert graph.sssp(4).compute()["distance"].tolist() == [pd.NA, 0]
    assert graph.pagerank().compute()["rank"].tolist() == [0.5, 0.5]
    assert graph.core_number().compute()["core_number"].tolist() == [0, 0]
    assert graph.weakly_connected_components().compute()["component"].tolist() == [3, 4]
    assert graph.degree().compute()["degree"].tolist() == [0, 0]
    assert len(graph.k_core(0).compute()) == 0


@pytest.mark.parametrize(("column", "dtype"), [("src", "str"), ("weight", "bool")])
def test_partitions_of_another_kind_than_declared(column, dtype):
    frame = as_declared([GOOD, GOOD.astype({column: dtype})])
    declared = GOOD[column].dtype
    with pytest.raises(
        errors.InvalidEdges,
        match=rf"'{column}' is .* in partition 1 but the frame declares {declared}",
    ):
        frame.graph.sssp(0).compute()


@pytest.mark.parametrize(
    ("column", "dtype"),
    [("src", "int32"), ("src", "Int8"), ("dst", "uint64"), ("weight", "int64"), ("weight", "f4")],
)
def test_partitions_whose_numbers_fit_the_declared_type(column, dtype):
    frame = as_declared([GOOD, GOOD.astype({column: dtype})])
    found = frame.graph.sssp(0).compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(found, GOOD.graph.sssp(0))


@pytest.mark.parametrize(
    ("declared", "column", "values"),
    [
        ({"src": "int32"}, "src", [0, 1, 2, 2**31]),
        ({"dst": "uint8"}, "dst", [0, 1, 2, -1]),
        ({"src": "int64"}, "src", np.array([0, 1, 2, 2**63], "uint64")),
        ({"weight": "int64"}, "weight", [0.5, 1, 2, 3]),
        ({"weight": "float32"}, "weight", [0.1, 1, 2, 3]),
        ({"weight": "float64"}, "weight", [2**53 + 1, 1, 2, 3]),
    ],
)
def test_partitions_whose_numbers_do_not_fit_the_declared_type(declared, column, values):
    meta = GOOD.iloc[:0].astype(declared)
    parts = [GOOD.astype(declared), GOOD.assign(**{column: values})]
    frame = dd.from_map(lambda i: parts[i], [0, 1], meta=meta, enforce_metadata=False)
    given = parts[1][column].dtype
    kind = "double" if given == "float64" else str(given)
    with pytest.raises(
        errors.InvalidEdges,
        match=rf"'{column}' is {kind} in partition 1 .* does not hold .*astype\({{'{column}'",
    ):
        frame.graph.sssp(0).compute()


def test_a_partition_without_a_column():
    parts = [GOOD, GOOD.drop(columns="dst")]
    frame = as_declared(parts)
    with pytest.raises((errors.InvalidEdges, KeyError), match="dst"):
        frame.graph.bfs(0).compute()


# Vertices


@pytest.mark.parametrize(
    ("vertices", "match"),
    [
        (pd.DataFrame({"name": [1]}), r"no id column .*it has \['name'\]"),
        (pd.DataFrame({"vertex": ["a"]}), "mix the id types"),
        (pd.DataFrame({"vertex": [0.5]}), "use integers or strings"),
        ([0, 1], "is a list; give a DataFrame of Dask, pandas, cuDF or polars"),
        (pd.Series([0, 1], name="vertex"), "is a Series"),
    ],
)
def test_vertices_frames_that_do_not_fit(vertices, match):
    with pytest.raises((errors.InvalidVertices, errors.InvalidEdges), match=match):
        GOOD.graph(vertices=vertices)


def test_nulls_in_a_vertices_frame():
    vertices = pd.DataFrame({"vertex": pd.array([0, None], "Int64")})
    with pytest.raises(
        errors.InvalidVertices, match="vertices frame: id column 'vertex' has 1 nulls"
    ):
        GOOD.graph(vertices=vertices).degree()


@pytest.mark.parametrize("lazy", [True, False])
def test_nulls_in_a_frame_that_is_an_argument(lazy):
    pairs = pd.DataFrame({"src": pd.array([0, None], "Int64"), "dst": [1, 2]})
    given = partitioned(pairs, 1) if lazy else pairs
    with pytest.raises(
        errors.InvalidVertices, match=r"^pairs: id column 'src' has 1 nulls in partition 0; drop"
    ):
        dask.compute(GOOD.graph().jaccard(given))
    values = pd.DataFrame({"vertex": [0], "value": ["much"]})
    with pytest.raises(errors.InvalidVertices, match=r"^column 'value' of personalization is of"):
        GOOD.graph().pagerank(personalization=values)


def test_a_distance_that_overflows():
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "weight": [2**62, 2**62, 1]})
    with pytest.raises(errors.IntegerOverflow, match="float"):
        frame.graph.sssp(0)
    assert frame.graph.sssp(1)["distance"].tolist() == [pd.NA, 0, 2**62, 2**62 + 1]
    top = frame.assign(weight=[2**62, 2**62 - 1, 0])
    assert top.graph.sssp(0)["distance"].tolist() == [0, 2**62, 2**63 - 1, 2**63 - 1]
    detour = pd.DataFrame({"src": [0, 1, 0], "dst": [1, 2, 2], "weight": [2**62, 2**62, 2**63 - 1]})
    with pytest.raises(errors.IntegerOverflow, match="float"):
        detour.graph.sssp(0)


def test_the_frame_is_left_as_it_was():
    """A refused frame is not changed, and a good call after it works."""
    frame = with_bad("weight", 2, np.nan)
    before = frame.copy()
    with pytest.raises(errors.InvalidEdges):
        frame.graph.sssp(0)
    pd.testing.assert_frame_equal(frame, before)
    assert frame.fillna(1.0).graph.sssp(0)["distance"].tolist() == [0.0, 1.0, 3.0, 4.0]


def test_a_dictionary_that_holds_a_null():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", None]))
    src = pd.Series(pd.arrays.ArrowExtensionArray(column))
    with pytest.raises(errors.InvalidEdges, match="id column 'src' has 1 nulls in partition 0"):
        pd.DataFrame({"src": src, "dst": ["b", "c"]}).graph.bfs("a")
