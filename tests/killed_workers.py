"""Workers that are killed, stopped or short of memory at any moment of a call: run by hand, no test of the suite.

    python tests/killed_workers.py --runs 500 --seed 0

Each run has a number, which says all that is drawn for it: `--runs 1 --seed NUMBER` repeats it. A method is called
on two to four worker processes; while its graph is built, or it runs, or its rows are handed over or written, or
checkpoints are written, something happens to one of the workers. What comes is to be the right answer or one error of
the package in time, the next call is to be right once the workers are back, and nothing is to be left behind. It
prints what came how often, and each run that was not as it is to be.
"""

import argparse
import gc
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
from distributed import wait

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "cluster")]

import cluster_cases as cases  # noqa: E402
import fork_server  # noqa: E402
import test_answers as answers  # noqa: E402

import dask_graphgpu as dg  # noqa: E402
from dask_graphgpu.cluster.holdings import held  # noqa: E402
from dask_graphgpu.errors import GraphError  # noqa: E402

IDLE = 3.0
MORE = 5.0  # seconds beyond it within which an error comes
NOTICE = 3.0  # in which the scheduler notices that a worker has died
LONG = 90.0  # seconds after which a run is taken to hang
MEMORY = "1GiB"  # of a worker
STOPPED = 14.0  # seconds for which a worker is stopped at most
FEW, FEW_A_RUN = (
    24,
    3,
)  # descriptors that connections take which Dask keeps, more with each worker that is new
RUNS = 12  # on one cluster
ITERATIONS = 300

SIGNALS = ("SIGKILL", "SIGSTOP", "SIGTERM")
FAULTS = (*SIGNALS, "killed for memory", "paused for memory")
MOMENTS = ("building", "running", "computing", "rows", "parquet", "checkpoint")

HEAT = pd.DataFrame({"vertex": [0, 1], "heat": [1.0, 2.0]})
CALLS = {
    **answers.CALLS,
    "heat": lambda g: g.heat_simulation(HEAT, step=0.0002, tolerance=1e-4),
    "checkpoint": lambda g, **kept: g.pagerank(tolerance=0, max_iterations=ITERATIONS, **kept),
}


class Wrong(Exception):
    """A run was not as it is to be."""


@dataclass(frozen=True)
class Drawn:
    """What happens in a run."""

    workers: int
    ranks: int
    name: str
    kind: str
    persisted: bool
    moment: str
    fault: str
    delay: float
    victim: int
    seconds: float
    same: bool

    @classmethod
    def of(cls, number):
        draw = random.Random(number)
        workers = 2 + number // RUNS % 3
        moment = draw.choice(MOMENTS)
        return cls(
            workers=workers,
            ranks=draw.choice([1, max(1, workers - 1), workers, workers]),
            name="checkpoint" if moment == "checkpoint" else draw.choice(sorted(answers.CALLS)),
            kind=draw.choice(["parquet", "pandas"]),
            persisted=moment in ("building", "running") or draw.random() < 0.4,
            moment=moment,
            fault=draw.choice([*SIGNALS, *FAULTS]),
            delay=draw.choice([0.0, draw.random() * 0.2, draw.random() * 0.6, draw.random() * 1.5]),
            victim=draw.randrange(workers),
            seconds=draw.random() * 4,
            same=draw.random() < 0.5,
        )


class Case:
    """The graph of a run, the call on it, and what is to come of it."""

    def __init__(self, drawn, calls, folder):
        self.drawn, self.folder = drawn, folder
        self.wanted = calls.wanted(drawn.name)
        self.graph = calls.frame(drawn.kind).graph(ranks=drawn.ranks)
        self.kept = {}
        if drawn.moment == "checkpoint":
            self.kept = {"checkpoint": dg.Checkpoint(folder / "kept", seconds=None, supersteps=10)}
        self.frame = None

    def prepare(self):
        """What there is before the moment."""
        if self.drawn.persisted and self.drawn.moment != "building":
            self.graph = self.graph.persist()
            wait(self.graph._input.held)
        if self.drawn.moment == "rows":
            self.frame = CALLS[self.drawn.name](self.graph).persist()
            wait(self.frame)

    def call(self):
        if self.drawn.moment == "building":
            self.graph = self.graph.persist()
        if self.frame is None:
            self.frame = CALLS[self.drawn.name](self.graph, **self.kept)
        return self._computed()

    def again(self):
        """The next call: of the same lazy frame, or a new one; a run that kept checkpoints goes on."""
        if self.kept:
            self.frame = CALLS[self.drawn.name](self.graph, **self.kept, resume=True)
        elif not self.drawn.same or self.drawn.moment == "rows":
            self.frame = CALLS[self.drawn.name](self.graph)
        return self._computed()

    def _computed(self):
        if self.drawn.moment != "parquet":
            return self.frame.compute()
        path = self.folder / "written"
        shutil.rmtree(path, ignore_errors=True)
        self.frame.to_parquet(path)
        found = pd.read_parquet(path)  # Dask itself would wait for a worker that is stopped
        return found.astype(dict(self.wanted.dtypes))

    def check(self, found):
        answers.assert_same(found, self.wanted)


