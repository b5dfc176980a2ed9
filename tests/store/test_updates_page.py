"""The how-to on updates: what it shows is what happens."""

import doctest
import json
import re
import shlex
from pathlib import Path

import pandas as pd
from commands import call

import dask_graphgpu as dg

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "update-a-saved-graph.md"
EDGES = pd.DataFrame({"src": [1, 2, 3], "dst": [2, 3, 1], "weight": [5, 6, 7]})


def test_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.failed == 0
    assert found.attempted > 10


def test_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.graph().save("saved")
    EDGES.assign(src=7).to_parquet("new.parquet")
    EDGES.rename(columns={"src": "from", "dst": "to", "weight": "km"}).to_csv(
        "more.csv", index=False
    )
    gone = EDGES[:2].set_axis(["from", "to", "km"], axis=1)
    gone.loc[len(gone)] = [99, 99, 1]
    gone.to_parquet("gone.parquet")
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S)
    told = [call(*shlex.split(line)[2:]).stderr for line in block.splitlines()]
    assert told[0].startswith(
        "update: 3 rows appended, 0 removed, 0 not found, 1 new vertices; 6 edges and 4 vertices in saved/, "
    )
    assert told[1].startswith(
        "update: 3 rows appended, 2 removed, 1 not found, 0 new vertices; 7 edges and 4 vertices in saved/, "
    )
    (job,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.S)
    Path("job.toml").write_text(job)
    call("run", "job.toml")
    assert call("update", "saved", "--compact").stderr.startswith(
        "update: compacted, 10 edges and 4"
    )
    assert dg.load("saved").generation == 3
    assert json.loads(Path("saved/manifest.json").read_text())["updates"]["base"] == 3
