"""Errors of methods in the words of the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from dask_graphgpu.errors import guess
from dask_graphgpu.jobs.wording import in_options


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_iterations=0; allowed is", "--max-iterations 0; allowed is"),
        (
            "more by max_iterations=, or a larger tolerance=",
            "more by --max-iterations, or a larger --tolerance",
        ),
        ("dtype='x'; allowed are 'a', 'b'", "--dtype x; allowed are 'a', 'b'"),
        ("cutoff=-0.5; allowed", "--cutoff -0.5; allowed"),
        ("sssp with weighted=True; or weighted=False", "sssp with --weighted; or --no-weighted"),
        (
            "name it with .graph(weight=...); or give weight=None",
            "name it with --weight COL; or give --unweighted",
        ),
        ("with .graph(source='from', destination='to')", "with --columns from,to"),
        ("sources=5; the graph has 3", "--draw 5; the graph has 3"),
        ("with columns={'rank': ...}", "with --name rank=NEW"),
        ("use ranks=1.", "use --ranks 1."),
        ("cannot read days/seed=3/k=1/part.parquet", "cannot read days/seed=3/k=1/part.parquet"),
        ("E = mc, x=3 and graph.k=2", "E = mc, x=3 and graph.k=2"),
    ],
)
def test_arguments_are_options(text, words):
    assert in_options(text) == words


def test_guesses():
    names = ["weakly_connected_components", "pagerank", "core_number"]
    assert guess("pagernak", names) == " Did you mean pagerank?"
    assert guess("components", names) == " Did you mean weakly_connected_components?"
    assert guess("core-nr", names) == " Did you mean core_number?"
    assert guess("zzz", names) == ""


def test_methods_are_there_without_docstrings():
    """As under ``python -OO``."""
    code = "import dask_graphgpu as dg; assert dg.Graph.bfs.__doc__ is None, dg.Graph.bfs.__doc__"
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-OO", "-c", code], check=True, timeout=120, cwd=root)