class Calls:
    """Frames of several kinds with the same edges, and the answers to all calls."""

    def __init__(self, folder):
        self.edges = answers.edges(n=3000, m=20000)
        self.edges.to_parquet(folder / "edges.parquet", row_group_size=2000, index=False)
        self.folder = folder
        self._wanted = {}

    def frame(self, kind):
        if kind == "parquet":
            return dd.read_parquet(self.folder / "edges.parquet")
        return dd.from_pandas(self.edges, npartitions=5, sort=False)

    def wanted(self, name):
        if name not in self._wanted:
            self._wanted[name] = CALLS[name](self.edges.graph(ranks=1))
        return self._wanted[name]


# -- what happens to a worker ----------------------------------------------------------------------


def take_memory(fraction, seconds, dask_worker):
    """Have the worker's process take so much of its limit for so long."""

    def take():
        taken, most = [], fraction * dask_worker.memory_manager.memory_limit
        while dask_worker.monitor.get_process_memory() < most:
            taken.append(np.ones(1 << 20))
        time.sleep(seconds)

    threading.Thread(target=take, daemon=True).start()


def happen(client, drawn, victim, pid):
    """The fault; gives when the worker is whole again, if it is one that it gets over."""
    if drawn.fault in SIGNALS:
        os.kill(pid, getattr(signal, drawn.fault))
        return 0.0
    killed = drawn.fault == "killed for memory"
    given = (1.1, 60.0) if killed else (0.88, drawn.seconds)
    client.run(take_memory, *given, workers=[victim])
    return 0.0 if killed else drawn.seconds


def wait_until_whole(client, drawn, victim, pid, began):
    """The victim is back, or another worker in its place."""
    if drawn.fault == "paused for memory":
        time.sleep(max(0.0, began + drawn.seconds - time.monotonic()))
    until = time.monotonic() + 60
    while True:
        gone = not psutil.pid_exists(pid) and victim not in cases.addresses(client)
        if gone or drawn.fault in ("SIGSTOP", "paused for memory"):
            statuses = cases.statuses(client)
            if statuses == ["running"] * drawn.workers:
                return
        if time.monotonic() > until:
            raise Wrong(f"the worker does not come back: {cases.statuses(client)}")
        time.sleep(0.05)


# -- a run -----------------------------------------------------------------------------------------


def in_thread(function):
    """What a function gives or raises, and when; a list that is empty until then."""
    found = []

    def call():
        try:
            found.append((function(), None, time.monotonic()))
        except BaseException as error:
            found.append((None, error, time.monotonic()))

    threading.Thread(target=call, daemon=True).start()
    return found


def wait_for(found, until):
    while not found and time.monotonic() < until:
        time.sleep(0.01)
    return bool(found)


def one(client, calls, drawn, folder):
    """One run; what came of it, and seconds of the call, until workers are back, and of the next call."""
    case = Case(drawn, calls, folder)
    case.prepare()
    victim = cases.addresses(client)[drawn.victim]
    pid = client.run(os.getpid, workers=[victim])[victim]
    began = time.monotonic()
    found = in_thread(case.call)
    time.sleep(drawn.delay)
    sent = time.monotonic()
    whole = sent + happen(client, drawn, victim, pid)
    try:
        patience = STOPPED if drawn.fault == "SIGSTOP" else LONG
        there = wait_for(found, sent + patience)
    finally:
        if drawn.fault == "SIGSTOP":
            os.kill(pid, signal.SIGCONT)
    if not there:
        tasks = client.run_on_scheduler(task_states)
        wait_for(found, time.monotonic() + 30)
        raise Wrong(f"nothing came in {patience:g} s; then {found}; {tasks}")
    answer, error, when = found[0]
    came = checked(case, answer, error, when - max(whole, began))
    del answer
    wait_until_whole(client, drawn, victim, pid, sent)
    back = time.monotonic()
    again = in_thread(case.again)
    if not wait_for(again, time.monotonic() + LONG):
        tasks = client.run_on_scheduler(task_states)
        raise Wrong(f"{came}; then nothing came of the next call in {LONG:g} s; {tasks}")
    answer, after, ended = again[0]
    if after is not None:
        raise Wrong(f"{came}; then {type(after).__name__}: {after}")
    case.check(answer)
    if (folder / "kept").exists() and os.listdir(folder / "kept"):
        raise Wrong(f"{came}; the checkpoint is left: {os.listdir(folder / 'kept')}")
    return came, when - began, back - when, ended - back


