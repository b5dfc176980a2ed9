"""The benchmark of pages runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import pages

    yield pages
    sys.modules.pop("pages")


def test_it_measures(pages, monkeypatch, capsys):
    words = ["--edges", "300000", "--iterations", "2", "--rounds", "1"]
    monkeypatch.setattr(sys, "argv", ["pages.py", *words])
    pages.main()
    head, _, *lines = capsys.readouterr().out.splitlines()
    names = head.strip("| ").split(" | ")
    rows = [dict(zip(names, line.strip("| ").split(" | "), strict=True)) for line in lines]
    found = [(row["method"], int(row["directories"])) for row in rows]
    methods = ("pagerank", "components", "hits", "label_propagation")
    assert found == [(m, n) for n in (1, 3) for m in methods]
    assert all(float(row["run GB/s"]) > 0 for row in rows)
