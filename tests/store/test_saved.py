"""Saved graphs: what is saved comes back the same, mapped, and ready for use."""

import dataclasses
import gc
import json
import mmap
import pickle
import sys

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cluster_cases import addresses, started
from hypothesis import given
from hypothesis import strategies as st

import dask_graphgpu
from dask_graphgpu import Field, VertexProgram, errors, load
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.partition import csr, rowwise
from dask_graphgpu.store.mapped import Mapped, write_column

RNG = np.random.default_rng(11)
REPEATED = pd.DataFrame(
    {
        "src": RNG.integers(-3, 30, 240),
        "dst": RNG.integers(-3, 30, 240),
        "weight": RNG.integers(1, 9, 240),
        "toll": RNG.random(240),
        "open": RNG.random(240) < 0.5,
    }
)
PLAIN = REPEATED.drop_duplicates(["src", "dst"])
UPWARDS = PLAIN[PLAIN["src"] < PLAIN["dst"]]
VERTICES = pd.DataFrame({"vertex": range(-3, 35), "prior": np.arange(38) / 4, "big": range(38)})


def named(frame):
    return frame.assign(src="v" + frame["src"].astype(str), dst="v" + frame["dst"].astype(str))


def two_columns(frame):
    return frame.assign(a=frame.src // 5, b=named(frame).src, c=frame.dst // 5, d=named(frame).dst)


# What a graph is made of, and its options.
CASES = {
    "repeats": (REPEATED, {}),
    "repeats, undirected": (REPEATED, {"directed": False}),
    "plain": (PLAIN, {}),
    "each edge once, undirected": (UPWARDS, {"directed": False}),
    "by degree": (REPEATED, {"order": "degree"}),
    "plain, by degree, undirected": (UPWARDS, {"order": "degree", "directed": False}),
    "no weights": (REPEATED, {"weight": None}),
    "one": (REPEATED, {"weight": None, "duplicates": "one"}),
    "sum": (REPEATED, {"duplicates": "sum", "directed": False}),
    "min": (REPEATED, {"duplicates": "min"}),
    "keep": (REPEATED, {"duplicates": "keep", "directed": False}),
    "floats": (REPEATED.astype({"weight": "float64"}), {}),
    "narrow": (REPEATED.astype({"src": "int8", "dst": "int16", "weight": "uint8"}), {}),
    "masked": (REPEATED.astype({"src": "Int64", "dst": "Int64", "weight": "Float32"}), {}),
    "strings": (named(REPEATED), {}),
    "objects": (named(REPEATED).astype({"src": object, "dst": object}), {"order": "degree"}),
    "objects that are integers": (REPEATED.astype({"src": object, "dst": object}), {}),
    "categories": (named(REPEATED).astype({"src": "category"}), {}),
    "Arrow": (
        named(REPEATED).convert_dtypes(dtype_backend="pyarrow"),
        {"directed": False, "order": "degree"},
    ),
    "two columns": (two_columns(REPEATED), {"source": ["a", "b"], "destination": ["c", "d"]}),
    "vertices": (REPEATED, {"vertices": VERTICES}),
    "one edge": (REPEATED[:1], {}),
}


def arguments(kind, source):
    """Arguments for an algorithm's required fields; None where others than these are required."""
    required = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]
    known = {"source": source, "k": 2}
    return {name: known[name] for name in required} if set(required) <= set(known) else None


def computed(frame):
    frame = frame.compute() if hasattr(frame, "compute") else frame
    return frame.reset_index(drop=True)


def answers(graph, source, methods=tuple(ALGORITHMS)):
    """What every method gives, or the type of the error that it raises."""
    found = {}
    for name in methods:
        kind = ALGORITHMS[name]
        given = arguments(kind, source)
        if given is None:
            continue
        try:
            found[name] = computed(getattr(graph, name)(**given))
        except errors.GraphError as error:
            found[name] = type(error)
    return found


def assert_same(one, other, dtypes=True):
    assert set(one) == set(other)
    for name, wanted in one.items():
        if isinstance(wanted, type):
            assert other[name] is wanted, name
        else:
            pd.testing.assert_frame_equal(other[name], wanted, check_dtype=dtypes)


