"""Groups get the ids they had: by a greedy matching in plain Python, for every kind of frame, and in Dask tasks."""

import contextlib
import doctest
from collections import Counter, defaultdict

import dask
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_values import MAKE
from scipy.optimize import linear_sum_assignment

from dask_graphgpu import match_ids
from dask_graphgpu.errors import InvalidArgument, InvalidVertices


def frame_of(groups, group="component", kind=str):
    frame = pd.DataFrame({"vertex": [*groups], group: [*groups.values()]})
    return frame.astype(str) if kind is str else frame.astype("int64")


def groups_in(frame, group="component"):
    return dict(zip(frame["vertex"], frame[group], strict=True))


def members(groups):
    found = defaultdict(set)
    for vertex, group in groups.items():
        found[group].add(vertex)
    return found


def spare(own, vertices, used, known):
    """An id for a group whose own an old group had."""
    if free := sorted(vertices - used):
        return free[0]
    if isinstance(own, int):
        return max(known) + 1
    return next(f"{own}:{i}" for i in range(2, 100) if f"{own}:{i}" not in known)


def matched(old, new):
    """Ids of new groups, and rows of the report, by the words of the docstring."""
    before, now = members(old), members(new)
    overlap = Counter((old[v], group) for v, group in new.items() if v in old)
    order = sorted(overlap, key=lambda pair: (-overlap[pair], *pair))
    goes_on, taken = {}, {}
    for a, b in order:
        if a not in taken and b not in goes_on:
            goes_on[b], taken[a] = a, b
    ids = dict(goes_on)
    known = {*before, *now, *new}
    for b in sorted(set(now) - set(goes_on)):
        ids[b] = b if b not in before else spare(b, now[b], {*before, *now}, {*known})
        known.add(ids[b])
    source = {b: goes_on.get(b) or next((a for a, to in order if to == b), None) for b in now}
    into = {a: next((b for of, b in order if of == a), None) for a in before}
    gone = sorted(set(before) - set(taken))
    rows = []
    for b in sorted(now):
        a = source[b]
        kind = [
            ("new", a is None),
            ("merged", any(into[x] == b for x in gone)),
            ("split", sum(source[x] == a for x in now) > 1),
            ("kept", a is not None and before[a] == now[b]),
            ("grown", a is not None and before[a] < now[b]),
            ("shrunk", a is not None and before[a] > now[b]),
            ("changed", True),
        ]
        change = next(word for word, true in kind if true)
        sizes = len(before[a]) if a is not None else 0, len(now[b]), overlap[a, b]
        rows.append((a, b, ids[b], change, *sizes))
    for a in gone:
        b = into[a]
        sizes = len(before[a]), len(now[b]) if b is not None else 0, overlap[a, b]
        rows.append((a, b, ids.get(b), "gone", *sizes))
    return ids, rows


def rows_of(report):
    return [
        tuple(None if pd.isna(value) else value for value in row)
        for row in report.itertuples(index=False)
    ]


def groupings(draw, vertices):
    """A group for some vertices, called by one of them or not."""
    chosen = draw(st.lists(st.sampled_from(vertices), unique=True, max_size=len(vertices)))
    parts = draw(st.lists(st.integers(0, 4), min_size=len(chosen), max_size=len(chosen)))
    names = draw(st.permutations(vertices))
    by_member = draw(st.booleans())
    found = members(dict(zip(chosen, parts, strict=True)))
    return {
        vertex: (min(group) if by_member else names[part])
        for part, group in found.items()
        for vertex in group
    }


@st.composite
def runs(draw):
    kind = draw(st.sampled_from([str, int]))
    vertices = sorted(
        draw(st.lists(st.integers(1, 40), unique=True, min_size=5, max_size=12)), key=kind
    )
    vertices = [kind(v) for v in vertices]
    return kind, groupings(draw, vertices), groupings(draw, vertices)


