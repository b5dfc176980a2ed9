"""Bad input gets an error that says what is wrong, where, and what to do."""

from decimal import Decimal

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from strategies import partitioned

import dask_graphgpu as dg
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


def test_a_column_that_is_there_twice():
    frame = pd.DataFrame([[0, 1, 2]], columns=["src", "dst", "dst"])
    with pytest.raises(errors.InvalidEdges, match="2 columns named 'dst'; rename"):
        frame.graph()


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


@pytest.mark.parametrize("source", [9, -1, "0", 1.0, None, True])
def test_a_source_that_is_no_vertex(source):
    for given in (GOOD, partitioned(GOOD, 2)):
        with pytest.raises(errors.GraphError) as raised:
            dask.compute(given.graph.bfs(source))
        assert isinstance(raised.value, errors.InvalidArgument if source is None else LookupError)
        assert repr(source) in str(raised.value)
        with pytest.raises(errors.UnknownVertex, match=r"9 is not a vertex of this graph .4 vert"):
            dask.compute(given.graph.sssp([0, 9]))
        with pytest.raises(errors.UnknownVertex, match="9 is not a vertex"):
            dask.compute(given.graph.bfs(0, target=[1, 9]))


@pytest.mark.parametrize(
    ("vertices", "match"),
    [
        (pd.DataFrame({"name": [1]}), r"no id column .*it has \['name'\]"),
        (pd.DataFrame({"vertex": ["a"]}), "mix the id types"),
        (pd.DataFrame({"vertex": [0.5]}), "use integers or strings"),
        ([0, 1], "is a list; give a Dask, pandas or cuDF DataFrame"),
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


# Arguments


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda g: g.bfs([]), r"source=\[\]; give at least one"),
        (lambda g: g.bfs(0, target=[]), r"target=\[\]"),
        (lambda g: g.bfs(0, cutoff=-1), "cutoff=-1; allowed is a number of at least 0"),
        (lambda g: g.bfs(0, cutoff="1"), "cutoff='1'"),
        (lambda g: g.sssp(0, cutoff=float("nan")), "cutoff=nan"),
        (
            lambda g: g.pagerank(damping=1),
            "damping=1; allowed is a number of at least 0 and below 1",
        ),
        (lambda g: g.pagerank(damping=-0.1), "damping=-0.1"),
        (lambda g: g.pagerank(damping=float("nan")), "damping=nan"),
        (lambda g: g.pagerank(damping="0.85"), "damping='0.85'; allowed is a number"),
        (
            lambda g: g.pagerank(tolerance=-1e-9),
            "tolerance=-1e-09; allowed is a number of at least 0",
        ),
        (lambda g: g.pagerank(max_iterations=0), "max_iterations=0"),
        (lambda g: g.pagerank(max_iterations=2.5), "max_iterations=2.5"),
        (lambda g: g.pagerank(max_iterations=float("inf")), "max_iterations=inf"),
        (lambda g: g.pagerank(max_iterations=float("nan")), "max_iterations=nan"),
        (lambda g: g.pagerank(tolerance=float("nan")), "tolerance=nan"),
        (lambda g: g.pagerank(tolerance=10**400), r"tolerance=10+\.\.\.; allowed is a number"),
        (
            lambda g: g.hits(max_iterations=10**400),
            r"max_iterations=10+\.\.\.; allowed is a whole number",
        ),
        (
            lambda g: g.louvain(resolution=10**400),
            r"resolution=10+\.\.\.; allowed is a finite number",
        ),
        (
            lambda g: g.heat_simulation(1, step=10**400),
            r"step=10+\.\.\.; allowed is a positive number",
        ),
        (lambda g: g.heat_simulation(10**400), r"initial=10+\.\.\.; allowed is a finite number"),
        (
            lambda g: g.pagerank(dtype="float16"),
            "dtype='float16'; allowed are 'float64', 'float32'",
        ),
        (lambda g: g.pagerank(personalization={0: 1}), "personalization is a dict; give a frame"),
        (lambda g: g.pagerank(personalization=pd.Series([1.0])), "personalization is a Series"),
        (lambda g: g.k_core(-1), "k=-1; allowed is a whole number of at least 0"),
        (lambda g: g.k_core(1.5), "k=1.5"),
        (lambda g: g.k_core(True), "k=True"),
        (lambda g: g.k_core("2"), "k='2'"),
        (lambda g: g.bfs(0, predecessor="no"), "predecessor='no'; allowed are True, False$"),
        (lambda g: g.pagerank(weighted=pd.NA), "weighted=<NA>; allowed are True, False, None"),
        (lambda g: g.betweenness_centrality(endpoints=None), "endpoints=None; allowed are True"),
        (lambda g: g.run(print), "run takes a VertexProgram, not builtin"),
    ],
)
def test_arguments_out_of_range_are_refused_when_the_method_is_called(call, match):
    with pytest.raises(errors.InvalidArgument, match=match):
        call(partitioned(GOOD, 2).graph())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"duplicates": "mean"}, "duplicates='mean'; allowed are 'auto', 'min'"),
        ({"order": "random"}, "order='random'; allowed are"),
        ({"directed": "no"}, "directed='no'; allowed are True, False"),
        ({"engine": "cuda"}, "engine='cuda'; allowed are"),
        ({"ranks": 0}, "ranks=0; allowed are 'auto'"),
    ],
)
def test_options_out_of_range(options, match):
    with pytest.raises(errors.InvalidArgument, match=match):
        GOOD.graph(**options)


