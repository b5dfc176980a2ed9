"""Paths of a job: nothing is written over what it reads, and that is known before it runs."""

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from dask_graphgpu.io.output import write_parquet
from dask_graphgpu.jobs.cli import graph

EDGES = pd.DataFrame({"src": [0, 0, 1], "dst": [1, 2, 2]})
JUMPS = pd.DataFrame({"vertex": [0], "p": [1.0]})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Inputs that carry our stamp, so that the stamp alone does not save them."""
    monkeypatch.chdir(tmp_path)
    for name in ("edges", "data/edges", "more/edges"):
        write_parquet(EDGES, tmp_path / name)
    write_parquet(JUMPS, tmp_path / "jumps")
    write_parquet(JUMPS[["vertex"]], tmp_path / "vertices")
    for file in tmp_path.rglob("part.*.parquet"):
        file.rename(file.with_name("part.00000.parquet"))
    (tmp_path / "link").symlink_to("edges")
    return tmp_path


def everything(folder):
    return {p: p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}


def run(text, *, job=False):
    if job:
        Path("job.toml").write_text(text)
        text = "run job.toml"
    words = [word.replace("NOTHING", "") for word in text.split()]
    return CliRunner().invoke(graph, words, prog_name="dask graph")


def refused(text, message, folder, code=2, *, job=False):
    before = everything(folder)
    done = run(text, job=job)
    assert done.exit_code == code, (done.stderr, done.exception)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    after = everything(folder)
    after.pop(folder / "job.toml", None)
    before.pop(folder / "job.toml", None)
    assert after == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("bfs edges --source 0 --output edges", "/edges, is the edges"),
        ("bfs edges --source 0 --output ./data/../edges/", "/edges, is the edges"),
        ("bfs edges --source 0 --output link", "/edges, is the edges"),
        ("bfs link --source 0 --output edges", "/edges, is the edges"),
        ("bfs data/edges/part.00000.parquet --source 0 --output data/edges", "contains the edges"),
        ("bfs data/edges/*.parquet --source 0 --output data/edges", "contains the edges"),
        ("bfs edges --source 0 --output edges/out", "lies within the edges"),
        ("bfs file://HERE/edges --source 0 --output edges", "is the edges"),
        ("degree edges --vertices vertices --output vertices", "is the vertices"),
        ("pagerank edges --personalization ./jumps --output jumps", "is the personalization"),
        ("build edges --output edges/saved", "lies within the edges"),
        ("degree edges --output NOTHING", "output is empty"),
        ("build edges --output NOTHING", "output is empty"),
        ("degree edges --output ftp://host/out", "output ftp://host/out is a URL"),
        ("build edges --output ftp://host/out", "output ftp://host/out is a URL"),
        ("degree edges --report NOTHING", "report is empty"),
        ("degree edges --report ftp://host/r.csv", "report ftp://host/r.csv is a URL"),
        ("degree edges/part.00000.parquet --report edges/part.00000.parquet", "is the edges"),
        ("degree edges --report edges/part.00000.parquet", "lies within the edges"),
        ("degree edges --output out --report out", "is the output"),
    ],
)
def test_refusals(folder, words, message):
    refused(words.replace("HERE", str(folder)), message, folder)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("degree edges --output out --report nodir/x.csv", "there is no folder nodir"),
        ("degree edges --output out --report data", "it is a folder"),
        ("degree edges --output data", "it holds edges"),
        ("build edges --output jumps", "not a saved graph"),
    ],
)
def test_refusals_because_of_what_is_there(folder, words, message):
    refused(words, message, folder, code=1)


TWO = """
edges = "edges"
[[step]]
algorithm = "degree"
output = "first"
[[step]]
algorithm = "degree"
"""


@pytest.mark.parametrize(
    ("second", "message", "code"),
    [
        ('output = "edges"', "the output of step 2, ", 2),
        ('edges = "more/edges"\noutput = "edges"', "/edges, is the edges of step 1", 2),
        ('output = "first"', "/first, is the output of step 1", 2),
        ('output = "first/second"', "lies within the output of step 1", 2),
        ('edges = "first/part.00000.parquet"\ntop = 1', "contains the edges of step 2", 2),
        ('top = 1\nreport = "first/run.csv"', "the report of step 2, ", 2),
        ('top = 1\nreport = "nodir/run.csv"', "there is no folder nodir", 1),
        ('output = "data"', "it holds edges", 1),
        ('output = ""', "output is empty", 2),
    ],
)
def test_jobs_are_refused_before_the_first_step(folder, second, message, code):
    refused(TWO + second, message, folder, code, job=True)


@pytest.mark.parametrize("link", ["of the report", "of the report, hard", "of the edges"])
def test_a_report_is_not_written_over_edges_by_a_link(folder, link):
    edges = Path("edges/part.00000.parquet")
    if link == "of the report":
        Path("run.csv").symlink_to(edges)
    elif link == "of the report, hard":
        Path("run.csv").hardlink_to(edges)
    else:
        edges.rename("run.csv")
        edges.symlink_to(Path("run.csv").resolve())
    message = "lies within the edges" if link == "of the report" else "of the edges, "
    refused("degree edges --report run.csv", message, folder)


def test_a_report_takes_the_place_of_a_file(folder):
    """A link that comes there while the job runs is not written through."""
    Path("run.csv").write_text("old")
    Path("run.csv").chmod(0o640)
    Path("other.csv").hardlink_to("run.csv")
    assert run("degree edges --report run.csv").exit_code == 0
    assert Path("run.csv").read_text().startswith("superstep,")
    assert Path("run.csv").stat().st_mode & 0o777 == 0o640
    assert Path("other.csv").read_text() == "old"
    assert run("degree edges --report /dev/null").exit_code == 0
    assert sorted(path.name for path in Path().glob("*.csv*")) == ["other.csv", "run.csv"]
    assert not list(Path().glob(".run*"))


def test_parquet_of_others_is_not_replaced(folder):
    """What is read is told from what is only there; both are left alone."""
    Path("data2").mkdir()
    EDGES.to_parquet("data2/edges.parquet")
    refused("bfs data2/edges.parquet --source 0 --output data2", "contains the edges", folder)
    refused("bfs edges --source 0 --output data2", "it holds edges.parquet", folder, code=1)


@pytest.mark.parametrize("first", ["k_core", "build"])
def test_a_step_reads_what_an_earlier_one_writes(folder, first):
    k = "k = 1\n" if first == "k_core" else ""
    text = f"""
