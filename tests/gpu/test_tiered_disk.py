"""Graphs whose edges lie in pages on disk, on the GPU: the answers of the CPU in memory."""

import gc
from dataclasses import replace
from pathlib import Path

import dask
import numpy as np
import pandas as pd
import pytest
from engine_programs import LABELS, LABELS_BACK, SUMMED
from kept_runs import Cut, cutting
from spilled import assert_swept, no_collector

from dask_graphgpu import Checkpoint, last_report
from dask_graphgpu.engine import limits
from dask_graphgpu.errors import (
    EngineUnavailable,
    InvalidArgument,
    LimitTooSmall,
    SpillError,
)

pytestmark = pytest.mark.gpu

ROWS, VERTICES = 40_000, 600


@pytest.fixture(scope="module")
def edges():
    """Skewed random edges with repeats and self-loops, and weights."""
    rng = np.random.default_rng(6)
    source = (VERTICES * rng.random(ROWS) ** 2).astype(np.int64)
    destination = rng.integers(0, VERTICES, ROWS)
    return pd.DataFrame({"src": source, "dst": destination, "weight": rng.integers(1, 99, ROWS)})


@pytest.fixture
def limited(tmp_path, monkeypatch):
    """Settings under which these edges lie on disk, in two folders, in small pages and segments."""
    monkeypatch.setattr(limits, "_MOST", 8192)
    return {
        "graphgpu.host-memory-limit": "610kB",
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "a"), str(tmp_path / "b")],
    }


METHODS = {
    "pagerank": lambda graph: graph.pagerank(),
    "pagerank delta": lambda graph: graph.pagerank(method="delta"),
    "strong components": lambda graph: graph.strongly_connected_components(),
    "hits": lambda graph: graph.hits(),
    "labels": lambda graph: graph.label_propagation(5),
    "forest": lambda graph: graph.minimum_spanning_forest(),
    "cores": lambda graph: graph.core_number(),
    "ego": lambda graph: graph.ego(590),
    "path": lambda graph: graph.shortest_path(3, 590),
    "sssp": lambda graph: graph.sssp(source=3),
    "sswp": lambda graph: graph.sswp(source=3),
    "ssnsp": lambda graph: graph.ssnsp(source=3),
    "backwards": lambda graph: graph.run(LABELS_BACK),
    "both": lambda graph: graph.run(LABELS),
    "summed": lambda graph: graph.run(SUMMED),
}
# Whose answers are sums of floats.
SUMS = ("pagerank", "pagerank delta", "summed", "hits")


def compared(method, edges, settings, *, rtol, **given):
    wanted = method(edges.graph(engine="cpu", **given))
    with dask.config.set(settings), no_collector():
        found = method(edges.graph(engine="gpu", **given))
        assert_swept(Path(settings["graphgpu.spill-directories"][0]).parent)
    if "dst" in found:  # repeated edges of undirected graphs are in no order
        wanted, found = (
            each.sort_values([*each]).reset_index(drop=True) for each in (wanted, found)
        )
    pd.testing.assert_frame_equal(found, wanted, rtol=rtol or 1e-12, check_exact=not rtol)
    return last_report().attrs


@pytest.mark.parametrize("room", [4_000, 60_000, None])
@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("name", METHODS)
def test_methods(name, directed, room, edges, limited):
    """With few edges on the device, some, and all, where there is no limit."""
    given = edges.assign(cost=edges["weight"] / 64) if name == "summed" else edges
    rtol = 1e-6 if name in SUMS else 0
    if room is not None:
        limited["graphgpu.device-memory-limit"] = 400_000 + room
    told = compared(METHODS[name], given, limited, rtol=rtol, directed=directed)
    assert told["disk_bytes"] > 0


