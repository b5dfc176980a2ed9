"""Clusters that are started for a job: of which kinds, with what, and what ends when."""

import importlib.util
import inspect
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import dask
import job_clusters
import pytest
from commands import ROOT, call, refused, with_package
from pagerank_jobs import is_right, pagerank, refusal

from dask_graphgpu import run_job
from dask_graphgpu.jobs.job_file import job_of_keys
from dask_graphgpu.jobs.own_cluster import class_of

pytestmark = pytest.mark.cluster

JOB = """
edges = "edges.parquet"

[cluster]
kind = "job_clusters:Slurm"
cores = 4
memory = "16 GB"
workers = 2

[[step]]
algorithm = "pagerank"
output = "out"
"""


def test_started_for_the_job(folder):
    Path("job.toml").write_text(JOB)
    call("run", "job.toml")
    assert is_right()
    made = job_clusters.MADE[-1]
    assert made.given == {"n_workers": 2, "cores": 4, "memory": "16 GB"}
    assert made.status.name == "closed"
    # The command line says another kind, which has other arguments, but as many workers.
    call("run", "job.toml", "--cluster", "job_clusters:Gateway")
    made = job_clusters.MADE[-1]
    assert (made.given, made.scaled[:1]) == ({"address": None}, [2])
    assert made.status.name == "closed"
    call("run", "job.toml", "--cluster", "job_clusters:Slurm", "--workers", 1)
    assert job_clusters.MADE[-1].given == {"n_workers": 1, "cores": 4, "memory": "16 GB"}
    others = {"job_clusters:Slurm": "job_clusters:Kube", "cores = 4": "n_workers = 3"}
    others['memory = "16 GB"'] = 'resources = {limits = {cpu = "2"}}'
    text = JOB
    for one, other in others.items():
        text = text.replace(one, other)
    Path("job.toml").write_text(text)
    call("run", "job.toml")
    given = job_clusters.MADE[-1].given
    assert (given["n_workers"], given["resources"]) == (3, {"limits": {"cpu": "2"}})


def test_what_cannot_be_started(folder):
    Path("job.toml").write_text(JOB.replace("cores = 4", ""))
    line = refused("run", "job.toml", code=1)
    assert "the cluster job_clusters:Slurm cannot be started with memory: You must" in line
    line = refusal("--cluster", "job_clusters:Gateway", "--wait", "0.2s", code=1)
    assert "0 of 1 workers have come" in line
    assert job_clusters.MADE[-1].status.name == "closed"


