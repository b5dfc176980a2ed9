"""The benchmark of windows runs, at a small size."""

import sys
from pathlib import Path

import dask


def test_it_measures(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.delitem(sys.modules, "windows", raising=False)
    import windows

    for more in ([], ["--ranks", "2"], ["--undirected", "--limit", "500kB"]):
        with dask.config.set({"graphgpu.page-bytes": 4096}):
            windows.main(["--scale", "9", "--windows", "3", *more])
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("| one build | windows | 3 x where |")
        assert all(float(each) >= 0 for each in lines[2].split("|")[1:-1])
    sys.modules.pop("windows")