def a_source(frame, options):
    ids = [frame[c].iloc[0] for c in np.atleast_1d(options.get("source", "src"))]
    ids = [i.item() if isinstance(i, np.generic) else i for i in ids]
    return tuple(ids) if len(ids) > 1 else ids[0]


# Graphs that all methods are called on, and methods that between them read each kind of rows that is saved.
OF_ALL = ("repeats", "each edge once, undirected")
LAID = ("bfs", "degree", "k_core", "pagerank", "sssp", "weakly_connected_components")
# In partitions it is the same but for types and the order of rows.
OF_DASK = ("repeats", "plain, by degree, undirected", "objects", "Arrow", "two columns", "vertices")


@pytest.mark.parametrize(
    ("case", "kind"),
    [*((case, "pandas") for case in CASES), *((case, "Dask") for case in OF_DASK)],
)
def test_methods_give_the_same(case, kind, tmp_path):
    """All of two graphs; of the others those that lay the rows in each way, and a quarter of the rest, by turns."""
    frame, options = CASES[case]
    source = a_source(frame, options)
    frame = dd.from_pandas(frame, npartitions=3) if kind == "Dask" else frame
    graph = frame.graph(**options).persist()
    some = dict.fromkeys([*LAID, *[*ALGORITHMS][[*CASES].index(case) % 4 :: 4]])
    methods = tuple(ALGORITHMS) if kind == "pandas" and case in OF_ALL else tuple(some)
    wanted = answers(graph, source, methods)
    assert sum(isinstance(answer, pd.DataFrame) for answer in wanted.values()) >= 6
    assert graph.save(tmp_path / "saved") == (tmp_path / "saved").resolve()
    loaded = load(tmp_path / "saved", verify=True)
    # Dask gives strings for objects.
    assert_same(wanted, answers(loaded, source, methods), dtypes="objects" not in case)
    assert loaded.degree().npartitions == (frame.npartitions if kind == "Dask" else 1)
    about, _ = repr(loaded).split(", saved in ")
    assert repr(graph).startswith(about)


def test_dense_ids_of_64_bits(tmp_path):
    with dask.config.set({"graphgpu.dense-id-bits": 64}):
        REPEATED.graph(order="degree").save(tmp_path / "saved")
    loaded = load(tmp_path / "saved")
    assert loaded._input.held.compute().given.neighbours.dtype == np.uint64
    for call in (lambda graph: graph.sssp(3), lambda graph: graph.weakly_connected_components()):
        pd.testing.assert_frame_equal(computed(call(loaded)), call(REPEATED.graph()))


@given(
    edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 5)), min_size=1),
    directed=st.booleans(),
    order=st.sampled_from(["input", "degree"]),
    turn=st.integers(0, 5),
)
def test_any_graph_comes_back(edges, directed, order, turn, tmp_path_factory):
    frame = pd.DataFrame(edges, columns=["src", "dst", "weight"])
    graph = frame.graph(directed=directed, order=order)
    path = graph.save(tmp_path_factory.mktemp("any") / "saved")
    graphs, methods = (graph, load(path, verify=True)), [*ALGORITHMS][turn::6]
    assert_same(*(answers(each, edges[0][0], methods) for each in graphs))


@pytest.mark.parametrize("number", [1, 2, 7, 200])
def test_results_have_any_number_of_partitions(number, tmp_path):
    dd.from_pandas(REPEATED, npartitions=4).graph().save(tmp_path / "saved")
    result = load(tmp_path / "saved", npartitions=number).sssp(3)
    assert result.npartitions == number
    pd.testing.assert_frame_equal(computed(result), REPEATED.graph().sssp(3))


@pytest.mark.parametrize("number", [0, -1, True])
def test_number_of_partitions_is_positive(number, tmp_path):
    with pytest.raises(errors.InvalidArgument, match="npartitions"):
        load(PLAIN.graph().save(tmp_path / "saved"), npartitions=number)


