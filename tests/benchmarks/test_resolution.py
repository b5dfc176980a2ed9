"""The benchmarks of entity resolution and of communities from those before run, at a small size."""

import sys
from pathlib import Path

BESIDE = ("resolution", "warm_communities", "new_edges", "entities", "graphs")


def test_they_measure(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    import resolution
    import warm_communities

    asked = {
        resolution: ["--pairs", "0.001", "--path", "0.001", "--turns", "1"],
        warm_communities: ["--scales", "8", "--rounds", "1", "--seeds", "2"],
    }
    for module, words in asked.items():
        monkeypatch.setattr(sys, "argv", [module.__name__, *words])
        module.main()
    for name in BESIDE:
        sys.modules.pop(name, None)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[2:8]] == [
        "| one threshold, 0.001 M pairs",
        "| twenty thresholds, 0.001 M pairs",
        "| cluster_metrics, 0.001 M pairs",
        "| bridges, 0.001 M pairs",
        "| bridges, a path of 0.001 M",
        "| articulation_points, a path of 0.001 M",
    ]
    share = float(lines[10].split(" | ")[4])
    assert 0.8 < share < 1.25
