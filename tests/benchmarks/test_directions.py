"""The benchmark of directions runs, at a small size, and its modes agree."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def directions(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import directions

    yield directions
    sys.modules.pop("directions")


def test_it_measures(directions, tmp_path, monkeypatch, capsys):
    words = ["directions.py", "--scale", "6", "--cache", str(tmp_path), "--runs", "1"]
    monkeypatch.setattr(sys, "argv", words)
    directions.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("R-MAT 6 x 16: ")
    totals = [line.split("|") for line in lines if line.startswith("| all ")]
    assert len(totals) == 2
    assert all(float(seconds) > 0 for cells in totals for seconds in cells[4:8])
    assert sum(line.startswith("in place: ") for line in lines) == 2
