"""Jobs that are killed at any operation on files, while others open what they write: run by hand.

    python tests/killed_jobs.py --runs 200 --seed 0

`dask graph METHOD ... --output`, `dask graph build`, `dask graph update`, jobs with checkpoints and jobs of each night
that keep a saved graph run in processes of their own, and each is killed at an operation on a file of the folder that
all work in, or up to some milliseconds later. A reader in one more process opens the result, the saved graph or the
checkpoint all the while: it is to see the old or the new one, never a mixture or an error. A job that goes on from the
checkpoint is to come to the right result, and a job of a night that runs again to that of a night without a kill. The
next job is to leave nothing behind but what it is asked for.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import click
import dask
import numpy as np
import pandas as pd

import dask_graphgpu as dg
from dask_graphgpu.errors import NotConverged
from dask_graphgpu.io import replace
from dask_graphgpu.jobs.cli import graph
from dask_graphgpu.store import checkpoint

EVENTS = {
    "open",
    "os.mkdir",
    "os.link",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "fcntl.flock",
    "renameat2",
    "fsync",
}
TOLERANCE = 1e-6  # for some twenty supersteps
LATER = 0.004  # seconds after an operation, at most
KINDS = ("result", "build", "update", "checkpoint", "nightly")
NIGHTS = 5


def words(kind, number):
    """What is called; numbers that are even and odd give two results."""
    edges = f"edges{number % 2}.parquet"
    if kind == "build":
        return ["build", edges, "--output", "saved"]
    if kind == "update":
        return ["update", "grown", edges, "--remove", "both.parquet"]
    if kind == "nightly":
        method = ["weakly-connected-components", "nights", "--undirected", "--saved", "followed"]
        return [*method, "--keep-ids", "clusters", "--output", "clusters"]
    if kind == "result":
        return ["pagerank", edges, "--output", "ranks", "--max-iterations", "100"]
    kept = ["--checkpoint", "kept", "--every", "1"]
    return ["pagerank", edges, "--tolerance", str(TOLERANCE), *kept, "--output", "out"]


# -- what is killed ----------------------------------------------------------------------------------


def counting(step, later):
    """Have this process killed at the n-th operation on a file here, or so much later; gives how many there were."""
    counted = [0]
    here, exchange, sync = os.getcwd(), replace._exchange, os.fsync

    def hook(event, arguments):
        if event not in EVENTS or not _is_here(arguments[0] if arguments else "", here):
            return
        counted[0] += 1
        if counted[0] != step:
            return
        if later == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        signal.setitimer(signal.ITIMER_REAL, later)  # nobody handles it, which ends the process

    def announced(one, other):
        sys.audit("renameat2", os.fspath(one))
        return exchange(one, other)

    def synced(file):
        sys.audit("fsync", file)
        return sync(file)

    replace._exchange, os.fsync = announced, synced
    sys.addaudithook(hook)
    return counted


def _is_here(path, here):
    """Whether an operation is on a file of a folder; on descriptors, it is."""
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    return not isinstance(path, str) or not os.path.isabs(path) or path.startswith(here)


def job(line, step=0, later=0.0):
    """Run a job in a process of its own; whether it was killed, and how many operations there were."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            with dask.config.set(scheduler="synchronous"):
                counted = counting(step, later)
                graph.main(list(line), prog_name="dask graph", standalone_mode=False)
            os.write(write, str(counted[0]).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as told:
        said = told.read()
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status)
    assert killed or os.WEXITSTATUS(status) == 0, f"{line} has failed"
    return killed, int(said or 0)


