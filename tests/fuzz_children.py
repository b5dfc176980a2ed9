"""Cases that may end a process run in a child of this one, which says of each what is wrong, if it lives."""

import faulthandler
import os
import random
import tempfile
import traceback
from pathlib import Path

import dask
import fork_server

from dask_graphgpu.errors import GraphError

SECONDS = 60  # that one case may take
MOST_TOLD = 20


class Wrong(Exception):
    """What a case has found."""


def outcome(call, allowed=GraphError):
    """What a call gives and None, or None and its error of the package; any other error is raised as it is."""
    try:
        return call(), None
    except allowed as error:
        if not str(error).strip():
            raise Wrong("an error without a text") from error
        return None, error


_pipe = None  # of a child


def asks_oracle():
    """From here on a case runs nothing of the package: if the process ends, that is the oracle's."""
    _pipe.send(("asks", None))


def _work(pipe, case, seeds, folder, prepared):
    """What the child does: one case after the other, each in a new folder."""
    global _pipe
    _pipe = pipe
    os.chdir(folder)
    with Path("faults").open("w") as faults:
        faulthandler.enable(faults)
        dask.config.set(scheduler="synchronous")
        for seed in seeds:
            pipe.send(("begins", seed))
            with tempfile.TemporaryDirectory(dir=folder) as own:
                try:
                    ended = case(random.Random(seed), Path(own), prepared) or "right"
                    pipe.send(("ended", ended))
                except Wrong as error:
                    pipe.send(("wrong", str(error)))
                except BaseException as error:
                    last = traceback.extract_tb(error.__traceback__)[-3:]
                    where = [f"{Path(each.filename).name}:{each.lineno}" for each in last]
                    pipe.send(("wrong", f"{type(error).__name__}: {error} at {where}"))
    pipe.send(("done", None))


def run(case, number, folder, prepared=None):
    """Run ``case(rng, folder, prepared)`` for the seeds below a number; how often each end came.

    A case gives a word for how it ended; an error of it, a signal, and more than SECONDS are wrong.
    """
    counts, wrong, first = {}, [], 0
    while first < number:
        here, there = fork_server.CONTEXT.Pipe()
        seeds = range(first, number)
        child = fork_server.begun(_work, there, case, seeds, str(folder), prepared)
        there.close()
        first = _listen(here, child, number, counts, wrong)
        here.close()
    assert not wrong, f"{len(wrong)} of {number} cases; {counts}\n" + "\n".join(wrong[:MOST_TOLD])
    return counts


def _listen(pipe, child, number, counts, wrong):
    """Hear what a child says until it is done or dead; the seed to go on with."""
    seed, asked = None, False
    while True:
        try:
            late = not pipe.poll(SECONDS)
            kind, said = ("late", None) if late else pipe.recv()
        except EOFError:
            kind, said = "dead", None
        if kind == "begins":
            seed, asked = said, False
        elif kind == "asks":
            asked = True
        elif kind == "ended":
            counts[said] = counts.get(said, 0) + 1
        elif kind == "wrong":
            wrong.append(f"seed {seed}: {said[:600]}")
        else:
            if kind == "late":
                child.kill()
            child.join()
            if kind == "done":
                return number
            assert seed is not None, f"a child ended with {child.exitcode} before its first case"
            if asked:
                counts["no oracle"] = counts.get("no oracle", 0) + 1
                return seed + 1
            how = f"more than {SECONDS} s" if kind == "late" else f"exit code {child.exitcode}"
            wrong.append(f"seed {seed}: {how}")
            return seed + 1
