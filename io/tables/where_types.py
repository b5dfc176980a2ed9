"""Conditions typed by a schema: each comparison with a value of its column's type, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from dask_graphgpu.errors import InvalidArgument
from dask_graphgpu.io.schema import is_string_view, plain_type
from dask_graphgpu.io.tables.where_clause import Comparison, Literal, Moment, Tree, moment_of

_FUNCTIONS = {
    "=": pc.equal, "!=": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal,
}  # fmt: skip
# What to compare with instead of a value that the column's type does not hold. "between" two values of the type: the
# lower one, by another operator. "above" or "below" all values of the type: True or False, of all that are not null.
_INSTEAD: dict[str, dict[str, str | bool]] = {
    "between": {"=": False, "!=": True, "<": "<=", "<=": "<=", ">": ">", ">=": ">"},
    "above": {"=": False, "!=": True, "<": True, "<=": True, ">": False, ">=": False},
    "below": {"=": False, "!=": True, "<": False, "<=": False, ">": True, ">=": True},
}
_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86400 * 10**9
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Test:
    """A comparison whose values are of the type in which its column is compared; see `compared_as`."""

    column: str
    operation: str
    values: tuple[pa.Scalar, ...] = ()
    kind: pa.DataType | None = None

    def of(self, column: Any) -> Any:
        """Truth values of a column, an Arrow array or the expression of a field; null is as good as false."""
        if self.operation == "is null":
            return pc.is_null(column)
        if self.operation == "is not null":
            return pc.is_valid(column)
        if self.operation in ("in", "not in"):
            found = pc.is_in(column, value_set=pa.array(list(self.values), self.kind))
            if self.operation == "in":
                return found
            return pc.and_kleene(pc.is_valid(column), pc.invert(found))
        return _FUNCTIONS[self.operation](column, self.values[0])


@dataclass(frozen=True)
class Several:
    """Tests of which all hold, or any: ``word`` is "and" or "or"."""

    word: str
    parts: tuple[Test | Several, ...]


Typed = Test | Several


def compared_as(kind: pa.DataType) -> pa.DataType:
    """The type in which the values of a column are compared: without dictionaries, dates as days."""
    kind = plain_type(kind)
    if pa.types.is_date64(kind):
        return pa.date32()
    return pa.float32() if pa.types.is_float16(kind) else kind


def are_compared(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether Arrow compares statistics of one type with values of another, and both are in one order."""
    if is_string_view(kind):
        return False
    kind, other = compared_as(kind), compared_as(other)
    return kind == other or (_is_number(kind) and _is_number(other))


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def typed(tree: Tree, schema: pa.Schema, what: str) -> Typed:
    """A condition for the columns of a table; ``what`` is the table in errors.

    Raises
    ------
    InvalidArgument
        It has no such column, or one of another type than its value.
    """
    if not isinstance(tree, Comparison):
        return Several(tree.word, tuple(typed(part, schema, what) for part in tree.parts))
    name, number = tree.column, schema.names.count(tree.column)
    if number != 1:
        raise InvalidArgument(
            f"where names {name!r}, and {what} has {number or 'no'} such column"
            f"{'s' * (number > 1)}; it has {schema.names}"
        )
    kind = compared_as(schema.field(name).type)
    try:
        return _test(tree, kind)
    except InvalidArgument as error:
        words = "text" if pa.types.is_large_string(kind) else kind
        raise InvalidArgument(f"where: column {name!r} is {words}, {error}") from None


def _test(given: Comparison, kind: pa.DataType) -> Test:
    name, operation = given.column, given.operation
    if not given.values:
        return Test(name, operation)
    if pa.types.is_null(kind):
        return Test(name, "in", (), kind)
    held = [_value(literal, kind) for literal in given.values]
    if operation in ("in", "not in"):
        values = tuple(value for value, place in held if place == "held")
        if not values and operation == "not in":
            return Test(name, "is not null")
        return Test(name, operation, values, kind)
    value, place = held[0]
    if pa.types.is_boolean(kind) and operation not in ("=", "!="):
        raise InvalidArgument(f"which is equal to true or false, and neither {operation} another")
    if place == "held":
        return Test(name, operation, (value,), kind)
    instead = _INSTEAD[place][operation]
    if isinstance(instead, str):
        return Test(name, instead, (value,), kind)
    return Test(name, "is not null") if instead else Test(name, "in", (), kind)


