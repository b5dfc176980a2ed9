"""The benchmark of cycles runs, at a small size."""

import sys
from pathlib import Path


def test_it_measures(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.delitem(sys.modules, "cycles", raising=False)
    import cycles

    cycles.main("--edges 3000 --accounts 300 --days 60 --lengths 2 3".split())
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| max_length | first call, s | second call, s | cycles |"
    assert [int(line.split("|")[4]) > 0 for line in lines[4:6]] == [True, True]
    sys.modules.pop("cycles")
