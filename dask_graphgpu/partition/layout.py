"""How a partition is, or is to be, built."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """What a user or an algorithm chooses of a partition.

    ``by``: rows by "source" or "destination"; ``order``: "auto", "input" or "degree".
    """

    directed: bool = True
    duplicates: str = "auto"
    order: str = "auto"
    by: str = "source"
