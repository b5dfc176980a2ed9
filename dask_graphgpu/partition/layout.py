"""How a partition is, or is to be, built, and in which form the edges of one call are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

# "rows" : of neighbours in ascending order; "unsorted" : of neighbours in any order, repeats among them, which a method
# takes for edges of their own; "list" : edges in any order.
Form = Literal["rows", "unsorted", "list"]


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


def form_of(
    enough: Form,
    layout: Layout,
    *,
    engine: str,
    on_device: bool = False,
    partitioner: str | Callable[..., Any] = "balanced",
    rule: str = "one",
    weight: str | None = None,
) -> Form:
    """In which form the edges of one call are built; pages on disk and ranks have sorted rows for unsorted ones.

    Parameters
    ----------
    enough : Form
        What the method can do with.
    engine, on_device, partitioner
        Which engine runs it, whether frames are in the memory of a GPU, and how ranks share vertices.
    rule : str
        How repeated rows become one edge for the method, unless the layout says it.
    weight : "int64", "float64" or None
        Of the weights that the method reads.
    """
    if engine not in ("auto", "cpu") or on_device or layout.layered or partitioner != "balanced":
        return "rows"
    if enough != "unsorted":
        return enough
    if layout.order == "degree":
        return "rows"
    if weight is None:
        return "unsorted"
    # The lightest of repeated rows is found as they are, their sum is not. Rows back and forth of an undirected graph
    # are one edge where their weights are the same but for rounding, which only sorted rows tell.
    merged = layout.duplicates not in ("auto", "keep", rule)
    rounded = weight == "float64" and not layout.directed
    return "rows" if merged or rounded else "unsorted"