@given(runs(), st.randoms(), st.integers(1, 4))
def test_as_the_greedy_matching_in_any_order(run, random, npartitions):
    kind, old, new = run
    ids, rows = matched(old, new)
    for shuffled in (False, True):
        a, b = frame_of(old, kind=kind), frame_of(new, kind=kind)
        if shuffled:
            a = a.sample(frac=1, random_state=random.randrange(99))
            b = b.sample(frac=1, random_state=random.randrange(99))
        frame, report = match_ids(a, b)
        assert frame.index.equals(b.index)
        assert frame["vertex"].equals(b["vertex"])
        assert groups_in(frame) == {vertex: ids[group] for vertex, group in new.items()}
        assert rows_of(report) == rows
    if new:
        lazy = [dd.from_pandas(each, npartitions=npartitions, sort=False) for each in (a, b)]
        with dask.config.set(scheduler="sync"):
            again, told = dask.compute(*match_ids(*lazy))
        assert again.astype(b.dtypes).equals(frame)
        assert rows_of(told) == rows


@given(runs())
def test_no_id_means_another_group_than_before(run):
    kind, old, new = run
    frame, report = match_ids(frame_of(old, kind=kind), frame_of(new, kind=kind))
    given = report[report["change"] != "gone"]
    assert given["id"].is_unique
    fresh = given[~given["id"].isin(given["old"].dropna())]
    assert not set(fresh["id"]) & set(old.values())
    assert sorted(map(len, members(groups_in(frame)).values())) == sorted(
        map(len, members(new).values())
    )


@pytest.mark.parametrize("seed", range(5))
def test_as_the_best_assignment_where_the_largest_overlaps_are_apart(seed):
    rng = np.random.default_rng(seed)
    overlap = rng.integers(0, 3, (12, 12)) + np.diag(rng.integers(20, 40, 12))
    old, new = np.repeat(np.indices(overlap.shape).reshape(2, -1), overlap.ravel(), axis=1)
    columns = rng.permutation(12)
    frames = [
        pd.DataFrame({"vertex": np.arange(len(old)), "community": part})
        for part in (old, columns[new])
    ]
    _, report = match_ids(*frames)
    table = pd.crosstab(frames[0]["community"], frames[1]["community"]).to_numpy()
    best = dict(zip(*linear_sum_assignment(table, maximize=True), strict=True))
    assert dict(zip(report["id"], report["new"], strict=True)) == best


@given(runs())
def test_nothing_changes_where_nothing_has_changed(run):
    kind, old, _ = run
    frame = frame_of(old, kind=kind)
    same, report = match_ids(frame, frame)
    assert same.equals(frame)
    assert set(report["change"]) <= {"kept"}


def test_groups_that_are_left_alone_keep_their_ids_through_many_changes():
    rng = np.random.default_rng(5)
    groups = {v: v // 10 * 10 for v in range(1000)}
    still = {v for v in groups if v >= 500}
    first, result = dict(groups), frame_of(groups, kind=int)
    for _ in range(20):
        moving = rng.choice(500, 40, replace=False)
        for vertex in moving:
            groups[int(vertex)] = int(rng.choice(500))
        smallest = {group: min(each) for group, each in members(groups).items()}
        groups = {vertex: smallest[group] for vertex, group in groups.items()}
        result, report = match_ids(result, frame_of(groups, kind=int))
        named = groups_in(result)
        assert {v: named[v] for v in still} == {v: first[v] for v in still}
        assert len(members(named)) == len(members(groups))
        assert (report["change"] == "kept").sum() >= 50


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        (pl.from_pandas, pl.DataFrame),
        (lambda f: pl.from_pandas(f).lazy(), pl.DataFrame),
        (pa.Table.from_pandas, pa.Table),
    ],
)
def test_the_frame_comes_back_as_the_kind_that_it_is(native, kind):
    old = frame_of({"b": "b", "c": "b", "d": "d"}, "community").assign(modularity=0.25)
    new = frame_of({"a": "a", "b": "a", "c": "a", "d": "d"}, "community").assign(modularity=0.5)
    frame, report = match_ids(old, native(new))
    expected = new.assign(community=["b", "b", "b", "d"])
    assert type(frame) is type(report) is kind
    assert frame.to_pandas().astype(new.dtypes).equals(expected)
    assert [*report.to_pandas()["change"]] == ["grown", "kept"]
    assert match_ids(native(old), new).frame.equals(expected)


