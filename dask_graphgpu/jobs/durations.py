"""Lengths of time in options and job files, such as 30s, 5min or 1h."""

from __future__ import annotations

import re

from dask.utils import parse_timedelta


def seconds_of(text: str) -> float | None:
    """A length of time in seconds; None where the text is none, or none above 0.

    Units are those of Dask, and ``min``, which it lacks.
    """
    try:
        seconds = float(parse_timedelta(re.sub(r"mins?$", "m", text.strip()), default=False))
    except (
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        OverflowError,
    ):  # Dask looks at the first letter
        return None
    return seconds if 0 < seconds < float("inf") else None
