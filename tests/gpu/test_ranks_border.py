"""What of the values travels between GPUs, and how."""

from dataclasses import replace

import numpy as np
import pytest
from cut_graphs import cut
from device_rank_runs import SEVERAL, marks, on_ranks
from made_graphs import grid, rmat
from rank_programs import CASES, HOPS
from rank_runs import made_view, on_one, same

from dask_graphgpu.engine.device_ranks import border as rank_border
from dask_graphgpu.engine.device_ranks import ghost_updates
from dask_graphgpu.engine.device_ranks import near_far as rank_near_far
from dask_graphgpu.engine.device_ranks.border import DeviceBorder
from dask_graphgpu.engine.device_ranks.in_place import RankInPlace
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.exchange.nccl import DeviceLink

pytestmark = marks


@pytest.mark.parametrize("values_a_place", [1, 32])
@pytest.mark.parametrize("way", ["blocks", "random"])
def test_values_that_are_told_by_lists(way, values_a_place, monkeypatch):
    """However few there is room for: what is left is told the next time."""
    used = []

    def listed(engine, *_):
        used.append(True)  # not the engine: its GPUs would stay connected
        return engine._listed

    monkeypatch.setattr(ghost_updates, "VALUES_A_PLACE", values_a_place)
    monkeypatch.setattr(RankInPlace, "_next_exchange", listed)
    for made in (grid(30), rmat(9), rmat(9, directed=True)):
        for kind in ("int64", "float32"):
            weight = np.random.default_rng(1).integers(0, 65, len(made.source)).astype(kind)
            view = replace(made, weight=weight).view()
            parts = cut(view, SEVERAL[-1], way, 2)
            expected = on_one(SSSP, view, sources=[3])
            found = on_ranks(SSSP, parts, sources=[3])
            same(found, expected, rtol=1e-5 if kind == "float32" else 0)
        labels = CASES["labels"].program
        same(on_ranks(labels, parts), on_one(labels, view), rtol=0)
    assert used


def test_few_values_are_told_by_lists(monkeypatch):
    """Once there are no more than before, of a border that is large beside them."""
    by_list, choose = [], RankInPlace._next_exchange

    def chosen(engine, *given):
        found = choose(engine, *given)
        by_list.append(found is engine._listed)
        return found

    monkeypatch.setattr(RankInPlace, "_next_exchange", chosen)
    view = rmat(12).view()
    parts = cut(view, 2, "random")
    expected = on_one(HOPS, view, sources=[0])
    same(on_ranks(HOPS, parts, sources=[0]), expected, rtol=0)
    assert not any(by_list)
    weight = np.random.default_rng(1).integers(1, 65, len(rmat(12).source))
    view = replace(rmat(12), weight=weight).view()
    few = replace(rank_near_far.STRETCHES, few_edges=64)
    monkeypatch.setattr(rank_near_far, "STRETCHES", few)
    monkeypatch.setattr(rank_near_far, "FEW_EDGES_A_GHOST", 0)
    monkeypatch.setattr(ghost_updates, "VALUES_A_PLACE", 4)
    found = on_ranks(SSSP, cut(view, 2, "random"), sources=[0])
    same(found, on_one(SSSP, view, sources=[0]), rtol=0)
    assert any(by_list)


@pytest.mark.parametrize("size", SEVERAL)
@pytest.mark.parametrize("name", ["labels", "sssp float32", "sssp int64"])
def test_what_travels_is_aligned(name, size, monkeypatch):
    """NCCL copies what is not byte by byte."""
    offsets, swap = [], DeviceLink.swap

    def noted(link, pairs):
        pairs = list(pairs)
        parts = [part for pair in pairs for side in pair for part in side if part.nbytes > 8]
        offsets.extend(part.data.ptr % rank_border.ALIGNED for part in parts)
        swap(link, pairs)

    monkeypatch.setattr(rank_border, "FEW_BYTES", 0)
    monkeypatch.setattr(DeviceLink, "swap", noted)
    monkeypatch.setattr(RankInPlace, "_next_exchange", lambda engine, *_: engine._whole)
    case = CASES[name]
    view = made_view(6, case)
    for way in ("random", "last"):
        found = on_ranks(case.program, cut(view, size, way), **case.arguments(view.num_vertices))
        same(found, on_one(case.program, view, **case.arguments(view.num_vertices)), rtol=1e-12)
    assert offsets
    assert not any(offsets)


@pytest.mark.parametrize(("kind", "number"), [("int64", 1), ("float32", 2)])
def test_narrow_values_say_themselves_who_is_reached(kind, number, monkeypatch):
    travelled, refresh = [], DeviceBorder.refresh

    def noted(border, arrays):
        travelled.append(len(arrays))
        refresh(border, arrays)

    monkeypatch.setattr(DeviceBorder, "refresh", noted)
    made = grid(12)
    weight = np.random.default_rng(1).integers(1, 65, len(made.source)).astype(kind)
    view = replace(made, weight=weight).view()
    found = on_ranks(SSSP, cut(view, 2, "random"), sources=[3])
    same(found, on_one(SSSP, view, sources=[3]), rtol=1e-5 if kind == "float32" else 0)
    assert set(travelled) == {number}