def test_a_query_of_duckdb_becomes_one_that_has_been_run():
    old, new = frame_of({2: 2, 3: 2}, kind=int), frame_of({1: 1, 2: 1, 3: 1}, kind=int)
    database = duckdb.connect()
    relations = [database.from_df(each) for each in (old, new)]
    frame, report = match_ids(*relations)
    assert frame.fetchall() == [(1, 2), (2, 2), (3, 2)]
    assert report.fetchall() == [(2, 1, 2, "grown", 2, 3, 2)]


def test_columns_of_arrow_and_masked_ones_stay():
    old = frame_of({2: 2, 3: 2}, kind=int)
    for dtype in ("Int64", "int64[pyarrow]", "uint8"):
        new = frame_of({1: 1, 2: 1, 3: 1}, kind=int).astype(dtype)
        frame, report = match_ids(old.astype(dtype), new)
        assert frame.dtypes.equals(new.dtypes)
        assert [*frame["component"]] == [2, 2, 2]
        assert report["old"].isna().sum() == 0
    wider, _ = match_ids(old.assign(component=1000), new)
    assert [*wider["component"]] == [1000, 1000, 1000]


def test_ids_of_several_columns():
    old = pd.DataFrame({"country": ["it", "it", "pt"], "number": [1, 2, 1]})
    old = old.assign(component_country=["it", "it", "pt"], component_number=[2, 2, 1])
    new = old.assign(component_country=["it", "it", "it"], component_number=[1, 1, 1])
    frame, report = match_ids(old, new)
    assert [*frame["component_number"]] == [2, 2, 2]
    assert [*report["change"]] == ["merged", "gone"]
    assert [*report["old_component_country"]] == ["it", "pt"]
    assert [*report["id_component_number"]] == [2, 2]
    apart, report = match_ids(new, old)
    assert [*apart["component_number"]] == [1, 1, 1]
    assert [*report["change"]] == ["split", "split"]


def test_groups_that_are_no_vertices_are_numbered_on():
    old = pd.DataFrame({"name": ["a", "b", "c", "d"], "cluster": [7, 7, 7, 9]})
    new = pd.DataFrame({"name": ["a", "b", "c", "d", "e"], "cluster": [9, 7, 7, 7, 1]})
    frame, report = match_ids(old, new, vertex="name", group="cluster")
    assert [*frame["cluster"]] == [10, 7, 7, 7, 1]
    assert [*report["change"]] == ["new", "merged", "split", "gone"]


def test_a_type_without_a_number_left_is_said():
    old = pd.DataFrame({"vertex": ["a", "b", "c"], "label": np.array([255, 255, 255], "uint8")})
    new = pd.DataFrame({"vertex": ["a", "b", "c"], "label": np.array([255, 1, 1], "uint8")})
    with pytest.raises(InvalidVertices, match="wider type"):
        match_ids(old, new)


