"""The benchmark of entity resolution runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def entities(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import entities

    yield entities
    sys.modules.pop("entities")


@pytest.mark.slow
def test_it_measures(entities, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["entities.py", "--pairs", "0.1"])
    entities.main()  # which compares the number of clusters
    head, _, line = capsys.readouterr().out.splitlines()
    row = dict(zip(head.strip("| ").split(" | "), line.strip("| ").split(" | "), strict=True))
    assert float(row["million pairs"]) == 0.1
    assert float(row["s"]) > 0
    assert float(row["bytes a pair"]) > 0
