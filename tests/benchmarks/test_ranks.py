"""The benchmark of ranks runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def ranks(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import ranks

    yield ranks
    for name in ("ranks", "graphs"):
        sys.modules.pop(name)


@pytest.mark.parametrize("more", [[], ["--weak"], ["--processes"]])
def test_it_measures(ranks, monkeypatch, capsys, tmp_path, more):
    wanted = [2] if more == ["--processes"] else [1, 2]  # clusters take seconds to start
    words = [
        "ranks.py",
        "--scale",
        "8",
        "--grid",
        "9",
        "--ranks",
        *map(str, wanted),
        "--repeats",
        "1",
    ]
    monkeypatch.setattr(sys, "argv", [*words, "--folder", str(tmp_path), *more])
    ranks.main()
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head == "| " + " | ".join(ranks.HEAD) + " |"
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [int(cell[2]) for cell in cells] == [each for each in wanted for _ in range(2)]
    assert len({cell[0] for cell in cells}) == (4 if more == ["--weak"] else 2)
    for row in cells:
        assert (row[4] == "") == (row[2] == "1")
        for call in row[6:]:
            steps, each = call.partition("(")[2].rstrip(")").split(", ")
            assert int(steps) > 0
            assert int(each) >= 0
