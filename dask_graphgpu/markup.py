"""What notebooks show: small tables of HTML, in the colours of the page that they stand on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from dask.utils import format_bytes

_LEFT = ' style="text-align: left; white-space: pre-wrap"'
_RIGHT = ' style="text-align: right"'
_HUMAN = 10_000  # bytes, from which on they are said in larger units too
_BYTES = re.compile(r"([\d,]+) bytes")


def table(lines: Iterable[tuple[str, str]], title: str = "") -> str:
    """Named lines of text, a row each; the text is escaped, and of many bytes it says how much that is."""
    rows = "".join(
        f"<tr><th{_LEFT}>{escape(name)}</th><td{_LEFT}>{escape(_readable(value))}</td></tr>"
        for name, value in lines
    )
    return _scrolling(f"{_caption(title)}<tbody>{rows}</tbody>")


def grid(names: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """Columns with names, the numbers in them to the right; the text is escaped."""
    head = "".join(f"<th{_RIGHT}>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td{_RIGHT}>{escape(value)}</td>" for value in row) + "</tr>"
        for row in rows
    )
    return _scrolling(
        f"{_caption(title)}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>",
    )


def _caption(title: str) -> str:
    place = "text-align: left; caption-side: top; color: inherit"
    return f'<caption style="{place}">{escape(title)}</caption>' if title else ""


def _scrolling(inside: str) -> str:
    """A table that scrolls in itself where it is wider than the page."""
    return f'<div style="overflow-x: auto; max-width: 100%"><table>{inside}</table></div>'


def _readable(text: str) -> str:
    def both(found: re.Match[str]) -> str:
        number = int(found[1].replace(",", ""))
        return found[0] if number < _HUMAN else f"{format_bytes(number)} ({found[0]})"

    return _BYTES.sub(both, text)