def checked(case, answer, error, seconds):
    """What came of a call, which is right."""
    if error is None:
        case.check(answer)
        return "an answer"
    if not isinstance(error, GraphError):
        raise Wrong(f"{type(error).__name__}: {error}") from error
    if seconds > IDLE + MORE + NOTICE:
        raise Wrong(f"after {seconds:.1f} s: {type(error).__name__}: {error}")
    return type(error).__name__


# -- what is left ----------------------------------------------------------------------------------


def memory_shared():
    """Names of shared memory, where rings of ranks would be seen, without the locks of Dask's nannies."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("sem.mp-")}


def temporary():
    """What lies in the temporary folder, but for what Dask and processes themselves have there."""
    known = "dask-scratch-space", "pymp-", "tmp"
    return {name for name in os.listdir(tempfile.gettempdir()) if not name.startswith(known)}


def descriptors(client):
    """How many are open, by process."""
    found = client.run(lambda: (os.getpid(), psutil.Process().num_fds()))
    return {os.getpid(): psutil.Process().num_fds(), **dict(found.values())}


def task_states(dask_scheduler):
    return [
        f"{key} {task.state} on {task.processing_on and task.processing_on.address}"
        for key, task in dask_scheduler.tasks.items()
    ]


class Before:
    """What there is on a cluster before its first run."""

    def __init__(self, client, workers):
        self.client, self.workers = client, workers
        self.processes = len(psutil.Process().children(recursive=True))
        self.shared, self.temporary = memory_shared(), temporary()
        self.descriptors = descriptors(client)

    def check_nothing_left(self, runs):
        until = time.monotonic() + 20
        while any((left := self._left(runs)).values()):
            if time.monotonic() > until:
                raise Wrong(f"left behind: { {name: what for name, what in left.items() if what} }")
            time.sleep(0.2)

    def _left(self, runs):
        gc.collect()  # errors hold the graphs that they come from
        self.client.wait_for_workers(self.workers, timeout=60)
        tasks = self.client.run_on_scheduler(cases.task_names)
        now = descriptors(self.client)
        # Of a worker that is new, what others have is what is usual.
        usual = max(self.descriptors.values())
        more = {pid: n - self.descriptors.get(pid, usual) for pid, n in now.items()}
        return {
            "locks": self.client.run_on_scheduler(cases.lock_state),
            "holdings": sum(self.client.run(held).values()),
            "tasks": [name for name in tasks if "graphgpu" in name],
            "processes": len(psutil.Process().children(recursive=True)) - self.processes,
            "shared memory": sorted(memory_shared() - self.shared),
            "temporary folders": sorted(temporary() - self.temporary),
            "descriptors": {pid: n for pid, n in more.items() if n > FEW + FEW_A_RUN * runs},
        }


def runs_on_a_cluster(numbers, calls, folder, came, wrong):
    """Runs until one is wrong; gives how many there were."""
    workers = Drawn.of(numbers[0]).workers
    with cases.started(workers, memory_limit=MEMORY, local_directory=str(folder)) as client:
        client.wait_for_workers(workers)
        client.run(lambda: None)
        before = Before(client, workers)
        for done, number in enumerate(numbers, 1):
            drawn = Drawn.of(number)
            with tempfile.TemporaryDirectory(dir=calls.folder) as made:
                try:
                    what, *seconds = one(client, calls, drawn, Path(made))
                    began = time.monotonic()
                    before.check_nothing_left(done)
                    seconds.append(time.monotonic() - began)
                except (Wrong, AssertionError) as error:
                    wrong.append(number)
                    print(f"{number}: {drawn}: {error}", flush=True)
                    return done
            came[drawn.fault, drawn.moment, what] += 1
            took = ", ".join(f"{each:.1f}" for each in seconds)
            print(f"{number}: {drawn.fault}, {drawn.moment}: {what} ({took} s)", flush=True)
    return len(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    dask.config.set({"graphgpu.idle-timeout": IDLE})
    came, wrong = Counter(), []
    fork_server.ready()  # which has a temporary folder of its own
    number, until = given.seed, time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "temporary").mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(Path(folder) / "temporary")
        calls = Calls(Path(folder))
        while number < given.seed + given.runs and time.monotonic() < until:
            end = min(given.seed + given.runs, (number // RUNS + 1) * RUNS)
            number += runs_on_a_cluster(range(number, end), calls, Path(folder), came, wrong)
    for kinds in (0, 2), (1, 2):
        table = Counter()
        for what, times in came.items():
            table[tuple(what[i] for i in kinds)] += times
        for what, times in sorted(table.items()):
            print(f"{times:5} {': '.join(what)}")
    print(f"{sum(came.values())} runs as they are to be, {len(wrong)} not: {wrong}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
