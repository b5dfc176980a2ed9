"""Sums that are pulled by blocks of sources: as by rows."""

import dask
import numpy as np
import pytest
from made_graphs import path, rmat, star

from dask_graphgpu.algorithms import pagerank
from dask_graphgpu.engine import cpu, gpu
from dask_graphgpu.engine.gpu import blocked, gathers, settings
from dask_graphgpu.engine.gpu.device import DeviceView
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.errors import InvalidArgument, OutOfDeviceMemory
from dask_graphgpu.fields import Field, Sum
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

pytestmark = pytest.mark.gpu

TWELVE = {"max_supersteps": 12, "exact_supersteps": True}
COUNTS = VertexProgram(  # wraps: integers that nobody watches
    state={"hash": Field("int64", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_hash: (source_hash ^ 77) * 6364136223846793005,
    combine="sum", wraps=True,
)  # fmt: skip
RECEIVED = VertexProgram(
    state={"x": Field("float64", initial=1.0), "none": Field("int64", initial=0)},
    compute=lambda source_x: source_x, combine="sum", message="float64",
    apply=lambda x, message, received, none: {
        "x": 0.5 * x + 0.1 * message, "none": none if received else none + 1,
    },
    aggregates={"alone": Sum(lambda new_none: new_none)},
)  # fmt: skip
PROGRAMS = {
    "power": (pagerank.power_program("float64", weighted=False, personal=False), TWELVE, 1e-9),
    "power float32": (pagerank.power_program("float32", weighted=False, personal=False), TWELVE, 1e-5),
    "counts": (COUNTS, {"max_supersteps": 4, "exact_supersteps": True}, 0.0),
    "received": (RECEIVED, {"max_supersteps": 4, "exact_supersteps": True}, 1e-9),
}  # fmt: skip
GRAPHS = {
    "rmat": rmat(9, directed=True),
    "undirected": rmat(8),
    "star": star(9_000),
    "path": path(300),
}
# Sources of a block, and far values of a chunk beside three for each block; None: as many as there are.
SIZES = [(16, 16), (64, 256), (256, 64), None]


def room(block, n, least):
    """Far values of a chunk."""
    return -(-(least + 3 * -(-n // block)) // 16) * 16


def ran(engine, program, view, **arguments):
    return engine.run(program, view, RunOptions(report=Report("test"), **arguments))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", GRAPHS)
def test_blocks_add_up_to_what_rows_do(shape, name, sizes, monkeypatch):
    if sizes is not None:
        most = room(sizes[0], GRAPHS[shape].n, sizes[1])
        monkeypatch.setattr(gathers, "sizes", lambda item: (sizes[0], most))
        monkeypatch.setattr(blocked, "_NEAR_QUADS", 16)
        monkeypatch.setattr(blocked, "_ROWS", 100)
        monkeypatch.setattr(blocked, "_TILE_OF_WARP", 3)
        monkeypatch.setattr(blocked, "_STRETCH", 5)
    program, arguments, rtol = PROGRAMS[name]
    if shape == "star" and name == "power float32":
        rtol = 5e-4  # the hub's 9,000 values are added in float32
    view = GRAPHS[shape].view(into=True)
    expected = ran(cpu, program, view, **arguments)
    with dask.config.set({"graphgpu.gather": "blocks"}):
        found = ran(gpu, program, view, **arguments)
    assert found.supersteps == expected.supersteps
    near = {"rel": max(rtol, 1e-9), "abs": max(rtol / 10, 1e-12)}
    assert found.aggregates == pytest.approx(expected.aggregates, **near)
    for field in expected:
        np.testing.assert_allclose(found[field], expected[field], rtol=rtol, atol=rtol * 1e-3)


def quads(first, quads):
    """The places of each row, with those of zeros."""
    first, places = first.get().astype(np.int64), quads.get().view(np.uint16).reshape(-1, 4)
    return [places[first[v] : first[v + 1]].ravel() for v in range(len(first) - 1)]


@pytest.mark.parametrize(("block", "least"), [(16, 16), (64, 256), (400, 4000)])
@pytest.mark.parametrize("shape", GRAPHS)
def test_every_edge_has_its_place(shape, block, least, monkeypatch):
    monkeypatch.setattr(blocked, "_TILE", 7)
    monkeypatch.setattr(blocked, "_TILE_OF_WARP", 3)
    monkeypatch.setattr(blocked, "_STRETCH", 3)
    edges = DeviceView.of(GRAPHS[shape].view(into=True)).into
    most = room(block, edges.num_vertices, least)
    made = blocked.Blocked(edges, block, most)
    offsets, neighbours = edges.offsets.get().astype(np.int64), edges.neighbours.get()
    source = np.full(made.num_values, -1)  # of each far value, by the tiles
    starts = made.source_tiles.get().astype(np.int64)
    first, number = made.tile_first.get().astype(np.int64), 4 * made.tile_quads.get()
    for s in range(made.num_sources):
        for tile in range(starts[s], starts[s + 1]):
            values = slice(first[tile], first[tile] + number[tile])
            assert number[tile] <= 4 * 7
            assert (source[values] == -1).all()
            within = made.source.get()[values].astype(np.int64)
            source[values] = np.where(within < block, s * block + within, -2)  # or left over
    chunks = made.far_chunks.get()
    near, far = (
        quads(made.near_first, made.near_quads),
        quads(made.far_first, made.far_quads),
    )
    found = [list(row[row != block]) for row in near]
    far_first = made.far_first.get().astype(np.int64)
    for begin, end, row, rows, first_value, values, _, _ in chunks.tolist():
        assert values <= most
        assert first_value % 4 == 0
        for v in range(row, row + rows):
            ours = slice(4 * max(begin - far_first[v], 0), 4 * max(end - far_first[v], 0))
            places = far[v][ours]
            places = places[places != most].astype(np.int64)
            assert (places < values).all()
            found[v] += list(source[first_value + places])
    for v, row in enumerate(found):
        np.testing.assert_array_equal(np.sort(row), neighbours[offsets[v] : offsets[v + 1]])
    tiles = made.sender_tiles.get()
    assert tiles[0] == 0
    assert tiles[-1] == len(first)
    assert (np.diff(tiles.astype(np.int64)) >= 0).all()


def test_blocks_are_taken_where_ids_are_by_degree_and_edges_many(monkeypatch):
    monkeypatch.setattr(settings, "_MANY_EDGES", 1000)
    program = PROGRAMS["power float32"][0]
    taken = []
    init = blocked.Blocked.__init__
    monkeypatch.setattr(
        blocked.Blocked, "__init__", lambda *given: (taken.append(1), init(*given))[1]
    )
    view = GRAPHS["undirected"].view(into=True)
    by_rows = ran(gpu, program, view, **TWELVE)
    assert not taken
    view.user_rank = np.arange(view.num_vertices)
    by_blocks = ran(gpu, program, view, **TWELVE)
    assert len(taken) == 1
    ran(gpu, program, view, **TWELVE)
    assert len(taken) == 1, "they are kept with the graph"
    np.testing.assert_allclose(by_blocks["rank"], by_rows["rank"], rtol=1e-6)
    ran(gpu, PROGRAMS["power"][0], view, **TWELVE)
    assert len(taken) == 1, "not for values of 8 bytes"


@pytest.mark.parametrize(
    ("program", "more", "said"),
    [
        (pagerank.delta_program("float64", weighted=False), {}, "not all vertices send"),
        (pagerank.power_program("float64", weighted=True, personal=False), {}, "reads more than"),
        (PROGRAMS["power"][0], {"graphgpu.fusion": "all"}, "fusion"),
        (PROGRAMS["power"][0], {"graphgpu.tail": 1e-9}, "tail"),
        (PROGRAMS["power"][0], {"graphgpu.combine": "atomic"}, "combine"),
    ],
    ids=["delta", "weighted", "fusion", "tail", "atomic"],
)
def test_what_cannot_be_pulled_by_blocks_is_told(program, more, said):
    view = rmat(6, weight=np.ones(16 << 6)).view(into=True)
    view = view.with_columns({"residual": np.zeros(view.num_vertices)})
    with (
        dask.config.set({"graphgpu.gather": "blocks"} | more),
        pytest.raises(InvalidArgument, match=f"'blocks'.*{said}"),
    ):
        ran(gpu, program, view, **TWELVE)


def test_too_many_blocks_for_a_chunk():
    edges = DeviceView.of(GRAPHS["path"].view(into=True)).into
    with pytest.raises(InvalidArgument, match=r"300 vertices are 19 blocks of sources.*48 values"):
        blocked.Blocked(edges, 16, 48)


def test_rows_are_taken_where_memory_is_short(monkeypatch):
    def refused(*_):
        raise OutOfDeviceMemory("no room")

    monkeypatch.setattr(settings, "_MANY_EDGES", 0)
    monkeypatch.setattr(blocked, "require", refused)
    program = PROGRAMS["power float32"][0]
    view = GRAPHS["undirected"].view(into=True)
    view.user_rank = np.arange(view.num_vertices)
    with dask.config.set({"graphgpu.gather": "rows"}):
        by_rows = ran(gpu, program, view, **TWELVE)
    found = ran(gpu, program, view, **TWELVE)
    np.testing.assert_array_equal(found["rank"], by_rows["rank"])
    with dask.config.set({"graphgpu.gather": "blocks"}), pytest.raises(OutOfDeviceMemory):
        ran(gpu, program, view, **TWELVE)
