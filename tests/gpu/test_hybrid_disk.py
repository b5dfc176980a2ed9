"""Graphs whose edges lie in pages on disk, which the GPU and the CPU share: the answers of memory."""

import gc
import re
import threading
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
from engine_programs import LABELS, LABELS_BACK, SUMMED
from kept_runs import Cut, cutting
from spilled import assert_swept, no_collector

from dask_graphgpu import Checkpoint, Field, Sum, VertexProgram, last_report
from dask_graphgpu.engine import limits
from dask_graphgpu.engine.hybrid import disk_pages, programs
from dask_graphgpu.engine.hybrid.supersteps import HybridSupersteps
from dask_graphgpu.engine.page_dispatch import Page, Pages
from dask_graphgpu.engine.paged.rates import rates_of
from dask_graphgpu.engine.speeds import Speeds
from dask_graphgpu.engine.tiered.disk import DiskTransfer
from dask_graphgpu.errors import InvalidArgument, LimitTooSmall, SpillError

pytestmark = pytest.mark.gpu

ROWS, VERTICES = 60_000, 600
SPLITS = ["auto", "gpu", "cpu", "alternate", "supersteps"]


@pytest.fixture(scope="module")
def edges():
    """Skewed random edges with repeats and self-loops, and weights."""
    rng = np.random.default_rng(6)
    source = (VERTICES * rng.random(ROWS) ** 2).astype(np.int64)
    destination = rng.integers(0, VERTICES, ROWS)
    weight = rng.integers(1, 99, ROWS)
    return pd.DataFrame({"src": source, "dst": destination, "weight": weight})


@pytest.fixture
def limited(tmp_path, monkeypatch):
    """Settings under which these edges lie on disk, in two folders, in small pages and segments."""
    monkeypatch.setattr(limits, "_MOST", 8192)
    return {
        "graphgpu.host-memory-limit": "900kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.device-memory-limit": 420_000,
        "graphgpu.spill-directories": [str(tmp_path / "a"), str(tmp_path / "b")],
    }


TOTALLED = replace(
    SUMMED, aggregates={"total": Sum(lambda x: x)}, stop=lambda superstep: superstep >= 6
)
BOTH_ENDS = VertexProgram(
    state={"x": Field(dtype="float64", initial=1.0)},
    compute=lambda source_x, destination_x, weight: (source_x - destination_x / 3) * weight,
    combine="sum",
    apply=lambda message, x: 0.5 * x + 1e-4 * message,
    stop=lambda superstep: superstep >= 4,
)
METHODS = {
    "pagerank": lambda graph: graph.pagerank(),
    "pagerank delta": lambda graph: graph.pagerank(method="delta"),
    "components": lambda graph: graph.weakly_connected_components(),
    "bfs": lambda graph: graph.bfs(source=3),
    "sssp": lambda graph: graph.sssp(source=3),
    "paths": lambda graph: graph.sssp(source=3, predecessor=True),
    "backwards": lambda graph: graph.run(LABELS_BACK),
    "both": lambda graph: graph.run(LABELS),
    "both ends": lambda graph: graph.run(BOTH_ENDS),
    "summed": lambda graph: graph.run(TOTALLED),
}
ROUNDED = ("pagerank", "pagerank delta", "summed", "both ends")


def compared(name, edges, settings, **given):
    edges = edges.assign(cost=edges["weight"] / 64) if name == "summed" else edges
    method, rounded = METHODS[name], name in ROUNDED
    wanted = method(edges.graph(engine="cpu", **given))
    with dask.config.set(settings), no_collector():
        found = method(edges.graph(engine="hybrid", **given))
        assert_swept(Path(settings["graphgpu.spill-directories"][0]).parent)
    pd.testing.assert_frame_equal(
        found, wanted, rtol=1e-6 if rounded else 1e-12, check_exact=not rounded
    )
    return last_report().attrs


@pytest.mark.parametrize(
    ("directed", "split"),
    [*((True, split) for split in SPLITS), (False, "alternate"), (False, "supersteps")],
)
@pytest.mark.parametrize("name", METHODS)
def test_methods(name, directed, split, edges, limited):
    told = compared(name, edges, limited | {"graphgpu.dispatch": split}, directed=directed)
    assert told["disk_bytes"] > 0
    pages = told["sides"]["cpu"]["pages"]
    assert (pages > 0) == (split in ("cpu", "alternate"))
    if split == "cpu":
        assert told["sides"]["gpu"]["edges"] == 0


