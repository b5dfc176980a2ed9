"""Whatever a job's file says: done, or one line of the package's own that says why not."""

import json
import random
import re
import signal
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from dask_graphgpu.jobs.cli import ALGORITHMS, graph

EDGES = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 0, 0], "weight": [1, 2, 3, 4]})
NAMES = EDGES.assign(src=EDGES["src"].astype(str), dst=EDGES["dst"].astype(str))
NEEDED = {
    "bfs": {"source": 0},
    "sssp": {"source": 0},
    "sswp": {"source": 0},
    "ssnsp": {"source": 0},
    "shortest_path": {"source": 0, "target": 2},
    "earliest_arrival": {"source": 0, "time": "weight"},
    "k_shortest_paths": {"source": 0, "target": 2, "k": 2},
    "distances": {"sources": [0, 1], "targets": [2]},
    "nearest": {"targets": [2]},
    "k_core": {"k": 1},
    "ego": {"center": 0},
    "khop_count": {"k": 2},
    "belief_propagation": {"priors": "./values.parquet", "homophily": 0.6},
    "neighbor_aggregate": {"values": "./values.parquet"},
    "neural_network": {"initial": 0.5},
    "heat_simulation": {"initial": 0.5, "step": 0.1},
    "circuit_simulation": {"terminals": "./values.parquet"},
}
ODD = [
    True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.0, -0.5, 1e308, float("nan"), float("inf"), "", " ",
    "auto", "src", "weight", "0", "02", "a,b", ",", '"', "'", "a\nb", "\x00", "é", "x" * 5000, "-", "--",
    "--output", "-5", "=", "a=b", "rank=score", "edges.parquet", "./edges.parquet", "s3://b/k", "~", "/",
    ".", "*", "[", "30s", "0s", [], [0], [0, 1], ["src", "dst"], ["a"], [[1]], [True], {}, {"rank": "x"},
    {"a": 1},
]  # fmt: skip
STRANGE = [
    "step",
    "sauce",
    "core-number",
    "",
    "algorithm",
    "edges",
    "help",
]  # keys that are none of a step
CASES = 500
SECONDS = 30


def written(value):
    """A value of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def job(rng):
    """A file of one to three steps, in which one to three values are odd."""
    table = {"edges": rng.choice(["edges.parquet", "names.parquet"])}
    steps = []
    for number in range(rng.randint(1, 3)):
        name = rng.choice(sorted(ALGORITHMS))
        step = {"algorithm": name, **NEEDED.get(name, {})}
        step |= rng.choice([{"output": f"out{number}"}, {"report": "-"}, {}])
        steps.append(step)
    kinds = {id(step): step["algorithm"] for step in steps}
    for _ in range(rng.randint(1, 3)):
        step = rng.choice(steps)
        keys = [option.name for option in graph.get_command(None, kinds[id(step)]).params]
        key = rng.choice(keys if rng.random() < 0.9 else STRANGE)
        rng.choice([table, step, step, step])[key] = rng.choice(ODD)
    lines = [f"{json.dumps(key)} = {written(value)}" for key, value in table.items()]
    for step in steps:
        lines += ["[[step]]", *(f"{json.dumps(k)} = {written(v)}" for k, v in step.items())]
    return "\n".join(lines)


class TooSlow(BaseException):
    """A job has taken longer than it may."""


def late(*_):
    raise TooSlow


def outcome(words):
    """What is wrong with a call; None: nothing."""
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        done = CliRunner().invoke(graph, words)
    except TooSlow:
        return f"more than {SECONDS} s"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if done.exit_code == 0:
        return None
    last = done.stderr.splitlines()[-1] if done.stderr else ""
    if done.exit_code not in (1, 2) or not last.startswith("Error: "):
        return f"exit code {done.exit_code}: {done.stderr} {done.exception!r}"
    foreign = re.match(r"Error: (\w+(?:Error|Exception|Warning|Exit|Interrupt)): ", last)
    return last if foreign else None


@pytest.mark.timeout(0)
def test_odd_jobs(fuzz_cases, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    EDGES.to_parquet("edges.parquet")
    NAMES.to_parquet("names.parquet")
    pd.DataFrame({"vertex": [0, 1], "v": [0.0, 1.0]}).to_parquet("values.parquet")
    wrong = []
    for seed in range(fuzz_cases):
        text = job(random.Random(seed))
        Path("job.toml").write_text(text)
        if found := outcome(["run", "job.toml"]):
            wrong.append(f"seed {seed}: {found[:300]}\n{text[:600]}\n")
    for name in ("edges.parquet", "names.parquet", "values.parquet"):
        assert Path(name).is_file()
    pd.testing.assert_frame_equal(pd.read_parquet("edges.parquet"), EDGES)
    assert not wrong, f"{len(wrong)} of {fuzz_cases} cases\n" + "\n".join(wrong)
