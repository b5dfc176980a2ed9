"""Arguments that are a number or a list of different ones, of which each has columns of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dask_graphgpu.arguments import check_real, is_whole, refuse, said
from dask_graphgpu.errors import InvalidArgument


def as_numbers(name: str, value: Any, allowed: str, holds: Callable[[Any], bool]) -> Any:
    """A number, or a list of different ones as a tuple; as plain Python numbers.

    Raises
    ------
    InvalidArgument
        One is not ``allowed``, as ``holds`` tells, or is there twice.
    """
    allowed = f"{allowed}, or a list of them"

    def plain(each: Any) -> int | float:
        check_real(name, each, allowed, holds)
        return int(each) if is_whole(each) else float(each)

    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return plain(value)
    if not value:
        refuse(name, value, f"is {allowed}")
    numbers = tuple(map(plain, value))
    if twice := [each for each in numbers if numbers.count(each) > 1]:
        raise InvalidArgument(
            f"{name}={said(value)} has {twice[0]} more than once; give each number once"
        )
    return numbers


def each_of(numbers: Any) -> tuple[Any, ...]:
    """The numbers themselves."""
    return numbers if isinstance(numbers, tuple) else (numbers,)


def endings(numbers: Any) -> list[str]:
    """What the names of the columns of each number end with: nothing of a single one."""
    return [f"_{each}" for each in numbers] if isinstance(numbers, tuple) else [""]
