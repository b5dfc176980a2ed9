"""Workers that are killed, stopped or asked to end at any moment of a call: run by hand, it is no test of the suite.

    python tests/killed_workers.py --runs 500 --seed 0

In each run a method is called on a graph on ranks, or on one, persisted or not, and a signal is sent to one of the
workers after a random time. What comes is to be the right answer or one error of the package in time, the next call is
to be right once the workers are back, and nothing is to be left behind. It prints what came how often, and each run
that was not as it is to be, with the number that repeats it.
"""

import argparse
import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import dask
import dask.dataframe as dd
import psutil

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "cluster")]

import cluster_cases as cases  # noqa: E402
import test_answers as answers  # noqa: E402

from dask_graphgpu.cluster.holdings import held  # noqa: E402
from dask_graphgpu.errors import GraphError  # noqa: E402

IDLE = 4.0
MORE = 5.0  # seconds beyond it within which an error comes
NOTICE = 3.0  # in which the scheduler notices that a worker has died
LONG = 150.0  # seconds after which a run is taken to hang
SIGNALS = signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM
LEFT = Path("/dev/shm")  # where rings of ranks would be seen


class Wrong(Exception):
    """A run was not as it is to be."""


class Calls:
    """The same calls on frames of several kinds, and their answers."""

    def __init__(self, folder: Path) -> None:
        self.edges = answers.edges(n=3000, m=20000)
        self.edges.to_parquet(folder / "edges.parquet", row_group_size=2000, index=False)
        self.folder = folder
        self._wanted: dict = {}

    def frame(self, kind: str):
        if kind == "parquet":
            return dd.read_parquet(self.folder / "edges.parquet")
        return dd.from_pandas(self.edges, npartitions=5, sort=False)

    def wanted(self, name: str):
        if name not in self._wanted:
            self._wanted[name] = answers.CALLS[name](self.edges.graph(ranks=1))
        return self._wanted[name]


def in_thread(function):
    """What a function gives or raises, and when; a list that is empty until then."""
    found: list = []

    def call() -> None:
        try:
            found.append((function(), None, time.monotonic()))
        except BaseException as error:
            found.append((None, error, time.monotonic()))

    threading.Thread(target=call, daemon=True).start()
    return found


def wait_for(found, until):
    while not found and time.monotonic() < until:
        time.sleep(0.02)
    return bool(found)


def one(client, calls, drawn) -> str:
    """One run; what came of it."""
    size = drawn.randint(2, 4)
    workers = cases.addresses(client)
    ranks = drawn.choice([1, size - 1 or 1, size, size])
    ranks = min(ranks, len(workers))
    name, kind = drawn.choice(sorted(answers.CALLS)), drawn.choice(["parquet", "pandas"])
    persisted, number = drawn.choice([True, True, False]), drawn.choice(SIGNALS)
    delay, victim = (
        drawn.choice([0.0, drawn.random() * 0.5, drawn.random() * 2]),
        drawn.choice(workers),
    )
    before = drawn.random() < 0.3 and persisted  # the signal comes before the call
    about = f"{name} of {kind}, ranks={ranks}, persisted={persisted}, {number.name} to {victim}"
    about += " before the call" if before else f" after {delay:.2f} s"
    graph = calls.frame(kind).graph(ranks=ranks)
    wanted = calls.wanted(name)
    if persisted:
        graph = graph.persist()
    if before:
        answers.CALLS["degree"](graph).compute()
    pids = client.run(os.getpid)
    began = time.monotonic()
    if before:
        os.kill(pids[victim], number)
    found = in_thread(lambda: answers.CALLS[name](graph).compute())
    if not before:
        time.sleep(delay)
        os.kill(pids[victim], number)
    sent = time.monotonic()
    try:
        there = wait_for(found, began + LONG)
    finally:
        if number == signal.SIGSTOP:
            os.kill(pids[victim], drawn.choice([signal.SIGCONT, signal.SIGKILL]))
    if not there:
        tasks = client.run_on_scheduler(task_states)
        wait_for(found, time.monotonic() + 30)
        raise Wrong(f"{about}: nothing came in {LONG:g} s; then {found}; {tasks}")
    answer, error, when = found[0]
    if error is None:
        answers.assert_same(answer, wanted)
        came = "an answer"
    elif not isinstance(error, GraphError):
        raise Wrong(f"{about}: {type(error).__name__}: {error}")
    elif when > max(sent, began) + IDLE + MORE:
        raise Wrong(f"{about}: after {when - sent:.1f} s: {type(error).__name__}: {error}")
    else:
        came = type(error).__name__
    time.sleep(NOTICE)
    client.wait_for_workers(len(workers), timeout=60)
    again = in_thread(lambda: answers.CALLS[name](graph).compute())
    if not wait_for(again, time.monotonic() + LONG):
        tasks = client.run_on_scheduler(task_states)
        raise Wrong(f"{about}: {came}; then nothing came of the next call in {LONG:g} s; {tasks}")
    answer, error, _ = again[0]
    if error is not None:
        raise Wrong(f"{about}: {came}; then {type(error).__name__}: {error}")
    answers.assert_same(answer, wanted)
    return f"{number.name}: {came}"


def memory_shared() -> set:
    """Names, without the locks of Dask's nannies."""
    return {name for name in os.listdir(LEFT) if not name.startswith("sem.mp-")}


def task_states(dask_scheduler):
    return [
        f"{key} {task.state} on {task.processing_on and task.processing_on.address}"
        for key, task in dask_scheduler.tasks.items()
    ]


def check_nothing_left(client, workers, processes, shared) -> None:
    until = time.monotonic() + 20
    while True:
        gc.collect()  # errors hold the graphs that they come from
        client.wait_for_workers(workers, timeout=60)
        left = {
            "locks": client.run_on_scheduler(cases.lock_state),
            "holdings": sum(client.run(held).values()),
            "tasks": [n for n in client.run_on_scheduler(cases.task_names) if "graphgpu" in n],
            "processes": len(psutil.Process().children(recursive=True)) - processes,
            "shared memory": sorted(memory_shared() - shared),
        }
        if not any(left.values()):
            return
        if time.monotonic() > until:
            raise Wrong(f"left behind: { {name: what for name, what in left.items() if what} }")
        time.sleep(0.2)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so many")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    dask.config.set({"graphgpu.idle-timeout": IDLE})
    came: Counter = Counter()
    wrong, until, number = [], time.monotonic() + given.seconds, given.seed
    with tempfile.TemporaryDirectory() as folder:
        calls = Calls(Path(folder))
        while number < given.seed + given.runs and time.monotonic() < until:
            workers = random.Random(number).randint(2, 4)
            with cases.started(workers, memory_limit=0) as client:
                client.wait_for_workers(workers)
                client.run(lambda: None)
                processes = len(psutil.Process().children(recursive=True))
                shared = memory_shared()
                for _ in range(min(10, given.seed + given.runs - number)):
                    if time.monotonic() > until or number in wrong:
                        break
                    number += 1
                    try:
                        came[one(client, calls, random.Random(number))] += 1
                        check_nothing_left(client, workers, processes, shared)
                    except (Wrong, AssertionError) as error:
                        wrong.append(number)
                        print(f"{number}: {error}", flush=True)
    for what, times in sorted(came.items()):
        print(f"{times:5} {what}")
    print(f"{sum(came.values())} runs as they are to be, {len(wrong)} not: {wrong}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
