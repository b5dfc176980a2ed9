"""How progress looks: a line of text that is written over, or one output of a notebook that changes."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol, TextIO

from dask.utils import format_time

_WIDTH = 40
_MOST = 12  # bars of an output
_MARK = 6  # of what has no known end


@dataclass(frozen=True)
class Bar:
    """What is said of something that goes on.

    Attributes
    ----------
    key : hashable
        Tells it from others.
    text : str
    part : float or None
        Of it that is done, from 0 to 1; None: nobody knows.
    seconds : float
        Since it began.
    passing : bool
        Whether what comes next takes its place, as a run that of reading.
    ended : bool
        Whether nothing more is said of it.
    """

    key: Any
    text: str
    part: float | None
    seconds: float
    passing: bool
    ended: bool = False

    def __str__(self) -> str:
        if self.part is None:
            place = int(4 * self.seconds) % (_WIDTH - _MARK + 1)
            bar = f"[{' ' * place}{'#' * _MARK}{' ' * (_WIDTH - _MARK - place)}]"
        else:
            part = self.part + 1e-9  # 0.58 is a little less
            bar = f"[{'#' * int(_WIDTH * part):{_WIDTH}}] | {int(100 * part)}%"
        return f"{bar} | {self.text} | {format_time(self.seconds)}"

    def to_html(self) -> str:
        """The bar as the browser draws one; without an end it moves."""
        value = "" if self.part is None else f' value="{self.part:.3f}"'
        text = escape(f"{self.text} | {format_time(self.seconds)}")
        return f'<div><progress max="1"{value}></progress> <code>{text}</code></div>'


class Shower(Protocol):
    """Where bars are shown."""

    def show(self, bar: Bar) -> None:
        """Show a bar, in the place of the last one if that is the same or passing."""

    def close(self) -> None:
        """What is shown last stays."""


class TextBars:
    """A line for each bar, in a file."""

    def __init__(self, out: TextIO | None) -> None:
        self._out = out  # None: it is closed
        self._last: Bar | None = None
        self._length = 0

    def show(self, bar: Bar) -> None:
        if self._last is not None and self._last.key != bar.key and not self._last.passing:
            self.close()
        self._last, line = bar, str(bar)
        self._write("\r" + line.ljust(self._length))
        self._length = len(line)
        if bar.ended and not bar.passing:
            self.close()

    def close(self) -> None:
        if self._last is not None:
            self._write("\n")
        self._last, self._length = None, 0

    def _write(self, text: str) -> None:
        if self._out is None:
            return
        with suppress(ValueError, OSError):  # the file has been closed, its reader has gone
            self._out.write(text)
            self._out.flush()


class NotebookBars:
    """The last bars in one output."""

    def __init__(self) -> None:
        self._bars: list[Bar] = []
        self._handle: Any = None

    def show(self, bar: Bar) -> None:
        if self._bars and (self._bars[-1].key == bar.key or self._bars[-1].passing):
            del self._bars[-1]
        self._bars = [*self._bars, bar][-_MOST:]
        if self._handle is None:
            display = importlib.import_module("IPython.display").display
            self._handle = display(self, display_id=True)
        else:
            self._handle.update(self)

    def close(self) -> None:
        self._bars, self._handle = [], None

    def __repr__(self) -> str:
        return "\n".join(map(str, self._bars))

    def _repr_html_(self) -> str:
        return "".join(bar.to_html() for bar in self._bars)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get is not None and hasattr(get(), "kernel")
