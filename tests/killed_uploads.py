"""Jobs that write to an object store and are killed at any request, before or after it is answered: run by hand.

    python tests/killed_uploads.py --kills 200

`dask graph METHOD ... --output`, `dask graph build`, `dask graph update` and jobs with checkpoints run in processes of
their own against an S3 server on the loopback, which kills each at one of its requests. Afterwards a reader is to find
the old or the new content, whole; the next job is to succeed, with the right content, and to leave nothing behind but
what it is asked for. All the while another process reads, too.
"""

import argparse
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import dask
import fsspec
import numpy as np
import pandas as pd
import pyarrow.dataset
from killed_jobs import in_a_child, tokens
from object_server import server

import dask_graphgpu as dg
from dask_graphgpu.io.place import place_of
from dask_graphgpu.jobs.cli import graph
from dask_graphgpu.store import checkpoint

BASE = "s3://data"
KINDS = ("result", "values", "build", "update", "checkpoint")
_N, _PARTS = 200, 3
_JOB = "killed-job"
# What may be left where nobody has been killed last.
LEFT = {
    "result": r"_result\.graphgpu/commit-\d{20}\.json\nresult/result\.parquet",
    "values": r"_values\.graphgpu/commit-\d{20}\.json\nvalues/result\.parquet",
    "build": r"(build/\d{20}-[0-9a-f]{16}/[^\n]*\n)+build/commit-\d{20}\.json",
    "update": r"(update/\d{20}-[0-9a-f]{16}/[^\n]*\n)+update/commit-\d{20}\.json",
    "checkpoint": "",
}


def words(kind, number):
    """What is called; numbers that are even and odd give two results."""
    edges = f"edges{number % 2}"
    if kind == "build":
        return ["build", edges, "--output", f"{BASE}/build"]
    if kind == "update":
        return ["update", f"{BASE}/update", edges, "--remove", "both"]
    if kind == "result":
        return ["pagerank", edges, "--output", f"{BASE}/result"]
    if kind == "values":
        return ["degree", edges, "--partition-by", "in_degree", "--output", f"{BASE}/values"]
    kept = ["--checkpoint", f"{BASE}/checkpoint", "--every", "2"]
    return ["pagerank", "edges0", *kept, "--tolerance", "1e-3", "--output", "out"]


