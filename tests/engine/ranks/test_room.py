"""What all ranks of a process take is counted before it is taken: all edges on each of them."""

import subprocess
import sys
import threading

import dask
import numpy as np
import pandas as pd
import pytest

from dask_graphgpu.errors import LimitTooSmall
from dask_graphgpu.exchange.alone import ALONE
from dask_graphgpu.exchange.local import run_local
from dask_graphgpu.exchange.nearby import places

EDGES = pd.DataFrame(np.random.default_rng(1).integers(0, 300, (3000, 2)), columns=["src", "dst"])


@pytest.mark.parametrize(
    ("method", "how"),
    [("triad_census", {}), ("motifs", {}), ("vertex_motifs", {}), ("cycles", {"max_length": 3})],
)
def test_all_edges_on_each_rank(method, how):
    with dask.config.set({"graphgpu.host-memory-limit": 500_000}):  # of one, not of three
        wanted = getattr(EDGES.graph(ranks=1), method)(**how)
        with pytest.raises(LimitTooSmall, match=r"[0-9] edges would take .* on each of 3 ranks"):
            getattr(EDGES.graph(ranks=3), method)(**how)
    with dask.config.set({"graphgpu.host-memory-limit": 1_500_000}):
        pd.testing.assert_frame_equal(getattr(EDGES.graph(ranks=3), method)(**how), wanted)


def test_ranks_of_a_machine_of_a_host_and_of_a_process():
    assert ALONE.nearby() == (1, 1, 1)
    assert run_local(3, lambda ranks: ranks.nearby()) == [(3, 3, 3)] * 3


@pytest.mark.parametrize(
    ("told", "nearby"),
    [
        # two machines whose containers have one name and one number of the process
        ([("m1", "m1 worker", "a 1"), ("m2", "m2 worker", "b 1")], [(1, 1, 1), (1, 1, 1)]),
        # two containers of a machine, of which one has two processes
        (
            [("m1", "m1 x", "a 1"), ("m1", "m1 y", "b 1"), ("m1", "m1 y", "c 7")],
            [(3, 1, 1), (3, 2, 1), (3, 2, 1)],
        ),
    ],
)
def test_ranks_of_several_containers(told, nearby, monkeypatch):
    here = threading.local()
    monkeypatch.setattr("dask_graphgpu.exchange.ranks.places", lambda: told[here.rank])

    def on_rank(ranks):
        here.rank = ranks.rank
        return ranks.nearby()

    assert run_local(len(told), on_rank) == nearby


def test_processes_of_a_machine_are_told_apart():
    here = places()
    code = "from dask_graphgpu.exchange.nearby import places; [print(each) for each in places()]"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    machine, host, process = ran.stdout.splitlines()
    assert (machine, host) == here[:2]
    assert process != here[2]
