"""The benchmark of LDBC's algorithms runs at a small size, and refuses wrong answers."""

import importlib
import json
import sys
from pathlib import Path

import pytest


@pytest.fixture
def graphalytics(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    before = set(sys.modules)
    yield importlib.import_module("graphalytics")
    for name in ("graphalytics", "graphalytics_oracles", "graphalytics_published", "graphs"):
        if name not in before:
            sys.modules.pop(name, None)


def test_it_measures(graphalytics, monkeypatch, capsys, tmp_path):
    words = ["--scale", "8", "--repeats", "1", "--json", str(tmp_path / "out.json")]
    monkeypatch.setattr(sys, "argv", ["graphalytics.py", *words])
    graphalytics.main()
    *_, algorithm, call = capsys.readouterr().out.splitlines()
    for line in (algorithm, call):
        cells = line.strip("| ").split(" | ")
        assert cells[0].startswith("dask_graphgpu, cpu")
        assert all(float(cell) > 0 for cell in cells[2:])
        assert len(cells) == 2 + len(graphalytics.COLUMNS)
    assert len(json.loads((tmp_path / "out.json").read_text())) == len(graphalytics.TASKS)


def test_what_is_not_begun_in_time_is_left_out(graphalytics, monkeypatch, capsys):
    words = ["--scale", "8", "--algorithms", "BFS", "--seconds", "0"]
    monkeypatch.setattr(sys, "argv", ["graphalytics.py", *words])
    graphalytics.main()
    assert capsys.readouterr().out.splitlines()[-1].endswith("| - | - | - | - | - | - |")


@pytest.mark.parametrize("name", ["BFS", "WCC", "PR", "CDLP", "LCC", "SSSP"])
def test_a_wrong_answer_is_found(graphalytics, monkeypatch, name):
    right = graphalytics.oracles.ANSWERS[name]

    def wrong(edges, source, rounds):
        answer = right(edges, source, rounds)
        answer.iloc[-1] = answer.max() + 1  # of components: one more
        return answer

    monkeypatch.setitem(graphalytics.oracles.ANSWERS, name, wrong)
    with pytest.raises(AssertionError, match=f"{name} on the engine 'cpu' is wrong"):
        graphalytics.check("cpu", [name])


def test_engines_that_differ_are_found(graphalytics):
    rows = [{"name": "BFS", "answer": 12.0}, {"name": "BFS", "answer": 13.0}, {"name": "PR"}]
    graphalytics.compare([*rows[:1], *rows[:1], rows[2]])
    with pytest.raises(AssertionError, match="BFS: the engines differ"):
        graphalytics.compare(rows)


def test_the_published_table(graphalytics):
    """The best entries stand in the table of their scale, with what LDBC does not have left out."""
    text = graphalytics.table(24, [])
    assert "| libgrape-gpu, 2023 | 8 x A100 | 0.006 | 0.015 | 0.032 | 0.22 | 0.373 | - |" in text
    assert "GraphBLAS" not in graphalytics.table(22, [])
