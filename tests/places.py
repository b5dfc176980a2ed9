"""Places where a graph may lie and be worked on: a test that takes `place` runs in each that this machine has.

======== ======================================================
host     memory, one rank; vertices by degree, of rows from the last
threads  the same, cut into blocks for three threads
ranks    three ranks of this process
pages    pages on disk
device   a GPU's memory
tiers    what fits a GPU's memory, the rest in the host's
disk     what fits a GPU's memory, the rest in pages on disk
devices  two GPUs, a rank each
hybrid   host memory, for a GPU and the CPU at once
======== ======================================================

The last is for vertex programs only: tests of these take `programs_place`. `memory_place` is each but pages and disk,
where small graphs do not get to. `rows_place` is for methods that look at the rows of both
ends of an edge, which run on pages, but not from a GPU. Tests on a GPU are marked ``gpu``.
"""

import hashlib
from contextlib import contextmanager, nullcontext

import cloudpickle
import dask
import numpy as np
import pandas as pd
import pytest
from made_graphs import SHAPES, path, random_small
from small_graphs import on_threads
from spilled import assert_swept, no_collector

from dask_graphgpu import last_report
from dask_graphgpu.engine import driver, limits

CPU = ["host", "threads", "ranks", "pages"]
_GPUS = 0 if driver.missing() else driver.num_gpus()
GPU = ["device", "tiers", "disk"] * (_GPUS > 0) + ["devices"] * (_GPUS > 1)
OPTIONS = {"host": {"order": "degree"}, "ranks": {"ranks": 3}, "devices": {"ranks": 2}}


def skewed():
    """Random edges with repeats, loops and weights; their rows are of any length."""
    rng = np.random.default_rng(6)
    source = (1000 * rng.random(60_000) ** 3).astype(np.int64)
    destination = rng.integers(0, 1000, 60_000)
    return pd.DataFrame({"src": source, "dst": destination, "weight": rng.integers(1, 99, 60_000)})


def sparse(seed=3):
    """Few edges, many times: components of all sizes, mutual edges, loops and long paths; vertices are strings."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, 2000, (2, 2500))
    path, circle = np.arange(0, 1999, 5), np.arange(1500, 1600)
    dense = rng.integers(300, 330, (2, 200))
    parts = [ends, (path + 1, path), ends[:, :99], ends[::-1, :50], (circle, np.roll(circle, 1))]
    source, destination = np.concatenate([*parts, dense, ([7, 8], [7, 8])], axis=1)
    frame = pd.DataFrame({"src": source, "dst": destination})
    frame["weight"] = rng.integers(1, 9, len(frame))
    frame[["src", "dst"]] = "v" + frame[["src", "dst"]].astype(str)
    return pd.concat([frame] * 20, ignore_index=True)


FRAMES = (skewed, sparse)  # that do not fit the limits of memory


def small(kind=None, least=0):
    """Graphs that fit any: random ones and `SHAPES`, with weights of a kind, few of them different."""
    rng = np.random.default_rng(2)
    shapes = SHAPES | {"path": lambda: path(400)}  # each level of which is an exchange of ranks
    made = [*map(random_small, range(1, 9)), *(shape() for shape in shapes.values())]
    frames = [each.frame() for each in made if len(each.source)]
    if kind is None:
        return frames
    return [f.assign(weight=(least + 3 * rng.integers(0, 9, len(f))).astype(kind)) for f in frames]


class Place:
    """Where the fixture has put what a test does with `graph`."""

    def __init__(self, name, of_host, pages=None):
        self.name, self._of_host, self._pages = name, of_host, pages
        self._given = {"engine": "cpu" if name in CPU else "hybrid" if name == "hybrid" else "gpu"}
        self._given |= {"ranks": 1} | OPTIONS.get(name, {})

    def graph(self, frame, **options):
        frame = frame[::-1] if self.name == "host" else frame
        return frame.graph(**self._given | options)

    def same(self, *methods, rtol=0, frames=FRAMES, supersteps=False, reads_rows=True, **options):
        """Hold that methods give here what they give in the host's memory, and leave nothing on disk; the answers.

        Several are called on a graph that is kept. ``supersteps`` : by as many of them. ``reads_rows`` : whether they
        read rows; else the CPU engine writes none to disk.
        """
        answers = []
        for frame in frames:
            made = frame() if callable(frame) else frame
            wanted, taken = self._host_gives(methods, made, options)
            with nullcontext() if self._pages is None else no_collector():
                found, told = _called(methods, self.graph(made, **options))
                if self._pages is not None:
                    assert_swept(self._pages)
            assert {report.attrs["ranks"] for report in told} == {self._given["ranks"]}
            if callable(frame):
                read = sum(report.attrs["disk_bytes"] for report in told)
                assert (read > 0) == (self.name == "disk" or (self.name == "pages" and reads_rows))
            for i, answer in enumerate(found):
                if supersteps:
                    assert told[i]["supersteps"].sum() == taken[i]["supersteps"].sum()
                pd.testing.assert_frame_equal(
                    answer, wanted[i], rtol=rtol or 1e-12, check_exact=not rtol
                )
            answers += found
        return answers

    def _host_gives(self, methods, frame, options):
        """What the host's memory gives: worked out once for all places that ask the same."""
        key = hashlib.sha256(cloudpickle.dumps((methods, frame, options))).digest()
        if key not in self._of_host:
            with dask.config.set({"graphgpu": HOST}):
                graph = frame.graph(engine="cpu", ranks=1, **options)
                self._of_host[key] = _called(methods, graph)
        return self._of_host[key]

    def same_small(self, *methods, kind=None, least=0, bits=None, **given):
        """The same of small graphs, directed and not by turns, with isolated vertices; ``bits`` of a dense id.

        ``least`` : of weights.
        """
        given["vertices"] = pd.DataFrame({"vertex": np.arange(100)})
        with dask.config.set({"graphgpu.dense-id-bits": bits}):
            for first in (0, 1):
                frames = small(kind, least)[first::2]
                self.same(*methods, frames=frames, directed=not first, **given)