def job(s3, line, at=0, after=False):
    """Run a job in a process of its own; whether it was killed, and how many requests there were."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.environ["AWS_SDK_UA_APP_ID"] = _JOB  # others ask at the same time
            kill = {"pid": os.getpid(), "at": at, "after": after, "who": f"app/{_JOB}"}
            s3.faults(kill=kill)
            with dask.config.set(scheduler="synchronous"):
                graph.main(list(line), prog_name="dask graph", standalone_mode=False)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status)
    assert killed or os.WEXITSTATUS(status) == 0, f"{line} has failed"
    return killed, len(s3.faults())


# -- what is read ------------------------------------------------------------------------------------


def read_result(folder="result", column="rank"):
    """By somebody who knows nothing of us: a folder of Parquet, and the files that a pattern matches."""
    fs = fsspec.filesystem("s3", use_listings_cache=False)
    if not fs.glob(f"data/{folder}/**/*.parquet"):
        return None
    names = pyarrow.dataset.dataset(f"data/{folder}", filesystem=fs).files
    assert names == fs.glob(f"data/{folder}/**/*.parquet"), names
    return tokens(pd.concat([_read_at_once(fs, name) for name in names])[column])


def _read_at_once(fs, name):
    """An object that is opened once: PyArrow opens a path twice, and takes the footer of one for pages of the other."""
    with fs.open(name) as file:
        return pd.read_parquet(file)


def read_values():
    return read_result("values", "vertex")


def read_build(name="build"):
    try:
        return tokens(dg.load(f"{BASE}/{name}").degree().compute()["out_degree"])
    except dg.errors.InvalidSavedGraph as error:
        if "there is no folder" in str(error):
            return None
        raise


def read_update():
    return read_build("update")


def read_checkpoint():
    found = checkpoint.read(place_of(f"{BASE}/checkpoint", "checkpoint"), slice(None))
    if found is None:
        return None
    rows = pd.concat([table.to_pandas() for table in found.tables()])
    return [found.content["superstep"], *(tokens(rows[name]) for name in sorted(rows))]


READ = {
    "result": read_result,
    "values": read_values,
    "build": read_build,
    "update": read_update,
    "checkpoint": read_checkpoint,
}


def right_ones(kind):
    """All that may be read; of checkpoints those of all supersteps, from runs that are cut short."""
    found = []
    if kind == "update":
        graph.main(["build", "edges0", "--output", f"{BASE}/update"], standalone_mode=False)
    if kind != "checkpoint":
        for number in (0, 1):
            graph.main(words(kind, number), standalone_mode=False)
            found.append(READ[kind]())
        return found
    for most in range(2, 100, 2):
        try:
            graph.main([*words(kind, 0), "--max-iterations", str(most)], standalone_mode=False)
            break
        except Exception:  # it has not converged
            found.append(read_checkpoint())
    return found


def warm():
    """Have the code in memory that jobs run: else each of them would load it anew, for seconds."""
    with dask.config.set(scheduler="synchronous"):
        for kind in KINDS:
            line = [word.replace(BASE, "warm") for word in words(kind, 0)]
            if kind == "update":
                graph.main(["build", "edges1", "--output", line[1]], standalone_mode=False)
            graph.main(line, standalone_mode=False)


@contextmanager
def reader(kind, right):
    """Another process reads all the time; counts of what it has seen, once it has ended."""
    seen, told = Counter(), Path(f"{kind}.seen")
    child = os.fork()
    if child == 0:
        goes_on, found = [True], Counter()
        signal.signal(signal.SIGTERM, lambda *_: goes_on.clear())
        with dask.config.set(scheduler="synchronous"):
            while goes_on:
                time.sleep(0.1)
                try:
                    value = READ[kind]()
                    found["wrong" if value is not None and value not in right else "read"] += 1
                except Exception as error:
                    # What is replaced between two requests of a reader of Parquet is an error there.
                    expired = type(error).__name__ == "FileExpired" or "FileExpired" in repr(error)
                    found["read while replaced" if expired else f"wrong: {error!r}"[:300]] += 1
        told.write_text(repr(dict(found)))
        os._exit(0)
    try:
        yield seen
    finally:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        seen.update(eval(told.read_text()))


# -- kills -------------------------------------------------------------------------------------------


def afterwards(s3, kind, i):
    """What is there, what is there after the next job, and the objects that it leaves."""
    found = READ[kind]()
    line = words(kind, i + 1) + ["--resume"] * (kind == "checkpoint")
    graph.main(line, prog_name="dask graph", standalone_mode=False)
    later = tokens(pd.read_parquet("out")["rank"]) if kind == "checkpoint" else READ[kind]()
    return found, later, "\n".join(name for name in s3.names("data") if kind in name)


def kills(s3, kind, number):
    """So many kills, from the first requests to the last; what came of them, and what was wrong."""
    right = in_a_child(lambda: right_ones(kind))
    _, most = job(s3, words(kind, 1))
    _, most = job(s3, words(kind, 0))
    wanted = (
        in_a_child(lambda: tokens(pd.read_parquet("out")["rank"])) if kind == "checkpoint" else None
    )
    came, wrong = Counter({"requests of a job": most}), []
    with reader(kind, right) as seen:
        for i in range(number):
            pieces = max((number + 1) // 2, 1)  # of a job: in the middle of each, before and after
            at, after = 1 + (2 * (i // 2) + 1) * most // (2 * pieces), bool(i % 2)
            line = [*words(kind, i), *["--resume"] * (kind == "checkpoint" and i % 3 > 0)]
            killed, _ = job(s3, line, at, after)
            came["killed" if killed else "ended before"] += 1
            where = f"{kind} {'after' if after else 'before'} request {at}"
            found, later, left = in_a_child(lambda kind=kind, i=i: afterwards(s3, kind, i))
            if found is not None and found not in right:
                wrong.append(f"{where}: {str(found)[:200]}")
            came["nothing there" if found is None else "found"] += 1
            if later != (wanted or right[(i + 1) % 2]):
                wrong.append(f"{where}: the next job has given something else")
            if not re.fullmatch(LEFT[kind], left):
                wrong.append(f"{where}: left behind {left}")
    wrong += [f"the reader: {what}" for what in seen if what.startswith("wrong")]
    return came + seen, wrong


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=210)
    parser.add_argument("--kinds", default=",".join(KINDS), help="some of them")
    given = parser.parse_args(arguments)
    kinds = given.kinds.split(",")
    made, failed = np.random.default_rng(0), 0
    with tempfile.TemporaryDirectory() as folder, server() as s3:
        os.chdir(folder)
        os.environ.update(s3.environment)
        edges = made.integers(0, _N, (2, 1500))
        other = made.permutation(_N)  # the same graph, renumbered: no size tells the two apart
        for i, ends in enumerate((edges, other[edges])):
            Path(f"edges{i}").mkdir()
            Path("both").mkdir(exist_ok=True)
            for j, part in enumerate(np.array_split(ends, _PARTS, axis=1)):
                frame = pd.DataFrame({"src": part[0], "dst": part[1]})
                frame.to_parquet(f"edges{i}/{j}.parquet")
                frame.to_parquet(f"both/{i}-{j}.parquet")
        warm()
        for i, kind in enumerate(kinds):
            came, wrong = kills(s3, kind, (given.kills + i) // len(kinds))
            print(kind, dict(came), f"{len(wrong)} wrong", *wrong, sep="\n  ", flush=True)
            failed += len(wrong)
        os.chdir("/")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
