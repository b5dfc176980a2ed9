"""How a partition is, or is to be, built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Layout:
    """What a user or an algorithm chooses of a partition.

    ``by``: rows by "source" or "destination"; ``order``: "auto", "input" or "degree"; ``layered``:
    whether edges are held by layers too, and ``root`` the user's id of their first vertex, None: the
    one of highest degree.
    """

    directed: bool = True
    duplicates: str = "auto"
    order: str = "auto"
    by: str = "source"
    layered: bool = False
    root: Any = None
