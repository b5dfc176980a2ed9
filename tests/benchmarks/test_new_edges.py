"""The benchmark of new edges runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_it_measures(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import new_edges

    few = ["--scales", "8", "--pairs", "0.01", "--turns", "1", "--grid", "64"]
    monkeypatch.setattr(sys, "argv", ["new_edges.py", *few])
    new_edges.main()  # which compares the answers
    for name in ("new_edges", "graphs", "entities"):
        sys.modules.pop(name)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("| R-MAT 8 x 16 |") for line in lines) == 8
    assert sum(line.startswith("| grid of 64 x 64 |") for line in lines) == 3
