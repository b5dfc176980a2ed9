"""Plain functions taken apart."""

from enum import IntEnum

import numpy as np
import pytest

from dask_graphgpu.errors import ProgramError
from dask_graphgpu.functions import (
    fingerprint,
    handed_on,
    literal,
    may_overflow,
    returned_keys,
    tuple_returning,
)


def with_code(function, code):
    return type(function)(code, function.__globals__)


@pytest.mark.parametrize(
    ("function", "keys", "values"),
    [
        (lambda x: {"a": x + 1, "b": x * 2}, ("a", "b"), (4, 6)),
        (lambda x: {"a": x + 1}, ("a",), (4,)),
        (lambda x: {"a": x if x > 5 else -x, "b": 1, "c": 2}, ("a", "b", "c"), (-3, 1, 2)),
    ],
)
def test_a_dict_becomes_a_tuple_in_the_order_of_its_keys(function, keys, values):
    assert returned_keys(function, "apply") == keys
    assert with_code(function, tuple_returning(function.__code__))(3) == values


def test_two_returns_must_agree():
    def agree(x):
        """Strings that are no keys: this one."""
        if x > 0:
            return {"a": 1, "b": x}
        return {"a": 2, "b": -x}

    def differ(x):
        if x > 0:
            return {"a": 1, "b": x}
        return {"b": 1, "a": x}

    assert returned_keys(agree, "apply") == ("a", "b")
    changed = with_code(agree, tuple_returning(agree.__code__))
    assert (changed(1), changed(-3)) == ((1, 1), (2, 3))
    with pytest.raises(ProgramError, match="same order"):
        returned_keys(differ, "apply")


def test_a_single_value_has_no_keys():
    assert returned_keys(lambda x: x, "apply") is None


def test_handing_on_is_no_arithmetic():
    assert not may_overflow(lambda label: label)
    assert may_overflow(lambda label: label + 1)
    assert may_overflow(lambda label: -label)
    assert may_overflow(lambda label: max(label, 1))
    assert may_overflow(lambda label: label << 1)
    assert not may_overflow(lambda label: ~label & 3 | label >> 2 ^ 1)


def over(a, b, call=None):
    """A function that closes over these, in the order of their names."""
    return lambda x: x * b + a + (0 if call is None else call(x))


def reading(text, **values):
    """A function of ``x`` that reads these globals."""
    exec(f"f = lambda x: {text}", values)
    return values["f"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (over(1, 11), over(11, 1)),
        (over(1, 2), over(2, 1)),
        (over(1, 1), over(1, True)),
        (over(1, 1.0), over(1, 1)),
        (over(1, -0.0), over(1, 0.0)),
        (over(1, 1, over(1, 11)), over(1, 1, over(11, 1))),
        (reading("a + b", a=1, b=11), reading("a + b", a=11, b=1)),
        (reading("a + a0", a=0, a0=1), reading("a + a0", a=1, a0=0)),
        (reading("a + aa", a=over(1, 2), aa=3), reading("a + aa", a=3, aa=over(1, 2))),
        (lambda x, a=1, b=11: x, lambda x, a=11, b=1: x),
        (lambda x, a="1": x, lambda x, a=1: x),
    ],
)
def test_what_differs_has_another_fingerprint(one, other):
    assert fingerprint(one, "compute") != fingerprint(other, "compute")


def test_what_is_equal_has_the_same_fingerprint():
    assert fingerprint(over(1, 2, over(3, 4)), "f") == fingerprint(over(1, 2, over(3, 4)), "f")


class Colour(IntEnum):
    RED = 3


class Share(float):
    def __repr__(self):
        return "a share"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Colour.RED, "3"),
        (Share(0.5), "0.5"),
        (Share("inf"), "float('inf')"),
        (True, "True"),
        (np.int32(-4), "numpy.int32(-4)"),
        ((1, Colour.RED), "(1, 3, )"),
    ],
)
def test_text_of_a_number_is_its_plain_value(value, text):
    assert literal(value, "compute") == text


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda source_share: source_share, "source_share"),
        (lambda source_share: source_share + 0.0, None),
        (lambda source_share, weight: source_share, None),
        (lambda source_share: 1.0, None),
    ],
)
def test_what_a_function_hands_on(function, name):
    assert handed_on(function) == name
