"""Thresholds of scores, resolutions and levels as options and as keys of job files."""

from pathlib import Path

import pandas as pd
import pytest
from commands import call, refused, result

import dask_graphgpu  # noqa: F401  puts .graph on frames

MATCHES = pd.DataFrame({"left": list("abcx"), "right": list("bcdy"), "score": [0.9, 0.6, 0.8, 0.4]})


@pytest.fixture(autouse=True)
def matches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    MATCHES.to_parquet("matches.parquet")


def wanted(**given):
    graph = MATCHES.graph(source="left", destination="right", weight="score")
    return graph.weakly_connected_components(**given)


@pytest.mark.parametrize(
    ("text", "thresholds"), [("0.5", 0.5), ("0.5,0.85", [0.5, 0.85]), ("1,", [1])]
)
def test_thresholds(text, thresholds):
    words = [
        "weakly-connected-components",
        "matches.parquet",
        "--columns",
        "left,right",
        "--weight",
        "score",
    ]
    call(*words, "--thresholds", text, "--output", "out")
    pd.testing.assert_frame_equal(result(), wanted(thresholds=thresholds), check_dtype=False)
    call(*words, "--thresholds", text, "--max-size", 2, "--output", "out")
    found = wanted(thresholds=thresholds, max_size=2)
    pd.testing.assert_frame_equal(result(), found, check_dtype=False)
    assert "'many' is not a number" in refused(
        *words, "--thresholds", "many", "--output", "out", code=2
    )


@pytest.mark.parametrize("given", [0.5, [0.5], [0.85, 0]])
def test_thresholds_of_a_job(given):
    Path("job.toml").write_text(
        f'algorithm = "weakly-connected-components"\nedges = "matches.parquet"\noutput = "out"\n'
        f'columns = ["left", "right"]\nweight = "score"\nthresholds = {given}\n'
    )
    call("run", "job.toml")
    pd.testing.assert_frame_equal(result(), wanted(thresholds=given), check_dtype=False)


@pytest.mark.parametrize("given", [2, [2], [0.5, 2]])
def test_resolutions_of_a_job(given):
    Path("job.toml").write_text(
        f'algorithm = "leiden"\nedges = "matches.parquet"\noutput = "out"\n'
        f'columns = ["left", "right"]\nresolution = {given}\n'
    )
    call("run", "job.toml")
    wanted = MATCHES[["left", "right"]].graph(source="left", destination="right")
    pd.testing.assert_frame_equal(result(), wanted.leiden(resolution=given), check_dtype=False)


def test_levels_of_a_command():
    call("leiden", "matches.parquet", "--columns", "left,right", "--levels", "--output", "out")
    wanted = MATCHES[["left", "right"]].graph(source="left", destination="right")
    pd.testing.assert_frame_equal(result(), wanted.leiden(levels=True), check_dtype=False)
