"""The benchmark of saved graphs runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def saved(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import saved

    yield saved
    sys.modules.pop("saved")


def test_it_measures(saved, tmp_path, monkeypatch, capsys):
    words = ["saved.py", "--scale", "6", "--cache", str(tmp_path), "--runs", "1"]
    monkeypatch.setattr(sys, "argv", words)
    saved.main()
    head, _, row = capsys.readouterr().out.splitlines()
    cells = dict(zip(head.split(" | "), row.split(" | "), strict=True))
    assert cells["| graph"] == "| R-MAT 6 x 16"
    assert float(cells["load"]) > 0
    assert int(cells["saved bytes"].replace(",", "")) > 0
