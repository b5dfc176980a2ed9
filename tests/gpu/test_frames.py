"""cuDF and Dask-cuDF frames against pandas frames: the same rows, in the memory of the GPU."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from dask.base import tokenize
from frames_on_device import assert_same, edges, on_device

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.engine import driver

cudf = pytest.importorskip("cudf")
cupy = pytest.importorskip("cupy")
pytest.importorskip("dask_cudf")

pytestmark = pytest.mark.gpu


PROGRAM = dg.VertexProgram(
    state={"most": dg.Field("int64", initial=0)},
    compute=lambda source_most, weight: max(source_most, weight),
    combine="max",
    apply=lambda message, most: {"most": max(message, most)},
)

METHODS = {
    "bfs": lambda graph, a, b: graph.bfs(a),
    "bfs with predecessors": lambda graph, a, b: graph.bfs(a, predecessor=True),
    "bfs of several": lambda graph, a, b: graph.bfs([a, b]),
    "bfs to targets": lambda graph, a, b: graph.bfs(a, target=[b, a]),
    "sssp": lambda graph, a, b: graph.sssp(a, predecessor=True),
    "shortest path": lambda graph, a, b: graph.shortest_path(a, b),
    "shortest path by hops": lambda graph, a, b: graph.shortest_path(a, b, weighted=False),
    "sswp": lambda graph, a, b: graph.sswp(a),
    "ssnsp": lambda graph, a, b: graph.ssnsp(a),
    "pagerank": lambda graph, a, b: graph.pagerank(),
    "components": lambda graph, a, b: graph.weakly_connected_components(),
    "strong components": lambda graph, a, b: graph.strongly_connected_components(),
    "label propagation": lambda graph, a, b: graph.label_propagation(4),
    "hits": lambda graph, a, b: graph.hits(),
    "jaccard": lambda graph, a, b: graph.jaccard(),
    "jaccard of pairs": lambda graph, a, b: graph.jaccard(graph.minimum_spanning_forest()),
    "core_number": lambda graph, a, b: graph.core_number(),
    "degree": lambda graph, a, b: graph.degree(),
    "triangle_count": lambda graph, a, b: graph.triangle_count(),
    "clustering_coefficient": lambda graph, a, b: graph.clustering_coefficient(),
    "minimum_spanning_forest": lambda graph, a, b: graph.minimum_spanning_forest(),
    "betweenness of two": lambda graph, a, b: graph.betweenness_centrality([a, b]),
    "betweenness of five": lambda graph, a, b: graph.betweenness_centrality(5, endpoints=True),
    "betweenness of all": lambda graph, a, b: graph.betweenness_centrality(),
    "betweenness by weight": lambda graph, a, b: graph.betweenness_centrality(2, weighted=True),
    "edge betweenness": lambda graph, a, b: graph.edge_betweenness_centrality([a, b]),
    "run": lambda graph, a, b: graph.run(PROGRAM, max_supersteps=400),
}


def two_ends(frame, host):
    """A source, and one of the vertices that are farthest from it."""
    first = frame["src"].iloc[0]
    return first, host.bfs(first).dropna().nlargest(1, "distance")["vertex"].iloc[0]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["random", "skewed", "strings"])
def test_every_method(kind, directed):
    frame = edges(kind)
    mine = on_device(frame).graph(directed=directed).persist()
    host = frame.graph(directed=directed, engine="cpu").persist()
    ends = two_ends(frame, host)
    for call in METHODS.values():
        assert_same(call(mine, *ends), call(host, *ends))
    assert_same(mine.k_core(4), host.k_core(4), by=["src", "dst", "weight"])


@pytest.mark.parametrize("ranks", [size for size in (1, 2) if size <= driver.num_gpus()])
def test_times(ranks):
    frame = edges("random")[["src", "dst"]]
    frame["at"] = pd.Timestamp("2026-11-01") + pd.to_timedelta(np.arange(len(frame)) % 999, "h")
    first = frame["src"].iloc[0]
    found = on_device(frame).graph(ranks=ranks).earliest_arrival(first, "at", both_ways=True)
    host = frame.graph(engine="cpu").earliest_arrival(first, "at", both_ways=True)
    assert str(found["arrival"].dtype) == str(host["arrival"].dtype)
    assert_same(found, host)


@pytest.mark.parametrize("kind", ["random", "strings"])
def test_lazily(kind):
    frame = edges(kind)
    lazy, host = on_device(frame, lazy=True).graph, frame.graph(engine="cpu")
    first = frame["src"].iloc[0]
    result = lazy.bfs(first)
    assert result.npartitions == 3
    assert_same(result, host.bfs(first))
    kept = lazy().persist()
    assert_same(kept.pagerank(), host.pagerank())
    assert_same(kept.degree(), host.degree())


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_ids_of_any_width(dtype):
    frame = edges("small", dtype=dtype)
    result = on_device(frame).graph.weakly_connected_components()
    assert result["vertex"].dtype == result["component"].dtype == np.dtype(dtype)
    assert_same(result, frame.graph(engine="cpu").weakly_connected_components())
    sparse = edges("sparse") if dtype in ("int64", "uint64") else frame
    first = int(sparse["dst"].iloc[0])
    assert_same(on_device(sparse).graph.bfs(first), sparse.graph(engine="cpu").bfs(first))


def test_ids_of_two_columns():
    frame = edges("strings")
    frame = frame.assign(kind=frame.index % 3, of=frame.index % 2)
    names = {"source": ["kind", "src"], "destination": ["of", "dst"]}
    first = int(frame["kind"].iloc[4]), frame["src"].iloc[4]
    mine, host = on_device(frame).graph(**names), frame.graph(**names, engine="cpu")
    assert_same(mine.bfs(first, predecessor=True), host.bfs(first, predecessor=True))
    assert_same(mine.weakly_connected_components(), host.weakly_connected_components())


def test_categories_and_nullable_columns():
    frame = edges("strings")
    made = on_device(frame)
    made["src"] = made["src"].astype("category")
    assert_same(made.graph.core_number(), frame.graph(engine="cpu").core_number())
    whole = on_device(edges())
    whole["src"] = whole["src"].astype("Int64")
    assert_same(whole.graph.core_number(), edges().graph(engine="cpu").core_number())


@pytest.mark.parametrize("weight", ["int32", "int64", "uint8", "float32", "float64"])
@pytest.mark.parametrize("duplicates", ["min", "max", "sum", "keep"])
def test_repeated_rows(duplicates, weight):
    frame = edges("small", m=4000).astype({"weight": weight})
    mine = on_device(frame).graph(duplicates=duplicates)
    host = frame.graph(duplicates=duplicates, engine="cpu")
    assert_same(mine.sssp(3), host.sssp(3))
    assert_same(mine.degree(), host.degree())
    assert_same(mine.k_core(3), host.k_core(3), by=["src", "dst", "weight"])


def test_undirected_once_and_both():
    once = edges("skewed")
    once[["src", "dst"]] = np.sort(once[["src", "dst"]], axis=1)  # no edge is given both ways
    both = pd.concat([once, once.rename(columns={"src": "dst", "dst": "src"})[once.columns]])
    both = both[(both["src"] != both["dst"])]
    once = once[once["src"] != once["dst"]]
    given = [on_device(f.reset_index(drop=True)).graph(directed=False) for f in (once, both)]
    first = int(once["src"].iloc[0])
    host = once.graph(directed=False, engine="cpu")
    for graph in given:
        assert_same(graph.sssp(first), host.sssp(first))
        assert_same(graph.pagerank(), host.pagerank())
        assert_same(graph.degree(), host.degree())


def test_vertices_frame():
    frame = edges()
    vertices = pd.DataFrame({"vertex": np.arange(400), "start": np.arange(400) % 7})
    program = dg.VertexProgram(
        state={"x": dg.Field("int64", vertices="start")},
        compute=lambda source_x: source_x,
        combine="max",
        apply=lambda message, x: {"x": max(message, x)},
    )
    mine = on_device(frame).graph(vertices=on_device(vertices))
    assert_same(mine.run(program), frame.graph(vertices=vertices, engine="cpu").run(program))
    assert_same(mine.degree(), frame.graph(vertices=vertices, engine="cpu").degree())
    with pytest.raises(errors.InvalidVertices, match="convert one"):
        on_device(frame).graph(vertices=vertices)


def test_frames_as_arguments():
    frame = edges("strings")
    jumps = pd.DataFrame({"vertex": frame["src"].unique()[:5], "share": [1.0, 2, 3, 4, 5]})
    mine = on_device(frame).graph.pagerank(personalization=on_device(jumps))
    assert_same(mine, frame.graph(engine="cpu").pagerank(personalization=jumps))
    with pytest.raises(errors.InvalidArgument, match="convert one"):
        on_device(frame).graph.pagerank(personalization=jumps)
    jumps.loc[0, "vertex"] = "nowhere"
    with pytest.raises(errors.UnknownVertex, match="nowhere"):
        on_device(frame).graph.pagerank(personalization=on_device(jumps))


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("heat_simulation", {"initial": 1.0, "step": 1e-4, "tolerance": 0, "max_iterations": 3}),
        ("neural_network", {"initial": 0.1, "tolerance": 0, "max_iterations": 3}),
        ("pagerank", {"method": "delta"}),
    ],
)
def test_other_methods(method, arguments):
    frame = edges()
    mine = getattr(on_device(frame).graph, method)(**arguments)
    assert_same(mine, getattr(frame.graph(engine="cpu"), method)(**arguments))


@pytest.mark.parametrize(
    "arguments", [{"homophily": 0.5005}, {"coupling": [[1e-4, -1e-4], [-1e-4, 1e-4]]}]
)
def test_belief_propagation(arguments):
    frame = edges()
    priors = pd.DataFrame({"vertex": frame["src"].unique()[:9], "p": np.linspace(0.1, 0.9, 9)})
    if "coupling" in arguments:
        priors["q"] = 1 - priors["p"]
    mine = on_device(frame).graph.belief_propagation(on_device(priors), **arguments)
    assert_same(mine, frame.graph(engine="cpu").belief_propagation(priors, **arguments))


def test_dtypes_of_results():
    graph = on_device(edges().astype({"weight": "float32"})).graph
    assert graph.bfs(3).dtypes.astype(str).to_dict() == {"vertex": "int64", "distance": "int64"}
    assert str(graph.sssp(3)["distance"].dtype) == "float64"
    assert str(graph.pagerank(dtype="float32")["rank"].dtype) == "float32"
    assert isinstance(graph.bfs(3, target=[5]), cudf.DataFrame)


def test_results_do_not_share_what_is_written_to():
    graph = on_device(edges()).graph().persist()
    first = graph.bfs(3)
    before = first["vertex"].to_arrow().to_pylist()
    first.loc[1, "vertex"] = 10**6
    first.iloc[2, 0] = 10**6
    assert graph.bfs(3)["vertex"].to_arrow().to_pylist() == before


@pytest.mark.parametrize("kind", ["random", "skewed", "strings"])
def test_partitions_do_not_share_what_is_written_to(kind):
    frame = edges(kind)
    graph = on_device(frame, lazy=True).graph().persist()
    wanted = frame.graph(engine="cpu").degree()
    for _ in range(2):
        parts = [part.compute() for part in graph.degree().to_delayed()]
        assert_same(cudf.concat(parts, ignore_index=True), wanted)
        index = [place for part in parts for place in part.index.to_arrow().to_pylist()]
        assert index == list(range(len(wanted)))
        for part in parts:
            part.loc[part.index[1], "vertex"] = part["vertex"].iloc[0]


def test_frames_are_told_apart_by_their_columns():
    graph = on_device(edges(), lazy=True).graph().persist()
    tokens = [tokenize(each._meta) for each in (graph.bfs(3), graph.bfs(4), graph.pagerank())]
    assert tokens[0] == tokens[1] != tokens[2]
    kept = graph.bfs(3).persist()
    pickled = pickle.loads(pickle.dumps(kept._meta))
    assert (pickled.dtypes == kept._meta.dtypes).all()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"weight": -1}, "negative"),
        ({"weight": np.nan}, "nulls or NaN|NaN"),
        ({"weight": np.inf}, "infinite"),
        ({"weight": None}, "nulls"),
        ({"dst": None}, "nulls"),
    ],
)
def test_bad_values_are_refused(change, match):
    frame = edges()
    frame = frame.astype({"weight": "float64", "dst": "Int64"})
    for name, value in change.items():
        frame.loc[5, name] = pd.NA if value is None and name == "dst" else value
    made = cudf.from_pandas(frame)
    if change.get("weight", 0) is None:
        made["weight"] = made["weight"].nans_to_nulls()
    with pytest.raises(errors.InvalidEdges, match=match):
        made.graph.sssp(3)


def test_bad_arguments_are_refused():
    frame = on_device(edges())
    with pytest.raises(errors.EngineUnavailable, match="to_pandas"):
        frame.graph(engine="cpu")
    with pytest.raises(errors.UnknownVertex, match="not a vertex"):
        frame.graph.bfs(10**9)
    with pytest.raises(errors.InvalidEdges, match="no column"):
        frame.graph(source="a", destination="b")
    with pytest.raises(errors.InvalidEdges, match="integers or strings"):
        frame.astype({"src": "float64"}).graph()
    with pytest.raises(errors.UnknownVertex, match="empty"):
        frame.iloc[:0].graph.bfs(0)
    assert frame.iloc[:0].graph.degree().columns.tolist()[0] == "vertex"


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["random", "skewed", "strings"])
def test_a_graph_is_saved(kind, directed, lazy, tmp_path):
    frame, listed = edges(kind), pd.DataFrame({"vertex": ["alone"], "x": [0.5]})
    if kind != "strings":
        listed["vertex"] = -1
    given = {"directed": directed, "vertices": listed}
    on_device(frame, lazy).graph(directed=directed, vertices=on_device(listed, lazy)).save(
        tmp_path / "of device"
    )
    frame.graph(**given).save(tmp_path / "of host")
    for engine in ("cpu", "gpu"):
        found = dg.load(tmp_path / "of device", engine=engine)
        wanted = dg.load(tmp_path / "of host", engine=engine)
        source = wanted.vertices().compute()["vertex"].iloc[3]
        for name, arguments in {
            "bfs": (source,),
            "sssp": (source,),
            "degree": (),
            "k_core": (2,),
        }.items():
            answer, other = (getattr(each, name)(*arguments).compute() for each in (found, wanted))
            # Strings of Dask-cuDF frames have another null, of which there is none.
            pd.testing.assert_frame_equal(answer, other.astype(answer.dtypes))
    more = found.append(frame.iloc[:5])
    again = wanted.append(frame.iloc[:5])
    answer, other = more.degree().compute(), again.degree().compute()
    pd.testing.assert_frame_equal(answer, other.astype(answer.dtypes))


def test_nothing_large_goes_through_the_host(monkeypatch):
    frame = on_device(edges(n=50_000, m=400_000))
    monkeypatch.setattr(cudf.DataFrame, "to_pandas", None)
    monkeypatch.setattr(cudf.Series, "to_pandas", None)
    monkeypatch.setattr(cudf.Series, "to_arrow", None)
    asnumpy, asarray = cupy.asnumpy, cupy.asarray

    def small(function):
        def checked(array, *args, **kwargs):
            crosses = function is asnumpy or isinstance(array, np.ndarray)
            assert not crosses or array.size <= 10_000, f"{array.size} elements cross over"
            return function(array, *args, **kwargs)

        return checked

    monkeypatch.setattr(cupy, "asnumpy", small(asnumpy))
    monkeypatch.setattr(cupy, "asarray", small(asarray))
    for options in ({"directed": False}, {}):
        graph = frame.graph(**options).persist()
        for name, call in METHODS.items():
            if name != "bfs of several":
                call(graph, 3, 5)


@pytest.mark.parametrize("first", ["cudf, dask_graphgpu", "dask_graphgpu, cudf"])
def test_order_of_imports(first):
    code = (
        f"import {first}\n"
        "frame = cudf.DataFrame({'src': [0, 1], 'dst': [1, 2]})\n"
        "assert frame.graph.bfs(0)['distance'].to_arrow().to_pylist() == [0, 1, 2]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_arrays_come_from_the_pool_of_rmm():
    from rmm.allocators.cupy import rmm_cupy_allocator

    assert cupy.cuda.get_allocator() is rmm_cupy_allocator


@pytest.mark.skipif(driver.num_gpus() < 2, reason="it takes two GPUs")
def test_a_graph_is_refused_while_another_gpu_is_current():
    frame = edges("small")
    graph = on_device(frame).graph(directed=False).persist()
    with (
        cupy.cuda.Device(1),
        pytest.raises(errors.EngineUnavailable, match=r"GPU 0.*current one is GPU 1"),
    ):
        graph.pagerank()
    host = frame.graph(directed=False, engine="gpu").persist()
    with cupy.cuda.Device(1):
        found = host.pagerank()
    pd.testing.assert_frame_equal(found, graph.pagerank().to_pandas())


# -- on several ranks -----------------------------------------------------------------------------

several = pytest.mark.skipif(driver.num_gpus() < 2, reason="it takes two GPUs")


@several
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["random", "skewed", "strings"])
def test_every_method_on_ranks(kind, directed):
    frame = edges(kind)
    mine = on_device(frame).graph(directed=directed, ranks=2).persist()
    host = frame.graph(directed=directed, engine="cpu").persist()
    ends = two_ends(frame, host)
    for name, call in METHODS.items():
        if name.startswith("jaccard"):
            continue  # on one rank
        found = call(mine, *ends)
        assert dg.last_report().attrs["ranks"] == 2
        assert_same(found, call(host, *ends))
    assert_same(mine.k_core(4), host.k_core(4), by=["src", "dst", "weight"])


@several
@pytest.mark.parametrize("kind", ["sparse", "strings"])
def test_lazily_on_ranks(kind):
    frame = edges(kind)
    lazy, host = on_device(frame, lazy=True).graph(ranks=2), frame.graph(engine="cpu")
    first = frame["src"].iloc[0]
    result = lazy.bfs(first, predecessor=True)
    assert result.npartitions == 3
    assert_same(result, host.bfs(first, predecessor=True))
    assert_same(lazy.persist().degree(), host.degree())


@several
def test_vertices_and_arguments_on_ranks():
    frame = edges("strings")
    shown = pd.unique(frame[["src", "dst"]].to_numpy().ravel())
    vertices = pd.DataFrame({"vertex": [*shown, "alone"], "start": np.arange(len(shown) + 1) % 7})
    jumps = pd.DataFrame({"vertex": shown[:5], "share": [1.0, 2, 3, 4, 5]})
    program = dg.VertexProgram(
        state={"x": dg.Field("int64", vertices="start")},
        compute=lambda source_x: source_x,
        combine="max",
        apply=lambda message, x: {"x": max(message, x)},
    )
    mine = on_device(frame).graph(vertices=on_device(vertices), ranks=2)
    host = frame.graph(vertices=vertices, engine="cpu")
    assert_same(mine.run(program), host.run(program))
    found = mine.pagerank(personalization=on_device(jumps))
    assert_same(found, host.pagerank(personalization=jumps))


@several
def test_bad_values_are_refused_on_ranks():
    frame = edges().astype({"dst": "Int64", "weight": "float64"})
    frame.loc[5, "dst"] = pd.NA
    with pytest.raises(errors.InvalidEdges, match="'dst' has 1 nulls"):
        cudf.from_pandas(frame).graph(ranks=2).sssp(3)
    frame = edges().astype({"weight": "float64"})
    frame.loc[5, "weight"] = np.nan
    with pytest.raises(errors.InvalidEdges, match="NaN"):
        cudf.from_pandas(frame, nan_as_null=False).graph(ranks=2).sssp(3)


@pytest.mark.parametrize("lazy", [False, True])
def test_several_methods_in_one_frame(lazy):
    asked = ["pagerank", "degree", "weakly_connected_components"]
    found = on_device(edges(), lazy).graph().features(asked)
    assert_same(found, edges().graph().features(asked))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("kind", ["small", "strings"])
def test_ids_of_groups_that_stay(kind, lazy):
    frames = [edges(kind, m=120), edges(kind, m=120).iloc[20:]]
    old, new = (each.graph(directed=False).weakly_connected_components() for each in frames)
    found = dg.match_ids(on_device(old), on_device(new, lazy))
    for made, wanted in zip(found, dg.match_ids(old, new), strict=True):
        assert_same(made, wanted)


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=several)])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["random", "skewed", "strings"])
def test_parts_and_windows(kind, directed, ranks):
    frame = edges(kind)
    graph = on_device(frame).graph(directed=directed, ranks=ranks).persist()
    part = graph.where("weight", 10, 40)
    wanted = frame[(frame.weight >= 10) & (frame.weight < 40)].graph(directed=directed)
    assert_same(part.degree(), wanted.degree())
    assert_same(part.k_core(1), wanted.k_core(1), by=["src", "dst", "weight"])
    found = graph.windows("weight", 16).degree()
    host = frame.graph(directed=directed).persist()
    assert_same(found, host.windows("weight", 16).degree())