@pytest.mark.parametrize("room", [4_000, None])
@pytest.mark.parametrize("split", SPLITS)
def test_however_many_edges_stay_on_the_device(split, room, edges, limited):
    limited["graphgpu.device-memory-limit"] = None if room is None else 400_000 + room
    compared("pagerank", edges, limited | {"graphgpu.dispatch": split})


def slow_gpu(monkeypatch, **others):
    """Have the GPU taken for slow, and the CPU too in whole supersteps: it shares all of them."""
    given = {"pull": 1.0, "push": 1e12, "gpu": 1e3, "cpu_beside": 1e9, "gpu_beside": 1.0, **others}
    monkeypatch.setattr(programs, "_speeds", lambda *_: Speeds(**given))
    monkeypatch.setattr(Future, "done", lambda self: bool(wait([self]).done))


@pytest.mark.parametrize("name", ["pagerank", "pagerank delta", "both ends", "summed"])
def test_the_cpu_takes_what_the_gpu_has_not_come_to(name, edges, limited, monkeypatch):
    """The GPU is held up until the CPU has taken a page that was there."""
    slow_gpu(monkeypatch)
    taken, bring = threading.Event(), disk_pages.ArrivingPages.for_gpu
    take = disk_pages.ArrivingPages.for_cpu

    def for_gpu(self):
        taken.wait(0.05)
        taken.clear()
        return bring(self)

    def for_cpu(self):
        page = take(self)
        taken.set()
        return page

    monkeypatch.setattr(disk_pages.ArrivingPages, "for_gpu", for_gpu)
    monkeypatch.setattr(disk_pages.ArrivingPages, "for_cpu", for_cpu)
    told = compared(name, edges, limited)
    assert told["sides"]["cpu"]["pages"] > 0
    assert told["sides"]["gpu"]["pages"] > 0


def test_the_cpu_runs_supersteps_alone_where_it_is_faster(edges, limited, monkeypatch):
    slow_gpu(monkeypatch, pull=1e12, cpu_beside=0.0)
    for name in ("pagerank", "summed", "sssp"):
        told = compared(name, edges, limited, directed=False)
        cpu, gpu = told["sides"]["cpu"], told["sides"]["gpu"]
        assert cpu["alone"] > 0
        assert gpu["supersteps"] <= 3


def test_rows_are_not_turned_over_for_the_cpu(edges, limited, monkeypatch):
    slow_gpu(monkeypatch, pull=1e12, cpu_beside=0.0)
    told = compared("backwards", edges, limited, directed=True)
    assert told["sides"]["cpu"]["alone"] == 0


@pytest.mark.parametrize("waited", [0.0, 1e9])
def test_a_gpu_that_was_seen_to_be_slow(waited, edges, limited, monkeypatch):
    """A run that was left to it is noted; the CPU runs the next one, unless it was the disk."""
    monkeypatch.setattr(DiskTransfer, "waited", waited)
    if not waited:  # a GPU takes less for so few edges than values take to move
        monkeypatch.setattr(HybridSupersteps, "_moving", 0.0)
    beside, pulled = 1e-9, 1e12
    monkeypatch.setattr(
        programs, "_speeds", lambda *_: Speeds(pulled, 1.0, 1e13, beside, beside, disk=1e15)
    )
    with dask.config.set(limited):
        graph = edges.graph(engine="hybrid", directed=False).persist()
        graph.run(BOTH_ENDS)
        first = last_report().attrs["sides"]
        graph.run(BOTH_ENDS)
        then = last_report().attrs["sides"]
    assert first["cpu"]["supersteps"] == 0
    assert (then["cpu"]["alone"] > 0) == (not waited)


def test_the_disk_that_was_waited_for_gives_no_more():
    """Then the CPU is not taken for faster, before it was seen; else what reading alone has shown stays."""
    for waited, disk, pull in ((0.0, 1e9, 9e8), (0.5, 2e8, 2e8), (0.95, 1e8 / 0.95, 1e8 / 0.95)):
        speeds = Speeds(9e8, 1e9, 9e8, 1e-4, 1e-4, disk=1e9)
        speeds.step_of_gpu(1.0 + 1e-4, 1e8, waited)
        assert (speeds.disk, speeds.pull) == (pytest.approx(disk), pytest.approx(pull))
        assert speeds.gpu == pytest.approx(1e8)
        pages = Pages([Page(0, 10**8, 10**8)], speeds, "auto")
        assert (pages.worth > 0) == (waited < 0.9)


