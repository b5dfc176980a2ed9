"""The benchmark of locality runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def locality(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import locality

    yield locality
    for name in ("locality", "graphs"):
        sys.modules.pop(name)


def test_it_measures(locality, monkeypatch, capsys, tmp_path):
    words = ["locality.py", "--grid", "30", "--ranks", "2", "--repeats", "1"]
    words += ["--partitioners", "balanced", "random", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", words)
    locality.main()
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head == "| " + " | ".join(locality.HEAD) + " |"
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [row[1:3] for row in cells] == [
        [ids, partitioner] for ids in ("own", "permuted") for partitioner in ("balanced", "random")
    ]
    exchanges = [[int(cell.split()[0]) for cell in row[6:]] for row in cells]
    kept, *hidden = exchanges
    # Ranges of ids are near each other; permuted ids, and random owners, are not.
    assert all(kept[i] < each[i] for each in hidden for i in (0, 1))
    border = [float(row[5]) for row in cells]
    assert border[0] < 0.1 < 0.8 < min(border[1:])
