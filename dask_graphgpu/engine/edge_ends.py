"""What methods find of edges, beside the two ends of each."""

from __future__ import annotations

from typing import Any


def beside_ends(view: Any, values: Any) -> tuple[Any, Any, Any]:
    """Sources and destinations of the edges of ``view.out``, by their dense ids, and a value of each."""
    source, destination = (view.named(each) for each in view.ends())
    return source, destination, values
