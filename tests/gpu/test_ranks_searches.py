"""Breadth-first searches on several GPUs, against the CPU engine."""

import threading
from collections import Counter

import dask
import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_gpus
from made_graphs import path, random_small, rmat, star

from dask_graphgpu.engine import cpu, device_ranks
from dask_graphgpu.engine.device_ranks.segments import Segments
from dask_graphgpu.exchange import nccl
from dask_graphgpu.report import Report

pytestmark = marks


@pytest.mark.parametrize("size", SEVERAL)
@pytest.mark.parametrize("direction", ["auto", "push", "pull", "notify-pull"])
def test_searches_on_the_same_share(size, direction):
    """What a search leaves, the next one takes."""
    shapes = [rmat(8), rmat(7, directed=True), star(70), path(90, directed=True)]
    shapes += [random_small(seed, rank=None) for seed in range(4)]
    for made in shapes:
        view = made.view(into=True)
        n = view.num_vertices
        parts = cut(view, size, "random", 1)
        asked = [(0, None), (n // 2, None), (n - 1, 2), (n // 3, 0), (0, None)]

        def work(share, asked=asked):
            given = {"targets": None, "report": Report("test")}
            return [device_ranks.bfs(share, s, cutoff=cutoff, **given) for s, cutoff in asked]

        with dask.config.set({"graphgpu.direction": direction}):
            found = on_gpus(parts, work)
        for (source, cutoff), *levels in zip(asked, *found, strict=True):
            wanted = cpu.bfs(view, source, cutoff=cutoff, targets=None, report=Report("test"))
            np.testing.assert_array_equal(parts.whole(levels), wanted)


def test_levels_of_a_deep_search_are_queued_together(monkeypatch):
    launches, launch = Counter(), nccl.Recorded.__call__

    def counted(step):
        launches[threading.current_thread().name] += 1
        launch(step)

    monkeypatch.setattr(nccl.Recorded, "__call__", counted)
    view = path(500).view()
    given = {"cutoff": None, "targets": None, "report": Report("test")}
    parts = cut(view, 2, "blocks")
    levels = on_gpus(parts, lambda share: device_ranks.bfs(share, 0, **given))
    assert parts.whole(levels).tolist() == list(range(500))
    assert max(launches.values()) < 60


def test_searches_pull_where_all_frontiers_have_many_edges():
    parts, reports = cut(rmat(11).view(), 2, "random"), [Report("test"), Report("test")]

    def work(share):
        report = reports[share.ranks.rank]
        return device_ranks.bfs(share, 0, cutoff=None, targets=None, report=report)

    levels = parts.whole(on_gpus(parts, work))
    for report in reports:
        assert "pull" in {row.direction for row in report.advances}
        assert sum(row.supersteps for row in report.advances) == levels.max() + 1
        assert report.advances[0].frontier == 1


def test_bits_are_put_together_of_any_border():
    """Words with all of the bitmap's bits, some or none; several peers; vertices in no order."""
    rng = np.random.default_rng(3)
    parts = [
        np.empty(0, np.uint32),
        np.arange(40, 400, dtype=np.uint32),
        np.flatnonzero(rng.random(5000) < 0.8).astype(np.uint32),
        np.flatnonzero(rng.random(5000) < 0.01).astype(np.uint32),
        rng.permutation(300).astype(np.uint32),
    ]
    segments = Segments([len(part) for part in parts], 0, header=0)
    picks, begins = (array.get() for array in segments.picks(parts))
    bitmap = rng.integers(0, 2**32, 5000 // 32 + 1, dtype=np.uint64)
    for part, words in zip(parts, segments.of(begins), strict=True):
        for place, begin in zip(range(0, len(part), 32), words.tolist(), strict=False):
            found, pick, skip = [], begin >> 5, begin & 31
            while len(found) < 32 and pick < len(picks):
                word, mask = picks[pick].tolist()
                bits = [bit for bit in range(32) if mask >> bit & 1][skip:]
                found += [int(bitmap[word]) >> bit & 1 for bit in bits]
                pick, skip = pick + 1, 0
            wanted = [
                int(bitmap[v // 32]) >> (v % 32) & 1 for v in part[place : place + 32].tolist()
            ]
            assert found[: len(wanted)] == wanted
