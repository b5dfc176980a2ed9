"""The docs name every method, and say what the code and pyproject.toml say."""

import doctest
import re
import runpy
import shlex
import tomllib
from pathlib import Path

import click
import pytest

import dask_graphgpu
from dask_graphgpu.algorithms import ALGORITHMS
from dask_graphgpu.jobs.cli import graph
from dask_graphgpu.store.checkpoint import CHECKPOINT
from dask_graphgpu.store.saved_format import SAVED

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def method_pages():
    return runpy.run_path(str(DOCS / "method_pages.py"))


def test_every_method_has_a_page_and_a_row_of_the_reference(method_pages, tmp_path):
    (tmp_path / "reference" / "methods").mkdir(parents=True)
    (tmp_path / "reference" / "methods" / "of_yesterday.md").touch()
    method_pages["write"](tmp_path)
    written = {path.stem for path in (tmp_path / "reference" / "methods").iterdir()}
    assert written == set(method_pages["names"]())
    assert set(method_pages["ALSO_CALLED"]) <= written
    linked = re.findall(r"\(methods/(\w+)\.md\)", (DOCS / "reference" / "graph.md").read_text())
    assert sorted(linked) == sorted(written), "give it a row in docs/reference/graph.md"


def test_a_page_of_a_method_says_where_it_runs(method_pages):
    text = method_pages["page"]("leiden")
    assert ".. automethod:: Graph.leiden" in text
    assert (
        "\nCPU, GPU, several ranks, edges in host memory (GPU engine), edges on disk (CPU engine). See"
        in text
    )
    assert "`dask graph leiden EDGES --output OUT`" in text


@pytest.mark.slow
def test_every_algorithm_has_an_example_that_is_right(method_pages):
    shown = set(method_pages["examples"]()) - {""}
    assert set(ALGORITHMS) - {"run"} <= shown <= set(method_pages["names"]())
    path = DOCS / "reference" / "examples.txt"
    found = doctest.testfile(
        str(path), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.failed == 0
    assert found.attempted > 30


def test_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == dask_graphgpu.__version__
    page = (DOCS / "reference" / "stability.md").read_text()
    least = {}
    for packages, version in re.findall(r"^\| ([\w, -]+) \| ([\d.]+) or newer \|", page, re.M):
        least |= dict.fromkeys(packages.split(", "), version)
    needed = project["dependencies"] + project["optional-dependencies"]["gpu"]
    needed = dict(one.split(">=") for one in needed if ">=" in one)
    del needed["nvidia-nccl-cu13"]  # comes with the others
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    networkx = next(one for one in extras if one.startswith("networkx>="))
    python = project["requires-python"].removeprefix(">=")
    assert least == needed | {"Python": python, "networkx": networkx.split(">=")[1]}
    assert f"Version {project['version']}." in page
    assert f"now {SAVED.version}." in page
    assert f"format {CHECKPOINT.version}:" in page
    changes = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(
        rf"^## \[{re.escape(project['version'])}\] - \d{{4}}-\d\d-\d\d$", changes, re.M
    )


def commands_of(text):
    """The words of each call of ``dask graph`` in a page, in blocks and in lines."""
    blocks = re.findall(r"```(?:sh|bash|ini)\n(.*?)```", text, re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    for line in [*lines, *re.findall(r"`(dask graph [^`]*)`", text)]:
        found = re.search(r"dask[ -]graph ([a-z].*?)( [|#]| 2>|$)", line)
        if found and "[" not in line and "--help" not in line:
            yield shlex.split(found[1])


def test_commands_of_the_docs_are_calls():
    """Each is taken by the command line: the method, its options and their values."""
    number = 0
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for name, *words in commands_of(page.read_text(encoding="utf-8")):
            if not words:  # the name of a command
                continue
            command = graph.get_command(click.Context(graph), name)
            assert command is not None, (page.name, name)
            try:
                command.make_context(name, list(words))
            except click.UsageError as error:
                pytest.fail(f"{page.name}: {name} {words}: {error.format_message()}")
            number += 1
    assert number > 30
