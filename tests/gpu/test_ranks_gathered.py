"""Methods on the gathered graph of several GPUs, against one GPU."""

import sys
from types import SimpleNamespace

import cupy
import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_gpus
from made_graphs import SHAPES, simple

import dask_graphgpu as dg
from dask_graphgpu.algorithms import run
from dask_graphgpu.algorithms.bfs import BFS
from dask_graphgpu.cluster import work
from dask_graphgpu.engine import cpu, device_ranks, gpu
from dask_graphgpu.engine.device_ranks import whole, whole_rows
from dask_graphgpu.errors import OutOfDeviceMemory
from dask_graphgpu.io import spread
from dask_graphgpu.io.results import Values
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.partition.device import memory
from dask_graphgpu.report import Report

pytestmark = marks

OF_VERTICES = {
    "triangles": (),
    "neighbour_arcs": (),
    "core_numbers": (),
    "k_core": (3,),
    "strong_components": (),
    "num_blocks": (),
}


def view_of(*, directed):
    """A graph of which dense ids are numbers, so that both name vertices alike."""
    made = SHAPES["skewed"](directed=directed).view()
    return type(made).of(simple(made).out, directed=directed)


def found(view, size, name, *arguments):
    """What each rank gives, and the names of what it reports."""
    parts = cut(view, size)
    reports = [Report("test") for _ in range(size)]

    def work(share):
        return getattr(device_ranks, name)(share, *arguments, reports[share.ranks.rank])

    answers = on_gpus(parts, work)
    return parts, answers, [row.direction for row in reports[0].advances]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", OF_VERTICES)
def test_values_of_vertices(name, directed):
    view, arguments = view_of(directed=directed), OF_VERTICES[name]
    expected = getattr(gpu, name)(view, *arguments, Report("test"))
    parts, answers, told = found(view, SEVERAL[-1], name, *arguments)
    np.testing.assert_array_equal(parts.whole(answers), expected)
    assert told[0] == "gather"


@pytest.mark.parametrize("directed", [False, True])
def test_sums_of_distances(directed):
    view = view_of(directed=directed)
    hashes = np.random.default_rng(3).integers(0, 1 << 57, view.num_vertices)
    sources = np.arange(view.num_vertices)[::3]
    parts = cut(view, SEVERAL[-1])

    def work(share):
        report, mine = Report("test"), hashes[share.numbers.astype(np.int64)]
        sums = device_ranks.hop_sums(share, sources, report=report)
        return np.hstack([sums, device_ranks.hyperball(share, mine, 5, "in", report=report)])

    expected = np.hstack([
        gpu.hop_sums(view, sources, report=Report("test")),
        gpu.hyperball(view, hashes, 5, "in", report=Report("test")),
    ])  # fmt: skip
    np.testing.assert_allclose(parts.whole(on_gpus(parts, work)), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["louvain", "leiden"])
def test_communities(name):
    view = view_of(directed=False)
    more = () if name == "louvain" else (2,)
    labels, modularity = getattr(gpu, name)(view, 1.0, 7, *more, Report("test"))
    parts, answers, _ = found(view, 2, name, 1.0, 7, *more)
    np.testing.assert_array_equal(parts.whole([each for each, _ in answers]), labels)
    assert {each for _, each in answers} == {modularity}


def frame(seed=4):
    rng = np.random.default_rng(seed)
    source, destination = rng.integers(0, 60, (2, 150)) * 3
    return pd.DataFrame({"src": source, "dst": destination, "weight": rng.integers(1, 5, 150)})


def told():
    """What the last run has reported."""
    return dg.last_report()["direction"].tolist()


CALLS = {
    "clustering_coefficient": {},
    "k_truss": {},
    "bridges": {},
    "articulation_points": {},
    "biconnected_components": {},
    "minimum_spanning_forest": {},
    "jaccard": {},
    "k_core": {"k": 3},
    "ssnsp": {"source": 3},
    "bfs": {"source": [3, 9, 30]},
    "label_propagation": {},
}