[[step]]
algorithm = "{first}"
edges = "edges"
output = "between"
{k}
[[step]]
algorithm = "degree"
edges = "between"
output = "out"
"""
    for _ in range(2):  # there is a former "between" the second time
        done = run(text, job=True)
        assert done.exit_code == 0, done.stderr
        assert pd.read_parquet("out")["degree"].tolist() == [2, 2, 2]


def test_neighbours_of_inputs_are_fine(folder):
    done = run("degree data/edges --output data/degrees --report data/run.csv")
    assert done.exit_code == 0, done.stderr
    assert len(pd.read_parquet("data/degrees")) == 3
    assert Path("data/run.csv").exists()


def test_an_empty_path_is_not_the_current_folder(folder, monkeypatch):
    monkeypatch.chdir(folder / "edges")
    done = CliRunner().invoke(graph, ["degree", "", "--top", "3"], prog_name="dask graph")
    assert done.exit_code == 2
    assert "a path to read is empty" in done.stderr


def test_the_home_folder_is_the_same_place(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    refused("degree ~/edges --output edges", "/edges, is the edges", folder)
    Path("job.toml").write_text('edges = "~/edges"\nalgorithm = "degree"\noutput = "~/out"\n')
    done = CliRunner().invoke(graph, ["run", "job.toml"], prog_name="dask graph")
    assert done.exit_code == 0, done.stderr
    assert pd.read_parquet(folder / "out")["degree"].tolist() == [2, 2, 2]
