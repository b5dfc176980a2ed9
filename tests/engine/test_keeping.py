"""A run that is cut short goes on from what was kept, to the answer of one that was not."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from cut_graphs import cut

from dask_graphgpu.algorithms.pagerank import delta_program, power_program
from dask_graphgpu.algorithms.sssp import PROGRAM as SSSP
from dask_graphgpu.checkpoint import Checkpoint, Keeper
from dask_graphgpu.engine import cpu, ranks
from dask_graphgpu.errors import InvalidCheckpoint
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import Field, VertexProgram
from dask_graphgpu.report import Report

N = 400

LABELS = VertexProgram(
    state={"label": Field("int64", initial=lambda id: id)},  # noqa: A006
    compute=lambda source_label: source_label,
    combine="min",
    edges="both",
)
HOPS = VertexProgram(  # with apply, so that it runs in supersteps and not in place
    state={"hops": Field("int64", initial=None, at_source=0)},
    compute=lambda source_hops: source_hops + 1,
    combine="min",
    apply=lambda hops, message: min(hops, message),
)
PROGRAMS = {
    "in place, by priority": (SSSP, {"sources": np.array([0])}),
    "in place, by rounds": (LABELS, {}),
    "supersteps from a source": (HOPS, {"sources": np.array([0])}),
    "sums": (
        power_program("float64", weighted=False, personal=False),
        {"constants": {"tolerance": 1e-10}},
    ),
    "sums of some": (
        delta_program("float64", weighted=False),
        {"constants": {"tolerance": 1e-10, "threshold": 1e-13}},
    ),
}


class Cut(Exception):
    """A run is cut short here."""


def view():
    """A long path with short cuts, so that every program takes many rounds."""
    made = np.random.default_rng(0)
    path = np.stack([np.arange(N - 1), np.arange(1, N)])
    cuts = np.sort(made.integers(0, N, (2, 60)), axis=0)
    back = np.stack([made.integers(0, N, 60), made.integers(0, 20, 60)])
    source, destination = np.concatenate([path, cuts, back], axis=1)
    weight = made.integers(1, 50, len(source))
    rows = from_edges(N, source, destination, {"weight": weight})
    return View.of(rows, vertex_columns={"residual": np.full(N, 0.15 / N)})


def kept_in(path, share=None, *, resume=False):
    """A keeper for one rank, or for a share of the graph, that keeps after every superstep."""
    return Keeper(
        Checkpoint(path, seconds=None, supersteps=1),
        resume=resume,
        call="test",
        ids=SimpleNamespace(position=None),
        numbers=None if share is None else share.numbers,
        num_owned=N if share is None else share.num_owned,
        ranks=None if share is None else share.ranks,
    )


def cut_short(keeper, after):
    """The keeper, with a run that fails once it has kept so often."""
    count, write = itertools.count(1), keeper.write

    def counted(*args):
        write(*args)
        if next(count) == after:
            raise Cut

    keeper.write = counted
    return keeper


def run(engine, view, name, **given):
    program, arguments = PROGRAMS[name]
    report = Report("test")
    state = engine.run(program, view, **arguments, report=report, **given)
    return state[program.first], report


def check(name, found, wanted):
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("after", [1, 2, 5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_rank_goes_on(tmp_path, monkeypatch, name, after):
    monkeypatch.setattr("dask_graphgpu.engine.cpu.in_place.FEW_EDGES", 0)
    wanted, _ = run(cpu, view(), name)
    try:
        run(cpu, view(), name, keeper=cut_short(kept_in(tmp_path / "kept"), after))
        assert name == "in place, by rounds"  # which comes to its end within one call
    except Cut:
        pass
    keeper = kept_in(tmp_path / "kept", resume=True)
    superstep = keeper._found["superstep"]
    assert superstep >= after or name == "in place, by rounds"
    found, report = run(cpu, view(), name, keeper=keeper)
    check(name, found, wanted)
    if "sums" in name:  # to the last bit, and none of the work is done again
        np.testing.assert_array_equal(found, wanted)
        _, whole = run(cpu, view(), name)
        assert len(report.advances) == len(whole.advances) - superstep


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_ranks_go_on_and_one_rank_after_them(tmp_path, name, size):
    wanted, _ = run(cpu, view(), name)
    made = cut(view(), size)

    def begin(share):
        keeper = cut_short(kept_in(tmp_path / "kept", share), 2)
        return run(ranks, share, name, keeper=keeper)

    try:
        made.run(begin)
        assert size == 1  # in place, one rank is done after one exchange
    except Cut:
        pass
    found, _ = run(cpu, view(), name, keeper=kept_in(tmp_path / "kept", resume=True))
    check(name, found, wanted)


def test_another_program_or_cutoff_is_refused(tmp_path):
    with pytest.raises(Cut):
        run(cpu, view(), "sums", keeper=cut_short(kept_in(tmp_path / "kept"), 1))
    keeper = kept_in(tmp_path / "kept", resume=True)
    with pytest.raises(InvalidCheckpoint, match="the program differ"):
        run(cpu, view(), "sums of some", keeper=keeper)