PROGRAM = VertexProgram(
    state={
        "total": Field(dtype="float64", initial=0.0),
        "prior": Field(dtype="float64", vertices="prior"),
    },
    compute=lambda edge_toll, source_prior: edge_toll * source_prior,
    combine="sum",
    message="float64",
    apply=lambda total, message: total + message,
)


def test_programs_read_the_columns_that_were_saved(tmp_path):
    graph = REPEATED.graph(vertices=VERTICES)
    wanted = graph.run(PROGRAM, max_supersteps=1)
    loaded = load(graph.save(tmp_path / "saved", columns=["toll", "open"]))
    pd.testing.assert_frame_equal(computed(loaded.run(PROGRAM, max_supersteps=1)), wanted)
    assert loaded._input.held.compute().given.columns["open"].dtype == bool
    again = load(loaded.save(tmp_path / "again"))
    pd.testing.assert_frame_equal(computed(again.run(PROGRAM, max_supersteps=1)), wanted)


def test_columns_that_were_not_saved_are_errors(tmp_path):
    loaded = load(REPEATED.graph().save(tmp_path / "saved"))
    with pytest.raises(errors.InvalidArgument, match=r"without the edge columns \['toll'\]"):
        loaded.run(PROGRAM)
    with pytest.raises(errors.InvalidArgument, match="without the edge columns"):
        loaded.save(tmp_path / "again", columns="toll")
    loaded = load(REPEATED.graph().save(tmp_path / "tolls", columns="toll"))
    with pytest.raises(errors.InvalidVertices, match="no column 'prior'"):
        loaded.run(PROGRAM)


def test_gaps_in_the_vertices_frame_stay_errors(tmp_path):
    graph = REPEATED.graph(vertices=VERTICES[3:])
    loaded = load(graph.save(tmp_path / "saved", columns="toll"))
    with pytest.raises(errors.InvalidVertices, match="no value for"):
        loaded.run(PROGRAM, max_supersteps=1).compute()


def test_interpreted_engine(tmp_path):
    loaded = load(REPEATED.graph().save(tmp_path / "saved"), engine="interpreted")
    pd.testing.assert_frame_equal(computed(loaded.sssp(3)), REPEATED.graph().sssp(3))


# -- ready for use ----------------------------------------------------------------------------


OPENED = ("bfs", "pagerank", "weakly_connected_components", "degree", "sssp", "core_number")


@pytest.mark.parametrize("case", ["repeats", "repeats, undirected", "plain", "sum", "no weights"])
def test_opening_and_searching_makes_no_rows(case, tmp_path, monkeypatch):
    frame, options = CASES[case]
    path = frame.graph(**options).save(tmp_path / "saved")
    wanted = answers(frame.graph(**options), 3, OPENED)

    def never(*args, **kwargs):
        raise AssertionError("rows are made anew")

    for module, name in [
        (rowwise, "repeats"),
        (rowwise, "merge_repeats"),
        (csr, "transpose"),
        (csr, "transpose_column"),
    ]:
        monkeypatch.setattr(module, name, never)
    loaded = load(path)
    methods = ["bfs", "pagerank", "weakly_connected_components", "degree"]
    methods += ["sssp"] if isinstance(wanted["sssp"], pd.DataFrame) else []
    methods += [] if options.get("directed", True) else ["core_number"]
    for name in methods:
        result = getattr(loaded, name)(**arguments(ALGORITHMS[name], 3))
        pd.testing.assert_frame_equal(computed(result), wanted[name])


def arrays_of(partition):
    given = [partition.given, *(a for r in partition._rows.values() for a in r._bare.values())]
    arrays = [array for a in given for array in (a.offsets, a.neighbours, *a.columns.values())]
    return [*arrays, partition.ids.position, partition.ids.rank]


