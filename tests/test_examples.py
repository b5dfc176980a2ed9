"""Every example runs, and says what its text promises."""

import doctest
import re
import runpy
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import dask_graphgpu
from dask_graphgpu.jobs.cli import graph

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
# As a script, but with the root of the checkout on the path, so that nothing has to be installed.
RUN = """
import os, runpy, sys
del sys.argv[0]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


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
    tested |= {"resolve_entities.py", "name_entities.py", "shared_hands.py", "library_graph.py"}
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


def test_name_entities():
    """A guess makes it worse, and so does one wrong match, which betweenness finds."""
    text = example("name_entities.py")
    right = [int(share) for share in re.findall(r"(\d+)% of pairs are right", text)]
    assert len(right) == 4
    assert right[0] > right[1] > right[2]
    assert right[3] > right[1]
    last = text.splitlines()[-1]
    assert {"encodings:l1", "email:iso-8859-1", "locale:iso88591"} <= set(
        last.split(" is ")[1].split(", ")
    )
    assert "ascii" not in last


def test_shared_hands():
    text = example("shared_hands.py", "dask")
    assert (
        re.search(r"^ *\d+ +.*\bdask, distributed\b", text, re.M) or "package distributed" in text
    )
    near = text.split("Nearest to dask")[1].splitlines()[2:]
    assert near[0].split()[1] == "distributed"


def test_library_graph():
    text = example("library_graph.py", "compress files into a zip archive")
    words, near, *_ = re.split(r"\n\n", text)[1:]
    assert "zipfile.ZipFile.write " in words
    assert "zipfile.ZipFile  " not in words
    assert "zipfile.ZipFile  " in near
    assert re.search(r"has to do with it:\n  [\w.]+( -> [\w.]+)+\n", text)


@pytest.fixture
def matched(tmp_path):
    """Folders of records and of scored pairs of them, and their clusters: all pairs, and the sure ones."""
    rng = np.random.default_rng(3)
    records = [f"{source}-{i:04d}" for source in ("crm", "web", "shop") for i in range(400)]
    pairs = rng.choice(records, (900, 2))
    scores = rng.uniform(0.7, 1.0, len(pairs)).round(3)
    for name in ("matches", "records"):
        (tmp_path / name).mkdir()
    frame = pd.DataFrame({"left": pairs[:, 0], "right": pairs[:, 1], "score": scores})
    for i in range(3):
        frame[i::3].to_parquet(tmp_path / "matches" / f"{i}.parquet")
    pd.DataFrame({"vertex": records}).to_parquet(tmp_path / "records" / "all.parquet")

    def clusters(chosen, alone):
        graph = nx.Graph(chosen.tolist())
        graph.add_nodes_from(alone)
        return {one: min(group) for group in nx.connected_components(graph) for one in group}

    return tmp_path, records, clusters, pairs, pairs[scores >= 0.9]


def test_resolve_entities(matched):
    folder, records, clusters, _, sure = matched
    example("resolve_entities.py", *(folder / name for name in ("matches", "records", "found")))
    found = pd.read_parquet(folder / "found")
    assert dict(zip(found["record"], found["cluster"], strict=True)) == clusters(sure, records)


def test_commands_that_resolve_entities(matched, monkeypatch):
    """The commands of the how-to, as they stand there."""
    folder, records, clusters, every, _ = matched
    monkeypatch.chdir(folder)
    today = np.array([["crm-0000", "web-0000"], ["shop-0007", "new-0001"]])
    (folder / "matches-of-today").mkdir()
    pairs = pd.DataFrame(today, columns=["left", "right"])
    pairs.to_parquet(folder / "matches-of-today" / "0.parquet")
    page = (ROOT / "docs" / "how-to" / "resolve-entities.md").read_text()
    for command in re.findall(r"^```sh\ndask graph (.*)\n```$", page, re.M):
        done = CliRunner().invoke(graph, command.split())
        assert done.exit_code == 0, done.stderr
    for name, alone in (("clusters", []), ("all", records)):
        found = pd.read_parquet(folder / name)
        assert dict(zip(found["vertex"], found["component"], strict=True)) == clusters(every, alone)
    found = pd.read_parquet(folder / "clusters-of-today")
    wanted = clusters(np.concatenate([every, today]), [])
    assert dict(zip(found["vertex"], found["component"], strict=True)) == wanted
    levels = pd.read_parquet(folder / "levels")
    assert list(levels.columns) == ["vertex", "component_0.8", "component_0.9"]
    metrics = pd.read_parquet(folder / "metrics")
    assert metrics["vertices"].sum() == len(levels)
    assert metrics["weakest"].min() >= 0.7


def test_blocks_that_resolve_entities():
    """What the how-to shows is what comes out."""
    page = (ROOT / "docs" / "how-to" / "resolve-entities.md").read_text()
    blocks = re.findall(r"^```python\n(>>> .*?)^```$", page, re.M | re.S)
    test = doctest.DocTestParser().get_doctest("".join(blocks), {}, "resolve-entities", None, None)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    assert len(test.examples) > 8


def test_ids_of_clusters_that_stay(monkeypatch, tmp_path):
    """The page prints what it shows; its command gives the same two days."""
    page = ROOT / "docs" / "how-to" / "keep-cluster-ids.md"
    text = page.read_text()
    names = {}
    shown = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), None)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(shown, clear_globs=False)
    assert runner.summarize(verbose=False) == (0, 11)
    names = shown.globs
    monkeypatch.chdir(tmp_path)
    Path("matches").mkdir()
    (command,) = re.findall(r"^```sh\ndask graph (.*)\n```$", text, re.M)
    lines = []
    for day in ("monday", "tuesday"):
        names[day].to_parquet("matches/pairs.parquet")
        done = CliRunner().invoke(graph, command.split())
        assert done.exit_code == 0, done.stderr
        lines.append(done.stderr.rpartition(", ")[0])
    (line,) = re.findall(r"^weakly_connected_components: .*(?=, )", text, re.M)
    assert lines[1] == line
    assert "no ids to keep yet" in lines[0]
    for folder, frame in (("clusters", names["clusters"]), ("changes", names["changes"])):
        pd.testing.assert_frame_equal(pd.read_parquet(folder), frame, check_dtype=False)


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


def blocks_of(page):
    """The Python of a page, a block each."""
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)


def test_usage_in_the_readme(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (block,) = (each for each in blocks_of("README.md") if "edges.graph(source=" in each)
    names = {}
    first = blocks_of("docs/tutorial/first-graph.md")[0]  # which has such edges
    exec(compile(first, "first-graph.md", "exec"), names)
    exec(compile(block, "README.md", "exec"), names | {"dask_graphgpu": names["dg"]})
    assert dask_graphgpu.load("saved/").explain().rows == 6


def test_the_first_page_of_the_docs():
    names = {}
    block = blocks_of("docs/index.md")[0]
    for line in block.rstrip().splitlines()[:-3]:
        exec(line, names)
    for line in block.rstrip().splitlines()[-3:]:  # a call, and the columns of its result
        call, columns = line.split("#")
        assert list(eval(call, names)) == columns.strip().split(", ")


def test_the_program_of_the_how_to():
    """Its lines that are of the example, and those of its own."""
    page = "docs/how-to/write-a-vertex-program.md"
    text = (EXAMPLES / "custom_program.py").read_text()
    start, end = re.search(
        r":start-at: (.*)\n:end-before: (.*)\n", (ROOT / page).read_text()
    ).groups()
    names = {}
    exec(text[text.index(start) : text.index(end)], names)
    *lines, run = blocks_of(page)[0].splitlines()
    exec("\n".join(lines), names)
    found = eval(run, names)
    assert found.set_index("vertex")["chance"].to_dict() == pytest.approx(
        {"home": 1.0, "bridge": 0.9, "ferry": 0.6, "town": 0.45}
    )