@pytest.mark.parametrize("name", CALLS)
def test_methods_of_frames(name):
    one, several = (frame().graph(directed=False, engine="gpu", ranks=size) for size in (1, 2))
    found = getattr(several, name)(**CALLS[name])
    assert "gather" in told()
    expected = getattr(one, name)(**CALLS[name])
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_edge_betweenness(weighted, directed):
    """Sources are shared out, and sums of edges come to those who have them."""
    made = frame().drop_duplicates(["src", "dst"])
    one, several = (
        made.graph(directed=directed, engine="gpu", ranks=size) for size in (1, SEVERAL[-1])
    )
    how = {"weighted": weighted, "sources": 5, "seed": 1}
    found = several.edge_betweenness_centrality(**how)
    assert "gather" in told()
    pd.testing.assert_frame_equal(found, one.edge_betweenness_centrality(**how), rtol=1e-9)


@pytest.mark.parametrize("how", [{}, {"weighted": True}, {"p": 0.25, "q": 4.0, "restart": 0.1}])
def test_walks_go_all_the_way_on_one_gpu(how):
    made = frame().graph(directed=True, engine="gpu", ranks=2)
    for start in (None, frame()["src"].tolist()):
        found = made.random_walks(start, length=9, seed=3, **how)
        assert told() == ["gather", "walk"]
        expected = frame().graph(directed=True).random_walks(start, length=9, seed=3, **how)
        pd.testing.assert_frame_equal(found, expected)


