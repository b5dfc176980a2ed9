"""Named lines of text as a table of HTML, which a notebook shows."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def table(lines: Iterable[tuple[str, str]]) -> str:
    """A table with a row a line; the text is escaped."""
    rows = "".join(
        f'<tr><th style="text-align: left">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(value)}</td></tr>'
        for name, value in lines
    )
    return f"<table>{rows}</table>"
