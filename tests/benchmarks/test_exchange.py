"""The benchmark of the exchange runs, at a small size."""

import sys
from pathlib import Path

import pytest


@pytest.fixture
def exchange(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import exchange

    yield exchange
    sys.modules.pop("exchange")


def test_it_measures(exchange, monkeypatch, capsys):
    words = ["exchange.py", "--ranks", "2", "--steps", "20", "--megabytes", "3"]
    monkeypatch.setattr(sys, "argv", words)
    exchange.main()
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head == "| ranks | step us | 99 % us | all-to-all GB/s | lost ms |"
    assert [row.split(" | ")[0] for row in rows] == [
        "| 2 processes",
        "| 2 processes, sockets only",
        "| 2 threads",
    ]
    for row in rows:
        _, step, most, rate, lost = (cell.strip() for cell in row.strip("|").split("|"))
        assert 0 < float(step) <= float(most)
        assert float(rate) > 0
        assert ("threads" in row) == (lost == "")
