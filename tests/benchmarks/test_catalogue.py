"""The benchmark of similarity, walks and the like runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_it_measures(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import catalogue

    monkeypatch.setattr(sys, "argv", ["catalogue.py", "--scale", "8", "--similar", "500"])
    catalogue.main()
    sys.modules.pop("catalogue")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 22
    assert all(int(line.split("|")[-2].replace(",", "")) > 0 for line in lines[2:])
