"""Options whose value is a list with commas."""

from __future__ import annotations

from typing import Any

import click


class ListOption(click.Option):
    """An option whose value is a list with commas; given several times, its lists are one.

    Parameters
    ----------
    table
        Whether it may be a table of names to lists, as a text of JSON.
    """

    def __init__(self, *args: Any, table: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"multiple": True})
        self.table = table

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """What the type makes of the whole list; () where there is none."""
        return self.type(",".join(value), self, ctx) if value else ()
