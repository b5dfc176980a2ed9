"""Dask's configuration: every setting is read, and arguments come before it."""

import re
from pathlib import Path

import dask
import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu import errors
from dask_graphgpu.config import DEFAULTS

ROOT = Path(__file__).parents[2]
EDGES = pd.DataFrame({"src": [0, 0, 1], "dst": [1, 2, 2]})


def test_every_setting_is_read():
    folders = [ROOT / "dask_graphgpu", ROOT / "kernels", ROOT / "io"]
    text = "".join(p.read_text() for folder in folders for p in folder.rglob("*.py"))
    read = set(
        re.findall(
            r'config\.(?:get|word|chosen|memory|num_bytes)\(\s*"(?:graphgpu\.)?([\w-]+)"', text
        )
    )
    assert read - {"temporary-directory", "scheduler", "scheduler-address"} == set(
        DEFAULTS
    )  # the three are Dask's


def test_a_setting_that_there_is_not():
    """A limit that was spelled otherwise was none."""
    with (
        dask.config.set({"graphgpu.host-memory-limits": "4GB"}),
        pytest.raises(
            errors.InvalidArgument, match=r"no such setting\. Did you mean host-memory-limit or"
        ),
    ):
        EDGES.graph()
    with (
        dask.config.set({"graphgpu": {8: "threads"}}),
        pytest.raises(errors.InvalidArgument, match=r"graphgpu\.8 is set, .* There are engine, "),
    ):
        EDGES.graph()
    with (
        dask.config.set({"graphgpu": "cpu"}),
        pytest.raises(errors.InvalidArgument, match=r"graphgpu is 'cpu' .* is a table of settings"),
    ):
        EDGES.graph()
    for name in ("host-memory-limit", "host_memory_limit"):
        with dask.config.set({f"graphgpu.{name}": "4GB"}):
            assert len(EDGES.graph().degree()) == 3


def test_order():
    with dask.config.set({"graphgpu.order": "degree"}):
        assert EDGES.graph().explain().order == "falling degree"
        assert EDGES.graph(order="input").explain().order == "of the ids"
    with (
        dask.config.set({"graphgpu.order": "random"}),
        pytest.raises(
            errors.InvalidArgument, match=r"graphgpu.order is 'random': allowed are auto"
        ),
    ):
        EDGES.graph()


def test_engine(tmp_path):
    saved = EDGES.graph().save(tmp_path / "saved")
    with dask.config.set({"graphgpu.engine": "interpreted"}):
        assert EDGES.graph().explain().engine == "interpreted"
        assert dg.load(saved).explain().engine == "interpreted"
        assert EDGES.graph(engine="cpu").explain().engine == "cpu"
    with (
        dask.config.set({"graphgpu.engine": "gpu"}),
        pytest.raises(errors.EngineUnavailable, match="engine='gpu'"),
    ):
        EDGES.graph()
