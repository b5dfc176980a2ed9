"""The progress bar: what it shows of runs in this process and on a cluster, and when it shows nothing."""

import io
import itertools
import threading
import time
from collections import Counter
from unittest import mock

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from cluster_cases import started
from strategies import partitioned

import dask_graphgpu as dg
from dask_graphgpu import report as reports
from dask_graphgpu import stages
from dask_graphgpu.engine.cpu import in_step
from dask_graphgpu.report import Report


@pytest.fixture(scope="module")
def frame():
    ends = np.random.default_rng(2).integers(0, 3000, (2, 12000))
    return pd.DataFrame({"src": ends[0], "dst": ends[1]})


def lines(out):
    """What stood of runs in each line, one after another."""
    shown = [line.split("\r")[1:] for line in out.getvalue().split("\n")]
    return [[text for text in line if not stage_of(text)] for line in shown]


def stage_of(text):
    """The stage before a run that a line tells of, if it does."""
    return next((each for each in ("reading", "building") if f"| {each}" in text), None)


def steps(shown):
    """The supersteps of a line."""
    return [int(text.split("superstep ")[1].split()[0].replace(",", "")) for text in shown]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("lazy", [True, False])
def test_a_run_that_knows_its_end(frame, ranks, lazy):
    graph = (partitioned(frame, 3) if lazy else frame).graph(ranks=ranks)
    out = io.StringIO()
    # Few iterations a call, as on a large graph.
    with mock.patch.object(in_step, "AT_ONCE", 1 << 16), dg.ProgressBar(dt=0.005, out=out):
        result = graph.pagerank(tolerance=0, max_iterations=1500)
        if lazy:
            result.compute()
    *shown, rest = lines(out)
    assert len(shown) == 1
    assert rest == []
    shown = shown[0]
    assert len(shown) > 3
    assert all("| pagerank superstep" in text for text in shown)
    of_rank = {text.split(" | ")[-2] for text in shown[:-1]}
    assert shown[-1].split(" | ")[-2] == "pagerank superstep 1,500", "it has ended"
    assert of_rank == {"2,998 active"} if ranks == 1 else len(of_rank) == 1
    done = steps(shown)
    assert done == sorted(done)
    assert done[-1] == 1500
    for text, step in zip(shown, done, strict=True):
        assert f"| {100 * step // 1500}%" in text
        assert text.count("#") == 40 * step // 1500
    assert not reports.watchers


def test_a_run_whose_end_nobody_knows(frame):
    out = io.StringIO()
    path = pd.DataFrame({"src": range(20_000), "dst": range(1, 20_001)})  # ranks go along it slowly
    # Few iterations a call, so that the bar hears of the first run before it ends.
    with mock.patch.object(in_step, "AT_ONCE", 1 << 16), dg.ProgressBar(dt=0.005, out=out):
        path.graph(ranks=1).pagerank(damping=0.995, tolerance=1e-12, max_iterations=9999)
        frame.graph(ranks=1).bfs(0)
    first, second, rest = lines(out)
    assert first
    assert second
    assert all("pagerank superstep" in text for text in first)
    assert all("bfs superstep" in text for text in second)
    *going, end = first
    assert going
    assert all(text.count("#") == 6 and "%" not in text for text in going)
    for ended in (end, second[-1]):
        assert ended.startswith("[" + 40 * "#" + "] | 100% | ")
    assert rest == []


def test_short_runs_and_runs_outside_are_not_shown(frame):
    out = io.StringIO()
    with dg.ProgressBar(minimum=60, dt=0.005, out=out):
        frame.graph(ranks=1).pagerank()
    frame.graph(ranks=1).pagerank()
    assert out.getvalue() == ""


def test_registered_and_not_any_more(frame):
    out = io.StringIO()
    bar = dg.ProgressBar(dt=0.005, out=out)
    bar.register()
    bar.register()
    frame.graph(ranks=1).bfs(0)
    bar.unregister()
    bar.unregister()
    shown = out.getvalue()
    assert shown.count("\n") == 1
    frame.graph(ranks=1).bfs(0)
    assert out.getvalue() == shown
    with bar:
        frame.graph(ranks=1).bfs(0)
    assert out.getvalue().count("\n") == 2
    assert not [t for t in threading.enumerate() if t.name == "graph-progress"]


def test_an_error_ends_the_line(frame):
    out = io.StringIO()
    with pytest.raises(dg.errors.NotConverged), dg.ProgressBar(dt=0.005, out=out):
        frame.graph(ranks=1).pagerank(max_iterations=3)
    assert out.getvalue().endswith("\n")


def test_the_standard_output_is_the_default(frame, capsys):
    with dg.ProgressBar():
        frame.graph(ranks=1).bfs(0)
    assert "bfs superstep" in capsys.readouterr().out


def test_a_file_that_is_closed_ends_nothing(frame):
    out = io.StringIO()
    with dg.ProgressBar(dt=0.005, out=out):
        out.close()
        frame.graph(ranks=1).bfs(0)


def test_runs_one_after_another_have_a_line_each():
    """Also where the next report gets the memory, and so the identity, of the one before."""
    out = io.StringIO()
    made = {"frontier": 1, "edges": 1, "bytes": 1, "seconds": 0.0}
    bar = dg.ProgressBar(dt=60, out=out)
    with bar:
        for steps_done in (2, 1, 1):
            Report("bfs").advance("push", supersteps=steps_done, **made)
            bar._look()
    *shown, rest = lines(out)
    assert [steps(of_run) for of_run in shown] == [[2], [1], [1, 1]]
    assert rest == []