def test_a_lazy_frame_is_made_once_and_only_when_it_is_asked_for():
    calls = []

    def counted(part):
        calls.append(len(part))
        return part

    old = frame_of({v: v // 5 for v in range(50)}, kind=int)
    new = dd.from_pandas(frame_of({v: v // 4 for v in range(60)}, kind=int), npartitions=6)
    lazy = new.map_partitions(counted, meta=new._meta)
    frame, report = match_ids(old, lazy)
    assert not calls
    assert frame.divisions == new.divisions
    with dask.config.set(scheduler="sync"):
        made, told = dask.compute(frame, report)
    assert sum(calls) == 60
    expected, rows = match_ids(old, new.compute())
    assert made.equals(expected)
    assert told.equals(rows)
    assert match_ids(old, lazy).frame._name == frame._name
    named = new.compute().set_index(pd.Index([f"row {i:02d}" for i in range(60)]))
    again = match_ids(old, dd.from_pandas(named, npartitions=3)).frame
    assert not again.known_divisions  # they are not those of a result
    assert again.compute().equals(expected.set_index(named.index))


def test_dask_does_not_delete_the_old_ids_before_they_are_read(tmp_path):
    old = dd.from_pandas(frame_of({2: 2, 3: 2}, kind=int), npartitions=1)
    old.to_parquet(tmp_path / "out")
    new = dd.from_pandas(frame_of({1: 1, 2: 1, 3: 1}, kind=int), npartitions=2)
    frame, _ = match_ids(dd.read_parquet(tmp_path / "out"), new)
    with pytest.raises(ValueError, match="Cannot overwrite"):
        frame.to_parquet(tmp_path / "out", overwrite=True)
    assert [*frame["component"].compute()] == [2, 2, 2]


def test_results_of_a_graph():
    edges = pd.DataFrame({"src": ["b", "c", "x"], "dst": ["c", "d", "y"]})
    more = pd.concat([edges, pd.DataFrame({"src": ["a", "p"], "dst": ["b", "q"]})])
    for method in ("weakly_connected_components", "leiden"):
        old = getattr(edges.graph(directed=False), method)()
        new = getattr(more.graph(directed=False), method)()
        frame, report = match_ids(old, new)
        (group,) = {"component", "community"} & set(new.columns)
        kept = groups_in(old, group)
        assert {v: g for v, g in groups_in(frame, group).items() if v in kept} == kept
        assert [*report["change"]] == ["grown", "new", "kept"]
        assert list(frame.columns) == list(new.columns)


@pytest.mark.parametrize(
    ("old", "new", "options", "said"),
    [
        ({"vertex": [1], "component": [1]}, {"vertex": [1]}, {}, "name it with group="),
        ({"vertex": [1]}, {"vertex": [1], "component": [1]}, {}, "old has no column 'component'"),
        (
            {"vertex": [1], "component": [1]},
            {"vertex": [1], "component": [1], "label": [1]},
            {},
            "new has label and component",
        ),
        (
            {"v": [1], "component": [1]},
            {"v": [1], "component": [1]},
            {},
            "no column 'vertex'.*vertex=",
        ),
        (
            {"vertex": [1, 1], "component": [1, 2]},
            {"vertex": [1], "component": [1]},
            {},
            "old: the vertex 1 is in several rows",
        ),
        (
            {"vertex": ["1"], "component": ["1"]},
            {"vertex": [1], "component": [1]},
            {},
            "mix the id types",
        ),
        (
            {"vertex": [1], "component": [1]},
            {"vertex": [1, 2], "component": pd.array([1, None], "Int64")},
            {},
            "has 1 nulls in partition 0 of new",
        ),
        (
            {"vertex": [1], "component": [1.5]},
            {"vertex": [1], "component": [1]},
            {},
            "type float64",
        ),
        (
            {"vertex": [1], "component": [1]},
            {"vertex": [1], "component": [1]},
            {"group": "vertex"},
            "both name 'vertex'",
        ),
    ],
)
def test_errors_say_what_to_do(old, new, options, said):
    with pytest.raises((InvalidArgument, InvalidVertices), match=said):
        match_ids(pd.DataFrame(old), pd.DataFrame(new), **options)


@pytest.mark.parametrize("argument", ["old", "new", "vertex", "group"])
def test_odd_arguments_are_answered_or_refused_in_words(argument):
    frame = frame_of({1: 1, 2: 1}, kind=int)
    for make in MAKE:
        given = {"old": frame, "new": frame, argument: make()}
        with contextlib.suppress(InvalidArgument, InvalidVertices):
            match_ids(**given)


def test_something_else_than_a_frame_is_refused():
    with pytest.raises(InvalidArgument, match="old is a dict"):
        match_ids({}, frame_of({1: 1}))


def test_kinds_of_frames_may_differ():
    old, new = frame_of({"b": "b", "c": "b"}), frame_of({"a": "a", "b": "a", "c": "a"})
    wanted = match_ids(old, new).frame
    kinds = [
        lambda f: dd.from_pandas(f, npartitions=2),
        lambda f: f.astype("category"),
        lambda f: dd.from_pandas(f.astype("category"), npartitions=1),
        lambda f: f.astype(object),
        pl.from_pandas,
    ]
    for kind in kinds:
        assert match_ids(kind(old), new).frame.equals(wanted)
        made = match_ids(old, dd.from_pandas(new, npartitions=3)).frame.compute()
        assert made.astype(wanted.dtypes).equals(wanted)
    assert match_ids(old, new.astype("category")).frame["component"].tolist() == ["b", "b", "b"]


def test_examples_of_the_docstring():
    tests = doctest.DocTestFinder().find(match_ids, globs={})
    runner = doctest.DocTestRunner(verbose=False)
    assert [runner.run(each).failed for each in tests] == [0]
    assert runner.summarize(verbose=False).attempted == 7