def test_arrays_are_mapped_copy_on_write(tmp_path):
    path = REPEATED.graph(order="degree").save(tmp_path / "saved")
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    partition = load(path)._input.held.compute()
    for array in arrays_of(partition):
        base = array
        while isinstance(base, np.ndarray):
            base = base.base
        held = base.obj if isinstance(base, memoryview) else base
        assert isinstance(held, mmap.mmap)
        assert array.flags.writeable
        assert array.flags.aligned
    partition.given.neighbours[:] = 0
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_no_method_writes_into_the_arrays(tmp_path):
    for number, options in enumerate([{}, {"directed": False}]):
        loaded = load(REPEATED.graph(order="degree", **options).save(tmp_path / str(number)))
        partition = loaded._input.held.compute()
        held = arrays_of(partition)
        before = [array.copy() for array in held]
        answers(loaded, 3)
        for array, copy in zip(held, before, strict=True):
            np.testing.assert_array_equal(array, copy)


def compiled():
    """How many signatures the kernels loaded so far are compiled for."""
    from numba.core.dispatcher import Dispatcher

    modules = [m for n, m in list(sys.modules.items()) if n.startswith("dask_graphgpu.kernels")]
    found = {id(v): v for m in modules for v in vars(m).values() if isinstance(v, Dispatcher)}
    return sum(len(dispatcher.signatures) for dispatcher in found.values())


def test_kernels_are_compiled_once_for_built_and_for_mapped_graphs(tmp_path):
    graph = PLAIN.graph(order="degree")
    path = graph.save(tmp_path / "saved")
    persisted = graph.persist()
    persisted._input.held.view("one", False).into.degrees  # noqa: B018  as the saved graph has it
    answers(persisted, 3)
    before = compiled()
    assert before > 10
    answers(load(path), 3)
    assert compiled() == before


def test_one_array_one_file(tmp_path):
    files = {file.name for file in PLAIN.graph().save(tmp_path / "plain").iterdir()}
    # Nothing repeats: the rows of every rule are those of the frame, and there is one transpose.
    assert sum("neighbours" in name for name in files) == 2
    files = {file.name for file in REPEATED.graph().save(tmp_path / "repeats").iterdir()}
    assert sum("neighbours" in name for name in files) == 3


# -- what a saved graph is --------------------------------------------------------------------


def test_explain_is_exact_and_says_where_it_is(tmp_path):
    path = REPEATED.graph(vertices=VERTICES).save(tmp_path / "saved")
    plan = load(path).explain()
    assert (plan.rows, plan.vertices, plan.exact, plan.path) == (240, 38, True, str(path))
    assert f"mapped from {path}" in str(plan)
    assert "mapped" not in str(REPEATED.graph().persist().explain())


def test_manifest_says_what_is_in_the_folder(tmp_path):
    REPEATED.to_parquet(tmp_path / "edges.parquet")
    frame = dd.read_parquet(tmp_path / "edges.parquet")
    path = frame.graph(directed=False).save(tmp_path / "saved", columns="toll")
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["format"] == "dask_graphgpu saved graph"
    assert manifest["version"] == 5
    assert manifest["library"] == dask_graphgpu.__version__
    assert manifest["graph"]["edge_columns"] == ["toll"]
    assert not manifest["graph"]["directed"]
    assert manifest["counts"]["rows"] == 240
    assert list(manifest["source_files"]["files"]) == [str(tmp_path / "edges.parquet")]
    assert set(manifest["files"]) == {file.name for file in path.glob("*.arrow")}
    for name, file in manifest["files"].items():
        table = pa.ipc.open_file(path / name).read_all()
        assert len(table) == file["length"]
        assert (path / name).stat().st_size == file["bytes"]


def test_fingerprint_is_that_of_the_content(tmp_path):
    def saved(graph, name):
        path = graph.save(tmp_path / name)
        return json.loads((path / "manifest.json").read_text())["fingerprint"]

    first = saved(REPEATED.graph(), "first")
    used = REPEATED.graph().persist()
    answers(used, 3)
    assert saved(used, "used") == first
    assert saved(load(tmp_path / "first"), "copy") == first
    assert saved(dd.from_pandas(REPEATED, npartitions=5).graph(), "Dask") == first
    assert saved(REPEATED.graph(directed=False), "undirected") != first
    other = REPEATED.assign(weight=REPEATED["weight"].where(REPEATED.index > 0, 99))
    assert saved(other.graph(), "other") != first


