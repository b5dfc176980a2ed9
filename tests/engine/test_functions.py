"""Plain functions taken apart."""

import pytest

from dask_graphgpu.errors import ProgramError
from dask_graphgpu.functions import computes, returned_keys, tuple_returning


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
    assert not computes(lambda label: label)
    assert computes(lambda label: label + 1)
    assert computes(lambda label: -label)
    assert computes(lambda label: max(label, 1))
