"""Jobs on clusters that run: by address, by file, by setting, from Python."""

import asyncio
import os
import re
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import cluster_cases
import dask
import pandas as pd
import pytest
from commands import call, refused, result, with_package
from distributed import Client
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.security import Security
from pagerank_jobs import EDGES, RANKS, is_right, pagerank, refusal

from dask_graphgpu import run_job
from dask_graphgpu.cluster import queued
from dask_graphgpu.errors import ClusterUnavailable, InvalidArgument, OutputError, UnreadableParquet
from dask_graphgpu.jobs import clusters

pytestmark = pytest.mark.cluster


class Tasks(SchedulerPlugin):
    """The names of tasks that workers have computed, and how many clients there were."""

    def __init__(self):
        self.names, self.clients = set(), 0

    def transition(self, key, start, finish, *_, **about):
        if finish == "memory" and about.get("worker"):
            self.names.add(str(key if isinstance(key, str) else key[0]).rpartition("-")[0])

    def add_client(self, scheduler, client):
        self.clients += 1


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A cluster of two processes, whose folder is not that of a test, and without a client here."""
    file = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    with cluster_cases.started_cluster(
        2, scheduler_kwargs={"scheduler_file": str(file)}
    ) as cluster:
        cluster.scheduler_file = file
        yield cluster


@pytest.fixture
def tasks(running):
    """What the cluster computes meanwhile."""
    seen = Tasks()
    running.scheduler.add_plugin(seen, name="tasks")
    yield seen
    running.scheduler.remove_plugin("tasks")
    assert len(running.scheduler.workers) == 2
    left = {name for name in running.scheduler.clients if not name.startswith("Client-worker-")}
    assert left == {"fire-and-forget"}, "jobs have left a connection"


def test_by_address(folder, running, tasks):
    address = running.scheduler_address
    done = pagerank("--scheduler", address, "--workers", 2, "--top", 2, "--report", "report.csv")
    assert is_right()
    assert done.stdout.splitlines()[1].split()[0] == str(RANKS["rank"].idxmax())
    assert done.stderr.startswith("pagerank: 6 rows in out, ")
    assert {"dask-graphgpu-pagerank", "_write_partition"} <= tasks.names
    assert (pd.read_csv("report.csv")["supersteps"] > 0).any()
    call(
        "build", "edges.parquet", "--scheduler", address.removeprefix("tcp://"), "--output", "saved"
    )
    assert any(name.startswith("write-") for name in tasks.names)
    call("degree", "saved", "--scheduler", address, "--output", "degrees")
    assert "dask-graphgpu-degree" in tasks.names
    call("degree", "edges.parquet", "--scheduler", address, "--ranks", 2, "--output", "two")
    assert any("-rank" in name for name in tasks.names)
    pd.testing.assert_frame_equal(result("degrees"), result("two"))


@pytest.mark.parametrize("ranks", [1, 2])
def test_ids_that_stay(folder, running, tasks, ranks):
    words = [
        "weakly-connected-components",
        "edges.parquet",
        "--scheduler",
        running.scheduler_address,
    ]
    words += ["--ranks", ranks, "--keep-ids", "out", "--changes", "changes", "--output", "out"]
    assert "no ids to keep yet: 2 new" in call(*words).stderr
    more = pd.DataFrame({"src": [-1, 9], "dst": [3, 10], "weight": 1})
    pd.concat([EDGES, more]).to_parquet("edges.parquet")
    assert "ids kept: 1 kept, 1 grown, 1 new" in call(*words).stderr
    assert [*result()["component"]] == [0, 0, 0, 0, 0, 5, 5, 9, 9]
    assert [*result("changes")["change"]] == ["grown", "kept", "new"]
    assert any(name.startswith("dask-graphgpu-match") for name in tasks.names)


def test_by_file_that_comes_later(folder, running, tasks):
    Path("job.toml").write_text(
        'scheduler = "made.json"\nworkers = 1\nwait = "30s"\nedges = "edges.parquet"\n'
        '[[step]]\nalgorithm = "pagerank"\noutput = "out"\n'
    )
    text = running.scheduler_file.read_text()
    pieces = iter([text[: len(text) // 2], text])

    def write():  # as a scheduler does, which takes its time
        Path("made.json").write_text(next(pieces))

    for seconds in (0.2, 0.5):
        threading.Timer(seconds, write).start()
    call("run", "job.toml")
    assert is_right()
    assert "dask-graphgpu-pagerank" in tasks.names


def test_by_setting_and_written_by_workers(folder, running, tasks):
    """In a process that cannot write a byte to a file."""
    Path("job.toml").write_text(
        'edges = "edges.parquet"\n[[step]]\nalgorithm = "pagerank"\noutput = "out"\n'
        '[[step]]\nalgorithm = "build"\noutput = "saved"\n'
    )
    done = subprocess.run(
        [sys.executable, "-B", "-m", "dask", "graph", "run", "job.toml"],
        env={**with_package(), "DASK_SCHEDULER_ADDRESS": running.scheduler_address},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[1].startswith("build: 5 edges and 6 vertices in saved, ")
    assert is_right()


def test_by_tls(folder, certificate):
    key, cert = str(certificate / "key.pem"), str(certificate / "certificate.pem")
    settings = {"distributed.comm.tls.ca-file": cert}
    for role in ("client", "scheduler", "worker"):
        settings |= {
            f"distributed.comm.tls.{role}.{name}": path
            for name, path in (("key", key), ("cert", cert))
        }
    with dask.config.set(settings):
        security = Security(require_encryption=True)
    with cluster_cases.started_cluster(1, security=security, protocol="tls") as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with dask.config.set(settings):
            pagerank("--scheduler", address)
        assert is_right()
        assert "names no certificates" in refusal("--scheduler", address, code=1)


def test_given_client_and_results(folder, running, tasks):
    job = {
        "edges": "edges.parquet",
        "cluster": {"kind": "local"},  # which a client takes the place of
        "step": [
            {"algorithm": "pagerank", "output": "out"},
            {"algorithm": "build", "output": "saved"},
            {"algorithm": "degree", "top": 1},
        ],
    }
    with Client(running, set_as_default=False) as client:
        results = run_job(job, client=client)
        assert client.status == "running"
    assert [(each.algorithm, each.output, each.rows) for each in results] == [
        ("pagerank", "out", 6), ("build", "saved", 5), ("degree", None, None)
    ]  # fmt: skip
    assert all(each.seconds > 0 for each in results)
    assert is_right()
    assert "dask-graphgpu-pagerank" in tasks.names


def test_active_client(folder, running, tasks):
    Path("job.toml").write_text('edges = "edges.parquet"\nalgorithm = "pagerank"\noutput = "out"')
    with Client(running):
        run_job("job.toml")
    assert tasks.clients == 1
    assert "dask-graphgpu-pagerank" in tasks.names
    tasks.names.clear()
    run_job(Path("job.toml"))
    assert not tasks.names, "nor is a cluster needed"


@pytest.mark.parametrize(
    ("job", "more", "message"),
    [
        ("nope.toml", {}, "nope.toml cannot be read: No such file"),
        (3, {}, "job is a int; give the path"),
        ({"edges": "edges.parquet", "algorithm": "pagernak"}, {}, "Did you mean pagerank"),
        ({"edges": "edges.parquet", "algorithm": "degree", "top": 1}, {"client": 3}, "is a int; give a"),
        ({"edges": "edges.parquet", "algorithm": "degree", "top": 1, "workers": 3}, {}, "needs a cluster"),
    ],
)  # fmt: skip
def test_errors_in_python(folder, job, more, message):
    with pytest.raises(InvalidArgument, match=message):
        run_job(job, **more)


def test_clients_that_cannot_be_waited_for(folder, running):
    job = {"edges": "edges.parquet", "algorithm": "degree", "output": "out"}

    async def refused_there():
        async with Client(running.scheduler_address, asynchronous=True) as client:
            for given in ({"client": client}, {}):
                with pytest.raises(InvalidArgument, match="without asynchronous=True"):
                    run_job(job, **given)

    asyncio.run(refused_there())
    client = Client(running, set_as_default=False)
    client.close()
    with pytest.raises(InvalidArgument, match="the client is closed"):
        run_job(job, client=client)
    assert not Path("out").exists()


def test_what_is_cancelled_elsewhere(running, tasks):
    options = clusters.ClusterOptions(scheduler=running.scheduler_address)

    def run():
        with clusters.on_cluster(options) as client:
            future = client.submit(time.sleep, 0.5)
            client.cancel(future)
            future.result()

    with pytest.raises(ClusterUnavailable, match="the cluster is gone, or has dropped the job"):
        run()


def test_waiting(folder, running, tasks, monkeypatch):
    monkeypatch.setattr(clusters, "_QUIETLY", 0.1)
    address = running.scheduler_address
    lines = pagerank(
        "--scheduler", address, "--workers", 9, "--wait", "0.4s", code=1
    ).stderr.splitlines()
    assert lines == [
        "Waiting for 9 workers",
        "Error: 2 of 9 workers have come in 0.4 s: start more, ask for fewer, or wait longer",
    ]
    gone = "tcp://127.0.0.1:9"
    assert f"no scheduler answers at {gone} within 0.3 s" in refusal(
        "--scheduler", gone, "--wait", "0.3s", code=1
    )
    monkeypatch.setattr(clusters, "_QUIETLY", 9)
    assert "no scheduler file " in refusal("--scheduler", "no.json", "--wait", "0.3s", code=1)
    assert not Path("out").exists()


def test_the_work_of_others_is_waited_for_aloud(folder, running, tasks, monkeypatch):
    monkeypatch.setattr(queued, "_EVERY", 0.2)
    address, events, held = running.scheduler_address, folder / "events", folder / "held"
    held.touch()

    def free():
        until = time.monotonic() + 60
        while time.monotonic() < until and "waiting: " not in (
            events.read_text() if events.exists() else ""
        ):
            time.sleep(0.1)
        held.unlink()

    with Client(address, set_as_default=False) as other:
        busy = other.map(cluster_cases.while_there, [str(held)] * 2, pure=False)
        ending = threading.Thread(target=free)
        ending.start()
        told = pagerank("--scheduler", address, "--log-file", events).stderr
        ending.join()
        other.gather(busy)
    assert re.search(r"waiting: the cluster works for others, [12] tasks? on 2 workers", told)
    assert is_right()


def test_what_is_wrong_is_said_before_the_cluster_is_needed(folder):
    line = refusal("--scheduler", "tcp://127.0.0.1:9", "--workers", 2, "--damping", 3, code=2)
    assert "--damping 3" in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scheduler", "tcp://a:1", "--cluster", "local"], "exclude each other"),
        (["--scheduler", "edges.parquet"], "neither an address, such as tcp://host:8786, nor a file"),
        (["--scheduler", "tcp://host"], "is no address, such as tcp://host:8786: missing port"),
        (["--scheduler", "ftp://host:21"], "is no address"),
        (["--cluster", "locale"], "cluster is 'locale'; allowed are local, cuda and the name of a class"),
        (["--cluster", "no_such_package:Cluster"], "pip install no-such-package"),
        (["--cluster", "job_clusters:Klub"], "job_clusters has no Klub"),
        (["--cluster", "job_clusters:NoCluster"], "it lacks scale and close"),
        (["--cluster", "job_clusters:MADE"], "no class of clusters"),
        (["--workers", "0"], "--workers"),
        (["--wait", "soon"], "'soon'; give a time, such as 30s, 5min or 1h"),
        (["--wait", "5"], "'5'; give a time"),
        (["--wait", ""], "''; give a time"),
        (["--workers", "2"], "--workers 2 needs a cluster: name one with --scheduler or --cluster"),
    ],
)  # fmt: skip
def test_bad_usage(folder, words, message):
    assert message in refusal(*words, code=2)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cluster = 3", "cluster is 3; give a kind, such as 'local', or a table"),
        ("scheduler = true", "scheduler is True; give an address"),
        ("workers = 'two'", "workers is 'two'; give a number"),
        ("[cluster]\nworkers = 2", "[cluster] has no kind: local, cuda"),
        ("workers = 1\n[cluster]\nkind = 'local'\nworkers = 2", "workers is given both above and in [cluster]"),
        ("wait = 5", "wait is 5; give a time, such as '30s'"),
        ("scheduler = 'tcp://a:1'\n[cluster]\nkind = 'local'", "exclude each other"),
        ("[[step]]\nworkers = 2", "workers is of the whole job: write it above the first [[step]]"),
        ("[cluster]\nkind = 'job_clusters:Slurm'\nasynchronous = true", "asynchronous is true"),
    ],
)  # fmt: skip
def test_bad_keys(folder, text, message):
    above = "edges = 'edges.parquet'\nalgorithm = 'degree'\noutput = 'out'\n"
    Path("job.toml").write_text(above + text)
    assert message in refused("run", "job.toml", code=2)


@pytest.fixture
def elsewhere(folder):
    """The address of a cluster whose worker has another file system in the current folder."""
    tried = ["unshare", "-mr", "mount", "-t", "tmpfs", "none", str(folder)]
    if shutil.which("unshare") is None or subprocess.run(tried, capture_output=True).returncode:
        pytest.skip("this system gives no process a file system of its own")
    with cluster_cases.started_cluster(0) as cluster:
        worker = f"exec {sys.executable} -m dask worker {cluster.scheduler_address} --no-nanny --no-dashboard"
        script = f"mount -t tmpfs none '{folder}' && cd / && {worker} --local-directory /tmp --nthreads 1"
        process = subprocess.Popen(
            ["unshare", "-mr", "sh", "-c", script], env=with_package(), stderr=subprocess.DEVNULL
        )
        try:
            yield cluster.scheduler_address
        finally:
            process.terminate()
            process.wait()


def test_workers_with_another_file_system(folder, elsewhere, tmp_path_factory, monkeypatch):
    monkeypatch.setattr("dask_graphgpu.jobs.shared_paths._PATIENCE", 0.1)
    monkeypatch.setattr("dask_graphgpu.store.save._PATIENCE", 0.1)
    job = {"scheduler": elsewhere, "workers": 1, "edges": "edges.parquet", "algorithm": "degree"}
    with pytest.raises(
        UnreadableParquet, match=r"the worker tcp:.* does not see .*edges\.parquet: "
    ):
        run_job(job | {"output": "out"})
    job["edges"] = str(tmp_path_factory.mktemp("seen") / "edges.parquet")
    EDGES.to_parquet(job["edges"])
    with pytest.raises(
        OutputError, match=r"does not see the folder .*, in which .*out is to be written"
    ):
        run_job(job | {"output": "out"})
    assert os.listdir() == ["edges.parquet"]
    with Client(elsewhere):
        graph = dask.dataframe.read_parquet(job["edges"]).graph
        with pytest.raises(OutputError, match="whose file system this process does not share"):
            graph.save("saved")
