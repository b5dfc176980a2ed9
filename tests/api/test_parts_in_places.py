"""Parts and windows of graphs on ranks, on disk and opened from disk: what graphs of filtered frames answer."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dated_edges import answers, chosen, made
from hypothesis import given, settings
from hypothesis import strategies as st
from places import rows_of

import dask_graphgpu as dg
from dask_graphgpu.partition import parts
from dask_graphgpu.partition.paged import windows

METHODS = ("degree", "pagerank", "weakly_connected_components", "triangle_count")
VERTICES = pd.DataFrame({"vertex": np.arange(5, 15), "x": np.arange(10) / 7})


def same(found, wanted):
    pd.testing.assert_frame_equal(rows_of(found), rows_of(wanted), rtol=1e-9)


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    ranks=st.integers(2, 4),
    directed=st.booleans(),
    low=st.none() | st.integers(-1, 10),
    high=st.none() | st.integers(0, 11),
    kind=st.sampled_from(["random", "hubs", "mirrored", "strings"]),
    listed=st.booleans(),
    order=st.sampled_from(["auto", "degree"]),
)
def test_any_rows_on_ranks(seed, ranks, directed, low, high, kind, listed, order):
    frame = made(seed, n=12, m=30, kind=kind)
    vertices = VERTICES
    if kind == "strings":
        frame, vertices = (
            frame.astype({"src": str, "dst": str}),
            vertices.astype({"vertex": str}),
        )
    options = {"directed": directed, "vertices": vertices if listed else None, "order": order}
    graph = frame.graph(**options, ranks=ranks).persist(columns=["day"])
    part = graph.where("day", low, high)
    rows = chosen(frame, -np.inf if low is None else low, np.inf if high is None else high)
    wanted = rows.graph(**options, ranks=1)
    for name in METHODS:
        same(getattr(part, name)(), getattr(wanted, name)())
    same(part.where("day", 2, 5).degree(), chosen(rows, 2, 5).graph(**options).degree())
    same(graph.windows("day", 3, start=0).degree(), windows_of(frame, options))
    assert part.explain().ranks == ranks or not len(rows)


def windows_of(frame, options, every=3):
    found = [
        chosen(frame, low, low + every).graph(**options).degree().assign(window=low)
        for low in range(0, 10, every)
        if len(chosen(frame, low, low + every))
    ]
    frame = pd.concat(found)
    return frame[["window", *frame.columns[:-1]]]


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """What makes graphs go to disk, with so many bytes of memory."""
    for module in ("limits", "filtered", "windows"):
        monkeypatch.setattr(
            f"dask_graphgpu.partition.paged.{module}.in_memory_bytes", lambda *_, **__: 1 << 40
        )
    settings = {
        "host-memory-limit": "8MB",
        "page-bytes": 4096,
        "spill-directories": str(tmp_path),
    }
    with dask.config.set({"graphgpu": settings}):
        yield


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["hubs", "mirrored", "strings"])
@pytest.mark.usefixtures("pages")
def test_on_disk(kind, directed):
    frame = made(kind=kind, n=60, m=3000)
    vertices = VERTICES.assign(vertex=VERTICES["vertex"] + 50)
    if kind == "strings":
        frame = frame.astype({"src": str, "dst": str})
        vertices = vertices.astype({"vertex": str})
    options = {"directed": directed, "vertices": vertices}
    graph = frame.graph(**options).persist(columns="day")
    for low, high in ((3, 7), (None, 5), (20, None)):
        part = graph.where("day", low, high)
        assert part._input.held.paged
        bounds = -np.inf if low is None else low, np.inf if high is None else high
        rows = chosen(frame, *bounds)
        wanted = rows.graph(**options)
        with dask.config.set({"graphgpu.host-memory-limit": None}):
            answers = [getattr(wanted, name)() for name in METHODS]
        for name, answer in zip(METHODS, answers, strict=True):
            same(getattr(part, name)(), answer)
    again = graph.where("day", 2, 8).where("day", 4, 6)
    same(again.degree(), chosen(frame, 4, 6).graph(**options).degree())
    same(graph.windows("day", 3, start=0).degree(), windows_of(frame, options))


def test_a_part_that_fits_memory_is_there(tmp_path):
    frame = made(m=60_000)
    limit = {"host-memory-limit": "1.5MB", "page-bytes": 4096, "spill-directories": str(tmp_path)}
    with dask.config.set({"graphgpu": limit}):
        for directed in (True, False):
            graph = frame.graph(directed=directed).persist(columns="day")
            part = graph.where("day", 3, 4)
            assert graph._input.held.paged
            assert not part._input.held.paged
            wanted = chosen(frame, 3, 4)
            for method in ("k_truss", "pagerank"):  # of which one does not run on disk
                same(getattr(part, method)(), getattr(wanted.graph(directed=directed), method)())


@pytest.mark.parametrize("directed", [True, False])
def test_windows_on_disk_are_read_together_as_far_as_memory_allows(directed, tmp_path, monkeypatch):
    frame = made(m=60_000)
    reads, read = [], windows.rows_in_memory

    def counted(whole, column, low, high):
        reads.append((low, high))
        return read(whole, column, low, high)

    monkeypatch.setattr(windows, "rows_in_memory", counted)
    limit = {"host-memory-limit": "1.5MB", "page-bytes": 4096, "spill-directories": str(tmp_path)}
    with dask.config.set({"graphgpu": limit}):
        graph = frame.graph(directed=directed).persist(columns="day")
        assert graph._input.held.paged
        same(graph.windows("day", 1).degree(), windows_of(frame, {"directed": directed}, 1))
        assert 1 < len(reads) < 10
        assert [low for low, _ in reads[1:]] == [high for _, high in reads[:-1]]
        found = graph._input.held
        pieces = parts.windows(found, "day", lambda *_: range(11))
        for i in (7, 2, 7):  # also out of order, and again
            assert pieces[i][1].partition().num_rows == len(pieces[i][1]) == sum(frame.day == i)


@pytest.mark.parametrize("directed", [True, False])
def test_of_saved_graphs_that_ranks_open(directed, tmp_path):
    frame = made(n=80, m=900)
    path = (
        frame[:700].graph(directed=directed, vertices=VERTICES).save(tmp_path / "g", columns="day")
    )
    dg.load(path).append(frame[700:])
    part = dg.load(path, ranks=3).where("day", 3, 7)
    wanted = chosen(frame, 3, 7).graph(directed=directed, vertices=VERTICES)
    for name in METHODS:
        same(getattr(part, name)(), getattr(wanted, name)())
    found = dg.load(path, ranks=2).windows("day", 3, start=0).degree()
    same(found, windows_of(frame, {"directed": directed, "vertices": VERTICES}))


@pytest.mark.parametrize("ranks", [1, 2])
def test_dask_frames(ranks):
    frame = made()
    graph = dd.from_pandas(frame, npartitions=3).graph(ranks=ranks).persist(columns="day")
    part = graph.where("day", 3, 7)
    assert part.pagerank().npartitions == 3
    same(part.pagerank(), chosen(frame, 3, 7).graph().pagerank())
    same(graph.windows("day", 3, start=0).degree(), windows_of(frame, {}))


def test_windows_on_ranks_start_from_the_one_before():
    frame = made()
    wanted = frame.graph().persist(columns="day").windows("day", 5, warm=True).pagerank()
    graph = frame.graph(ranks=2).persist(columns="day")
    same(graph.windows("day", 5, warm=True).pagerank(), wanted)


def test_nothing_is_left():
    frame = made(n=20, m=50)
    part = frame.graph(ranks=2).persist(columns="day").where("day", 50)
    assert len(part.degree()) == 0
    assert len(part.where("day", 3).degree()) == 0
    assert len(part.windows("day", 2).degree()) == 0


def test_vertices_that_are_named_twice_are_an_error_in_parts_too():
    vertices = pd.concat([VERTICES, VERTICES[:2]])
    for ranks in (1, 2):
        graph = made(n=15, m=90).graph(vertices=vertices, ranks=ranks).persist(columns="day")
        with pytest.raises(dg.errors.InvalidVertices, match="gives 2 ids more than once"):
            graph.where("day", 3).neighbor_aggregate("x")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("directed", "options"), [(False, {"ranks": 2}), (True, {})], ids=["ranks", "disk"]
)
def test_every_method_gives_what_it_gives_on_the_filtered_frame(options, directed, request):
    if not options:
        request.getfixturevalue("pages")
    frame = made(kind="hubs")
    frame.loc[: len(frame) // 2, "day"] = 4  # the sources that calls name are there on each day
    graph = frame.graph(directed=directed, **options).persist(columns="day")
    found = answers(graph.where("day", 3, 7))
    wanted = answers(chosen(frame, 3, 7).graph(directed=directed, **options).persist())
    for name, answer in wanted.items():
        if isinstance(answer, type):
            assert found[name] is answer, name
        else:
            pd.testing.assert_frame_equal(
                rows_of(found[name]), rows_of(answer), rtol=1e-6, obj=name
            )