def test_other_ranks_are_not_shown():
    seen = []

    def watcher(report, advance):
        seen.append(advance.supersteps)

    reports.watchers.append(watcher)
    try:
        for rank in (0, 1):
            made = {"frontier": 1, "edges": 1, "bytes": 1, "seconds": 0.0}
            Report("bfs", rank=rank, ranks=2).advance("push", supersteps=5 + rank, **made)
    finally:
        reports.watchers.remove(watcher)
    assert seen == [5]


@pytest.mark.parametrize(
    ("kind", "ranks"),
    [*itertools.product(["pandas", "lazy", "parquet"], [1, 2]), ("pages", 1)],
)
def test_reading_and_building_move_and_end(frame, kind, ranks, tmp_path):
    graph = {"pandas": frame, "lazy": partitioned(frame, 6)}.get(kind)
    if graph is None:
        ends = np.random.default_rng(3).integers(0, 900, (2, 60_000))
        frame = pd.DataFrame({"src": ends[0], "dst": ends[1]})
        partitioned(frame, 6).to_parquet(tmp_path / "edges")
        graph = dd.read_parquet(tmp_path / "edges")
    limits = {
        "graphgpu.host-memory-limit": 900_000,
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path)],
    }
    followed = []
    stages.followers.append(followed.append)
    out = io.StringIO()
    try:
        with dask.config.set(limits if kind == "pages" else {}), dg.ProgressBar(out=out):
            result = graph.graph(ranks=ranks).degree()
            if kind != "pandas":
                result.compute()
    finally:
        stages.followers.remove(followed.append)
    done = Counter()
    for each in followed:
        done[each.stage, each.of] += each.steps
    told = {each.stage for each in followed}
    assert told == ({"building"} if kind == "pages" else {"reading", "building"})
    for (_, of), steps_done in done.items():
        assert of is None or steps_done == of, "all steps are told of"
    if kind in ("lazy", "parquet"):
        assert max(of for stage, of in done if stage == "reading") >= 3
    (line, rest) = out.getvalue().split("\n")
    assert rest == ""
    assert line.split("\r")[-1].startswith("[" + 40 * "#" + "] | 100% | degree | ")


@pytest.mark.parametrize("processes", [True, False])
@pytest.mark.parametrize("ranks", [1, 2])
def test_on_a_cluster(frame, ranks, processes):
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        started(2, processes=processes) as client,
    ):
        mine = []
        client.subscribe_topic("dask_graphgpu", mine.append)
        graph = partitioned(frame, 2).graph(ranks=ranks)
        out = io.StringIO()
        with dg.ProgressBar(dt=0.02, out=out):
            # One rank makes some ten thousand in a call.
            iterations = 100_000 if ranks == 1 else 4000
            graph.pagerank(tolerance=0, max_iterations=iterations).compute()
        shown, rest = lines(out)
        done = steps(shown)
        assert done == sorted(done)
        assert done[-1] == iterations
        assert all("%" in text for text in shown)
        assert shown[-1].startswith("[" + 40 * "#")
        assert any(map(stage_of, out.getvalue().split("\r"))), "before it there is building"
        assert rest == []
        assert mine, "a handler of one's own is not replaced"
        end = out.getvalue()
        graph.pagerank(tolerance=0, max_iterations=50).compute()
        assert out.getvalue() == end


def full():
    out = mock.Mock()
    out.write.side_effect = BrokenPipeError
    return out


@pytest.mark.parametrize("stream", [None, full()], ids=["closed", "whose reader has gone"])
def test_nobody_who_reads(frame, monkeypatch, stream):
    monkeypatch.setattr("sys.stdout", stream)
    with dg.ProgressBar(dt=0.001) as bar:
        assert len(frame.graph().pagerank(tolerance=0, max_iterations=500))
        time.sleep(0.05)
        assert bar._drawing.is_alive()


@pytest.mark.parametrize("place", ["memory", "ranks", "pages", "interpreted"])
@pytest.mark.parametrize(
    "call",
    [
        lambda graph: graph.pagerank(tolerance=0, max_iterations=5),
        lambda graph: graph.pagerank(tolerance=0, max_iterations=5, dtype="float32"),
        lambda graph: graph.hits(tolerance=0, max_iterations=5),
    ],
    ids=["pagerank", "float32", "hits"],
)
def test_the_end_is_known_in_all_places(place, call, tmp_path):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"src": rng.integers(0, 900, 60_000), "dst": rng.integers(0, 900, 60_000)})
    pages = {
        "graphgpu.host-memory-limit": 900_000,
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path)],
    }
    limits = set()
    reports.watchers.append(lambda report, advance: limits.add(report.limit))
    try:
        with dask.config.set(pages if place == "pages" else {}):
            ranks = 2 if place == "ranks" else 1
            graph = frame.graph(
                ranks=ranks, engine="interpreted" if place == "interpreted" else "auto"
            )
            if place == "interpreted" and "hits" in call.__code__.co_names:
                with pytest.raises(dg.errors.EngineUnavailable):
                    call(graph)
                return
            call(graph)
        assert (dg.last_report().attrs["disk_bytes"] > 0) == (place == "pages")
    finally:
        reports.watchers.pop()
    assert limits == {5}