def test_rows_that_stay():
    """They are those that come to the host."""
    view = view_of(directed=False)
    parts = cut(view, 2)

    def work(share):
        device_ranks.core_numbers(share, Report("test"))  # gathers the graph
        each = [share.answering(lambda rows: (rows // 3, rows // 2)), share]
        each += [view.staying() for view in each]
        return [device_ranks.edges_among(view, np.ones(view.num_vertices, bool)) for view in each]

    for answered, given, answered_there, given_there in on_gpus(parts, work):
        for host, there in ((answered, answered_there), (given, given_there)):
            for a, b in zip(host, there, strict=True):
                if a is None:
                    assert b is None
                    continue
                assert isinstance(a, np.ndarray)
                assert isinstance(b, cupy.ndarray)
                np.testing.assert_array_equal(a, cupy.asnumpy(b))


@pytest.mark.parametrize(
    ("name", "how", "functions"),
    [
        ("k_core", {"k": 2}, ["k_core"]),
        ("ego", {"center": 3, "radius": 2}, ["bfs"]),
        ("shortest_path", {"source": 3, "target": 33, "weighted": False}, ["bfs", "predecessors"]),
        ("shortest_path", {"source": 3, "target": 33}, ["run", "predecessors"]),
    ],
)
def test_what_an_algorithm_goes_on_with_stays(name, how, functions, monkeypatch):
    """On each GPU: values of all vertices are not brought to the host to be given back."""
    seen = []

    def watched(function, plain):
        def call(*given, **named):
            found = plain(*given, **named)
            array = found["distance"] if function == "run" else found
            seen.append((function, isinstance(array, cupy.ndarray)))
            return found

        return call

    several = frame().graph(directed=False, engine="gpu", ranks=2).persist()
    several.core_number()  # gathers the graph
    for each in functions:
        monkeypatch.setattr(device_ranks, each, watched(each, getattr(device_ranks, each)))
    found = getattr(several, name)(**how)
    assert sorted(seen) == sorted((each, True) for each in functions for _ in range(2))
    expected = getattr(frame().graph(directed=False), name)(**how)
    pd.testing.assert_frame_equal(found, expected)


def test_a_set_on_the_device_where_the_graph_is_not_gathered(monkeypatch):
    """The processors are told of ghosts."""
    monkeypatch.setattr(whole_rows, "on_whole", lambda *given, **named: given[3]())
    for name, how in (("ego", {"center": 3, "radius": 2}), ("k_core", {"k": 2})):
        found, expected = (
            getattr(frame().graph(directed=False, **where), name)(**how)
            for where in ({"engine": "gpu", "ranks": 2}, {})
        )
        pd.testing.assert_frame_equal(found, expected)


def test_rows_of_several_sources_that_stay():
    """They are those that come to the host, from within the rows of a source to within those of another."""
    view = view_of(directed=False)
    n, sources = view.num_vertices, np.array([3, 9, 4, 30])

    def work(share):
        def rows(total):
            return (n // 3, total // 2) if share.ranks.rank else (n, n)

        asked = share.answering(rows)
        how = {"cutoff": None, "targets": None, "report": Report("test")}
        about = SimpleNamespace(
            num_vertices=n, view=share, found_rows=rows, order=lambda place: None
        )
        made = [device_ranks.multi_bfs(each, sources, **how) for each in (asked, asked.staying())]
        return [BFS(source=[0])._rows(about, sources, Values(levels)) for levels in made]

    for host, there in on_gpus(cut(view, 2), work):
        assert host.keys() == there.keys()
        for name, values in host.items():
            assert isinstance(values.data, np.ndarray)
            assert isinstance(there[name].data, cupy.ndarray)
            np.testing.assert_array_equal(values.data, cupy.asnumpy(there[name].data))


def test_pairs():
    pairs = pd.DataFrame({"src": [0, 3, 9, 12, 30], "dst": [3, 6, 12, 15, 60]})
    one, several = (frame().graph(directed=False, engine="gpu", ranks=size) for size in (1, 2))
    pd.testing.assert_frame_equal(several.jaccard(pairs=pairs), one.jaccard(pairs=pairs))


def test_the_graph_is_gathered_once():
    """For all methods that see the same edges, and again when memory was short."""
    several = frame().graph(directed=False, engine="gpu", ranks=2).persist()
    (line,) = (text for what, text in several.explain().lines() if what == "all edges")
    assert line.startswith("on the GPUs")
    several.core_number()
    assert "gather" in told()
    several.core_number()
    assert "gather" not in told()
    memory.drop_kept()
    several.core_number()
    assert "gather" in told()


def test_what_does_not_fit_is_left_to_the_processors():
    several = frame().graph(directed=False, engine="gpu", ranks=2).persist()
    with dask.config.set({"graphgpu.device-memory-limit": 2000}):
        (line,) = (text for what, text in several.explain().lines() if what == "all edges")
        assert line.startswith("on the workers' processors")
        found = several.core_number()
        assert "gather" not in told()
        paths = several.ssnsp(source=3)  # of levels that lie on the GPUs
    pd.testing.assert_frame_equal(found, frame().graph(directed=False).core_number())
    pd.testing.assert_frame_equal(paths, frame().graph(directed=False).ssnsp(source=3))


@pytest.mark.parametrize(
    ("function", "method", "how"),
    [("core_numbers", "core_number", {}), ("similar", "similar", {"top_k": 2})],
)
def test_the_processors_are_all_at_work(function, method, how, monkeypatch):
    """Two ranks of a host share them, whose workers have a thread each, for what does not run on GPUs."""
    plain, seen = getattr(whole.processors, function), []

    def watched(*given, **named):
        seen.append(threads.num_threads())
        return plain(*given, **named)

    several = frame().graph(directed=False, engine="gpu", ranks=2).persist()
    monkeypatch.setattr(whole.processors, function, watched)
    monkeypatch.setattr(threads, "_cpus", lambda affinity: 6)
    worker = SimpleNamespace(state=SimpleNamespace(nthreads=1))
    fake = SimpleNamespace(get_worker=lambda: worker)
    monkeypatch.setitem(sys.modules, "distributed.worker", fake)
    with dask.config.set({"graphgpu.device-memory-limit": 2000, "graphgpu.threads": None}):
        getattr(several, method)(**how)
    assert seen == [3, 3]


def test_rows_lie_where_they_are_made(monkeypatch):
    """Each rank gives the rows of its partitions: nothing of them is sent to another."""
    several = frame().graph(directed=False, engine="gpu", ranks=2).persist()

    def exchanged(*given):
        raise AssertionError("rows were exchanged")

    monkeypatch.setattr(spread, "_exchanged", exchanged)
    for name in ("k_core", "bridges", "biconnected_components", "minimum_spanning_forest"):
        getattr(several, name)(**CALLS[name])
    several.edge_betweenness_centrality(sources=3)
    parts = dd.from_pandas(frame(), npartitions=2).graph(directed=False, engine="gpu", ranks=2)
    parts.bfs(source=[3, 9, 30]).compute()
    with pytest.raises(AssertionError, match="exchanged"):
        several.bfs(source=[3, 9, 30], predecessor=True)


def test_partitions_of_several_sources():
    """Which begin and end within the rows of a source, of searches and of edges."""
    made = dd.from_pandas(frame(), npartitions=5)
    one, several = (made.graph(directed=False, engine="gpu", ranks=ranks) for ranks in (1, 2))
    for name, how in (("bfs", {"source": [3, 9, 30]}), ("k_core", {"k": 2})):
        found, expected = (getattr(graph, name)(**how) for graph in (several, one))
        lengths = found.map_partitions(len).compute()
        total = lengths.sum()
        assert lengths.tolist() == np.diff([i * total // 5 for i in range(6)]).tolist()
        found, expected = (each.compute().reset_index(drop=True) for each in (found, expected))
        pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("npartitions", [1, 3, 4])
def test_equal_edges_are_ordered_by_weight_through_partitions(npartitions):
    """Also where a partition, and what a rank gives, ends among them."""
    made = pd.DataFrame({"src": [0, 1] * 9, "dst": [1, 0] * 9, "weight": np.arange(18.0, 0, -1)})
    parts = dd.from_pandas(made, npartitions=npartitions)
    found, expected = (
        parts.graph(engine=engine, ranks=ranks, duplicates="keep").k_core(k=1).compute()
        for engine, ranks in (("gpu", 2), ("cpu", 1))
    )
    assert len(found) == 18
    pd.testing.assert_frame_equal(found, expected)


def test_more_sources_than_a_sweep_has(monkeypatch):
    """The ranks agree once, and each sweeps over the sources of its own rows, side by side with the other."""
    agreed, swept = [], {0: [], 1: []}
    plain, search = whole.on_whole, gpu.multi_bfs

    def agreeing(view, *given, **named):
        agreed.append(view.ranks.rank)
        return plain(view, *given, **named)

    def sweeping(view, sources, **how):
        swept[cupy.cuda.Device().id].append(len(sources))
        return search(view, sources, **how)

    monkeypatch.setattr(whole, "on_whole", agreeing)
    monkeypatch.setattr(gpu, "multi_bfs", sweeping)
    made = pd.DataFrame({"src": range(150), "dst": range(1, 151)})
    one, several = (made.graph(ranks=ranks, engine=on) for ranks, on in ((1, "cpu"), (2, "gpu")))
    found = several.bfs([*range(149, -1, -1)])
    assert sorted(agreed) == [0, 1]
    assert swept == {0: [64, 11], 1: [64, 11]}
    pd.testing.assert_frame_equal(found, one.bfs([*range(149, -1, -1)]))


def test_values_go_by_the_host_where_a_gpu_has_no_room(monkeypatch):
    def short(size, what):
        if what == "rows of a result" and cupy.cuda.Device().id == 1:
            return False
        return memory.has_room(size, what)

    monkeypatch.setattr(work, "has_room", short)
    several = frame().graph(directed=True, engine="gpu", ranks=2).persist()
    for method, how in (("bfs", {"source": 3}), ("strongly_connected_components", {})):
        expected = getattr(frame().graph(directed=True), method)(**how)
        pd.testing.assert_frame_equal(getattr(several, method)(**how), expected)


def test_values_are_ordered_by_the_host_where_a_gpu_has_no_room(monkeypatch):
    plain = run.gathered

    def short(values, index):
        if cupy.cuda.Device().id == 1:
            raise cupy.cuda.memory.OutOfMemoryError(1, 1)
        return plain(values, index)

    monkeypatch.setattr(run, "gathered", short)
    found, expected = (
        frame().graph(directed=False, **how).core_number()
        for how in ({"engine": "gpu", "ranks": 2}, {})
    )
    pd.testing.assert_frame_equal(found, expected)


def test_memory_that_runs_out_on_one_rank(monkeypatch):
    """All do it on the processors."""
    view, plain = view_of(directed=False), gpu.core_numbers

    def short(view, report):
        if cupy.cuda.Device().id == 1:
            raise OutOfDeviceMemory("none is left")
        return plain(view, report)

    monkeypatch.setattr(whole.one_gpu, "core_numbers", short)
    parts, answers, _ = found(view, 2, "core_numbers")
    expected = cpu.core_numbers(view, Report("test"))
    np.testing.assert_array_equal(parts.whole(answers), expected)


def test_communities_go_on_from_others():
    made = frame()
    before = pd.DataFrame({"vertex": made["src"].unique()})
    before["community"] = before["vertex"] // 30 * 30
    for name in ("louvain", "label_propagation"):
        answers = [
            getattr(made.graph(directed=False, engine="gpu", ranks=size), name)(initial=before)
            for size in (1, 2)
        ]
        pd.testing.assert_frame_equal(*answers)


@pytest.mark.parametrize("name", ["louvain", "leiden"])
def test_levels_of_communities(name):
    one, two = (frame().graph(directed=False, engine="gpu", ranks=ranks) for ranks in (1, 2))
    pd.testing.assert_frame_equal(getattr(two, name)(levels=True), getattr(one, name)(levels=True))
