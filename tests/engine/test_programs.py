"""The compiled engine against the interpreter, and both against simple oracles."""

import heapq
import threading

import dask
import numpy as np
import pytest
from engines import of_the_cpu_engine, run

from dask_graphgpu.engine import interpret
from dask_graphgpu.engine.cpu import in_place
from dask_graphgpu.errors import (
    IntegerOverflow,
    InvalidArgument,
    InvalidVertices,
    NotConverged,
    ProgramError,
)
from dask_graphgpu.kernels.cpu import threads
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import Field, Max, Min, Sum, VertexProgram
from dask_graphgpu.report import Report

TOP = 2**63 - 1

SSSP = VertexProgram(
    state={"distance": Field("weight", initial=None, at_source=0)},
    compute=lambda source_distance, weight: source_distance + weight,
    combine="min",
    priority=lambda distance: distance,
)
WIDEST = VertexProgram(
    state={"width": Field("weight", initial=None, at_source=TOP)},
    compute=lambda source_width, weight: min(source_width, weight),
    combine="max",
    priority=lambda width: -width,
)
LABELS = VertexProgram(
    state={"label": Field("id", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
    edges="both",
)
REACHED = VertexProgram(
    state={"seen": Field("bool", initial=None, at_source=True)},
    compute=lambda source_seen: source_seen,
    combine="any",
)
PAGERANK = VertexProgram(
    state={"rank": Field("float64", initial=lambda num_vertices: 1.0 / num_vertices)},
    compute=lambda source_rank, source_degree: source_rank / source_degree,
    combine="sum",
    apply=lambda message, dangling, damping, num_vertices: (
        (1.0 - damping) / num_vertices + damping * (message + dangling / num_vertices)
    ),
    constants={"damping": 0.85, "tolerance": 1e-10},
    aggregates={
        "dangling": Sum(lambda rank, degree: rank if degree == 0 else 0.0),
        "change": Sum(lambda rank, new_rank: abs(new_rank - rank)),
    },
    stop=lambda change, tolerance: change < tolerance,
)
PATHS = VertexProgram(  # number of shortest (hop) paths, counted level by level
    state={
        "level": Field("int64", initial=-1, at_source=0),
        "paths": Field("int64", initial=0, at_source=1),
    },
    compute=lambda source_paths: source_paths,
    combine="sum",
    message="int64",
    apply=lambda level, paths, message, received, superstep: {
        "level": superstep if received and level < 0 else level,
        "paths": message if received and level < 0 else paths,
    },
    active=lambda level, new_level: new_level != level,
)


def random_view(seed, *, weight="int64", directed=True, n=60, m=240, columns=None, **more):
    random = np.random.default_rng(seed)
    source, destination = random.integers(0, n - 5, m), random.integers(0, n - 5, m)
    values = random.integers(0, 9, m) if weight != "float64" else random.random(m) * 8
    columns = {} if weight is None else {"weight": values.astype(weight)}
    if not directed:
        source, destination = np.r_[source, destination], np.r_[destination, source]
        columns = {name: np.r_[column, column] for name, column in columns.items()}
    ids = np.uint64 if more.pop("wide", False) else np.uint32
    rows = from_edges(n, source.astype(ids), destination.astype(ids), columns)
    return View.of(rows, directed=directed, **more)


def chain(weights, dtype="int64"):
    """0 -> 1 -> 2 ... with these weights."""
    v = np.arange(len(weights))
    column = np.array(weights, dtype)
    return View.of(from_edges(len(weights) + 1, v, v + 1, {"weight": column}))


def compiled(program, view, **arguments):
    return run(program, view, report=Report("test"), **arguments)


def interpreted(program, view, **arguments):
    return interpret.run(program, view, report=Report("test"), **arguments)


def same(found, expected, *, rtol=0.0):
    assert list(found) == list(expected)
    assert (found.reached is None) == (expected.reached is None)
    if found.reached is not None:
        np.testing.assert_array_equal(found.reached, expected.reached)
    for name in found:
        assert found[name].dtype == expected[name].dtype
        if rtol:
            np.testing.assert_allclose(found[name], expected[name], rtol=rtol)
        else:
            np.testing.assert_array_equal(found[name], expected[name])


def edges_of(view):
    out = view.out
    weight = np.ones(out.num_edges, np.int64) if out.weight is None else out.weight
    rows = np.repeat(np.arange(out.num_vertices), out.degrees)
    return list(zip(rows.tolist(), out.neighbours.tolist(), weight.tolist(), strict=True))


def dijkstra(view, source):
    rows = {}
    for u, v, w in edges_of(view):
        rows.setdefault(u, []).append((v, w))
    final, heap = {}, [(0, source)]
    while heap:
        distance, u = heapq.heappop(heap)
        if u not in final:
            final[u] = distance
            for v, w in rows.get(u, []):
                heapq.heappush(heap, (distance + w, v))
    return final


CASES = {
    "sssp": (SSSP, {"sources": [0]}, 0.0),
    "sssp from several": (SSSP, {"sources": [0, 7, 30]}, 0.0),
    "widest": (WIDEST, {"sources": [1]}, 0.0),
    "labels": (LABELS, {}, 0.0),
    "reached": (REACHED, {"sources": [2]}, 0.0),
    "pagerank": (PAGERANK, {"max_supersteps": 300}, 1e-9),
    "paths": (PATHS, {"sources": [0]}, 0.0),
}


@pytest.fixture(params=["auto", "push", "pull", "notify-pull"])
def direction(request):
    with dask.config.set({"graphgpu.direction": request.param}):
        yield request.param


@pytest.fixture
def eager(monkeypatch):
    """Small graphs take the ways of large ones: threads and sweeps."""
    monkeypatch.setattr(threads, "LITTLE_WORK", 4)
    monkeypatch.setattr(in_place, "LONG_LIST", 3)
    monkeypatch.setattr(in_place, "DENSE_LIST", 0.0)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("directed", [True, False])
def test_forced_directions_agree_with_the_interpreter(name, directed, direction):
    program, arguments, rtol = CASES[name]
    for seed in (0, 1):
        view = random_view(seed, directed=directed)
        expected = interpreted(program, view, **arguments)
        same(compiled(program, view, **arguments), expected, rtol=rtol)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("number", [1, 2])
def test_thread_counts_agree(name, number, eager):
    program, arguments, rtol = CASES[name]
    for seed in (3, 4):
        view = random_view(seed, directed=seed == 3, m=200)
        expected = interpreted(program, view, **arguments)
        with dask.config.set({"graphgpu.threads": number}):
            same(compiled(program, view, **arguments), expected, rtol=rtol)
            assert view.into is not None  # now sweeps may be taken
            same(compiled(program, view, **arguments), expected, rtol=rtol)


def test_pull_sums_are_the_same_bits_for_any_number_of_threads(eager):
    view = random_view(5)
    results = []
    for number in (1, 2, 3):
        with dask.config.set({"graphgpu.threads": number, "graphgpu.direction": "pull"}):
            results.append(compiled(PAGERANK, view, max_supersteps=300)["rank"].tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("name", CASES)
def test_ids_of_64_bits(name):
    program, arguments, rtol = CASES[name]
    view = random_view(6, wide=True)
    assert view.out.neighbours.dtype == np.uint64
    expected = interpreted(program, random_view(6), **arguments)
    found = compiled(program, view, **arguments)
    for field in found:
        np.testing.assert_allclose(
            found[field].astype(float), expected[field].astype(float), rtol=rtol
        )


@pytest.mark.parametrize("weight", ["int64", "uint8", "int32", "float64", "float32", None])
def test_sssp_is_dijkstras(weight):
    view = random_view(7, weight=weight)
    expected = dijkstra(view, 0)
    state = compiled(SSSP, view, sources=[0])
    assert state["distance"].dtype == ("float64" if str(weight)[0] == "f" else "int64")
    assert set(np.flatnonzero(state.reached)) == set(expected)
    found = {v: state["distance"][v].item() for v in expected}
    assert found == pytest.approx(expected, rel=1e-12)


def test_widest_path_is_the_bottleneck_of_a_maximum_spanning_tree():
    view = random_view(8, directed=False)
    parent = list(range(view.num_vertices))

    def find(v):
        while parent[v] != v:
            v = parent[v]
        return v

    width = {0: TOP}
    for u, v, w in sorted(edges_of(view), key=lambda edge: -edge[2]):
        # all that joins the source's tree by this edge is as wide as the edge
        a, b = find(u), find(v)
        if a != b:
            if find(0) in (a, b):
                other = b if find(0) == a else a
                width |= {x: w for x in range(view.num_vertices) if find(x) == other}
            parent[a] = b
    state = compiled(WIDEST, view, sources=[0])
    assert {v: state["width"][v].item() for v in np.flatnonzero(state.reached).tolist()} == width


def test_labels_are_the_smallest_of_the_component():
    view = random_view(9, m=40)
    label = list(range(view.num_vertices))
    for _ in range(view.num_vertices):
        for u, v, _w in edges_of(view):
            label[u] = label[v] = min(label[u], label[v])
    assert compiled(LABELS, view)["label"].tolist() == label


def test_pagerank_is_the_fixed_point():
    view = random_view(10)
    n = view.num_vertices
    matrix = np.zeros((n, n))
    for u, v, _w in edges_of(view):
        matrix[v, u] += 1 / view.out.degrees[u]
    matrix[:, view.out.degrees == 0] = 1 / n
    expected = np.linalg.solve(np.eye(n) - 0.85 * matrix, np.full(n, 0.15 / n))
    state = compiled(PAGERANK, view, max_supersteps=300)
    np.testing.assert_allclose(state["rank"], expected, rtol=1e-7)
    assert state.aggregates["change"] < 1e-10


# -- integers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("forced", ["auto", "push", "pull"])
def test_integers_beyond_2_to_the_53_stay_exact(engine, forced):
    weights = [2**53 + 1, 1, 0, 2**62 - 3, 7]
    with dask.config.set({"graphgpu.direction": forced}):
        state = engine(SSSP, chain(weights), sources=[0])
    assert state["distance"].tolist() == np.cumsum([0, *weights], dtype=object).tolist()


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("forced", ["auto", "push", "pull"])
def test_the_largest_integer_is_a_distance_like_any_other(engine, forced):
    with dask.config.set({"graphgpu.direction": forced}):
        state = engine(SSSP, chain([2**62, 2**62 - 1, 0]), sources=[0])
    assert state["distance"].tolist() == [0, 2**62, TOP, TOP]
    assert state.reached.all()


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("weight", [[5, TOP], [TOP, 5]])
def test_the_largest_integer_is_no_better_than_another(engine, weight):
    columns = {"weight": np.array([*weight, 1])}
    view = View.of(from_edges(3, np.array([0, 0, 1]), np.array([1, 1, 2]), columns))
    for forced in ("auto", "push"):
        with dask.config.set({"graphgpu.direction": forced}):
            assert engine(SSSP, view, sources=[0])["distance"].tolist() == [0, 5, 6]


@pytest.mark.parametrize("number", [1, 2])
def test_infinity_is_no_better_than_another(number, eager):
    columns = {"weight": np.array([np.inf, 1.0, np.inf, 2.0, np.inf])}
    source, destination = np.array([0, 0, 1, 2, 0]), np.array([1, 2, 3, 4, 2])
    view = View.of(from_edges(6, source, destination, columns))
    for _ in range(2):
        with dask.config.set({"graphgpu.threads": number}):
            state = compiled(SSSP, view, sources=[0])
        assert state["distance"].tolist() == [0, np.inf, 1, np.inf, 3, 0]
        assert state.reached.tolist() == [True] * 5 + [False]
        assert view.into is not None  # now sweeps may be taken


@of_the_cpu_engine
def test_the_largest_integer_is_found_by_a_sweep_too(eager):
    program = VertexProgram(
        state={"distance": Field("weight", initial=None, at_source=0)},
        compute=lambda source_distance, weight: source_distance + weight,
        combine="min",
        wraps=True,
    )
    # All are sources but the one that only the largest integer reaches.
    source, destination = np.array([0, 1, 2]), np.array([3, 0, 1])
    columns = {"weight": np.array([TOP, 1, 1])}
    view = View.of(from_edges(4, source, destination, columns))
    assert view.into.num_edges == 3
    report = Report("test")
    state = run(program, view, sources=[0, 1, 2], report=report)
    assert "pull" in {row.direction for row in report.advances}
    assert state.reached.tolist() == [True] * 4
    assert state["distance"].tolist() == [0, 0, 0, TOP]


@of_the_cpu_engine
def test_those_that_are_not_active_send_nothing_where_others_are_many(eager):
    program = VertexProgram(
        state={"hops": Field("int64", initial=100, at_source=0)},
        compute=lambda source_hops: source_hops + 1,
        combine="min",
        active=lambda hops, new_hops: new_hops < hops and new_hops < 1,
    )
    source, destination = np.array([0, 0, 0, 3]), np.array([1, 2, 3, 4])
    view = View.of(from_edges(5, source, destination))
    assert view.into.num_edges == 4
    assert compiled(program, view, sources=[0])["hops"].tolist() == [0, 1, 1, 1, 100]


def test_a_message_of_an_earlier_superstep_is_not_received_again(direction):
    program = VertexProgram(
        state={"x": Field("int64", initial=0, at_source=7)},
        compute=lambda source_x: source_x,
        combine="any",
    )
    for engine in (compiled, interpreted):
        assert engine(program, chain([1, 1, 1]), sources=[0])["x"].tolist() == [7, 7, 7, 7]


@pytest.mark.parametrize("engine", [compiled, interpreted])
@pytest.mark.parametrize("forced", ["auto", "push", "pull"])
@pytest.mark.parametrize("weights", [[2**62, 2**62], [TOP, 1], [TOP, TOP]])
def test_overflow_of_a_message_is_an_error(engine, forced, weights):
    with (
        dask.config.set({"graphgpu.direction": forced}),
        pytest.raises(IntegerOverflow, match=r"compute \(.*test_programs.py:\d+\).*float weights"),
    ):
        engine(SSSP, chain(weights), sources=[0])


def star(weights):
    """Vertices 1 .. k all send to 0."""
    k = len(weights)
    columns = {"weight": np.array(weights, np.int64)}
    return View.of(from_edges(k + 1, np.arange(1, k + 1), np.zeros(k, np.int64), columns))


WEIGHT_SUM = VertexProgram(
    state={"total": Field("int64", initial=0)}, compute=lambda weight: weight, combine="sum"
)


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_sums_near_2_to_the_63(engine):
    weights = [2**62, 2**61, 2**61 - 1]
    assert engine(WEIGHT_SUM, star(weights), max_supersteps=1)["total"][0] == TOP
    with pytest.raises(IntegerOverflow):
        engine(WEIGHT_SUM, star([*weights, 1]), max_supersteps=1)


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_wraps_allows_what_is_an_error_otherwise(engine):
    program = VertexProgram(
        state={"hash": Field("int64", initial=1)},
        compute=lambda source_hash, weight: (source_hash ^ weight) * 6364136223846793005,
        combine="sum",
        wraps=True,
    )
    state = engine(program, random_view(11), max_supersteps=4)
    with_python = interpreted(program, random_view(11), max_supersteps=4)
    assert state["hash"].tolist() == with_python["hash"].tolist()
    assert abs(state["hash"]).max() > 2**60


def test_apply_is_checked_as_well():
    program = VertexProgram(
        state={"x": Field("int64", initial=2**62)},
        compute=lambda source_x: 0,
        combine="sum",
        apply=lambda x: x + x,
    )
    for engine in (compiled, interpreted):
        with pytest.raises(IntegerOverflow, match="apply"):
            engine(program, random_view(0), max_supersteps=1)


def test_narrow_integers_are_checked_for_their_own_range():
    program = VertexProgram(
        state={"x": Field("int32", initial=2**30)}, compute=lambda source_x: source_x, combine="sum"
    )
    for engine in (compiled, interpreted):
        with pytest.raises(IntegerOverflow):
            engine(program, star([1, 1]), max_supersteps=1)


def test_zero_weights_and_cycles_of_them_end():
    source, destination = np.array([0, 1, 2, 2]), np.array([1, 2, 1, 3])
    columns = {"weight": np.zeros(4, np.int64)}
    state = compiled(SSSP, View.of(from_edges(4, source, destination, columns)), sources=[0])
    assert state["distance"].tolist() == [0, 0, 0, 0]
    assert state.reached.all()


# -- functions --------------------------------------------------------------------------------


def shifted(x, by):
    return x + by


def doubled(x):
    return shifted(x, 0) * 2


@pytest.mark.parametrize("factor", [2, 3])
def test_closures_and_helpers_and_math(factor):
    import math

    def compute(source_distance, weight):
        return shifted(source_distance, doubled(weight) * factor) + math.floor(0.5)

    program = VertexProgram(
        state={"distance": Field("weight", at_source=0)}, compute=compute, combine="min"
    )
    view = random_view(12)
    expected = {v: 2 * factor * d for v, d in dijkstra(view, 0).items()}
    state = compiled(program, view, sources=[0])
    assert {v: state["distance"][v] for v in np.flatnonzero(state.reached).tolist()} == expected


def test_a_new_constant_needs_no_compilation():
    program = VertexProgram(
        state={"x": Field("float64", initial=1.0)},
        compute=lambda source_x, factor: source_x * factor,
        combine="sum",
        constants={"factor": 1.0},
    )
    view = star([1, 1, 1])
    results = [
        compiled(program, view, constants={"factor": factor}, max_supersteps=1)["x"][0]
        for factor in (1.0, 2.0, 5.0)
    ]
    assert results == [3.0, 6.0, 15.0]
    with pytest.raises(InvalidArgument, match="declares"):
        compiled(program, view, constants={"speed": 1.0}, max_supersteps=1)


def test_edge_columns_and_ids_and_degrees():
    program = VertexProgram(
        state={"x": Field("float64", initial=0.0)},
        compute=lambda edge_toll, source_id, destination_id, source_degree, weight: (
            edge_toll * 1000.0 + source_id * 10.0 + destination_id + source_degree / weight
        ),
        combine="max",
        message="float64",
        monotone=False,
    )
    columns = {"weight": np.array([1, 2, 4]), "toll": np.array([0.5, 3.0, 2.0], np.float32)}
    view = View.of(from_edges(4, np.array([0, 1, 1]), np.array([3, 3, 2]), columns))
    for engine in (compiled, interpreted):
        assert engine(program, view)["x"].tolist() == [0.0, 0.0, 2012.5, 3014.0]
    with pytest.raises(ProgramError, match=r"edge_toll.*\['weight'\]"):
        compiled(program, random_view(0))


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_fields_from_the_vertices_frame(engine):
    program = VertexProgram(
        state={
            "heat": Field("float64", vertices="start"),
            "loss": Field("float64", vertices="loss"),
            "double": Field("float64", initial=lambda loss, id: 2 * loss + id),  # noqa: A006
        },
        compute=lambda source_heat, source_degree: source_heat / source_degree,
        combine="sum",
        apply=lambda message, loss, double: message * loss + double,
    )
    columns = {"start": np.array([1.0, 2, 3, 4]), "loss": np.array([0.5, 1.0, 1.0, 1.0])}
    rows = from_edges(4, np.array([1, 2, 3]), np.zeros(3, np.int64), {})
    state = engine(program, View.of(rows, vertex_columns=columns), max_supersteps=1)
    assert state["heat"].tolist() == [5.5, 3.0, 4.0, 5.0]
    assert state["loss"].tolist() == columns["loss"].tolist()
    with pytest.raises(InvalidVertices, match="'start'"):
        engine(program, View.of(rows), max_supersteps=1)


@pytest.mark.parametrize("edges", ["out", "in", "both"])
def test_edges_say_which_way_messages_go(edges):
    program = VertexProgram(
        state={"hops": Field("int64", at_source=0)},
        compute=lambda source_hops: source_hops + 1,
        combine="min",
        edges=edges,
    )
    view = chain([1, 1, 1])
    expected = {"out": [0, 0, 0, 1], "in": [2, 1, 0, 0], "both": [2, 1, 0, 1]}[edges]
    for engine in (compiled, interpreted):
        state = engine(program, view, sources=[2])
        assert state["hops"].tolist() == expected


def test_aggregates_and_stop(direction):
    program = VertexProgram(
        state={"x": Field("int64", initial=lambda id: id)},  # noqa: A006
        compute=lambda source_x: source_x + 1,
        combine="max",
        aggregates={
            "least": Min(lambda x: x),
            "most": Max(lambda new_x: new_x),
            "total": Sum(lambda new_x, degree: new_x * degree),
        },
        stop=lambda most, superstep: most >= 20 or superstep == 50,
    )
    view = View.of(from_edges(3, np.array([0, 1, 2]), np.array([1, 2, 0]), {}))
    found, expected = compiled(program, view), interpreted(program, view)
    same(found, expected)
    assert found.aggregates == expected.aggregates
    assert found.aggregates["most"] == 20
    assert found.supersteps == expected.supersteps == 18


# -- how a run ends -----------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_not_converged_tells_the_aggregates(engine):
    with pytest.raises(NotConverged, match=r"after 3 supersteps .*change = 0"):
        engine(PAGERANK, random_view(0), max_supersteps=3)
    state = engine(PAGERANK, random_view(0), max_supersteps=3, exact_supersteps=True)
    assert state.supersteps == 3


@pytest.mark.parametrize("engine", [compiled, interpreted])
def test_what_can_never_end_is_refused(engine):
    with pytest.raises(InvalidArgument, match="max_supersteps"):
        engine(WEIGHT_SUM, star([1]))
    with pytest.raises(InvalidArgument, match="source="):
        engine(SSSP, star([1]))
    with pytest.raises(InvalidArgument, match="priority"):
        engine(LABELS, star([1]), cutoff=3)
    with pytest.raises(InvalidArgument, match="dense ids"):
        engine(SSSP, star([1]), sources=[2])


@pytest.mark.parametrize("cutoff", [0, 5, 5.5, 1000])
def test_cutoff_drops_what_lies_beyond(cutoff, direction):
    for weight in ("int64", "float64"):
        view = random_view(13, weight=weight)
        expected = {v: d for v, d in dijkstra(view, 0).items() if d <= cutoff}
        state = compiled(SSSP, view, sources=[0], cutoff=cutoff)
        found = {v: state["distance"][v] for v in np.flatnonzero(state.reached).tolist()}
        assert found == pytest.approx(expected)
        same(interpreted(SSSP, view, sources=[0], cutoff=cutoff), state)


def test_targets_are_final_and_end_the_run_early(monkeypatch):
    view = chain([1] * 3000)
    report = Report("test")
    state = run(SSSP, view, sources=[0], targets=[5, 40], report=report)
    assert state["distance"][[5, 40]].tolist() == [5, 40]
    assert sum(row.edges for row in report.advances) < 200
    # a target that cannot be reached: everything else is
    state = compiled(SSSP, View.of(view.out), sources=[10], targets=[3])
    assert not state.reached[3]
    assert state.reached.sum() == 2991


@of_the_cpu_engine
def test_report_rows_say_what_was_done(eager):
    view = random_view(14, directed=False)
    for program, arguments, expected in [
        (SSSP, {"sources": [0]}, {"near-far"}),
        (LABELS, {}, {"pull", "push"}),
        (PAGERANK, {"max_supersteps": 300}, {"pull"}),
    ]:
        report = Report("test")
        state = run(program, view, report=report, **arguments)
        assert {row.direction for row in report.advances} == expected
        assert sum(row.supersteps for row in report.advances) == state.supersteps
        assert all(row.edges >= 0 and row.bytes >= row.edges * 4 for row in report.advances)
        assert report.advances[0].frontier == len(arguments.get("sources", range(60)))


def test_programs_from_several_threads_at_once():
    view = random_view(15, directed=False)
    work = [(SSSP, {"sources": [0]}), (PAGERANK, {"max_supersteps": 300}), (LABELS, {})] * 2
    expected = [interpreted(program, view, **arguments) for program, arguments in work]
    found = [None] * len(work)

    def work_on(i):
        program, arguments = work[i]
        for _ in range(5):
            found[i] = compiled(program, view, **arguments)

    runners = [threading.Thread(target=work_on, args=(i,)) for i in range(len(work))]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    for one, other in zip(found, expected, strict=True):
        same(one, other, rtol=1e-9)


def test_graphs_without_edges_or_vertices():
    empty = np.empty(0, np.int64)
    for n in (0, 3):
        view = View.of(from_edges(n, empty, empty, {"weight": empty}))
        assert compiled(LABELS, view)["label"].tolist() == list(range(n))
        for engine in (compiled, interpreted):
            ranks = engine(PAGERANK, view, max_supersteps=9)["rank"] if n else [1.0]
            assert sum(ranks) == pytest.approx(1)
    assert compiled(SSSP, view, sources=[1]).reached.tolist() == [False, True, False]