@pytest.mark.parametrize("name", ["bfs", "components"])
def test_searches_and_components_are_the_gpus(name, edges, limited, monkeypatch):
    """Whoever is faster: they would be other, longer runs."""
    slow_gpu(monkeypatch, pull=1e12, cpu_beside=0.0)
    told = compared(name, edges, limited, directed=False)
    assert told["sides"]["cpu"]["supersteps"] == 0


def test_rates_of_the_disk(edges, limited):
    with dask.config.set(limited):
        graph = edges.graph(engine="hybrid").persist()
        graph.pagerank()
        rows = graph._input.held.given
        rates = rates_of(rows)
    assert 0 < rates.bytes < 1e12
    assert rates.random >= 1
    assert 0 < rates.read_bytes <= 40 * 4096


@pytest.mark.parametrize("split", ["auto", "cpu", "alternate", "supersteps"])
def test_it_goes_on_from_a_checkpoint(split, edges, limited, tmp_path):
    limited["graphgpu.dispatch"] = split
    wanted, path = edges.graph(engine="cpu").pagerank(method="delta"), tmp_path / "kept"
    with dask.config.set(limited):
        graph = edges.graph(engine="hybrid")
        with pytest.raises(Cut), cutting(4):
            graph.pagerank(method="delta", checkpoint=Checkpoint(path, seconds=0))
        found = graph.pagerank(method="delta", checkpoint=Checkpoint(path), resume=True)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-5)


def test_what_cannot_be_is_told(edges, limited):
    with dask.config.set(limited):
        graph = edges.graph(engine="hybrid")
        with (
            dask.config.set({"graphgpu.transfer": "compact"}),
            pytest.raises(InvalidArgument, match=r"compact.*in pages on disk.*'stream'"),
        ):
            graph.pagerank()
        asynchronous = {"graphgpu.rounds": "asynchronous"}
        with (
            dask.config.set(asynchronous | {"graphgpu.dispatch": "cpu"}),
            pytest.raises(InvalidArgument, match=r"'cpu'.*asynchronous rounds.*the GPU's alone"),
        ):
            graph.sssp(source=3)
        with dask.config.set(asynchronous):
            graph.sssp(source=3)
            assert last_report().attrs["sides"]["cpu"]["pages"] == 0
        with (
            dask.config.set({"graphgpu.device-memory-limit": 1000}),
            pytest.raises(LimitTooSmall, match=r"device-memory-limit is 1,000"),
        ):
            graph.run(BOTH_ENDS)


def test_a_host_too_small_for_both_sides(edges, limited):
    """The run is left to the GPU, unless the CPU is asked for."""

    def allow(memory):
        for rows in graph._input.held._rows.values():
            for shown in rows._shown.values():
                object.__setattr__(shown, "limits", replace(shown.limits, memory=memory))

    with dask.config.set(limited):
        graph = edges.graph(engine="hybrid").persist()
        wanted = graph.pagerank()
        with dask.config.set({"graphgpu.dispatch": "cpu"}):
            allow(1)
            with pytest.raises(LimitTooSmall, match="with its edges on disk needs") as told:
                graph.pagerank()
            enough = int(re.search(r"needs ([\d,]+) bytes", str(told.value))[1].replace(",", ""))
            allow(enough)  # for the GPU
            with pytest.raises(LimitTooSmall, match="on both sides with its edges on disk, needs"):
                graph.pagerank()
        pd.testing.assert_frame_equal(graph.pagerank(), wanted, rtol=1e-9)
        assert last_report().attrs["sides"]["cpu"]["pages"] == 0


@pytest.mark.parametrize("split", ["gpu", "cpu", "alternate", "supersteps"])
def test_a_damaged_page_is_told_and_nothing_is_left(split, edges, limited, tmp_path):
    """Whoever meets it; the other side waits for nothing."""
    limited["graphgpu.dispatch"] = split
    with dask.config.set(limited):
        graph = edges.graph(engine="hybrid", weight=None).persist()
        wanted = graph.pagerank()
        for rows in graph._input.held._rows.values():
            for shown in rows._whole.values():
                shown.neighbours.checksums[-3:] = 1
        with pytest.raises(SpillError, match=r"page \d+ of .* is not what was written"):
            graph.pagerank()
        del rows, shown, graph
    assert len(wanted)
    assert not [t for t in threading.enumerate() if t.name.startswith("graphgpu-hybrid")]
    gc.collect()
    assert_swept(tmp_path)