def test_more_ranks_than_threads_that_a_process_may_have():
    with pytest.raises(errors.InvalidArgument, match=r"ranks=1000000, .* allowed are up to 256"):
        GOOD.graph(ranks=10**6).bfs(0)


def test_flags_of_numpy():
    found = GOOD.graph().bfs(0, predecessor=np.bool_(True))
    assert "predecessor" in found.columns


def test_weights_are_needed_for_paths():
    with pytest.raises(errors.InvalidArgument, match=r"sssp needs weights.*weight=.*use bfs"):
        GOOD.graph(weight=None).sssp(0)
    with pytest.raises(errors.InvalidArgument, match="needs weights"):
        GOOD.graph(weight=None).pagerank(weighted=True)


def test_an_unknown_method():
    with pytest.raises(
        AttributeError, match=r"no graph method 'shortest'; there are .*, pagerank, "
    ):
        GOOD.graph.shortest  # noqa: B018


PERSONAL = {
    "not vertices": ({"vertex": [0, 9, 10], "p": [1, 1, 1]}, "2 of its ids.*the first is 9"),
    "negative": ({"vertex": [0, 1], "p": [1, -1]}, "from -1"),
    "all zero": ({"vertex": [0, 1], "p": [0, 0]}, "not all 0"),
    "no values": ({"vertex": [0, 1]}, "one column of values"),
    "two columns": ({"vertex": [0], "p": [1], "q": [1]}, "one column of values"),
    "no ids": ({"v": [0], "p": [1]}, "no id column"),
    "infinite": ({"vertex": [0], "p": [np.inf]}, "sum inf"),
    "not numbers": ({"vertex": [0], "p": ["x"]}, "numbers only"),
    "null": ({"vertex": [0, 1], "p": [1.0, np.nan]}, "null|no value"),
    "rows": ({"vertex": np.array([], int), "p": np.array([])}, "not all 0"),
}


@pytest.mark.parametrize(("columns", "match"), PERSONAL.values(), ids=PERSONAL)
def test_personalizations_that_do_not_fit(columns, match):
    frame = pd.DataFrame(columns)
    with pytest.raises(errors.GraphError, match=match):
        GOOD.graph.pagerank(personalization=frame)
    with pytest.raises(errors.GraphError, match=match):
        partitioned(GOOD, 2).graph.pagerank(personalization=frame).compute()


def test_not_converged_gives_the_residual():
    path = pd.DataFrame({"src": range(9), "dst": range(1, 10)})
    with pytest.raises(errors.NotConverged, match=r"3.*residual.*0\.\d"):
        path.graph.pagerank(max_iterations=3)
    found = path.graph.pagerank(max_iterations=3, tolerance=0)
    assert found["rank"].sum() == pytest.approx(1)


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


# Files


@pytest.fixture
def files(tmp_path):
    """A folder of three Parquet files."""
    for i in range(3):
        edges = GOOD.assign(src=GOOD["src"] + 4 * i, dst=GOOD["dst"] + 4 * i)
        edges = pd.concat([edges] * 500, ignore_index=True)
        pq.write_table(pa.Table.from_pandas(edges), tmp_path / f"part-{i}.parquet")
    return tmp_path