def test_persisting_a_loaded_graph_is_no_work(tmp_path):
    loaded = load(REPEATED.graph().save(tmp_path / "saved"))
    assert_same(answers(REPEATED.graph(), 3, LAID), answers(loaded.persist(), 3, LAID))


def test_saved_graph_of_the_accessor(tmp_path):
    path = dd.from_pandas(REPEATED, npartitions=2).graph.save(tmp_path / "saved")
    pd.testing.assert_frame_equal(computed(load(path).bfs(3)), REPEATED.graph.bfs(3))


# -- between processes ------------------------------------------------------------------------


def test_partition_is_sent_as_its_path(tmp_path):
    path = REPEATED.graph().save(tmp_path / "saved")
    partition = load(path)._input.held.compute()
    sent = pickle.dumps(partition)
    assert len(sent) < 1000
    assert sys.getsizeof(partition) < 1000  # by which Dask spills
    np.testing.assert_array_equal(pickle.loads(sent).given.neighbours, partition.given.neighbours)
    PLAIN.graph().save(path)
    with pytest.raises(errors.InvalidSavedGraph, match="replaced by another graph"):
        pickle.loads(sent)


def test_a_replaced_folder_stays_readable_for_who_has_it_open(tmp_path):
    path = REPEATED.graph().save(tmp_path / "saved")
    loaded = load(path)
    wanted = computed(loaded.sssp(3))
    PLAIN.graph(directed=False).save(path)
    gc.collect()
    pd.testing.assert_frame_equal(computed(loaded.sssp(3)), wanted)


@pytest.mark.cluster
def test_on_a_cluster(tmp_path):
    with started(2, memory_limit=None) as client:
        assert len(addresses(client)) == 2
        path = dd.from_pandas(REPEATED, npartitions=3).graph().save(tmp_path / "saved")
        loaded = load(path, npartitions=4)
        pd.testing.assert_frame_equal(computed(loaded.sssp(3)), REPEATED.graph().sssp(3))
        assert loaded.explain().rows == 240


# -- columns as files -------------------------------------------------------------------------


def mapped(path):
    with path.open("rb") as file:
        return Mapped(file)


@pytest.mark.parametrize(
    "dtype", ["uint8", "int16", "uint32", "int64", "uint64", "float32", "bool"]
)
@pytest.mark.parametrize("length", [0, 1, 1000])
def test_arrays_come_back(dtype, length, tmp_path):
    array = RNG.integers(0, 2, length).astype(dtype)
    write_column(tmp_path / "a.arrow", array[::-1])
    found = mapped(tmp_path / "a.arrow").array(dtype)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array[::-1])


def test_floats_come_back_bit_by_bit(tmp_path):
    array = np.array([np.nan, -0.0, np.inf, 5e-324])
    write_column(tmp_path / "a.arrow", array)
    assert mapped(tmp_path / "a.arrow").array("float64").tobytes() == array.tobytes()


def test_strings_come_back(tmp_path):
    column = pa.array(["", "é", "x" * 1000, "b"], pa.large_string()).slice(1)
    write_column(tmp_path / "a.arrow", column)
    assert mapped(tmp_path / "a.arrow").column.equals(column)


def test_another_type_than_expected(tmp_path):
    write_column(tmp_path / "a.arrow", np.arange(3))
    with pytest.raises(ValueError, match="holds int64, not uint32"):
        mapped(tmp_path / "a.arrow").array("uint32")


def test_frames_of_cudf_are_asked_for_with_what_they_need(tmp_path):
    PLAIN.graph().save(tmp_path / "saved")
    with pytest.raises(errors.InvalidArgument, match="'pandas', 'cudf'"):
        load(tmp_path / "saved", backend="polars")
    with pytest.raises(errors.EngineUnavailable, match="works in host memory"):
        load(tmp_path / "saved", backend="cudf", engine="cpu")
    with pytest.raises(errors.InvalidArgument, match="one rank, and ranks is 3"):
        load(tmp_path / "saved", backend="cudf", ranks=3)