def load_kernels(kinds):
    """Have this process load what jobs run, which each child would else load for itself: that takes seconds."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, dask.config.set(scheduler="synchronous"):
        for name in os.listdir(here):
            (shutil.copytree if os.path.isdir(name) else shutil.copy)(name, f"{folder}/{name}")
        os.chdir(folder)
        for kind in kinds:
            prepare(kind, 0)
            graph.main(words(kind, 0), prog_name="dask graph", standalone_mode=False)
            if kind != "checkpoint":
                READ[kind]()
        os.chdir(here)


# -- what is read ------------------------------------------------------------------------------------


def read_result():
    """Of one generation; None where a file of the former one is gone, which a reader is told."""
    try:
        names = sorted(os.listdir("ranks"))
        found = pd.concat([pd.read_parquet(f"ranks/{name}") for name in names])
    except FileNotFoundError:
        return None
    return tokens(found["rank"])


def read_nightly():
    """As `read_result`, of clusters with the ids that they have kept."""
    try:
        found = pd.concat([pd.read_parquet(path) for path in sorted(Path("clusters").iterdir())])
    except FileNotFoundError:
        return None
    return tokens(found["vertex"]) + tokens(found["component"])


def read_build(name="saved"):
    return tokens(dg.load(name).degree().compute()["out_degree"])


def read_update():
    return read_build("grown")


def read_checkpoint():
    """The superstep and what is kept; None where there is none, as after a job that has ended well."""
    found = checkpoint.read(Path("kept").absolute(), slice(None))
    if found is None:
        return None
    rows = pd.concat([table.to_pandas() for table in found.tables()])
    step = found.content["superstep"]
    found.close()
    return [step, *(tokens(rows[name]) for name in sorted(rows))]


def tokens(column):
    return repr(column.to_numpy().tobytes().hex()[:4000])


READ = {
    "result": read_result,
    "build": read_build,
    "update": read_update,
    "checkpoint": read_checkpoint,
    "nightly": read_nightly,
}


@contextmanager
def reader(kind):
    """Another process reads all the time; a list of what it has seen, once it has ended."""
    seen, told = [], Path(f"{kind}.seen")
    child = os.fork()
    if child == 0:
        goes_on = [True]
        signal.signal(signal.SIGTERM, lambda *_: goes_on.clear())
        found = {"reads": 0, "gone": 0, "values": [], "errors": []}
        with dask.config.set(scheduler="synchronous"):
            while goes_on:
                try:
                    value = READ[kind]()
                    found["reads"] += 1
                    found["gone"] += value is None
                    if value is not None and value not in found["values"]:
                        found["values"].append(value)
                except Exception:
                    found["errors"].append(traceback.format_exc())
                time.sleep(0.001)
        told.write_text(json.dumps(found))
        os._exit(0)
    try:
        yield seen
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        seen.append(json.loads(told.read_text()))
        told.unlink()


# -- runs --------------------------------------------------------------------------------------------


def right_ones(kind):
    """All that may be read, and how many operations a job takes."""
    if kind != "checkpoint":
        right, most = [], 0
        for number in range(NIGHTS if kind == "nightly" else 2):
            prepare(kind, number)
            _, most = job(words(kind, number))
            right.append(in_a_child(READ[kind]))
        return right, most
    right = in_a_child(of_all_supersteps)
    assert len(right) > 5
    _, most = job(words(kind, 0))
    return right, most


def prepare(kind, number):
    """Have the rows of a night be there; the first one begins anew, without anything of nights before."""
    if kind != "nightly":
        return
    night = number % NIGHTS
    if night == 0:
        for name in ("nights", "followed", "clusters"):
            if os.path.exists(name):
                os.rename(name, "trash")  # as one step: a reader sees all of it or nothing
                shutil.rmtree("trash")
        os.mkdir("nights")
    ends = np.random.default_rng(night).integers(40 * night, 40 * night + 150, (2, 60))
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1]})
    frame.to_parquet(f"nights/{night}.parquet")


def of_all_supersteps():
    """The checkpoints that a job leaves that ends after each number of supersteps before it has converged."""
    found = []
    while True:
        line = [*words("checkpoint", 0), "--max-iterations", str(len(found) + 1)]
        try:
            graph.main(line, prog_name="dask graph", standalone_mode=False)
            return found
        except (NotConverged, click.ClickException, SystemExit):
            found.append(read_checkpoint())


def in_a_child(function):
    """What a function gives in a process of its own, as JSON has it: threads of kernels end with it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with dask.config.set(scheduler="synchronous"), os.fdopen(write, "w") as told:
            try:
                json.dump(function(), told)
                told.flush()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        said = told.read()
    os.waitpid(child, 0)
    return json.loads(said)


def kills(kind, runs, draw, wanted):
    """So many kills; what came of them, and what was wrong."""
    right, most = right_ones(kind)
    came, wrong = Counter(), []
    before = set(os.listdir())
    with reader(kind) as seen:
        for number in range(runs):
            which = number % 2 if kind != "checkpoint" else 0
            prepare(kind, number)
            step = 1 + (number * most // runs + draw.randrange(3)) % most
            later = draw.choice([0.0, draw.random() * LATER])
            line = words(kind, which)
            if kind == "checkpoint" and draw.random() < 0.7:
                line.append("--resume")
            killed, _ = job(line, step, later)
            came["killed" if killed else "ended before"] += 1
            found = in_a_child(READ[kind])
            if found is not None and found not in right:
                wrong.append(f"{line} at {step}, {later:.4f} s later: {str(found)[:200]}")
            if kind == "nightly":
                job(line)
                if in_a_child(READ[kind]) != right[number % NIGHTS]:
                    wrong.append(f"{line} at {step}: another result when it has run again")
            if kind == "checkpoint" and number % 5 == 4:
                job([*line, *([] if "--resume" in line else ["--resume"])])
                if in_a_child(result_of_out) != wanted:
                    wrong.append(
                        f"{line} at {step}: the result is another one after it has gone on"
                    )
    (found,) = seen
    came["reads"], came["reads that found nothing"] = found["reads"], found["gone"]
    came["contents seen"] = len(found["values"])
    wrong += [f"the reader: {error}" for error in found["errors"]]
    wrong += [f"the reader: {str(v)[:200]}" for v in found["values"] if v not in right]
    job(words(kind, 0))
    left = set(os.listdir()) - before - {"out", "nights", "followed", "clusters"}
    wrong += [f"left behind: {sorted(left)}"] if left else []
    return came, wrong


def result_of_out():
    return tokens(pd.read_parquet("out")["rank"])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS), help="some of them")
    given = parser.parse_args(arguments)
    draw, made = random.Random(given.seed), np.random.default_rng(given.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        edges = made.integers(0, 200, (2, 1500))
        other = made.permutation(200)  # the same graph, renumbered: no size tells the two apart
        for i, ends in enumerate((edges, other[edges])):
            pd.DataFrame({"src": ends[0], "dst": ends[1]}).to_parquet(f"edges{i}.parquet")
        both = [pd.read_parquet(f"edges{i}.parquet") for i in (0, 1)]
        pd.concat(both).to_parquet("both.parquet")
        job(["build", "edges0.parquet", "--output", "grown"])
        job(words("checkpoint", 0))
        wanted = in_a_child(result_of_out)
        kinds = given.kinds.split(",")
        load_kernels(kinds)
        for i, kind in enumerate(kinds):
            runs = (given.runs + i) // len(kinds)
            came, wrong = kills(kind, runs, draw, wanted)
            print(kind, dict(came), f"{len(wrong)} wrong", *wrong, sep="\n  ", flush=True)
            failed += len(wrong)
        os.chdir("/")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
