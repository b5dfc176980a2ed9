"""The benchmark of updates runs, at a small size, and its answers are those of the graph that is built."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
BESIDE = ("updates", "new_edges", "entities", "graphs")


def test_it_measures(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(HERE))
    import updates

    words = ["updates.py", "--scales", "6", "--pairs", "0.002", "--turns", "1"]
    monkeypatch.setattr(sys, "argv", words)
    updates.main()
    for name in BESIDE:
        sys.modules.pop(name, None)
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[0] for row in rows] == ["| R-MAT 6 x 16", "| 0.002 M pairs of strings"]
    assert all(row.count("|") == head.count("|") for row in rows)