def _called(methods, graph):
    """What each gives of a graph, and its report."""
    graph = graph.persist() if len(methods) > 1 else graph
    pairs = [(rows_of(method(graph)), last_report()) for method in methods]
    return [list(of) for of in zip(*pairs, strict=True)]


HOST = {"host-memory-limit": None, "device-memory-limit": None}


def rows_of(frame):
    frame = frame.compute() if hasattr(frame, "compute") else frame
    if "dst" in frame:  # repeated edges of undirected graphs are in no order
        frame = frame.sort_values([*frame])
    return frame.reset_index(drop=True)


def _on_gpus(names):
    return [pytest.param(name, marks=pytest.mark.gpu) for name in names]


@pytest.fixture(scope="module")
def of_host():
    """What the host has answered to the tests of a module."""
    return {}


@pytest.fixture(params=[*CPU, *_on_gpus(GPU)])
def place(request, tmp_path, monkeypatch, of_host):
    """Each place where every method runs."""
    with _put(request.param, tmp_path, monkeypatch, of_host) as place:
        yield place


@pytest.fixture(params=[n for n in CPU if n != "pages"] + _on_gpus(n for n in GPU if n != "disk"))
def memory_place(request, tmp_path, monkeypatch, of_host):
    """Each place where a graph of any size may lie."""
    with _put(request.param, tmp_path, monkeypatch, of_host) as place:
        yield place


@pytest.fixture(params=[*CPU, *_on_gpus(n for n in GPU if n != "disk")])
def rows_place(request, tmp_path, monkeypatch, of_host):
    """Each place where rows of both ends of an edge meet."""
    with _put(request.param, tmp_path, monkeypatch, of_host) as place:
        yield place


@pytest.fixture(params=[*CPU, *_on_gpus(GPU), *_on_gpus(["hybrid"] * (_GPUS > 0))])
def programs_place(request, tmp_path, monkeypatch, of_host):
    """Each place where vertex programs run."""
    with _put(request.param, tmp_path, monkeypatch, of_host) as place:
        yield place


@contextmanager
def _put(name, folder, monkeypatch, of_host):
    settings, pages = {}, None
    if name in ("pages", "disk"):
        pages, settings = (
            folder,
            {
                "graphgpu.host-memory-limit": "950kB",
                "graphgpu.page-bytes": 4096,
                "graphgpu.spill-directories": [str(folder / "a"), str(folder / "b")],
            },
        )
    if name in ("tiers", "disk", "hybrid"):
        monkeypatch.setattr(limits, "_MOST", 8192)
        settings["graphgpu.device-memory-limit"] = 600_000
    with dask.config.set(settings), on_threads(3) if name == "threads" else nullcontext():
        yield Place(name, of_host, pages)
