"""Runs that are cut short after their state was kept, and keepers for them."""

import itertools
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

import numpy as np

from dask_graphgpu.algorithms.pagerank import delta_program, power_program
from dask_graphgpu.checkpoint import Checkpoint, CheckpointKeeper
from dask_graphgpu.engine.known import DISTANCES as SSSP
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.fields import Field
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.program import VertexProgram
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
SOME = VertexProgram(  # values are handed on up to a number alone
    state={"hops": Field("int64", initial=1000, at_source=0)},
    compute=lambda source_hops: source_hops + 1,
    combine="min",
    active=lambda hops, new_hops: new_hops < hops and new_hops < 30,
)
ANY = VertexProgram(  # as it has values from the start, it does not say who has none
    state={"hops": Field("int64", initial=1000, at_source=0)},
    compute=lambda source_hops: source_hops + 1,
    combine="min",
)
PROGRAMS = {
    "in place, by priority": (SSSP, {"sources": np.array([0])}),
    "in place, by rounds": (LABELS, {}),
    "in place, by rounds, with values": (ANY, {"sources": np.array([0])}),
    "values of some": (SOME, {"sources": np.array([0])}),
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


@contextmanager
def cutting(writes):
    """Have runs fail once they have kept their state so often, each of its ranks if there are some."""
    write, count = CheckpointKeeper.write, []

    def counted(self, *arguments):
        write(self, *arguments)
        count.append(1)
        if len(count) >= writes * (1 if self.ranks is None else self.ranks.size):
            raise Cut

    with mock.patch.object(CheckpointKeeper, "write", counted):
        yield


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


def kept_in(path, share=None, *, resume=False, n=N, every=1, seconds=None, ids=None):
    """A keeper for one rank, or for a share of the graph, that keeps after so many supersteps."""
    return CheckpointKeeper(
        Checkpoint(path, seconds=seconds, supersteps=every),
        resume=resume,
        call="test",
        ids=SimpleNamespace(position=None) if ids is None else ids,
        numbers=None if share is None else share.numbers,
        num_owned=n if share is None else share.num_owned,
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
    state = engine.run(program, view, RunOptions(**arguments, report=report, **given))
    return state[program.first], report


def check(name, found, wanted):
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    else:
        np.testing.assert_array_equal(found, wanted)
