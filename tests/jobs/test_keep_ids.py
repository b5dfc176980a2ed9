"""Jobs whose groups keep the ids of an earlier result: every night, and where one is killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import call, refused, result, with_package

from dask_graphgpu import match_ids, run_job
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.schema import find_columns
from dask_graphgpu.jobs.keep_ids import GROUPED

FIRST = pd.DataFrame({"src": ["b", "c", "x"], "dst": ["c", "d", "y"]})
SECOND = pd.concat([FIRST.iloc[1:], pd.DataFrame({"src": ["a", "p"], "dst": ["d", "q"]})])
WORDS = ["weakly-connected-components", "edges.parquet", "--undirected", "--keep-ids", "out"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FIRST.to_parquet("edges.parquet")


def components(path="out"):
    frame = result(path)
    return dict(zip(frame["vertex"], frame["component"], strict=True))


def test_methods_with_groups_are_those_whose_results_have_them():
    schema = find_columns(FIRST)
    found = set()
    for name, kind in ALGORITHMS.items():
        try:
            columns = kind().result_columns(schema)
        except TypeError:  # it takes arguments, and gives no groups
            continue
        found |= {name} if {"component", "community", "label"} & set(columns) else set()
    assert found == set(GROUPED)


@pytest.mark.parametrize("ranks", [1, 2])
def test_every_night(ranks):
    words = [*WORDS, "--output", "out", "--changes", "changes", "--ranks", ranks]
    line = call(*words).stderr
    assert "5 rows in out" in line
    assert ", no ids to keep yet: 2 new, " in line
    assert components() == {"b": "b", "c": "b", "d": "b", "x": "x", "y": "x"}
    SECOND.to_parquet("edges.parquet")
    line = call(*words).stderr
    assert ", ids kept: 1 kept, 1 changed, 1 new, " in line
    assert components() == {"a": "b", "c": "b", "d": "b", "p": "p", "q": "p", "x": "x", "y": "x"}
    changes = result("changes")
    assert [*changes["change"]] == ["changed", "new", "kept"]
    assert [*changes["old"].fillna("-")] == ["b", "-", "x"]
    assert sorted(os.listdir()) == ["changes", "edges.parquet", "out"]


def test_ids_of_another_folder_by_a_job_file():
    steps = {"edges": "edges.parquet", "undirected": True}
    one = {"algorithm": "leiden", "output": "monday"}
    two = {"algorithm": "leiden", "output": "tuesday", "keep_ids": "monday", "changes": "changes"}
    run_job({**steps, "step": [one]})
    SECOND.to_parquet("edges.parquet")
    done = run_job({**steps, "step": [two]})
    assert [each.rows for each in done] == [7]
    assert set(result("tuesday")["community"]) == {"b", "p", "x"}
    assert list(result("tuesday").columns) == ["vertex", "community", "modularity"]
    both = run_job({**steps, "step": [one, two]})  # the earlier one of the same job
    assert [each.rows for each in both] == [7, 7]
    assert set(result("tuesday")["community"]) == {"a", "p", "x"}
    assert set(result("changes")["change"]) == {"kept"}


def test_other_names_several_columns_and_edges():
    numbers = np.random.default_rng(3)
    edges = pd.DataFrame(numbers.integers(0, 30, (25, 4)), columns=["a", "b", "c", "d"]) // 9
    edges.to_parquet("pairs.parquet")
    pairs = ["pairs.parquet", "--columns", "a,b,c,d", "--undirected", "--output", "out"]
    more = ["--keep-ids", "out", "--changes", "changes"]
    words = ["weakly-connected-components", *pairs, "--name", "component_a=x", *more]
    call(*words)
    first = result()
    edges.iloc[:-4].to_parquet("pairs.parquet")
    call(*words)
    expected, report = match_ids(
        first,
        edges.iloc[:-4]
        .graph(source=["a", "b"], destination=["c", "d"], directed=False)
        .weakly_connected_components(columns={"component_a": "x"}),
        vertex=["a", "b"],
        group=["x", "component_b"],
    )
    pd.testing.assert_frame_equal(result(), expected, check_dtype=False)
    pd.testing.assert_frame_equal(result("changes"), report, check_dtype=False)
    words = ["biconnected-components", "edges.parquet", *more, "--output", "out"]
    assert "has no column 'src'" in refused(*words, code=2)
    words = ["biconnected-components", "edges.parquet", "--keep-ids", "bi", "--output", "bi"]
    assert "no ids to keep yet: 3 new" in call(*words).stderr
    SECOND.to_parquet("edges.parquet")
    assert "ids kept: 2 kept, 2 new, 1 gone" in call(*words).stderr
    assert result("bi")["component"].is_unique


def test_rows_that_are_left_out_and_folders():
    words = [*WORDS, "--output", "out", "--keep", "vertex != 'b'", "--partition-by", "component"]
    call(*words)
    SECOND.to_parquet("edges.parquet")
    assert ", ids kept: 1 kept, 1 grown, 1 new, " in call(*words, "--top", 2).stderr
    assert {path.name for path in Path("out").iterdir()} == {f"component={c}" for c in "bpx"}


def test_events_tell_of_groups():
    call(*WORDS, "--output", "out")
    lines = call(*WORDS, "--top", 1, "--log", "json").stderr.splitlines()
    events = {event["event"]: event for event in map(json.loads, lines)}
    assert events["started"]["options"]["keep_ids"] == "out"
    assert events["done"]["groups"] == {"kept": 2}
    assert events["done"]["kept_ids"] is True


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        ("leiden edges.parquet --output out --changes c", "give --keep-ids too", 2),
        ("leiden edges.parquet --output out --keep-ids no/old", "no/old", 1),
        ("leiden edges.parquet --output out --keep-ids degrees", "has no column 'community'", 2),
        ("leiden edges.parquet --output out --keep-ids numbers", "mix the id types", 2),
        ("leiden edges.parquet --output out --keep-ids out --changes out/c", "lies within", 2),
        ("leiden edges.parquet --output out --keep-ids c --changes c", "is the result with", 2),
        ("degree edges.parquet --output out --keep-ids out", "No such option", 2),
    ],
)
def test_what_is_refused(words, said, code):
    FIRST.graph().degree().to_parquet("degrees")
    pd.DataFrame({"vertex": [1], "community": [1]}).to_parquet("numbers")
    assert said in refused(*words.split(), code=code)
    assert not Path("out").exists()


KILLED = """
import os, signal, sys
from dask_graphgpu.io import output
from dask_graphgpu.jobs import run
from dask_graphgpu.jobs.cli import graph

left = int(sys.argv.pop(1))

def write(*given, **more):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return output.write_parquet(*given, **more)

run.write_parquet = write
graph()
"""


@pytest.mark.parametrize("written", [0, 1], ids=["nothing", "changes"])
def test_a_job_that_was_killed_gives_the_same_ids_when_it_runs_again(written):
    words = [*WORDS, "--output", "out", "--changes", "changes"]
    call(*words)
    before = components()
    SECOND.to_parquet("edges.parquet")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(written), *words],
        env=with_package(),
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert components() == before
    call(*words)
    assert components() == {"a": "b", "c": "b", "d": "b", "p": "p", "q": "p", "x": "x", "y": "x"}
    assert [*result("changes")["change"]] == ["changed", "new", "kept"]


def test_a_type_that_does_not_fit_is_said_before_anything_runs():
    pd.DataFrame({"vertex": [1], "component": [1]}).to_parquet("old")
    keys = {"edges": "edges.parquet", "algorithm": "weakly_connected_components", "output": "out"}
    with pytest.raises(InvalidArgument, match="keep_ids: old"):
        run_job({**keys, "keep_ids": "old"})
