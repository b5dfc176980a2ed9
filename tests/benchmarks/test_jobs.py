"""The benchmarks of jobs run, at a small size."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def benchmark(monkeypatch):
    """Imports a benchmark by its name."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    before = set(sys.modules)
    yield importlib.import_module
    for name in ("jobs", "small_jobs", "cluster_jobs", "entities"):
        if name not in before:
            sys.modules.pop(name, None)


@pytest.fixture
def jobs(benchmark):
    return benchmark("jobs")


@pytest.mark.slow
@pytest.mark.parametrize("job", ["pairs", "edges"])
def test_it_measures(jobs, monkeypatch, capsys, job):
    given = ["--jobs", job, "--millions", "0.01", "--cores", "1", "--turns", "1"]
    monkeypatch.setattr(sys, "argv", ["jobs.py", *given, "--contenders", "ours"])
    jobs.main()
    *_, line = capsys.readouterr().out.splitlines()
    assert line.startswith(f"| {job} | 0.01 | 1 | ours | ")
    assert float(line.split(" | ")[4]) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("job", "row", "times"), [("pairs", 40, 2.0), ("edges", 16, 2.5)])
def test_memory_of_a_job(jobs, tmp_path, job, row, times):
    """At most so many times the bytes that the two columns, ``row`` bytes a row, take in Arrow."""
    jobs.write(job, tmp_path, 5)
    took = jobs.measured("ours", job, tmp_path, 2, None)
    assert took["GB"] < times * 5e6 * row / 1e9


@pytest.mark.slow
def test_phases_are_all_of_a_job(jobs, monkeypatch, capsys):
    import phases

    given = ["--jobs", "pairs", "--millions", "0.01", "--cores", "1", "--turns", "1"]
    monkeypatch.setattr(sys, "argv", ["phases.py", *given])
    phases.main()
    *_, line = capsys.readouterr().out.splitlines()
    *parts, whole = map(float, line.strip("| ").split(" | ")[2:])
    assert len(parts) == len(phases.PHASES) + 1
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(whole, abs=0.01)


def test_scipy_finds_components_and_ranks(jobs):
    labels = jobs.scipy_answer("pairs", np.array([0, 1, 3]), np.array([1, 2, 4]), 6)
    assert labels.tolist() == [0, 0, 0, 1, 1, 2]
    ranks = jobs.scipy_answer("edges", np.array([0, 1, 2]), np.array([1, 2, 0]), 3)
    assert ranks.tolist() == pytest.approx([1 / 3] * 3)


def test_small_jobs_are_measured_beside_plain_work(benchmark, monkeypatch, capsys, tmp_path):
    given = ["--rows", "20", "--times", "1", "--folder", str(tmp_path), "--ids", "strings"]
    monkeypatch.setattr(sys, "argv", ["small_jobs.py", *given, "--methods", "pagerank"])
    small = benchmark("small_jobs")
    small.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split(" | ")[2] for line in lines] == list(small.WAYS)
    assert all(float(line.split(" | ")[3]) > 0 for line in lines)


@pytest.mark.slow
def test_jobs_on_a_cluster_are_measured(benchmark, monkeypatch, capsys):
    given = ["--millions", "0.01", "--workers", "2", "--ranks", "2", "--turns", "1"]
    monkeypatch.setattr(sys, "argv", ["cluster_jobs.py", *given])
    benchmark("cluster_jobs").main()
    *_, line = capsys.readouterr().out.splitlines()
    assert line.startswith("| 0.01 | 2 | 2 | ")
    assert float(line.split(" | ")[4]) > 0
