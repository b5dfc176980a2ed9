"""Every example runs, and says what its text promises."""

import doctest
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from dask_graphgpu.cli import graph

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
# As a script, but with the root of the checkout on the path, so that nothing has to be installed.
RUN = "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"


def example(name, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", RUN, EXAMPLES / name, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def imports(tmp_path_factory):
    """A folder with the import graph in it."""
    folder = tmp_path_factory.mktemp("imports")
    example("imports.py", folder / "imports.parquet")
    return folder


def test_every_example_has_a_test():
    tested = {"imports.py", "quickstart.py", "custom_program.py", "saved_graph.py", "job.toml"}
    assert {p.name for p in EXAMPLES.iterdir() if p.is_file()} == tested


def test_imports(imports):
    frame = pd.read_parquet(imports / "imports.parquet")
    assert list(frame.columns) == ["source", "destination"]
    assert not frame.duplicated().any()
    assert not (frame["source"] == frame["destination"]).any()
    edges = set(frame.itertuples(index=False, name=None))
    # One of each kind: an absolute import, one from inside a package, a module written in C.
    assert {
        ("json", "json.decoder"),
        ("asyncio.events", "socket"),
        ("asyncio.tasks", "asyncio.events"),
    } <= edges
    assert ("os", "sys") in edges
    assert len(frame) > 2000


def test_imports_are_the_same_each_time(imports, tmp_path):
    example("imports.py", tmp_path / "again.parquet")
    again = (tmp_path / "again.parquet").read_bytes()
    assert again == (imports / "imports.parquet").read_bytes()


def test_quickstart(imports):
    text = example("quickstart.py", imports / "imports.parquet")
    ranks = text.split("Most central modules")[1].splitlines()
    assert "sys" in [line.split()[0] for line in ranks[2:7]]
    assert "core_number" in text


def test_saved_graph(imports):
    text = example("saved_graph.py", imports / "imports.parquet", imports / "saved")
    assert "mapped from" in text
    edges = pd.read_parquet(imports / "imports.parquet")
    number = (edges["source"] == "asyncio").sum()
    assert f"asyncio imports {number} modules" in text


def test_custom_program():
    routes = runpy.run_path(str(EXAMPLES / "custom_program.py"))["main"]()
    chances = routes.set_index("vertex")["chance"].to_dict()
    assert chances == pytest.approx(
        {"home": 1.0, "bridge": 0.9, "ferry": 0.6, "island": 0.594, "town": 0.4752}
    )


def test_job(imports, monkeypatch):
    monkeypatch.chdir(imports)
    done = CliRunner().invoke(graph, ["run", str(EXAMPLES / "job.toml")])
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 6
    ranks = pd.read_parquet(imports / "ranks")
    assert ranks["rank"].sum() == pytest.approx(1)
    assert len(pd.read_parquet(imports / "distances")) == 2 * len(ranks)
    assert len(pd.read_parquet(imports / "components")) == len(ranks)


def test_tutorial():
    """The tutorial's blocks, run in order, print what the tutorial shows."""
    page = ROOT / "docs" / "tutorial" / "first-graph.md"
    names = {}
    runner = doctest.DocTestRunner(verbose=False)
    shown = 0
    for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S):
        if not block.startswith(">>>"):
            exec(compile(block, page, "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), None)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
        shown += len(test.examples)
    assert shown == 4
    assert runner.summarize(verbose=False).failed == 0