def test_a_truncated_file(files):
    bad = files / "part-1.parquet"
    frame = dd.read_parquet(files)
    bad.write_bytes(bad.read_bytes()[:-100])
    with pytest.raises(
        errors.UnreadableParquet, match=r"part-1\.parquet.*not a complete Parquet file"
    ):
        frame.graph.bfs(0).compute()


def test_a_damaged_file(files):
    bad = files / "part-2.parquet"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])  # the footer is well
    with pytest.raises(
        errors.UnreadableParquet, match=r"row group 0 of .*part-2\.parquet.*damaged"
    ):
        dd.read_parquet(files).graph.sssp(0).compute()


def test_a_file_that_is_gone(files):
    frame = dd.read_parquet(files)
    graph = frame.graph
    (files / "part-0.parquet").unlink()
    with pytest.raises(errors.UnreadableParquet, match=r"part-0\.parquet"):
        graph.degree().compute()


def test_files_that_disagree_on_types(files):
    frame = dd.read_parquet(files)
    pq.write_table(pa.Table.from_pandas(GOOD.astype({"src": "str"})), files / "part-2.parquet")
    with pytest.raises(
        errors.InvalidEdges,
        match=r"'src' is (large_)?string.* in row group 0 of .*part-2.parquet but the frame declares int64",
    ):
        frame.graph.bfs(0).compute()


def test_files_of_other_widths(tmp_path):
    GOOD.to_parquet(tmp_path / "2025.parquet")
    later = GOOD.assign(src=GOOD["src"] + 4, dst=GOOD["dst"] + 4)
    later.astype({"src": "int32", "dst": "uint16", "weight": "int8"}).to_parquet(
        tmp_path / "2026.parquet"
    )
    found = dd.read_parquet(tmp_path).graph.sssp(0).compute()
    pd.testing.assert_frame_equal(
        found.reset_index(drop=True), pd.concat([GOOD, later]).graph.sssp(0)
    )


def test_a_file_of_wider_ids_than_the_first(tmp_path):
    GOOD.astype({"src": "int32"}).to_parquet(tmp_path / "a.parquet")
    GOOD.assign(src=GOOD["src"] + 2**40).to_parquet(tmp_path / "b.parquet")
    frame = dd.read_parquet(tmp_path)
    with pytest.raises(
        errors.InvalidEdges,
        match=r"'src' is int64 in row group 0 of .*b\.parquet .*declares int32, which does not hold",
    ):
        frame.graph.bfs(0).compute()
    found = frame.astype({"src": "int64"}).graph.degree().compute()
    assert found["vertex"].tolist() == [0, 1, 2, 3, *range(2**40, 2**40 + 4)]


def test_a_file_without_the_column(files):
    frame = dd.read_parquet(files)
    pq.write_table(pa.Table.from_pandas(GOOD.drop(columns="weight")), files / "part-1.parquet")
    with pytest.raises(
        errors.InvalidEdges, match=r"part-1\.parquet has no column 'weight'; it has \['src'"
    ):
        frame.graph.sssp(0).compute()


def test_the_frame_is_left_as_it_was():
    """A refused frame is not changed, and a good call after it works."""
    frame = with_bad("weight", 2, np.nan)
    before = frame.copy()
    with pytest.raises(errors.InvalidEdges):
        frame.graph.sssp(0)
    pd.testing.assert_frame_equal(frame, before)
    assert frame.fillna(1.0).graph.sssp(0)["distance"].tolist() == [0.0, 1.0, 3.0, 4.0]


@pytest.mark.parametrize("dtype", [pd.ArrowDtype(pa.float64()), "float64"])
def test_nan_that_pandas_does_not_see(tmp_path, dtype):
    """Of Arrow-backed columns, as Parquet gives them, isna() tells nulls only."""
    path = tmp_path / "edges.parquet"
    table = pa.table({"src": [0, 1, 2], "dst": [1, 2, 3], "weight": [1.0, float("nan"), 3.0]})
    pq.write_table(table, path)
    message = r"'weight' has 1 NaN in row group 0 of .*edges.parquet"
    with pytest.raises(errors.InvalidEdges, match=message):
        dd.read_parquet(path).graph.sssp(0).compute()
    with pytest.raises(errors.InvalidEdges, match=r"'weight' has 1 (nulls or )?NaN in partition 0"):
        table.to_pandas().astype({"weight": dtype}).graph.sssp(0)