def _value(literal: Literal, kind: pa.DataType) -> tuple[Any, str]:
    """A value in a column's type, and where it is: "held", "between" it and the next, "above", "below" all."""
    if pa.types.is_integer(kind):
        return _whole(_number(literal), kind)
    if pa.types.is_floating(kind):
        number = float(_number(literal))
        return pa.scalar(number, kind), "held"
    if pa.types.is_decimal(kind):
        return _decimal(_number(literal), kind)
    if pa.types.is_boolean(kind):
        return pa.scalar(_of_kind(literal, "truth value", "true or false"), kind), "held"
    if pa.types.is_large_string(kind):
        return pa.scalar(
            _of_kind(literal, "text", f"a text, such as '{literal.written}'"), kind
        ), "held"
    if pa.types.is_date32(kind):
        return _time(_moment(literal), _DAY, pa.int32(), kind)
    if pa.types.is_timestamp(kind):
        return _time(_moment(literal), _UNITS[kind.unit], pa.int64(), kind)
    raise InvalidArgument(
        "and only numbers, texts, dates, timestamps and truth values can be compared with a value"
    )


def _of_kind(literal: Literal, kind: str, wanted: str) -> Any:
    if literal.kind != kind:
        raise InvalidArgument(f"and {literal.written} is a {literal.kind}: give {wanted}")
    return literal.value


def _number(literal: Literal) -> Decimal:
    found: Decimal = _of_kind(literal, "number", "a number, without quotes")
    return found


def _whole(number: Decimal, kind: pa.DataType) -> tuple[Any, str]:
    bits = kind.bit_width - pa.types.is_signed_integer(kind)
    least = -(1 << bits) if pa.types.is_signed_integer(kind) else 0
    if number >= 1 << bits:
        return None, "above"
    if number < least:
        return None, "below"
    lower = math.floor(number)
    return pa.scalar(lower, kind), "held" if lower == number else "between"


def _decimal(number: Decimal, kind: pa.DataType) -> tuple[Any, str]:
    step = Decimal(1).scaleb(-kind.scale)
    most = Decimal(10) ** (kind.precision - kind.scale)
    if abs(number) >= most:
        return None, "above" if number > 0 else "below"
    lower = number.quantize(step, ROUND_FLOOR)
    if lower <= -most:
        return None, "below"
    return pa.scalar(lower, kind), "held" if lower == number else "between"


def _moment(literal: Literal) -> Moment:
    found = literal.value if literal.kind == "time" else None
    if literal.kind == "text":
        found = moment_of(literal.value)
    if not isinstance(found, Moment):
        raise InvalidArgument(f"and {literal.written} is no date: give one such as 2026-11-01")
    return found


def _time(moment: Moment, unit: int, integer: pa.DataType, kind: pa.DataType) -> tuple[Any, str]:
    """A moment in a type that counts so many nanoseconds; without an offset it is of the column's time zone."""
    zone, nanoseconds = getattr(kind, "tz", None), moment.nanoseconds
    if moment.offset is not None:
        if zone is None:
            raise InvalidArgument("which has no time zone: give a time without one")
        nanoseconds -= moment.offset
    elif zone is not None:
        nanoseconds -= _ahead(zone, nanoseconds)
    number, rest = divmod(nanoseconds, unit)
    if abs(number) >= 1 << (integer.bit_width - 1):
        return None, "above" if number > 0 else "below"
    return pa.scalar(number, integer).cast(kind), "between" if rest else "held"


def _ahead(zone: str, nanoseconds: int) -> int:
    """How far the clock of a time zone is ahead of UTC, when it shows a time; nanoseconds."""
    if zone[0] in "+-":
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        return (-minutes if zone[0] == "-" else minutes) * 60 * 10**9
    shown = (_EPOCH + timedelta(microseconds=nanoseconds // 1000)).replace(tzinfo=ZoneInfo(zone))
    ahead = shown.utcoffset()
    assert ahead is not None
    return ahead // timedelta(microseconds=1) * 1000
