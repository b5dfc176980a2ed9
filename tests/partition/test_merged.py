"""A log that is merged into saved rows: every array is that of the partition built anew of the same rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dask_graphgpu as dg
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.partition.as_given import rows_as_given
from dask_graphgpu.partition.grown import grown
from dask_graphgpu.store.saved import open_growth

SMALL = st.integers(0, 6)
ROWS = st.lists(st.tuples(SMALL, SMALL, st.integers(1, 3)), min_size=1, max_size=14)
PAIRS = st.lists(st.tuples(SMALL, SMALL), max_size=4)


def frame_of(rows):
    frame = pd.DataFrame(rows, columns=["src", "dst", "weight"]).astype("int64")
    return frame.assign(place=np.arange(len(frame)))


def merged_of(path):
    saved = dg.load(path)._input.saved
    return grown(open_growth(saved.path, saved.fingerprint))


def built_of(frame, path, **options):
    """The partition of a frame, which saving it makes."""
    frame.graph(**options).save(path, columns=["place"])
    saved = dg.load(path)._input.saved
    return open_growth(saved.path, saved.fingerprint).base


def assert_same(found, wanted):
    assert found.num_rows == wanted.num_rows
    assert [c.to_pylist() for c in found.ids.columns] == [c.to_pylist() for c in wanted.ids.columns]
    for one, other in (
        (found.ids.position, wanted.ids.position),
        (found.ids.rank, wanted.ids.rank),
    ):
        np.testing.assert_array_equal(one, other)
    pairs = [(found.given, wanted.given), (rows_as_given(found), rows_as_given(wanted))]
    for rule in ("one", "min", "sum"):
        pairs.append(
            tuple(
                rows.adjacency(p.layout.by, names)
                for p in (found, wanted)
                for _, rows, names in [p.under(rule)]
            )
        )
    for one, other in pairs:
        np.testing.assert_array_equal(one.offsets, other.offsets)
        np.testing.assert_array_equal(one.neighbours, other.neighbours)
        assert one.columns.keys() == other.columns.keys()
        for name, column in one.columns.items():
            np.testing.assert_array_equal(column, other.columns[name])


@given(
    rows=ROWS,
    deltas=st.lists(st.tuples(ROWS, PAIRS), min_size=1, max_size=3),
    directed=st.booleans(),
    order=st.sampled_from(["input", "degree"]),
    both_ways=st.booleans(),
)
def test_merging_is_building_anew(tmp_path_factory, rows, deltas, directed, order, both_ways):
    folder, options = tmp_path_factory.mktemp("merged"), {"directed": directed, "order": order}

    def given_rows(some):
        return some + [(b, a, w) for a, b, w in some] if both_ways else some

    held = frame_of(given_rows(rows))
    built_of(held, folder / "saved", **options)
    for added, removed in deltas:
        more = frame_of(given_rows(added))
        gone = {*removed} | (set() if directed else {pair[::-1] for pair in removed})
        kept = [pair not in gone for pair in zip(held["src"], held["dst"], strict=True)]
        held = pd.concat([held[kept], more], ignore_index=True)
        pairs = pd.DataFrame(removed, columns=["src", "dst"]).astype("int64")
        dg.load(folder / "saved").update(more, pairs)
    assert_same(merged_of(folder / "saved"), built_of(held, folder / "anew", **options))


@pytest.mark.parametrize("directed", [True, False])
def test_many_rows_that_change_their_order(tmp_path, directed):
    # Hubs, so that rows are sorted by digits, and pairs that repeat.
    rng = np.random.default_rng(3)
    ends = (rng.pareto(0.6, (2, 40_000)) * 3).astype("int64") % 3_000
    rows = pd.DataFrame({"src": ends[0], "dst": ends[1]})
    rows = rows.assign(weight=rng.integers(1, 4, len(rows)), place=np.arange(len(rows)))
    old, new, options = rows[:36_000], rows[36_000:], {"directed": directed, "order": "degree"}
    made = built_of(old, tmp_path / "saved", **options)
    assert made.given.degrees.max() > kernels.row_merge._FEW
    gone = old[::7][["src", "dst"]]
    dg.load(tmp_path / "saved").update(new, gone)
    pairs = {*zip(gone["src"], gone["dst"], strict=True)}
    pairs |= set() if directed else {pair[::-1] for pair in pairs}
    kept = [pair not in pairs for pair in zip(old["src"], old["dst"], strict=True)]
    anew = pd.concat([old[kept], new], ignore_index=True)
    assert_same(merged_of(tmp_path / "saved"), built_of(anew, tmp_path / "anew", **options))
