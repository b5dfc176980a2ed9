"""Lengths of time, as options and job files name them."""

import pytest

from dask_graphgpu.jobs.durations import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30), ("5min", 300), ("10 min", 600), ("2mins", 120), ("5m", 300), ("1.5h", 5400),
        ("3 minutes", 180), ("1d", 86400), ("0s", None), ("-1s", None), ("5", None), ("", None),
        ("soon", None), ("infs", None), ("1e400s", None),
    ],
)  # fmt: skip
def test_seconds(text, seconds):
    """``min``, which help and docs name, was refused by --wait."""
    assert seconds_of(text) == seconds