def test_what_is_read_and_sent(edges, limited):
    """Of PageRank all edges off the device in each superstep, of components each once."""
    limited["graphgpu.device-memory-limit"] = 420_000
    with dask.config.set(limited):
        graph = edges.graph(engine="gpu", weight=None, duplicates="keep").persist()
        told = []
        for _ in range(2):
            graph.pagerank(max_iterations=5, tolerance=0)
            told.append(last_report().attrs)
        number = graph.explain().num_edges
        del graph
    first, again = told
    sent = first["moved"]["stream"]
    assert sent["supersteps"] == 5
    assert sent["bytes"] % 5 == 0
    assert again["moved"] == first["moved"]
    # What stays on the device is read once, the others in whole pages.
    resident = number * 4 - sent["bytes"] // 5
    assert 0 < resident < number * 4
    assert first["disk_bytes"] - again["disk_bytes"] >= resident
    assert sent["bytes"] <= again["disk_bytes"] < 1.5 * sent["bytes"]


@pytest.mark.parametrize("rounds", ["synchronous", "asynchronous", "resident-first"])
def test_rounds(rounds, edges, limited):
    limited |= {"graphgpu.device-memory-limit": 420_000, "graphgpu.rounds": rounds}
    told = compared(METHODS["sssp"], edges, limited, rtol=0)
    assert told["moved"]["stream"]["parts"] > 0


def test_it_goes_on_from_a_checkpoint(edges, limited, tmp_path):
    limited["graphgpu.device-memory-limit"] = 420_000
    wanted = edges.graph(engine="cpu").pagerank(max_iterations=9, tolerance=0)
    kept = Checkpoint(tmp_path / "kept", supersteps=1)
    with dask.config.set(limited):
        graph = edges.graph(engine="gpu")
        with pytest.raises(Cut), cutting(4):
            graph.pagerank(max_iterations=9, tolerance=0, checkpoint=kept)
        found = graph.pagerank(max_iterations=9, tolerance=0, checkpoint=kept, resume=True)
    pd.testing.assert_frame_equal(found, wanted, rtol=1e-6)
    assert last_report()["supersteps"].sum() == 5


def test_what_cannot_be_is_told(edges, limited):
    with dask.config.set(limited):
        graph = edges.graph(engine="gpu")
        for way in ("zero-copy", "compact"):
            with (
                dask.config.set({"graphgpu.transfer": way}),
                pytest.raises(InvalidArgument, match=f"{way}.*in pages on disk.*'stream'"),
            ):
                graph.pagerank()
        with (
            dask.config.set({"graphgpu.rounds": "near-far"}),
            pytest.raises(InvalidArgument, match="near-far"),
        ):
            graph.sssp(source=3)
        with pytest.raises(EngineUnavailable, match=r"pages on disk with engine='gpu'"):
            graph.triangle_count()
        with (
            dask.config.set({"graphgpu.device-memory-limit": 1000}),
            pytest.raises(LimitTooSmall, match=r"device-memory-limit is 1,000"),
        ):
            graph.pagerank()


def test_a_host_too_small_for_the_buffers(edges, limited):
    with dask.config.set(limited):
        graph = edges.graph(engine="gpu", weight=None).persist()
        graph.pagerank()
        for rows in graph._input.held._rows.values():
            for shown in rows._shown.values():
                object.__setattr__(shown, "limits", replace(shown.limits, memory=10_000))
        with pytest.raises(LimitTooSmall, match=r"with its edges on disk needs .* is 10,000"):
            graph.pagerank()


def test_a_damaged_page_is_told_and_nothing_is_left(edges, limited, tmp_path):
    limited["graphgpu.device-memory-limit"] = 420_000
    with dask.config.set(limited):
        graph = edges.graph(engine="gpu", weight=None).persist()
        wanted = graph.pagerank()
        array = graph._input.held.given.neighbours
        before = array.checksums.copy()
        array.checksums[:] = 1
        for rows in graph._input.held._rows.values():
            for shown in rows._whole.values():
                shown.neighbours.checksums[-3:] = 1
        with pytest.raises(SpillError, match=r"page \d+ of .* is not what was written"):
            graph.pagerank()
        array.checksums[:] = before
        del array, rows, shown, graph
    assert len(wanted)
    gc.collect()
    assert_swept(tmp_path)
