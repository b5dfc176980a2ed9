"""Calls of ``dask graph`` in this process, and what they leave; what other processes are started with."""

import os
from pathlib import Path

import pandas as pd
from click.testing import CliRunner

from dask_graphgpu.jobs.cli import graph

ROOT = Path(__file__).parents[1]


def with_package():
    """The environment of another interpreter that finds this package, and what this one finds."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def call(*words, code=0):
    """Run ``dask graph`` with these words."""
    done = CliRunner().invoke(graph, [str(w) for w in words], prog_name="dask graph")
    assert done.exit_code == code, (done.stderr, done.exception)
    return done


def refused(*words, code):
    """The one line on standard error of a call that fails."""
    line = call(*words, code=code).stderr
    assert line.startswith("Error: ")
    assert line.count("\n") == 1
    return line


def result(path="out"):
    """What a call has written."""
    return pd.read_parquet(path).reset_index(drop=True)
