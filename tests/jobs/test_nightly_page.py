"""The how-to on jobs of each night: what it shows is what happens."""

import doctest
import re
import shlex
from pathlib import Path

import pandas as pd
from commands import call

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "nightly-jobs.md"


def test_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.failed == 0
    assert found.attempted > 8


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.S)
    Path("matches").mkdir()
    for night, shown in enumerate(re.findall(r"```text\n(.*?)```", PAGE.read_text(), re.S)):
        pairs = {
            "left": [1000 - night, 5000 + 2 * night],
            "right": [1001 - night, 5001 + 2 * night],
        }
        pd.DataFrame(pairs).to_parquet(f"matches/{night}.parquet")
        said = call(*shlex.split(command.replace("\\\n", " "))[2:]).stderr
        said, shown = (re.sub(r"[\d.]+ m?s\n", "", text) for text in (said, shown))
        assert said == shown
