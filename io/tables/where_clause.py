"""Conditions on rows, as text: ``day >= 2026-11-01 and (kind in ('a', 'b') or weight is null)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from dask_graphgpu.errors import InvalidArgument

_NEGATED = {
    "=": "!=", "<": ">=", ">": "<=", "in": "not in", "is null": "is not null",
    "!=": "=", ">=": "<", "<=": ">", "not in": "in", "is not null": "is null",
}  # fmt: skip
_DEPTH = 50  # of parentheses and nots
_DATE = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_ZONE = r"Z|[+-]\d\d:?\d\d"
_TIME = re.compile(rf"({_DATE})(?:[T ]({_CLOCK})({_ZONE})?)?")
_TOKENS = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<time>{_DATE}(?:[T ]{_CLOCK}(?:{_ZONE})?)?(?![\w.:-]))
  | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.-]))
  | (?P<text>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")+"|`[^`]+`)
  | (?P<word>[^\W\d][\w.]*)
  | (?P<mark><=|>=|!=|<>|==|[=<>(),])
    """,
    re.VERBOSE,
)
_HELP = (
    "a condition is COLUMN = VALUE, with = != < <= > >=, COLUMN in (VALUE, ...), COLUMN is null, COLUMN is not null, "
    "joined by and, or, not and parentheses; a VALUE is a number, a 'text', a date such as 2026-11-01 or "
    "2026-11-01T12:00, true or false"
)


@dataclass(frozen=True)
class Literal:
    """A value as it is written; ``kind`` is "number", "text", "time" or "truth value".

    ``value`` : Decimal, str, bool; of times see `Moment`.
    """

    kind: str
    value: Any
    written: str


@dataclass(frozen=True)
class Moment:
    """A date or a time of day on it: nanoseconds since 1970 on its own clock.

    ``offset`` : how far that clock is ahead of UTC, in nanoseconds; None where none is named.
    """

    nanoseconds: int
    offset: int | None


@dataclass(frozen=True)
class Comparison:
    """One test of a column. ``operation`` is one of = != < <= > >=, in, not in, is null, is not null."""

    column: str
    operation: str
    values: tuple[Literal, ...] = ()

    def negated(self) -> Comparison:
        return Comparison(self.column, _NEGATED[self.operation], self.values)


@dataclass(frozen=True)
class Joined:
    """Conditions of which all hold, or any: ``word`` is "and" or "or"."""

    word: str
    parts: tuple[Comparison | Joined, ...]

    def negated(self) -> Joined:
        other = "or" if self.word == "and" else "and"
        return Joined(other, tuple(part.negated() for part in self.parts))


Tree = Comparison | Joined


def parsed(text: str) -> Tree:
    """A condition as a tree without "not", which is moved into the comparisons.

    Parameters
    ----------
    text
        Comparisons of a column with a value, joined by "and", "or", "not" and parentheses. Words are taken in any
        case. A name that is no word is written "in double quotes".

    Raises
    ------
    InvalidArgument
        It is no condition; the message says where, and what one looks like.
    """
    return _Parser(text).whole()


class _Parser:
    """Recursive descent over the tokens of a condition."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = self._depth = 0

    def whole(self) -> Tree:
        found = self._any()
        if self._kind != "end":
            raise self._refusal("expected and, or, or the end")
        return found

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _word(self) -> str:
        """The token in lower case where it is a word or a mark; "" of others."""
        kind, token, _ = self._tokens[self._at]
        return token.lower() if kind in ("word", "mark") else ""

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _take(self, word: str) -> bool:
        found = self._word == word
        self._at += found
        return found

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._refusal(f"expected {word}")

    def _any(self) -> Tree:
        return self._joined("or", self._all)

    def _all(self) -> Tree:
        return self._joined("and", self._single)

    def _joined(self, word: str, part: Any) -> Tree:
        parts = [part()]
        while self._take(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _single(self) -> Tree:
        self._depth += 1
        if self._depth > _DEPTH:
            raise self._refusal(f"more than {_DEPTH} parentheses and nots, one in the other")
        if self._take("not"):
            found = self._single().negated()
        elif self._take("("):
            found = self._any()
            self._need(")")
        else:
            found = self._comparison()
        self._depth -= 1
        return found

    def _comparison(self) -> Comparison:
        column = self._column()
        if self._take("is"):
            none = self._take("not")
            self._need("null")
            return Comparison(column, "is not null" if none else "is null")
        negated = self._take("not")
        if self._take("in"):
            self._need("(")
            values = [self._value()]
            while self._take(","):
                values.append(self._value())
            self._need(")")
            return Comparison(column, "not in" if negated else "in", tuple(values))
        if negated:
            raise self._refusal("expected in")
        operation = {"==": "=", "<>": "!="}.get(self._word, self._word)
        if operation not in _NEGATED or operation == "in":
            raise self._refusal("expected one of = != < <= > >=, in or is")
        self._next()
        return Comparison(column, operation, (self._value(),))

    def _column(self) -> str:
        if self._kind == "quoted":
            token = self._next()
            return token[1:-1].replace('""', '"') if token[0] == '"' else token[1:-1]
        if self._kind != "word" or self._word in ("and", "or", "in", "is", "null", "true", "false"):
            raise self._refusal("expected the name of a column")
        return self._next()

    def _value(self) -> Literal:
        kind, token, _ = self._tokens[self._at]
        if kind == "number":
            found = Literal("number", Decimal(token), token)
        elif kind == "text":
            found = Literal("text", token[1:-1].replace("''", "'"), token)
        elif kind == "time":
            moment = moment_of(token)
            if moment is None:
                raise self._refusal("there is no such date or time")
            found = Literal("time", moment, token)
        elif self._word in ("true", "false"):
            found = Literal("truth value", self._word == "true", token)
        elif self._word == "null":
            raise self._refusal("nothing equals null: write is null or is not null")
        else:
            raise self._refusal("expected a value; a text stands in 'single quotes'")
        self._next()
        return found

    def _refusal(self, what: str) -> InvalidArgument:
        kind, token, place = self._tokens[self._at]
        where = "at the end" if kind == "end" else f"at {token!r} (character {place + 1})"
        return InvalidArgument(f"where: {what}, {where}; {_HELP}")


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, token and place; at the end one of the kind "end"."""
    place = 0
    while place < len(text):
        found = _TOKENS.match(text, place)
        if found is None:
            raise InvalidArgument(
                f"where: cannot read {text[place:][:20]!r} (character {place + 1}); {_HELP}"
            )
        if found.lastgroup != "space":
            yield str(found.lastgroup), found[0], place
        place = found.end()
    yield "end", "", place


def moment_of(text: str) -> Moment | None:
    """A date, or a time on it, of ISO 8601; None where it is none."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    day, clock, zone = found.groups()
    try:
        days = _days(day)
    except ValueError:
        return None
    hours, minutes, seconds = (*(clock or "00:00").split(":"), "0")[:3]
    whole, _, fraction = seconds.partition(".")
    if int(hours) > 23 or int(minutes) > 59 or int(whole) > 59:
        return None
    second = days * 86400 + int(hours) * 3600 + int(minutes) * 60 + int(whole)
    nanoseconds = second * 10**9 + int((fraction + "0" * 9)[:9])
    return Moment(nanoseconds, None if zone is None else _offset(zone))


def _days(day: str) -> int:
    from_epoch = date.fromisoformat(day) - date(1970, 1, 1)
    return from_epoch.days


def _offset(zone: str) -> int:
    if zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return (-minutes if zone[0] == "-" else minutes) * 60 * 10**9
