"""The snippets of the how-to pages on schedules and operation run, each where its program or package is there."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import yaml
from commands import ROOT, call, with_package

from dask_graphgpu import errors

PAGES = {
    name: (ROOT / "docs/how-to" / f"{name}.md").read_text() for name in ("schedule-jobs", "operate")
}
PAGE = PAGES["schedule-jobs"]


def snippets(heading, language, page="schedule-jobs"):
    """The code of a language below a heading."""
    below = PAGES[page].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", below, re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of the pages, with the job, its edges, and the command ``dask`` in its environment."""
    edges = pd.DataFrame(np.random.default_rng(4).integers(0, 60, (300, 2)), columns=["src", "dst"])
    (tmp_path / "edges").mkdir()
    edges.to_parquet(tmp_path / "edges/part.parquet")
    (tmp_path / "job.toml").write_text(re.findall(r"```toml\n(.*?)```", PAGE, re.S)[0])
    bin = tmp_path / ".venv/bin"
    bin.mkdir(parents=True)
    code = "from dask_graphgpu.jobs.cli import graph; graph()"
    (bin / "dask").write_text(f'#!/bin/sh\nshift\nexec {sys.executable} -c "{code}" "$@"\n')
    (bin / "dask").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, folder, **environment):
    path = {"PATH": f"{folder}/.venv/bin:/usr/bin:/bin", **environment}
    return subprocess.run(
        ["bash", "-c", command], check=True, capture_output=True, text=True, timeout=120,
        env={**with_package(), **path},
    )  # fmt: skip


def moved(text, folder):
    return text.replace("/srv/graph", str(folder))


@pytest.mark.skipif(not shutil.which("flock"), reason="needs flock")
def test_cron(folder):
    (table,) = snippets("cron", "text")
    entry = table.splitlines()[1]
    *when, command = entry.split(maxsplit=5)
    assert [bool(re.fullmatch(r"\*|\d+", each)) for each in when] == [True] * 5
    assert "%" not in command  # which cron takes for a new line
    done = run(moved(command, folder), folder)
    assert done.stderr.startswith("pagerank: ")
    assert json.loads((folder / "events.jsonl").read_text().splitlines()[-1])["exit_code"] == 0


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd")
def test_systemd(folder):
    service, timer = snippets("systemd", "ini")
    (folder / "graph.service").write_text(moved(service, folder).replace("User=graph\n", ""))
    (folder / "graph.timer").write_text(timer)
    done = subprocess.run(
        ["systemd-analyze", "verify", "graph.service", "graph.timer"],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "graph." not in done.stderr, done.stderr
    (command,) = re.findall(r"ExecStart=(.*)", moved(service, folder))
    run(command, folder)
    assert (folder / "ranks").is_dir()


def test_slurm(folder):
    (script,) = snippets("SLURM", "bash")
    done = run(script, folder, SLURM_CPUS_PER_TASK="2")
    assert done.stderr.startswith("pagerank: ")


def test_kubernetes(folder):
    (text,) = snippets("Kubernetes", "yaml")
    job = yaml.safe_load(text)
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {v["name"] for v in pod["volumes"]} == {m["name"] for m in container["volumeMounts"]}
    names = {each["name"]: each["value"].replace("/data", str(folder)) for each in container["env"]}
    done = run(shlex.join(container["command"]), folder, **names)
    assert json.loads(done.stderr.splitlines()[-1])["exit_code"] == 0
    assert any((folder / "cache").iterdir())


def loaded(code, folder):
    """A snippet of Python as a module of its own."""
    file = folder / "snippet.py"
    file.write_text(moved(code, folder))
    found = importlib.util.spec_from_file_location("snippet", file)
    module = importlib.util.module_from_spec(found)
    sys.modules["snippet"] = module
    found.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("default")
def test_airflow(folder, monkeypatch):
    monkeypatch.setenv("AIRFLOW_HOME", str(folder / "airflow"))
    pytest.importorskip("airflow")
    pytest.importorskip("airflow.providers.standard")
    command, python = snippets("Airflow", "python")
    (task,) = _tasks(loaded(command, folder))
    run(task.bash_command, folder)
    assert (folder / "ranks").is_dir()
    (task,) = _tasks(loaded(python, folder))
    assert task.python_callable() == 60


def _tasks(module):
    from airflow.sdk import DAG

    found = [value for value in vars(module).values() if isinstance(value, DAG)]
    if not found:  # it is made by the call of the decorated function
        found = [module.ranks()]
    return found[0].tasks


@pytest.mark.filterwarnings("default")
def test_prefect(folder, monkeypatch):
    monkeypatch.setenv("PREFECT_HOME", str(folder / "prefect"))
    pytest.importorskip("prefect")
    (code,) = snippets("Prefect", "python")
    module = loaded(code, folder)
    assert module.ranks.fn() == 60
    assert module.nightly.name == "nightly"


@pytest.mark.filterwarnings("default")
def test_dagster(folder):
    dagster = pytest.importorskip("dagster")
    (code,) = snippets("Dagster", "python")
    module = loaded(code, folder)
    assert dagster.materialize([module.ranks]).success
    assert module.definitions.get_job_def("nightly").name == "nightly"


def test_reading_events(folder, capsys):
    call("run", "job.toml", "--log-file", "events.jsonl", "--summary")
    shell = snippets("Did it work?", "sh", "operate")
    assert '"exit_code": 0' in run(shell[0], folder).stdout
    (python,) = snippets("Did it work?", "python", "operate")
    exec(compile(python, "operate.md", "exec"), {})
    assert "exit_code" in capsys.readouterr().out
    if shutil.which("jq"):
        run(shell[1], folder)
        assert re.search(r"^graph_job_rows \d+$", (folder / "ranks.prom").read_text(), re.M)


def test_every_class_of_errors_is_explained():
    raised = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.GraphError)
    }
    of_python = {
        "GraphError",
        "ProgramError",
        "IntegerOverflow",
        "EngineUnavailable",
        "MissingPackage",
    }
    of_python |= {"InvalidSavedGraph"}
    explained = set(re.findall(r"`([A-Z]\w+)`", PAGES["operate"]))
    assert raised - of_python <= explained
    assert {name for name in explained if hasattr(errors, name)} <= raised | {"OutputError"}