def test_a_dictionary_that_holds_a_null():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["a", None]))
    src = pd.Series(pd.arrays.ArrowExtensionArray(column))
    with pytest.raises(errors.InvalidEdges, match="id column 'src' has 1 nulls in partition 0"):
        pd.DataFrame({"src": src, "dst": ["b", "c"]}).graph.bfs("a")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda g: g.bfs(),
            r"^bfs\(\): missing a required argument: 'source'; it is called as bfs\(source, ",
        ),
        (
            lambda g: g.bfs(0, taget=3),
            r"^bfs\(\): got an unexpected keyword argument 'taget' .*target=None",
        ),
        (
            lambda g: g.bfs(0, 1),
            r"^bfs\(\): too many positional arguments; it is called as",
        ),
    ],
)
def test_arguments_that_a_method_does_not_take(call, match):
    with pytest.raises(TypeError, match=match):
        call(GOOD.graph())


PROGRAM = dg.VertexProgram(
    state={"h": dg.Field("int64", initial=None, at_source=0)},
    compute=lambda source_h: source_h + 1,
    combine="min",
)
TWO, SERIES, NA = np.array([1, 1]), pd.Series([1, 2]), pd.NA


@pytest.mark.parametrize(
    "call",
    [
        lambda: GOOD.graph(duplicates=TWO),
        lambda: GOOD.graph(directed=TWO),
        lambda: GOOD.graph(layout=NA),
        lambda: GOOD.graph(order=GOOD),
        lambda: GOOD.graph(order=NA),
        lambda: GOOD.graph(engine=TWO),
        lambda: GOOD.graph(ranks=TWO),
        lambda: GOOD.graph(ranks=NA),
        lambda: GOOD.graph(partitioner=GOOD),
        lambda: GOOD.graph(weight=GOOD),
        lambda: GOOD.graph(source=GOOD, destination="dst"),
        lambda: GOOD.graph(layout="layered", root=GOOD),
        lambda: GOOD.graph().save("never", columns=3),
        lambda: GOOD.graph().save(3),
        lambda: GOOD.graph().save("\x00"),
        lambda: GOOD.graph().save("x" * 10_000),
        lambda: GOOD.graph().persist(columns=GOOD),
        lambda: GOOD.graph().persist(ranks=TWO),
        lambda: GOOD.graph().bfs(0, resume=NA),
        lambda: GOOD.graph().bfs(GOOD),
        lambda: GOOD.graph().bfs([NA]),
        lambda: GOOD.graph().shortest_path(0, [1]),
        lambda: GOOD.graph().pagerank(method=SERIES),
        lambda: GOOD.graph().neural_network(0.5, strength=SERIES),
        lambda: GOOD.graph().k_core(-(10**5000)),
        lambda: GOOD.graph().louvain(seed=None),
        lambda: GOOD.graph().betweenness_centrality(GOOD),
        lambda: GOOD.graph().run(PROGRAM, source=0, constants=[1, "a"]),
        lambda: GOOD.graph().run(PROGRAM, source=0, max_supersteps=True),
        lambda: dg.VertexProgram(state=SERIES, compute=print, combine="min"),
        lambda: dg.VertexProgram(state=PROGRAM.state, compute=TWO, combine="min"),
        lambda: dg.VertexProgram(state=PROGRAM.state, compute=PROGRAM.compute, combine=TWO),
        lambda: dg.VertexProgram(
            state=PROGRAM.state, compute=PROGRAM.compute, combine="min", monotone=NA
        ),
        lambda: dg.Field(SERIES),
        lambda: dg.Sum(3),
        lambda: dg.Checkpoint(3),
        lambda: dg.Checkpoint("kept", seconds=NA),
        lambda: dg.load(3),
        lambda: dg.load("never", npartitions=SERIES),
        lambda: dg.load("never", npartitions=2**31),
        lambda: dg.load("never", stale=SERIES),
    ],
)
def test_values_that_are_not_compared_before_their_type_is_known(call):
    with pytest.raises(errors.GraphError):
        call()