def test_ends_with_the_job(folder):
    job = {"edges": "edges.parquet", "algorithm": "bfs", "source": 77, "output": "out"}
    with pytest.raises(LookupError, match="77 is not a vertex"):
        run_job(job | {"cluster": "job_clusters:Kube", "workers": 1})
    assert job_clusters.MADE[-1].status.name == "closed"
    with pytest.raises(KeyboardInterrupt):
        run_job(job | {"cluster": "job_clusters:Hanging"})
    assert job_clusters.MADE[-1].status.name == "closed"
    assert dask.config.get("scheduler", None) is None
    with pytest.warns(UserWarning, match="may still run .OSError: the batch system"):
        run_job(job | {"cluster": "job_clusters:Unending", "workers": 1, "source": 0})
    job_clusters.MADE[-1].close()
    lines = pagerank("--cluster", "job_clusters:Unending", "--workers", 1).stderr.splitlines()
    assert lines[0].startswith("pagerank: 6 rows in out, ")
    assert lines[1].startswith(
        "Warning: the cluster job_clusters:Unending may still run (OSError: "
    )
    job_clusters.MADE[-1].close()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signals_end_what_was_started(folder, name):
    """All processes of it; as at a terminal, they all are told of Ctrl-C."""
    words = (
        "pagerank edges.parquet --tolerance 0 --max-iterations 1000000000 --output out --every 1"
    )
    words += " --checkpoint kept --cluster local --workers 1"
    job = subprocess.Popen(
        [sys.executable, "-m", "dask", "graph", *words.split()],
        env=with_package(),
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not Path("kept/manifest.json").exists():
            assert job.poll() is None, job.communicate()
            time.sleep(0.05)
        assert len(processes_of(job.pid)) > 1
        if name == "SIGINT":
            os.killpg(job.pid, signal.SIGINT)
        else:
            job.terminate()
        said = job.communicate(timeout=60)[1]
    finally:
        job.kill()
    assert (said, job.returncode) == {
        "SIGINT": ("Interrupted.\n", 130),
        "SIGTERM": ("Terminated.\n", 143),
    }[name]
    until = time.monotonic() + 5  # for those that see that the pipe to it is closed
    while processes_of(job.pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_of(job.pid) == []
    assert Path("kept/manifest.json").exists()
    assert not Path("out").exists()


def processes_of(session):
    """Those of a session that live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, state, _, _, number = re.sub(r"\(.*\)", "", path.read_text()).split()[:5]
        except (OSError, ValueError):
            continue
        if int(number) == session and state != "Z":
            found.append(int(pid))
    return found


SBATCH = """#!/bin/sh
# Runs the script at once, as a batch system does some time.
n=$(ls "$QUEUE" | wc -l)
cp "$1" "$QUEUE/$n.sh"
setsid sh "$QUEUE/$n.sh" > "$QUEUE/$n.log" 2>&1 &
echo $! > "$QUEUE/$n.pid"
echo "Submitted batch job $n"
"""
SCANCEL = """#!/bin/sh
kill -- -$(cat "$QUEUE/$1.pid")
touch "$QUEUE/$1.cancelled"
"""


SLURM = """
edges = "edges.parquet"

[cluster]
kind = "dask_jobqueue:SLURMCluster"
workers = 1
wait = "60s"
cores = 4
processes = 1
memory = "16 GB"
queue = "long"
walltime = "01:00:00"
interface = "lo"
local_directory = "/tmp"
job_extra_directives = ["--exclusive"]
scheduler_options = {dashboard_address = ":0"}

[[step]]
algorithm = "pagerank"
output = "out"
"""


def test_slurm(folder, monkeypatch):
    """dask-jobqueue itself, with commands that run scripts here."""
    for name, text in {"sbatch": SBATCH, "scancel": SCANCEL}.items():
        command = folder / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(text)
        command.chmod(0o755)
    (folder / "queue").mkdir()
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", with_package()["PYTHONPATH"])
    monkeypatch.setenv("QUEUE", str(folder / "queue"))
    Path("job.toml").write_text(SLURM)
    call("run", "job.toml")
    assert is_right()
    script = Path("queue/0.sh").read_text()
    for line in ("-p long", "--cpus-per-task=4", "--mem=15G", "-t 01:00:00", "--exclusive"):
        assert f"#SBATCH {line}\n" in script
    assert Path("queue/0.cancelled").exists()


@pytest.mark.parametrize(
    ("ours", "module", "name"),
    [
        (job_clusters.Kube, "dask_kubernetes.operator", "KubeCluster"),
        (job_clusters.Gateway, "dask_gateway", "GatewayCluster"),
        (job_clusters.Slurm, "dask_jobqueue", "SLURMCluster"),
    ],
)
def test_others_have_the_constructors_of_the_real_ones(ours, module, name):
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{module} is not installed")
    real = class_of(f"{module}:{name}")
    assert (real.__name__, signal.getsignal(signal.SIGINT)) == (name, signal.default_int_handler)
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(real).parameters)


def documented():
    """The job files of the page on clusters."""
    text = (ROOT / "docs/how-to/run-on-a-cluster.md").read_text()
    found = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", text, re.S)]
    return {keys["cluster"]["kind"]: keys for keys in found}


def test_job_files_of_the_docs():
    kinds = set()
    for kind, keys in documented().items():
        whole = {"edges": "edges/", "step": [{"algorithm": "degree", "output": "out"}]} | keys
        steps, cluster = job_of_keys(whole)
        assert len(steps) == 1
        assert (cluster.kind, cluster.workers) == (kind, 4)
        kinds.add(kind)
        fake = {"KubeCluster": job_clusters.Kube, "GatewayCluster": job_clusters.Gateway}.get(
            kind.split(":")[-1]
        )
        if fake is not None:
            inspect.signature(fake).bind(**cluster.arguments)
    assert {kind.split(":")[0] for kind in kinds} == {
        "local", "dask_jobqueue", "dask_kubernetes.operator", "dask_gateway", "coiled"
    }  # fmt: skip


def test_slurm_takes_what_the_docs_say():
    _, found = job_of_keys(documented()["dask_jobqueue:SLURMCluster"])
    arguments = {
        **found.arguments,
        "interface": "lo",
        "scheduler_options": {"dashboard_address": ":0"},
    }
    with class_of("dask_jobqueue:SLURMCluster")(**arguments) as cluster:
        script = cluster.job_script()
    for line in ("-p long", "-A graphs", "--cpus-per-task=16", "--mem=60G", "-t 02:00:00"):
        assert f"#SBATCH {line}\n" in script
    assert "--nthreads 16 " in script
