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
    monkeypatch.setattr(sys, "argv", ["pages.py", "--edges", "8000000", "--iterations", "2"])
    pages.main()
    head, _, one, three = capsys.readouterr().out.splitlines()
    names = head.strip("| ").split(" | ")
    for line, directories in ((one, 1), (three, 3)):
        row = dict(zip(names, line.strip("| ").split(" | "), strict=True))
        assert float(row["directories"]) == directories
        assert float(row["run GB/s"]) > 0
