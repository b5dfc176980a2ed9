"""Arguments and options that mean nothing get an error that says what was given, and what is allowed."""

import dask
import numpy as np
import pandas as pd
import pytest
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import errors

GOOD = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0], "weight": [1.0, 2.0, 3.0, 4.0]})


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
        AttributeError,
        match=r"no method 'shortest'. Did you mean k_shortest_paths or shortest_path\?",
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
        lambda: GOOD.graph().distances(NA, [1]),
        lambda: GOOD.graph().k_shortest_paths(0, 1, TWO),
        lambda: GOOD.graph().nearest([1], TWO),
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
