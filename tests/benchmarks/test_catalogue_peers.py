"""The benchmark of methods of the catalogue beside peers runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_it_measures(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import catalogue_peers

    words = ["--scale", "7", "--large", "8", "--side", "8", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", ["catalogue_peers.py", *words])
    catalogue_peers.main()
    sys.modules.pop("catalogue_peers")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 23
    assert all(float(line.split("|")[2]) > 0 for line in lines[2:])
