"""User ids and dense ids."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.errors import InvalidArgument, InvalidEdges, UnknownVertex
from dask_graphgpu.partition.ids import VertexIds, common_type, composite, distinct_rows


@pytest.mark.parametrize(
    ("columns", "wanted", "missing"),
    [
        ([pa.array(range(0, 300, 3), pa.int32())], [3 * (7 * i % 100) for i in range(40)], 4),
        ([pa.array(range(0, 300, 3), pa.int32())], [3 * (7 * i % 100) for i in range(40)], 2**40),
        ([pa.array([str(i) for i in range(1000, 1100)], pa.large_string())], ["1007", "1099"] * 20, "7"),
        ([pa.array([2**64 - 2, 2**64 - 1], pa.uint64())], [2**64 - 1, 2**64 - 2] * 20, -1),
        (
            [pa.array(["a", "a", "b"], pa.large_string()), pa.array([1, 2, 1])],
            [("b", 1), ("a", 2)] * 20,
            ("b", 2),
        ),
    ],
)  # fmt: skip
def test_many_ids_are_found_as_one_by_one(columns, wanted, missing):
    position = np.random.default_rng(0).permutation(len(columns[0])).astype(np.uint32)
    ids = VertexIds(columns, position)
    assert ids.find(wanted).tolist() == [ids.find([each]).item() for each in wanted]
    for wrong in (missing, None, True):
        with pytest.raises(UnknownVertex if wrong == missing else Exception) as many:
            ids.find([*wanted, wrong])
        with pytest.raises(type(many.value)) as one:
            ids.find([wrong])
        assert str(many.value) == str(one.value)


@given(st.lists(st.lists(st.sampled_from([-(2**63), -1, 0, 5, 2**63 - 1])), min_size=1))
def test_integers_are_numbered_in_ascending_order(tables):
    if not any(tables):
        tables = [[7]]
    (values,), codes = composite([[pa.array(t, pa.int64()) for t in tables]])
    assert values.to_pylist() == sorted({x for t in tables for x in t})
    assert [values.take(pa.array(c)).to_pylist() for c in codes] == tables


@pytest.mark.parametrize("number", [composite, distinct_rows])
def test_more_integers_than_the_table_starts_with(number):
    keys = np.random.default_rng(0).permutation(np.arange(50_000, dtype=np.uint64) * 2**48)
    (values,), (codes,) = number([[pa.array(keys)]])
    assert len(values) == 50_000
    np.testing.assert_array_equal(np.asarray(values)[codes], keys)


def test_rows_of_several_columns_are_numbered_lexicographically():
    country = pa.array(["nl", "de", "nl", "de"])
    number = pa.array([2, 7, 1, 7])
    distinct, (codes,) = composite([[country], [number]])
    assert list(zip(*(c.to_pylist() for c in distinct), strict=True)) == [
        ("de", 7),
        ("nl", 1),
        ("nl", 2),
    ]
    assert codes.tolist() == [2, 0, 1, 0]


def test_categories_without_rows_are_no_vertices():
    column = pa.DictionaryArray.from_arrays(
        pa.array([2, 0], pa.int32()), pa.array(["a", "unused", "c"], pa.large_string())
    )
    (values,), _ = composite([[column]])
    assert values.to_pylist() == ["a", "c"]


def test_find_follows_the_position():
    ids = VertexIds([pa.array([10, 20, 30])], np.array([2, 0, 1], np.uint32))
    assert ids.find([30, 10]).tolist() == [1, 2]
    assert ids.take(np.array([1, 2], np.uint32))[0].to_pylist() == [30, 10]
    with pytest.raises(UnknownVertex, match=r"25 is not a vertex.*int64"):
        ids.find([25])
    for wrong in ("10", 10.0, True, None):
        with pytest.raises(UnknownVertex):
            ids.find([wrong])


@given(st.data(), st.sampled_from([np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]))
def test_find_among_integers_of_any_type(data, dtype):
    bounds = np.iinfo(dtype)
    ends = st.sampled_from([int(bounds.min), int(bounds.max)])
    whole = st.integers(int(bounds.min), int(bounds.max)) | ends
    there = sorted(data.draw(st.sets(whole, min_size=1)))
    ids = VertexIds([pa.array(np.array(there, dtype))], None)
    assert [ids.find_row(each) for each in there] == list(range(len(there)))
    for other in data.draw(st.lists(st.integers(-(2**64), 2**65))):
        assert ids.find_row(other) == (there.index(other) if other in there else None)


@pytest.mark.parametrize("position", [None, [2, 0, 1]])
def test_ids_in_their_order_are_not_looked_up(position):
    """They are those of the columns, in their memory."""
    position = None if position is None else np.array(position, np.uint32)
    columns = [pa.array([10, 20, 30]), pa.array(["a", "b", "c"])]
    for number in (1, 2):
        ids = VertexIds(columns[:number], position)
        for each in (ids, pickle.loads(pickle.dumps(ids))):
            every = each.in_user_order()
            found = each.take(every, rows=slice(1, None))
            assert [column.to_pylist() for column in found] == [[20, 30], ["b", "c"]][:number]
            for column, own in zip(found, each.columns, strict=False):
                assert column.buffers()[-1].address == own.buffers()[-1].address
            # Equal ones that are not those, others, and some that are null.
            assert each.take(every.copy(), rows=slice(1))[0].to_pylist() == [10]
            assert each.take(every[::-1])[0].to_pylist() == [30, 20, 10]
            valid = np.array([True, False, True])
            assert each.take(every, valid)[0].to_pylist() == [10, None, 30]


def test_find_in_several_columns():
    ids = VertexIds([pa.array(["a", "a", "b"]), pa.array([1, 2, 1])], None)
    assert ids.find([("a", 2), ("b", 1)]).tolist() == [1, 2]
    with pytest.raises(UnknownVertex):
        ids.find([("b", 2)])
    with pytest.raises(InvalidArgument, match="tuple"):
        ids.find(["a"])


@pytest.mark.parametrize("columns", [["text"], ["number"], ["text", "number"]])
def test_ids_that_no_column_can_hold_are_looked_up_alone(columns, monkeypatch):
    there = {"text": [f"{i:03}" for i in range(200)], "number": [*range(200)]}
    ids = VertexIds([pa.array(there[name]) for name in columns], None)
    rows = [*zip(*(there[name] for name in columns), strict=True)]
    given = rows if len(columns) > 1 else [each for (each,) in rows]
    odd = {30: None, 77: 1.5, 99: 2**70, 150: True}
    odd = {at: (value,) * len(columns) if len(columns) > 1 else value for at, value in odd.items()}
    mixed = [odd.get(i, each) for i, each in enumerate(given)]
    looked_up = []
    find_row = VertexIds.find_row
    monkeypatch.setattr(
        VertexIds, "find_row", lambda self, value: looked_up.append(value) or find_row(self, value)
    )
    assert ids.find_each(mixed).tolist() == [-1 if i in odd else i for i in range(200)]
    assert sorted(looked_up, key=str) == sorted(odd.values(), key=str)
    with pytest.raises(UnknownVertex, match=r"None.* is not a vertex"):
        ids.find(mixed)


@pytest.mark.parametrize(
    ("types", "common"),
    [
        ([pa.int32(), pa.int64()], pa.int64()),
        ([pa.uint32(), pa.int32()], pa.int64()),
        ([pa.uint8(), pa.uint64()], pa.uint64()),
        ([pa.uint16(), pa.int8()], pa.int32()),
    ],
)
def test_common_type_holds_both_exactly(types, common):
    assert common_type(types, "the columns") == common


@pytest.mark.parametrize("other", [pa.int8(), pa.int64(), pa.large_string()])
def test_types_that_no_type_holds_are_an_error(other):
    with pytest.raises(InvalidEdges, match="the columns mix the id types"):
        common_type([pa.uint64(), other], "the columns")
